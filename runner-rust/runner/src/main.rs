//! `aisimc-runner CONFIG_JSON OUTPUT_DIR` replays one frozen configuration in one fresh process;
//! `aisimc-runner --describe` says what the binary is. Exit 0 means that every file is complete;
//! otherwise one line on standard error says why and nothing half-written stands under its name.

mod config;
mod counters;
mod describe;
mod digest;
mod errors;
mod expected;
mod metadata;
mod output;
mod replay;
mod timing;
mod trace_check;

use std::ffi::OsString;
use std::io::Write;
use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

use errors::{Failure, Outcome};

const USAGE: &str = "usage: aisimc-runner CONFIG_JSON OUTPUT_DIR | aisimc-runner --describe";

fn main() -> ExitCode {
    let started = Instant::now();
    let arguments: Vec<OsString> = std::env::args_os().skip(1).collect();
    match dispatch(&arguments, started) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            // Nothing is left to do if standard error is gone too.
            let _ = writeln!(std::io::stderr(), "aisimc-runner: {}", failure.one_line());
            ExitCode::from(1)
        }
    }
}

fn dispatch(arguments: &[OsString], started: Instant) -> Outcome<()> {
    match arguments {
        [only] if only == "--describe" => print_line(&describe::describe()?.to_string()),
        [config, output] => run(Path::new(config), Path::new(output), started),
        _ => Err(Failure::new(USAGE)),
    }
}

fn print_line(text: &str) -> Outcome<()> {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{text}")
        .and_then(|()| out.flush())
        .map_err(|error| Failure::new(format!("standard output: {error}")))
}

/// One replay: check, replay, check the trace again, leave the files, compare the expectations.
fn run(config_path: &Path, output_path: &Path, started: Instant) -> Outcome<()> {
    let config = config::load(config_path)?;
    let folder = output::OutputFolder::claim(output_path)?;
    let result = match config.mode {
        config::Mode::Qualify => {
            replay::qualify(&config, started).map(replay::Qualified::into_files)
        }
        config::Mode::Timing => timing::measure(&config, started).map(|file| (vec![file], None)),
    };
    let (files, counters) = match result {
        Ok(done) => done,
        Err(failure) => {
            folder.abandon();
            return Err(failure);
        }
    };
    folder.write(&files)?;
    // The files stand even where an expectation fails: they are the evidence of how.
    counters.map_or(Ok(()), |counters| {
        expected::check(&config.expected, &counters)
    })
}
