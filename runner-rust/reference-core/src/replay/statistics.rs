//! Distribution statistics of a report.

use serde::{Deserialize, Serialize};

use super::sketch::DdSketch;

/// Nine figures of one distribution; all zero when there were no samples.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct TraceDistributionStats {
    /// Arithmetic mean.
    pub mean_ms: f64,
    /// Smallest sample.
    pub min_ms: f64,
    /// Largest sample.
    pub max_ms: f64,
    /// 50th percentile.
    pub median_ms: f64,
    /// 75th percentile.
    pub p75_ms: f64,
    /// 90th percentile.
    pub p90_ms: f64,
    /// 95th percentile.
    pub p95_ms: f64,
    /// 99th percentile.
    pub p99_ms: f64,
    /// Population standard deviation.
    pub std_ms: f64,
}

impl TraceDistributionStats {
    /// Exact statistics. Sums run in the order given, the deviation's over the order in which
    /// picking the percentiles leaves the samples; both show in the last bits.
    pub fn exact(samples: &[f64]) -> Self {
        if samples.is_empty() {
            return Self::default();
        }
        let mean = mean(samples);
        let mut picked = samples.to_vec();
        let [median_ms, p75_ms, p90_ms, p95_ms, p99_ms] =
            [50.0, 75.0, 90.0, 95.0, 99.0].map(|percent| {
                let rank = rank_of(picked.len(), percent);
                *picked.select_nth_unstable_by(rank, f64::total_cmp).1
            });
        Self {
            mean_ms: mean,
            min_ms: samples.iter().copied().fold(f64::INFINITY, f64::min),
            max_ms: samples.iter().copied().fold(f64::NEG_INFINITY, f64::max),
            median_ms,
            p75_ms,
            p90_ms,
            p95_ms,
            p99_ms,
            std_ms: deviation(&picked),
        }
    }

    /// The nine figures with the prefixes they have in a flat summary.
    pub fn named(&self) -> [(&'static str, f64); 9] {
        [
            ("mean", self.mean_ms),
            ("min", self.min_ms),
            ("max", self.max_ms),
            ("median", self.median_ms),
            ("p75", self.p75_ms),
            ("p90", self.p90_ms),
            ("p95", self.p95_ms),
            ("p99", self.p99_ms),
            ("std", self.std_ms),
        ]
    }
}

fn mean(samples: &[f64]) -> f64 {
    samples.iter().sum::<f64>() / samples.len() as f64
}

fn deviation(samples: &[f64]) -> f64 {
    let mean = mean(samples);
    let squares: f64 = samples.iter().map(|x| (x - mean) * (x - mean)).sum();
    (squares / samples.len() as f64).sqrt()
}

/// Index of a percentile among `count` sorted samples: `(count - 1) * percent / 100`, half up.
pub(crate) fn rank_of(count: usize, percent: f64) -> usize {
    ((count - 1) as f64 * percent / 100.0).round() as usize
}

/// Statistics of samples that are not kept: mean and deviation by Welford's recurrence, extremes
/// exact, percentiles from a sketch.
#[derive(Debug, Clone, Default)]
pub(crate) struct StreamingStats {
    count: u64,
    mean: f64,
    m2: f64,
    min: f64,
    max: f64,
    sketch: DdSketch,
}

impl StreamingStats {
    /// Feed one sample.
    pub fn push(&mut self, x: f64) {
        if self.count == 0 {
            self.min = x;
            self.max = x;
        } else {
            self.min = self.min.min(x);
            self.max = self.max.max(x);
        }
        self.count += 1;
        let delta = x - self.mean;
        self.mean += delta / self.count as f64;
        self.m2 += delta * (x - self.mean);
        self.sketch.push(x);
    }

    /// Largest sample, 0 without samples.
    pub fn max(&self) -> f64 {
        self.max
    }

    /// The statistics so far.
    pub fn finish(&self) -> TraceDistributionStats {
        if self.count == 0 {
            return TraceDistributionStats::default();
        }
        let at = |percent| self.sketch.percentile(percent);
        TraceDistributionStats {
            mean_ms: self.mean,
            min_ms: self.min,
            max_ms: self.max,
            median_ms: at(50.0),
            p75_ms: at(75.0),
            p90_ms: at(90.0),
            p95_ms: at(95.0),
            p99_ms: at(99.0),
            std_ms: (self.m2 / self.count as f64).sqrt(),
        }
    }
}
