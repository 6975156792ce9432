//! A pool of identical workers, and how it is driven.

use super::batched::BatchedRank;
use super::clock::{Clock, Event};
use super::rank::Rank;
use super::sglang::SglangRank;
use super::timing::RankTiming;
use super::worker::{GroupEnd, GroupStart, Worker};
use crate::replay::{
    Backend, ReplayEngineFactory, ReplayResult, ReplayRoleConfig, WorkerStage, WorkerType,
};

/// Effect-free passes that a settling worker may repeat at one time.
const MAX_SETTLING_PASSES: usize = 1024;

/// Workers of one stage.
#[derive(Debug)]
pub struct Pool {
    /// The stage.
    pub stage: WorkerStage,
    /// The workers.
    pub workers: Vec<Worker>,
    /// Time that workers were up, in seconds.
    pub worker_seconds: f64,
    /// GPUs per worker.
    pub gpus_per_worker: u64,
    /// Ranks per worker.
    pub ranks: usize,
}

/// What observes a pool's passes.
pub trait PassObserver {
    /// A pass of `worker` started now.
    fn on_start(&mut self, stage: WorkerStage, worker: usize, start: &GroupStart, now_ms: f64);

    /// A pass of `worker` ended now.
    fn on_end(&mut self, stage: WorkerStage, worker: usize, end: &GroupEnd, now_ms: f64);
}

impl Pool {
    /// `workers` workers of `stage` as `role` describes them.
    ///
    /// # Errors
    /// When the description is impossible or not modelled.
    pub fn new(
        stage: WorkerStage,
        workers: usize,
        role: &ReplayRoleConfig,
        factory: &ReplayEngineFactory,
    ) -> ReplayResult<Self> {
        role.validate()?;
        let model = match role.rank.worker_type {
            WorkerType::Prefill => factory.prefill_timing.clone(),
            WorkerType::Decode => factory.decode_timing.clone(),
            WorkerType::Aggregated => factory
                .decode_timing
                .clone()
                .or_else(|| factory.prefill_timing.clone()),
        };
        let timing = RankTiming::new(&role.rank, model)?;
        let rank = || -> Box<dyn Rank> {
            match role.rank.backend {
                Backend::Vllm | Backend::Trtllm => {
                    Box::new(BatchedRank::new(&role.rank, timing.clone()))
                }
                Backend::Sglang => {
                    Box::new(SglangRank::new(&role.rank, role.dp_size, timing.clone()))
                }
            }
        };
        let worker = || Worker::new((0..role.dp_size).map(|_| rank()).collect());
        Ok(Self {
            stage,
            workers: (0..workers).map(|_| worker()).collect(),
            worker_seconds: 0.0,
            gpus_per_worker: role.gpus_per_worker(),
            ranks: role.dp_size as usize,
        })
    }

    /// Count `seconds` of every worker's time.
    pub fn add_time(&mut self, seconds: f64) {
        self.worker_seconds += seconds * self.workers.len() as f64;
    }

    /// Start passes on idle workers with work, lowest number first, until none is left that could
    /// do anything now. A pass without length ends at once and its worker may go on. True when
    /// anything happened.
    ///
    /// # Errors
    /// The number of requests that a worker holds and that nothing can move any more.
    pub fn drive(
        &mut self,
        clock: &mut Clock,
        passes: &mut Passes,
        observer: &mut impl PassObserver,
    ) -> Result<bool, Stuck> {
        let mut parked = vec![false; self.workers.len()];
        let mut settling = vec![0; self.workers.len()];
        let mut changed = false;
        while let Some(index) =
            (0..self.workers.len()).find(|&index| !parked[index] && self.workers[index].is_ready())
        {
            let now_ms = clock.now_ms();
            let worker = &mut self.workers[index];
            let start = worker.start_pass(now_ms);
            observer.on_start(self.stage, index, &start, now_ms);
            if start.end_ms > now_ms {
                clock.schedule(
                    start.end_ms,
                    Event::PassEnd {
                        stage: self.stage,
                        worker: index,
                        pass: passes.next(),
                    },
                );
                changed = true;
                continue;
            }
            let end = worker.finish_pass();
            observer.on_end(self.stage, index, &end, now_ms);
            let effect = start.has_effect() || !end.events.is_empty();
            if effect && passes.count_instant() {
                changed = true;
            } else if !effect && worker.is_settling() {
                settling[index] += 1;
                if settling[index] > MAX_SETTLING_PASSES {
                    return Err(Stuck(worker.load()));
                }
            } else if !effect && worker.is_stuck() {
                return Err(Stuck(worker.load()));
            } else {
                parked[index] = true;
            }
        }
        Ok(changed)
    }

    /// End the pass of a worker.
    pub fn finish(&mut self, worker: usize, now_ms: f64, observer: &mut impl PassObserver) {
        let end = self.workers[worker].finish_pass();
        observer.on_end(self.stage, worker, &end, now_ms);
    }
}

/// A worker that nothing can move any more, with the number of requests it holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stuck(pub usize);

/// Numbers passes, and notices when passes without length go on and on at one time: real engines
/// can spin there for ever, so such passes stop counting as progress after a bound that no replay
/// reaches otherwise.
#[derive(Debug, Default)]
pub struct Passes {
    next: u64,
    instant: u64,
}

/// Passes without length at one time before they are taken for a livelock.
const MAX_INSTANT_PASSES: u64 = 1 << 20;

impl Passes {
    fn next(&mut self) -> u64 {
        self.next += 1;
        self.next
    }

    fn count_instant(&mut self) -> bool {
        self.instant += 1;
        self.instant <= MAX_INSTANT_PASSES
    }

    /// Time moved on.
    pub fn time_moved(&mut self) {
        self.instant = 0;
    }
}
