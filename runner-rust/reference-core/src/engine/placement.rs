//! Round-robin placement.
//!
//! An aggregated pool counts workers first and then, per worker, its ranks; a disaggregated pool
//! counts schedulers straight through, ranks of one worker next to each other.

/// A place: a worker's rank.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// Worker within the pool.
    pub worker: usize,
    /// Attention-DP rank within the worker.
    pub rank: usize,
    /// worker * dp + rank.
    pub scheduler: usize,
}

/// Round robin over one pool.
#[derive(Debug, Clone)]
pub struct RoundRobin {
    workers: usize,
    ranks: usize,
    worker_first: bool,
    next: usize,
    next_rank: Vec<usize>,
}

impl RoundRobin {
    /// Over workers, then over each worker's ranks.
    pub fn worker_first(workers: usize, ranks: usize) -> Self {
        Self {
            workers,
            ranks,
            worker_first: true,
            next: 0,
            next_rank: vec![0; workers],
        }
    }

    /// Over all ranks of all workers.
    pub fn flat(workers: usize, ranks: usize) -> Self {
        Self {
            worker_first: false,
            ..Self::worker_first(workers, ranks)
        }
    }

    /// The next place, at rank `preferred` of its worker when given.
    pub fn place(&mut self, preferred: Option<usize>) -> Place {
        let (worker, rank) = match (self.worker_first, preferred) {
            (true, Some(rank)) => (self.turn(self.workers), rank),
            (true, None) => {
                let worker = self.turn(self.workers);
                let rank = self.next_rank[worker] % self.ranks;
                self.next_rank[worker] += 1;
                (worker, rank)
            }
            (false, Some(rank)) => (self.turn(self.workers), rank),
            (false, None) => {
                let scheduler = self.turn(self.workers * self.ranks);
                (scheduler / self.ranks, scheduler % self.ranks)
            }
        };
        Place {
            worker,
            rank,
            scheduler: worker * self.ranks + rank,
        }
    }

    /// The next of `candidates`. The count goes on from the one chosen, so that a preference, which
    /// narrows the candidates, sets the count back.
    fn turn(&mut self, candidates: usize) -> usize {
        let chosen = self.next % candidates;
        self.next = chosen + 1;
        chosen
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places(mut placement: RoundRobin) -> Vec<(usize, usize)> {
        (0..5)
            .map(|_| placement.place(None))
            .map(|place| (place.worker, place.rank))
            .collect()
    }

    #[test]
    fn aggregated_pools_count_workers_first() {
        assert_eq!(
            places(RoundRobin::worker_first(2, 2)),
            [(0, 0), (1, 0), (0, 1), (1, 1), (0, 0)]
        );
    }

    #[test]
    fn a_preference_sets_a_flat_count_back() {
        let mut placement = RoundRobin::flat(3, 2);
        let mut next = |preferred| placement.place(preferred).scheduler;
        let first = [next(Some(0)), next(Some(0)), next(None)];
        assert_eq!(first, [0, 2, 2]);
        assert_eq!([next(Some(1)), next(None), next(None)], [1, 1, 2]);
    }

    #[test]
    fn disaggregated_pools_count_straight_through() {
        assert_eq!(
            places(RoundRobin::flat(2, 2)),
            [(0, 0), (0, 1), (1, 0), (1, 1), (0, 0)]
        );
    }
}
