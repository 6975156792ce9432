//! One-call entry points.

use std::sync::Arc;

use super::error::ReplayResult;
use super::factory::{ReplayEngineFactory, TimingModel};
use super::options::ReplayCaptureOptions;
use super::replayer::Replayer;
use super::report::ReplayReport;
use super::spec::ReplaySpec;

/// Replay a specification with the timing that its engine description names.
///
/// # Errors
/// As [`Replayer::run`].
pub fn run_engine_replay(spec: ReplaySpec) -> ReplayResult<ReplayReport> {
    run_engine_replay_with_optional_role_timing(spec, None, None)
}

/// Replay with one timing model for every role.
///
/// # Errors
/// As [`Replayer::run`].
pub fn run_engine_replay_with_timing(
    spec: ReplaySpec,
    timing: Arc<dyn TimingModel>,
) -> ReplayResult<ReplayReport> {
    run_engine_replay_with_optional_role_timing(spec, Some(timing.clone()), Some(timing))
}

/// Replay with a timing model per role; where absent, the description's own.
///
/// # Errors
/// As [`Replayer::run`].
pub fn run_engine_replay_with_optional_role_timing(
    spec: ReplaySpec,
    prefill: Option<Arc<dyn TimingModel>>,
    decode: Option<Arc<dyn TimingModel>>,
) -> ReplayResult<ReplayReport> {
    let options = ReplayCaptureOptions {
        capture_per_request: spec.record_per_request,
        ..ReplayCaptureOptions::default()
    };
    let factory = ReplayEngineFactory::new().with_optional_role_timing_models(prefill, decode);
    Replayer::new(spec, factory)?
        .with_capture_options(options)
        .run()
}
