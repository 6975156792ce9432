"""Whole campaigns on published builds and the real window, each ending as the builds are known to behave."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest

from tests.builders.schemas import problems
from tests.campaigns.wheels import BUILDS, Place, campaign, sglang, trtllm, vllm

pytestmark = [pytest.mark.wheels, pytest.mark.slow]


def rows_of(report: Path) -> dict[str, dict[str, object]]:
    document = json.loads((report / "report.json").read_bytes())
    assert problems("report", document) == []
    return {row["name"]: row for row in document["rows"]}


def test_consecutive_builds_agree_byte_for_byte(place: Place, conversation: bytes) -> None:
    spec = place.write(campaign(conversation, vllm(), sglang(), trtllm()))
    done = place.run(spec)
    assert done.status == 0, done.stdout + done.stderr
    assert done.verdict["semantic"] == "PASS"
    folder = place.run_folder()
    assert {path.name for path in folder.iterdir()} >= {"plan.json", "journal.jsonl", "report.json", "report.md"}
    for row in rows_of(folder):
        assert list((folder / "rows" / row / "replays").glob("*/canonical.jsonl")) == []
        assert len(list((folder / "rows" / row / "replays").glob("*/digests.json"))) == 4
        assert not (folder / "rows" / row / "conversation.jsonl").exists()
    actions = [event["action"] for event in place.journal() if event["event"] == "done"]
    assert actions.index("barrier") < min(i for i, action in enumerate(actions) if action.startswith("replay/"))
    assert json.loads((folder / "inputs.json").read_bytes())["conversation"]["unchanged"] is True


def test_a_finished_run_shows_its_verdict_and_again_runs_afresh(place: Place, conversation: bytes) -> None:
    spec = place.write(campaign(conversation, trtllm()))
    first = place.run(spec)
    events = len(place.journal())
    second = place.run(spec)
    assert second.verdict == first.verdict
    assert "nothing was run now; `--again` starts another" in second.stderr
    assert "nothing was run now" not in first.stderr
    assert len(place.journal()) == events
    third = place.run(spec, "--again")
    assert third.verdict["report_digest"] == first.verdict["report_digest"]
    assert third.verdict["run"] == first.verdict["run"] + "-2"


def test_a_saved_plan_runs_as_the_campaign_does(place: Place, conversation: bytes) -> None:
    spec = place.write(campaign(conversation, trtllm()))
    first = place.run(spec)
    plan = place.folder / "elsewhere" / "plan.json"
    plan.parent.mkdir()
    plan.write_bytes((place.run_folder() / "plan.json").read_bytes())
    second = place.run(plan, "--runs", str(place.folder / "others"))
    assert second.verdict["report_digest"] == first.verdict["report_digest"]


def test_a_pair_that_is_known_to_differ_fails_where_it_parts(place: Place, conversation: bytes) -> None:
    done = place.run(place.write(campaign(conversation, vllm(), baseline="82", candidate="85")))
    assert done.status == 1
    folder = place.run_folder()
    kept = sorted(path.parent.name for path in folder.glob("rows/*/replays/*/canonical.jsonl"))
    assert kept == ["baseline-1", "candidate-1"]
    found = json.loads((folder / "rows" / "vllm-aggregated" / "difference.json").read_bytes())
    patterns = {entry["pattern"] for entry in found["classes"]}
    assert patterns == {"/per_request/*/first_admission_reused_input_tokens"}


def test_a_build_without_canonical_mode_is_unstable(place: Place, conversation: bytes) -> None:
    spec = place.write(campaign(conversation, trtllm(), baseline="54", candidate="54"))
    done = place.run(spec)
    assert done.status == 1
    assert any("unstable" in reason and "uuid" in reason for reason in done.verdict["reasons"])
    row = place.run_folder() / "rows" / "trtllm-aggregated"
    assert (row / "instability-baseline.json").is_file()
    assert len(list(row.glob("replays/*/canonical.jsonl"))) == 4


def test_the_declared_correction_makes_it_stable(place: Place, conversation: bytes) -> None:
    spec = place.write(
        campaign(conversation, trtllm(), baseline="54", candidate="54", correction="correction stable_request_identity")
    )
    done = place.run(spec)
    assert done.status == 0, done.stdout + done.stderr
    artifacts = json.loads((place.run_folder() / "artifacts.json").read_bytes())
    names = {arm: [entry["name"] for entry in artifact["correction"]] for arm, artifact in artifacts.items()}
    assert names == {"baseline": ["stable_request_identity"], "candidate": ["stable_request_identity"]}


def test_readmissions_that_count_chunks_are_missing_evidence(place: Place, conversation: bytes) -> None:
    spec = place.write(
        campaign(
            conversation,
            sglang(more=""),
            baseline="dev2",
            candidate="dev2",
            correction="correction stable_request_identity",
        )
    )
    done = place.run(spec)
    assert done.status == 1
    assert any("chunk" in reason for reason in done.verdict["reasons"]), done.verdict["reasons"]


class TestRefusedBeforeAnything:
    """Blocked with one line and exit 3, before the first replay."""

    def blocked(self, place: Place, text: str) -> str:
        """What was said on standard error."""
        done = place.run(place.write(text))
        assert done.status == 3, done.stdout + done.stderr
        assert (done.verdict["state"], done.verdict["semantic"]) == ("blocked", None)
        assert done.stderr.startswith("aisimc: error: ")
        assert not any(event["action"].startswith("replay/") for event in place.journal())
        return done.stderr

    def test_a_wheel_with_another_hash(self, place: Place, conversation: bytes) -> None:
        text = campaign(conversation, trtllm()).replace(BUILDS["81"][1], "0" * 64)
        said = self.blocked(place, text)
        assert "is not what was pinned" in said
        assert "aisimc pin" in said

    def test_a_version_that_was_never_published(self, place: Place, conversation: bytes) -> None:
        text = (
            campaign(conversation, trtllm()).replace(BUILDS["81"][0], "0.13.0.dev1").replace(BUILDS["81"][1], "1" * 64)
        )
        assert "has no wheel aisimulate==0.13.0.dev1" in self.blocked(place, text)

    def test_no_index_and_no_wheel(self, place: Place, conversation: bytes) -> None:
        alone = Place(place.folder, place.folder / "empty", more={"PIP_INDEX_URL": "https://127.0.0.1:9/simple",
                                                                   "PIP_FIND_LINKS": ""})  # fmt: skip
        said = self.blocked(alone, campaign(conversation, trtllm()))
        assert "cannot be reached" in said
        assert "aisimc store add FILE.whl" in said

    def test_a_truncated_trace(self, place: Place, conversation: bytes) -> None:
        (place.folder / "traces").mkdir()
        (place.folder / "traces" / "conversation_trace.jsonl").write_bytes(conversation[:-1000])
        alone = Place(place.folder, place.store, inputs=str(place.folder / "traces"))
        said = self.blocked(alone, campaign(conversation, trtllm()))
        assert all(words in said for words in ("input conversation", "rows, not 12031", "aisimc store add"))

    def test_a_capacity_that_holds_no_request(self, place: Place, conversation: bytes) -> None:
        said = self.blocked(place, campaign(conversation, trtllm(100)))
        assert "row.capacity" in said
        assert "100 blocks of 32 tokens cannot hold" in said.splitlines()[0]

    def test_a_broken_row(self, place: Place, conversation: bytes) -> None:
        lines = conversation.splitlines(keepends=True)
        lines[49] = lines[49].replace(b'"timestamp"', b'"timestmap"')
        trace = b"".join(lines)
        (place.folder / "broken.jsonl").write_bytes(trace)
        alone = Place(place.folder, place.store, inputs=str(place.folder))
        error = self.blocked(alone, campaign(trace, trtllm())).splitlines()[0]
        assert "line 50, `timestmap`: unknown key" in error
        assert hashlib.sha256(trace).hexdigest() in (place.run_folder() / "plan.json").read_text()

    def test_a_store_that_cannot_be_written(self, place: Place, conversation: bytes) -> None:
        (place.folder / "file").write_text("")
        alone = Place(place.folder, place.folder / "file" / "store")
        done = alone.run(alone.write(campaign(conversation, trtllm())))
        assert done.status == 3
        assert "the store cannot be at" in done.stderr
        assert not (place.folder / ".aisimc").exists()


def test_a_run_folder_in_use_is_left_alone(place: Place, conversation: bytes) -> None:
    spec = place.write(campaign(conversation, trtllm(), count=2000))
    first = place.start("run", "--quiet", "--json", spec)
    try:
        while not list(place.folder.glob(".aisimc/runs/*/journal.jsonl")):
            assert first.poll() is None
        second = place.run(spec)
        assert second.status == 3
        assert "is being run already" in second.stderr
    finally:
        stdout, _ = first.communicate(timeout=120)
    assert json.loads(stdout)["semantic"] == "PASS"


REFUSED = """
row sglang-odd-blocks {
  family = window
  engine = sglang
  topology aggregated { workers = 2 }
  capacity { num_gpu_blocks = 5_000 block_size = 48 max_num_seqs = 256 max_num_batched_tokens = 32_768 }
  expect_error = "%s"
}
"""
TRTLLM_DISAGGREGATED = """
unsupported trtllm-disaggregated {
  on     = baseline
  reason = "builds before September know no TRT-LLM disaggregation"
}
row trtllm-disaggregated {
  family = window
  engine = trtllm
  topology disaggregated {
    prefill { workers = 2 }
    decode  { workers = 2 }
    transfer { bytes_per_token = 1 B bandwidth = 100 GB/s mode = full_prompt latency = 0 ms }
  }
  capacity { num_gpu_blocks = 3_950 block_size = 32 max_num_seqs = 16 max_num_batched_tokens = 8_192 }
  evidence { handoffs = all }
}
"""


@pytest.mark.parametrize(("words", "status"), [("must be divisible by block_size", 0), ("something else", 1)])
def test_a_row_that_must_be_refused_is_refused_with_those_words(
    place: Place, conversation: bytes, words: str, status: int
) -> None:
    done = place.run(place.write(campaign(conversation, REFUSED % words)))
    assert done.status == status, done.stdout
    row = place.run_folder() / "rows" / "sglang-odd-blocks"
    assert sorted(path.name for path in (row / "replays").iterdir()) == ["baseline-1", "candidate-1"]
    process = json.loads((row / "replays" / "baseline-1" / "process.json").read_bytes())
    assert "sglang.chunked_prefill_size must be divisible by block_size" in process["error"]


def test_a_row_that_the_baseline_cannot_run_is_qualified_on_the_candidate_alone(
    place: Place, conversation: bytes
) -> None:
    text = campaign(
        conversation,
        TRTLLM_DISAGGREGATED,
        baseline="dev2",
        candidate="54",
        correction="correction stable_request_identity",
    )
    done = place.run(place.write(text))
    assert done.status == 0, done.stdout
    assert done.verdict["semantic"] == "PASS_WITH_SEMANTIC_EXCEPTIONS"
    row = place.run_folder() / "rows" / "trtllm-disaggregated"
    assert sorted(path.name for path in (row / "replays").iterdir()) == ["baseline-1", "candidate-1", "candidate-2"]
    assert not (row / "evidence" / "baseline.json").exists()
    refused = json.loads((row / "replays" / "baseline-1" / "process.json").read_bytes())
    assert refused["exit_status"] == 1


EXCEPTION = """
exception first-reuse-is-reported {{
  row         = vllm-aggregated
  differs     = [/per_request/*/first_admission_reused_input_tokens]
  requests    = all
  baseline    = "does not say how much of a prompt its first admission reused"
  candidate   = "says it"
  source      = "the record's own admission history"
  cause       = "a field more; no value moved"
  impact      = "readers that list the fields see one more"
  disposition = "accepted in review"
  regression_test {{
    command   = ["sh", "check.sh"]
    fails_on  = baseline
    passes_on = candidate
  }}
}}
"""
CHECK = """
echo "$AISIMC_ARM $AISIMC_REVISION"
sha256sum "$AISIMC_ARTIFACT" | grep -q '{word}'
"""


@pytest.mark.parametrize(("word", "status"), [("^5633bb2b9716", 0), (".", 1), ("^no digest", 1)])
def test_a_covered_difference_needs_a_test_that_tells_the_arms_apart(
    place: Place, conversation: bytes, word: str, status: int
) -> None:
    (place.folder / "check.sh").write_text(CHECK.format(word=word))
    text = campaign(conversation, vllm(), EXCEPTION.format(), baseline="82", candidate="85")
    done = place.run(place.write(text))
    assert done.status == status, done.stdout
    assert done.verdict["semantic"] == ("FAIL" if status else "PASS_WITH_SEMANTIC_EXCEPTIONS")
    folder = place.run_folder() / "exceptions" / "first-reuse-is-reported"
    outcomes = {arm: json.loads((folder / f"{arm}.json").read_bytes()) for arm in ("baseline", "candidate")}
    assert outcomes["candidate"]["stdout"].startswith(f"candidate aisimulate=={BUILDS['85'][0]}")
    assert [outcomes[arm]["passed"] for arm in ("baseline", "candidate")] == {
        "^5633bb2b9716": [False, True],  # the runtime of build 85
        ".": [True, True],
        "^no digest": [False, False],
    }[word]


def test_the_nightly_campaign_as_it_stands(place: Place, conversation: bytes, root: Path) -> None:
    """Eight rows, 32 replays of 5,000 requests: PASS with the pressure events that belong to each row."""
    assert conversation
    done = place.aisimc("run", "--json", "--quiet", root / "specs" / "nightly-conversation.campaign", timeout_s=1800)
    assert done.status == 0, done.stdout + done.stderr
    assert done.verdict["semantic"] == "PASS"
    counters = {
        row.name: json.loads((row / "replays" / "candidate-2" / "qualification.jsonl").read_bytes())
        for row in (place.run_folder() / "rows").iterdir()
    }
    assert {name: (found["pressure_records"], found["virtual_duration_ms"]) for name, found in counters.items()} == {
        "vllm-aggregated": (1, 1110915.2751609802),
        "vllm-disaggregated": (3, 1366849.549262578),
        "vllm-disaggregated-adp2-4": (1, 461135.131352902),
        "sglang-aggregated": (1, 814228.009211981),
        "sglang-disaggregated": (2, 811967.4785896792),
        "sglang-disaggregated-adp2-4": (3, 422238.9085789609),
        "trtllm-aggregated": (0, 2367479.6200058954),
        "trtllm-disaggregated-adp2-4": (0, 1431522.0264413236),
    }
