//! Errors of a replay.

use thiserror::Error;

/// Result of a replay operation.
pub type ReplayResult<T> = Result<T, ReplayError>;

/// Why a replay could not be prepared or could not end.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ReplayError {
    /// The [`ReplaySpec`](super::ReplaySpec) contradicts itself or a bound.
    #[error("invalid replay spec: {0}")]
    InvalidSpec(String),
    /// The engine description is impossible, or asks for something this core does not model.
    #[error("engine error: {0}")]
    Engine(String),
    /// A scaling provider was asked for; the engine-only composition has none.
    #[error("scaling error: {0}")]
    Scaling(String),
    /// The replay reached a state from which it can never end.
    #[error("replay invariant violated: {0}")]
    Invariant(String),
    /// The trace could not be read or does not describe a workload.
    #[error("{0}")]
    Trace(String),
    /// A record could not be put into canonical form.
    #[error("canonical record: {0}")]
    Canonical(String),
}

impl ReplayError {
    /// Shorthand for [`ReplayError::InvalidSpec`].
    pub(crate) fn spec(text: impl Into<String>) -> Self {
        Self::InvalidSpec(text.into())
    }

    /// Shorthand for [`ReplayError::Engine`].
    pub(crate) fn engine(text: impl Into<String>) -> Self {
        Self::Engine(text.into())
    }
}
