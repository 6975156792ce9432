//! The binary as the runtime sees it: arguments, exit status, standard error and files.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use tempfile::TempDir;

const TRACE: &str = concat!(
    r#"{"timestamp": 0, "input_length": 4, "output_length": 2, "hash_ids": [1]}"#,
    "\n",
    r#"{"timestamp": 1, "input_length": 4, "output_length": 2, "hash_ids": [1]}"#,
    "\n",
);

/// A folder with a trace and a configuration beside it.
struct Row {
    folder: TempDir,
    config: Value,
}

impl Row {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        fs::write(folder.path().join("trace.jsonl"), TRACE).expect("writable");
        let sha256 = sha256(TRACE.as_bytes());
        let rank = json!({"backend": "vllm", "num_gpu_blocks": 16, "block_size": 4, "max_num_seqs": 4,
                          "max_num_batched_tokens": 64,
                          "timing_model": {"type": "fixed", "prefill_ms": 1.0, "decode_ms": 1.0}});
        let config = json!({
            "row_name": "two-rows", "trace_file": "trace.jsonl", "trace_sha256": sha256, "trace_rows": 2,
            "trace_block_size": 4, "arrival_speedup_ratio": 1.0, "trace_full_sha256": sha256, "trace_full_rows": 2,
            "trace_slice_start": 0, "metadata": {"note": "kept"},
            "spec": {"topology": {"kind": "aggregated", "workers": {"initial_workers": 1}},
                     "engine": {"rank": rank}, "requests": []}
        });
        Self { folder, config }
    }

    fn with(mut self, change: impl FnOnce(&mut Value)) -> Self {
        change(&mut self.config);
        self
    }

    fn output(&self) -> PathBuf {
        self.folder.path().join("out")
    }

    fn run(&self) -> Output {
        let config = self.folder.path().join("configuration.json");
        fs::write(&config, self.config.to_string()).expect("writable");
        runner(&[config.as_path(), &self.output()])
    }

    fn counters(&self) -> Value {
        serde_json::from_slice(
            &fs::read(self.output().join("qualification.jsonl")).expect("counters"),
        )
        .expect("JSON")
    }
}

fn runner(arguments: &[&Path]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_aisimc-runner"))
        .args(arguments)
        .env_clear()
        .output()
        .expect("the runner starts")
}

fn sha256(bytes: &[u8]) -> String {
    format!("{:x}", Sha256::digest(bytes))
}

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(folder)
        .expect("a folder")
        .map(|entry| {
            entry
                .expect("an entry")
                .file_name()
                .into_string()
                .expect("UTF-8")
        })
        .collect();
    names.sort();
    names
}

/// The one line on standard error of a run that must fail, leaving no output folder.
fn refusal(row: &Row) -> String {
    let result = row.run();
    assert!(!result.status.success(), "the run should have been refused");
    assert!(result.stdout.is_empty());
    let text = String::from_utf8(result.stderr).expect("UTF-8");
    assert_eq!(text.lines().count(), 1, "{text}");
    assert!(!row.output().exists(), "a refused run leaves no folder");
    text
}

#[test]
fn a_replay_leaves_its_record_and_its_counters() {
    let row = Row::new();
    let result = row.run();
    assert!(
        result.status.success(),
        "{}",
        String::from_utf8_lossy(&result.stderr)
    );
    assert!(result.stdout.is_empty() && result.stderr.is_empty());
    assert_eq!(
        names(&row.output()),
        ["canonical.jsonl", "qualification.jsonl"]
    );

    let line = fs::read(row.output().join("canonical.jsonl")).expect("the record");
    let record: Value = serde_json::from_slice(&line).expect("JSON");
    assert_eq!(
        format!("{record}\n").as_bytes(),
        line,
        "one compact line, keys sorted at every level"
    );
    assert_eq!(record["planner"], Value::Null);
    assert_eq!(
        record["metadata"]["campaign"],
        "aisimulate.engine-replay-parity.v1"
    );
    assert_eq!(record["metadata"]["note"], "kept");
    assert_eq!(
        record["metadata"]["workload"]["slice"],
        json!({"start_zero_based": 0, "rows": 2})
    );
    assert_eq!(record["metadata"]["engine"]["rank"]["num_gpu_blocks"], 16);
    assert_eq!(record["per_request"].as_array().map(Vec::len), Some(2));

    let counters = row.counters();
    assert_eq!(counters["canonical_sha256"], sha256(&line));
    assert_eq!(counters["completed_requests"], 2);
    assert_eq!(counters["total_output_tokens"], 4);
    assert_eq!(counters["decode_workers"], json!([0]));
    assert_eq!(counters["pressure_records"], 0);
    assert_eq!(
        counters["config_sha256"],
        sha256(row.config.to_string().as_bytes())
    );
}

#[test]
fn every_counter_of_the_contract_is_there() {
    let row = Row::new();
    assert!(row.run().status.success());
    let counters = row.counters();
    for name in [
        "row_name",
        "source_revision",
        "config_sha256",
        "runner_binary_sha256",
        "canonical_sha256",
        "completed_requests",
        "num_requests",
        "total_input_tokens",
        "total_output_tokens",
        "requested_output_tokens",
        "requests_with_short_output",
        "all_requests_full_output",
        "terminal_counts",
        "requests_with_reuse",
        "prefix_cache_reused_ratio",
        "first_admission_prefix_cache_reused_ratio",
        "prefill_workers",
        "decode_workers",
        "routing_counts",
        "handoffs_complete",
        "readmissions",
        "max_pressure_records_per_request",
        "vllm_preemptions",
        "sglang_retractions",
        "all_pressure_records_readmitted",
        "pressure_records",
        "lifecycle_operations",
        "kv_ingest_batches",
        "kv_ingest_events",
        "virtual_duration_ms",
        "reported_wall_time_ms",
        "measured_process_ms",
    ] {
        assert!(
            counters.get(name).is_some_and(|value| !value.is_null()),
            "{name}"
        );
    }
}

#[test]
fn two_processes_leave_the_same_canonical_bytes() {
    let digest = || {
        let row = Row::new();
        assert!(row.run().status.success());
        row.counters()["canonical_sha256"].clone()
    };
    assert_eq!(digest(), digest());
}

#[test]
fn the_full_report_comes_only_when_asked_for() {
    let row = Row::new().with(|config| config["write_full_report"] = json!(true));
    assert!(row.run().status.success());
    let report: Value =
        serde_json::from_slice(&fs::read(row.output().join("report.json")).expect("a report"))
            .expect("JSON");
    assert_eq!(report["summary"]["completed_requests"], 2);
    assert_eq!(report["per_request"].as_array().map(Vec::len), Some(2));
    assert!(report["runtime_evidence"].is_object());
}

#[test]
fn a_configuration_that_gives_a_revision_is_refused_by_name() {
    let row = Row::new().with(|config| config["source_revision"] = json!("0".repeat(40)));
    assert!(refusal(&row).contains("source_revision:"));
}

#[test]
fn an_unknown_key_is_refused() {
    let row = Row::new().with(|config| config["threads"] = json!(4));
    assert!(refusal(&row).contains("unknown field `threads`"));
}

#[test]
fn a_trace_that_is_not_the_declared_one_is_refused() {
    let row = Row::new().with(|config| config["trace_sha256"] = json!("0".repeat(64)));
    assert!(refusal(&row).contains("before the replay: its SHA-256 is"));
    let row = Row::new().with(|config| {
        config["trace_rows"] = json!(1);
    });
    assert!(refusal(&row).contains("it has 2 rows, the configuration says 1"));
    let row = Row::new().with(|config| config["trace_file"] = json!("absent.jsonl"));
    assert!(refusal(&row).contains("absent.jsonl"));
}

#[test]
fn an_output_folder_in_use_is_refused_and_untouched() {
    let row = Row::new();
    fs::create_dir(row.output()).expect("writable");
    fs::write(row.output().join("mine"), "kept").expect("writable");
    let result = row.run();
    assert!(!result.status.success());
    assert!(String::from_utf8_lossy(&result.stderr).contains("is not empty"));
    assert_eq!(names(&row.output()), ["mine"]);
}

#[test]
fn a_failed_expectation_fails_the_run_and_keeps_the_evidence() {
    let row = Row::new().with(|config| config["expected"] = json!({"completed_requests": 3}));
    let result = row.run();
    assert!(!result.status.success());
    let text = String::from_utf8_lossy(&result.stderr).into_owned();
    assert!(
        text.contains("expected completed_requests = 3, found 2"),
        "{text}"
    );
    assert_eq!(
        names(&row.output()),
        ["canonical.jsonl", "qualification.jsonl"]
    );
}

#[test]
fn concurrency_admits_at_most_the_declared_number() {
    let admissions = |limit: Value| {
        let row = Row::new().with(|config| {
            config["spec"]["max_in_flight"] = limit;
            config["write_full_report"] = json!(true);
        });
        let result = row.run();
        assert!(
            result.status.success(),
            "{}",
            String::from_utf8_lossy(&result.stderr)
        );
        let report: Value =
            serde_json::from_slice(&fs::read(row.output().join("report.json")).expect("a report"))
                .expect("JSON");
        let mut times: Vec<f64> = report["per_request"]
            .as_array()
            .expect("records")
            .iter()
            .map(|record| record["first_admit_ms"].as_f64().expect("an admission"))
            .collect();
        times.sort_by(f64::total_cmp);
        (
            times,
            row.counters()["virtual_duration_ms"]
                .as_f64()
                .expect("a duration"),
        )
    };
    let (one_at_a_time, _) = admissions(json!(1));
    let (together, _) = admissions(json!(2));
    assert!(
        together[1] < one_at_a_time[1],
        "{together:?} {one_at_a_time:?}"
    );
}

#[test]
fn a_time_limit_cuts_the_replay_off() {
    let row = Row::new().with(|config| config["spec"]["max_sim_time_ms"] = json!(1.5));
    let result = row.run();
    assert!(
        result.status.success(),
        "{}",
        String::from_utf8_lossy(&result.stderr)
    );
    let counters = row.counters();
    assert!(
        counters["completed_requests"].as_u64() < Some(2),
        "{counters}"
    );
    assert_eq!(counters["all_requests_full_output"], json!(false));
}

#[test]
fn wrong_arguments_show_the_usage() {
    let result = runner(&[Path::new("only-one")]);
    assert!(!result.status.success());
    assert!(
        String::from_utf8_lossy(&result.stderr)
            .contains("usage: aisimc-runner CONFIG_JSON OUTPUT_DIR")
    );
}

#[test]
fn the_description_is_one_json_object() {
    let result = runner(&[Path::new("--describe")]);
    assert!(
        result.status.success(),
        "{}",
        String::from_utf8_lossy(&result.stderr)
    );
    let described: Value = serde_json::from_slice(&result.stdout).expect("JSON");
    assert_eq!(described["contract"], 1);
    assert_eq!(described["determinism"], json!(["canonical_v1"]));
    assert_eq!(
        described["exclusions"],
        json!([
            "/summary/wall_time_ms",
            "/summary/processed_tokens_per_s",
            "/summary/processed_output_tokens_per_s",
            "/planner/html_report_path"
        ])
    );
    let matrix: Vec<&str> = described["matrix"]
        .as_array()
        .expect("a list")
        .iter()
        .filter_map(Value::as_str)
        .collect();
    for id in [
        "vllm-aggregated",
        "vllm-disaggregated",
        "vllm-disaggregated-adp2-4",
        "sglang-aggregated",
        "sglang-disaggregated",
        "sglang-disaggregated-adp2-4",
        "trtllm-aggregated",
        "trtllm-disaggregated-adp2-4",
    ] {
        assert!(matrix.contains(&id), "{id} is not in {matrix:?}");
    }
    assert_eq!(
        described["exposes_replay_execution_ms"],
        json!(cfg!(feature = "prepared-loop"))
    );
}

#[cfg(feature = "prepared-loop")]
#[test]
fn timing_mode_leaves_the_times_and_nothing_else() {
    let row = Row::new().with(|config| config["mode"] = json!("timing"));
    let result = row.run();
    assert!(
        result.status.success(),
        "{}",
        String::from_utf8_lossy(&result.stderr)
    );
    assert_eq!(names(&row.output()), ["timing.json"]);
    let times: Value =
        serde_json::from_slice(&fs::read(row.output().join("timing.json")).expect("times"))
            .expect("JSON");
    let of = |key: &str| times[key].as_f64().expect("a number");
    assert!(of("replay_execution_ms") > 0.0 && of("setup_ms") > 0.0);
    assert!(of("end_to_end_ms") > of("replay_execution_ms") + of("setup_ms"));
}

#[cfg(not(feature = "prepared-loop"))]
#[test]
fn timing_mode_is_refused_where_the_core_has_no_boundary() {
    let row = Row::new().with(|config| config["mode"] = json!("timing"));
    assert!(refusal(&row).contains("does not separate the prepared loop"));
}
