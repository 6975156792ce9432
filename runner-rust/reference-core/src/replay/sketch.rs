//! A DDSketch: percentiles within a fixed relative error, in memory that does not grow with the
//! number of samples.
//!
//! A positive sample x falls into bin `ceil(ln x / L)` with `L = ln(gamma)`,
//! `gamma = 1 + 2a/(1-a)` for relative accuracy a; a bin is reported as
//! `exp(bin * L) * 2 / (1 + gamma)`. The estimate is not clamped to the samples' range, so a
//! reported percentile may exceed the maximum.

use super::statistics::rank_of;

const RELATIVE_ACCURACY: f64 = 0.001;
const MAX_BINS: usize = 32_768;

/// Sketch of non-negative samples.
#[derive(Debug, Clone)]
pub(crate) struct DdSketch {
    only: f64,
    log_gamma: f64,
    scale: f64,
    zeros: u64,
    /// Key of `bins[0]`.
    first_key: i64,
    bins: Vec<u64>,
    count: u64,
}

impl Default for DdSketch {
    fn default() -> Self {
        let excess = 2.0 * RELATIVE_ACCURACY / (1.0 - RELATIVE_ACCURACY);
        let gamma = 1.0 + excess;
        Self {
            only: 0.0,
            log_gamma: excess.ln_1p(),
            scale: 2.0 / (1.0 + gamma),
            zeros: 0,
            first_key: 0,
            bins: Vec::new(),
            count: 0,
        }
    }
}

impl DdSketch {
    /// Count one sample.
    pub fn push(&mut self, x: f64) {
        self.count += 1;
        self.only = x;
        if x <= 0.0 {
            self.zeros += 1;
            return;
        }
        let key = (x.ln() / self.log_gamma).ceil() as i64;
        let slot = self.slot(key);
        self.bins[slot] += 1;
    }

    /// Slot of `key`, growing the bins; once they are all in use, low keys share the lowest bin.
    fn slot(&mut self, key: i64) -> usize {
        if self.bins.is_empty() {
            self.first_key = key;
            self.bins.push(0);
            return 0;
        }
        if key < self.first_key {
            let room = MAX_BINS - self.bins.len();
            let grow = usize::try_from(self.first_key - key).map_or(room, |n| n.min(room));
            self.bins.splice(0..0, std::iter::repeat_n(0, grow));
            self.first_key -= grow as i64;
            return usize::try_from(key - self.first_key).unwrap_or(0);
        }
        let slot = (key - self.first_key) as usize;
        if slot < self.bins.len() {
            return slot;
        }
        if slot >= MAX_BINS {
            self.collapse((slot + 1 - MAX_BINS).min(self.bins.len()), key);
        }
        let slot = (key - self.first_key) as usize;
        self.bins.resize(slot + 1, 0);
        slot
    }

    /// Merge the lowest `count` bins so that `top_key` becomes the last of [`MAX_BINS`].
    fn collapse(&mut self, count: usize, top_key: i64) {
        let merged: u64 = self.bins.drain(..count).sum();
        if self.bins.is_empty() {
            self.bins.push(0);
        }
        self.bins[0] += merged;
        self.first_key = top_key + 1 - MAX_BINS as i64;
    }

    /// Estimate of a percentile; 0 without samples.
    pub fn percentile(&self, percent: f64) -> f64 {
        if self.count == 0 {
            return 0.0;
        }
        if self.count == 1 {
            return self.only;
        }
        let rank = rank_of(self.count as usize, percent) as u64;
        if rank < self.zeros {
            return 0.0;
        }
        let mut seen = self.zeros;
        for (offset, bin) in self.bins.iter().enumerate() {
            seen += bin;
            if seen > rank {
                let key = self.first_key + offset as i64;
                return (key as f64 * self.log_gamma).exp() * self.scale;
            }
        }
        0.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn estimates_stay_within_the_relative_accuracy() {
        let mut sketch = DdSketch::default();
        for n in 1..=10_000 {
            sketch.push(f64::from(n) * 0.37);
        }
        for percent in [50.0, 75.0, 90.0, 95.0, 99.0] {
            let exact = (rank_of(10_000, percent) + 1) as f64 * 0.37;
            let estimate = sketch.percentile(percent);
            assert!((estimate - exact).abs() <= exact * 0.0011, "{percent}");
        }
    }

    #[test]
    fn zeros_are_counted_below_every_bin() {
        let mut sketch = DdSketch::default();
        sketch.push(0.0);
        sketch.push(0.0);
        sketch.push(5.0);
        assert_eq!(sketch.percentile(50.0), 0.0);
        assert!((sketch.percentile(99.0) - 5.0).abs() < 0.01);
    }

    #[test]
    fn samples_of_every_size_share_the_bounded_bins() {
        let mut sketch = DdSketch::default();
        for x in [1.0, 1e-300, 1e300, 1e-300, 7.0] {
            sketch.push(x);
            assert!(sketch.bins.len() <= MAX_BINS);
        }
        assert_eq!(sketch.bins.iter().sum::<u64>(), 5);
        assert!(sketch.percentile(99.0) > 1e299);
    }
}
