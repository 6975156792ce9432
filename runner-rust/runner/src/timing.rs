//! `timing` mode: how long the prepared loop took, and nothing else.
//!
//! Only a core that separates preparing a replay from running its loop has the boundary
//! (feature `prepared-loop`); without it the mode is refused rather than replaced by a wider timer.

use std::time::Instant;

use crate::config::Config;
use crate::errors::{Failure, Outcome};
use crate::output::Finished;

/// Whether this binary can measure the loop alone.
pub const EXPOSED: bool = cfg!(feature = "prepared-loop");

/// Replay without any capture and report the loop's duration; `started` is when the process began.
#[cfg(feature = "prepared-loop")]
pub fn measure(config: &Config, started: Instant) -> Outcome<Finished> {
    use serde_json::json;

    use crate::{metadata, replay};

    let milliseconds = |duration: std::time::Duration| duration.as_secs_f64() * 1000.0;
    let engine = metadata::normalized_engine(&config.spec.engine)?;
    replay::check_trace(config, "before the replay")?;
    let setup = Instant::now();
    let prepared = replay::prepare(config, &engine, no_evidence())?
        .prepare()
        .map_err(|error| Failure::core("replay", error))?;
    let setup_ms = milliseconds(setup.elapsed());

    let around = Instant::now();
    let (in_loop, finished) = prepared
        .execute()
        .map_err(|error| Failure::core("replay", error))?;
    let around = around.elapsed();
    if in_loop.is_zero() || in_loop > around {
        return Err(Failure::new(format!(
            "timing: the core reports a loop of {in_loop:?}, but the call that holds it took {around:?}"
        )));
    }
    let replay_execution_ms = milliseconds(in_loop);
    drop(finished.into_report());
    let end_to_end_ms = milliseconds(started.elapsed());
    replay::check_trace(config, "after the replay")?;
    let times = json!({
        "replay_execution_ms": replay_execution_ms,
        "setup_ms": setup_ms,
        "end_to_end_ms": end_to_end_ms,
    });
    Ok(("timing.json", format!("{times}\n").into_bytes()))
}

#[cfg(not(feature = "prepared-loop"))]
pub fn measure(_config: &Config, _started: Instant) -> Outcome<Finished> {
    Err(Failure::new(
        "mode timing: the core of this revision does not separate the prepared loop, so replay_execution_ms cannot be measured",
    ))
}

// A later core may know more options; those keep their defaults.
#[cfg(feature = "prepared-loop")]
#[allow(clippy::needless_update)]
fn no_evidence() -> aisimulate_core::replay::ReplayCaptureOptions {
    aisimulate_core::replay::ReplayCaptureOptions {
        determinism: aisimulate_core::replay::ReplayDeterminism::CanonicalV1,
        ..aisimulate_core::replay::ReplayCaptureOptions::default()
    }
}
