//! The engine description: one rank's scheduler limits, and how many ranks make a worker.
//!
//! Field names, defaults and their order are those of the newest published build, because a
//! description is serialized back into the canonical record. [`workers`] has the shape of a worker
//! and its two roles, [`rank`] one scheduler's limits, [`words`] the closed vocabularies,
//! [`engines`] what only one engine has, and [`bounds`] what is refused.

mod bounds;
mod engines;
mod rank;
mod words;
mod workers;

pub use engines::{SchedulePolicy, SglangConfig, TrtllmCapacityPolicy, TrtllmConfig};
pub use rank::EngineConfig;
pub use words::{
    Backend, KvEvictionPolicy, KvTransferTimingMode, PreemptionMode, TimingModelConfig, WorkerType,
};
pub use workers::{ReplayEngineConfig, ReplayRoleConfig};
