//! Traffic: traces, their transformation, and the driver that releases requests in time.

mod driver;
mod mooncake;
mod prompt;
mod request;
mod trace;

pub use driver::WorkloadDriver;
pub use prompt::{Prompt, TokenRun};
pub use request::DirectRequest;
pub use trace::{SessionTrace, Trace, TurnTrace};
