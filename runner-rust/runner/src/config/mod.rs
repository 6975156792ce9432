//! The frozen configuration: its keys are those of AI Simulate's own qualification configurations.

use std::path::{Path, PathBuf};

use aisimulate_core::replay::ReplaySpec;
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::digest::sha256_hex;
use crate::errors::{Failure, Outcome};

/// What the process is to leave behind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// Canonical record and counters.
    #[default]
    Qualify,
    /// Only how long the prepared loop took.
    Timing,
}

/// The configuration file. Unknown keys are refused.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    pub row_name: String,
    pub trace_file: String,
    pub trace_sha256: String,
    pub trace_rows: u64,
    pub trace_block_size: usize,
    #[serde(default = "one")]
    pub arrival_speedup_ratio: f64,
    /// Where the trace is published; absent for a local or generated one.
    #[serde(default)]
    pub trace_upstream_repository: Option<String>,
    #[serde(default)]
    pub trace_upstream_commit: Option<String>,
    #[serde(default)]
    pub trace_upstream_path: Option<String>,
    pub trace_full_sha256: String,
    pub trace_full_rows: u64,
    #[serde(default)]
    pub trace_slice_start: u64,
    #[serde(default = "single")]
    pub iterations: u32,
    #[serde(default = "yes")]
    pub capture_canonical: bool,
    #[serde(default)]
    pub write_full_report: bool,
    #[serde(default)]
    pub metadata: Map<String, Value>,
    #[serde(default)]
    pub expected: Map<String, Value>,
    #[serde(default)]
    pub mode: Mode,
    pub spec: ReplaySpec,
    /// SHA-256 of the file's bytes.
    #[serde(skip)]
    pub sha256: String,
    /// Where the trace is.
    #[serde(skip)]
    pub trace_path: PathBuf,
}

fn one() -> f64 {
    1.0
}

fn single() -> u32 {
    1
}

fn yes() -> bool {
    true
}

/// Read and check the configuration at `path`.
pub fn load(path: &Path) -> Outcome<Config> {
    let shown = path.display();
    let bytes = std::fs::read(path)
        .map_err(|error| Failure::new(format!("configuration {shown}: {error}")))?;
    let mut config = parse(&bytes)
        .map_err(|failure| Failure::core(&format!("configuration {shown}"), failure.one_line()))?;
    config.trace_path = locate_trace(path, &config.trace_file)?;
    Ok(config)
}

/// Parse and check the bytes of a configuration; the trace is not looked for.
pub fn parse(bytes: &[u8]) -> Outcome<Config> {
    let value: Value = serde_json::from_slice(bytes)
        .map_err(|error| Failure::new(format!("not JSON: {error}")))?;
    if value.get("source_revision").is_some() {
        return Err(Failure::new(
            "source_revision: the revision is the one built into this binary; a configuration may not give one",
        ));
    }
    let mut config: Config =
        serde_json::from_slice(bytes).map_err(|error| Failure::new(error.to_string()))?;
    config.sha256 = sha256_hex(bytes);
    config.check()?;
    Ok(config)
}

/// The trace beside the configuration; only a bare name or an absolute path is accepted, so that
/// one configuration means the same bytes wherever both arms run it.
fn locate_trace(config: &Path, name: &str) -> Outcome<PathBuf> {
    let trace = Path::new(name);
    if trace.is_absolute() {
        return Ok(trace.to_path_buf());
    }
    if trace.file_name().is_none_or(|bare| bare != name) {
        return Err(Failure::new(format!(
            "trace_file: {name:?} is neither a bare file name beside the configuration nor an absolute path"
        )));
    }
    Ok(config.parent().unwrap_or(Path::new("")).join(trace))
}

impl Config {
    fn check(&self) -> Outcome<()> {
        not_blank("row_name", &self.row_name)?;
        not_blank("trace_file", &self.trace_file)?;
        for (key, text) in [
            ("trace_upstream_repository", &self.trace_upstream_repository),
            ("trace_upstream_commit", &self.trace_upstream_commit),
            ("trace_upstream_path", &self.trace_upstream_path),
        ] {
            if let Some(text) = text {
                not_blank(key, text)?;
            }
        }
        if self.iterations != 1 {
            return Err(Failure::new(format!(
                "iterations: one replay per process, got {}",
                self.iterations
            )));
        }
        if self.trace_block_size == 0 {
            return Err(Failure::new("trace_block_size: must be positive"));
        }
        self.check_slice()?;
        let ratio = self.arrival_speedup_ratio;
        if !ratio.is_finite() || ratio <= 0.0 {
            return Err(Failure::new(format!(
                "arrival_speedup_ratio: must be finite and positive, got {ratio}"
            )));
        }
        self.check_spec()
    }

    fn check_slice(&self) -> Outcome<()> {
        digest("trace_sha256", &self.trace_sha256)?;
        digest("trace_full_sha256", &self.trace_full_sha256)?;
        if self.trace_rows == 0 {
            return Err(Failure::new("trace_rows: must be positive"));
        }
        let fits = self
            .trace_full_rows
            .checked_sub(self.trace_rows)
            .is_some_and(|last_start| self.trace_slice_start <= last_start);
        if fits {
            return Ok(());
        }
        Err(Failure::new(format!(
            "trace_slice_start: {} rows from row {} do not lie inside the {} rows of the full file",
            self.trace_rows, self.trace_slice_start, self.trace_full_rows
        )))
    }

    fn check_spec(&self) -> Outcome<()> {
        if !self.spec.requests.is_empty() {
            return Err(Failure::new(
                "spec.requests: must be empty; the trace gives the requests",
            ));
        }
        for (role, provider, only) in [
            (
                "placement",
                &self.spec.adapters.placement.provider,
                "round_robin",
            ),
            ("scaling", &self.spec.adapters.scaling.provider, "none"),
        ] {
            if provider != only {
                return Err(Failure::new(format!(
                    "spec.adapters.{role}: engine-only replay has only {only:?}, got {provider:?}"
                )));
            }
        }
        self.spec
            .validate()
            .map_err(|error| Failure::core("spec", error))
    }
}

fn not_blank(key: &str, text: &str) -> Outcome<()> {
    if text.trim().is_empty() {
        return Err(Failure::new(format!("{key}: must not be blank")));
    }
    Ok(())
}

fn digest(key: &str, text: &str) -> Outcome<()> {
    let hex = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
    if text.len() == 64 && text.bytes().all(hex) {
        return Ok(());
    }
    Err(Failure::new(format!(
        "{key}: not a SHA-256 in 64 lower-case hexadecimal digits: {text:?}"
    )))
}

#[cfg(test)]
mod tests;
