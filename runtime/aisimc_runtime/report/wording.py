"""Words that every rendering of a report shares, so that they all say the same."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from aisimc_compiler.rules.refusal import plural
from aisimc_runtime.compare.literals import Change
from aisimc_runtime.compare.words import SPELLING, cell
from aisimc_runtime.sizes import in_ms, signed

ENGINES = {"vllm": "vLLM", "sglang": "SGLang", "trtllm": "TRT-LLM"}
EVENTS = {"vllm": "preemptions", "sglang": "retractions", "trtllm": "evictions"}

RESULTS = {
    "PASS_WITH_SEMANTIC_EXCEPTIONS": "PASS with exceptions",
    "NOT_COVERED": "not covered",
    "INCOMPLETE": "not finished",
}
ARROW = " → "
ARROWS = "→ leads from the baseline to the candidate, where they differ"
DIFFERS = " ≠ "
_ENDS = "/per_request/*/terminal_time_ms"
VERDICTS = {
    "PASS": "The candidate replays every row as the baseline does, byte for byte.",
    "PASS_WITH_SEMANTIC_EXCEPTIONS": "Every difference is covered by an exception record with a regression test.",
    "FAIL": "The candidate is not qualified against the baseline.",
}


def headline(report: dict[str, Any]) -> str:
    """The verdict in capitals: a semantic result, or BLOCKED or INCOMPLETE where there is none."""
    verdict = report["verdict"]
    return str(verdict["semantic"] or verdict["state"]).upper()


def explanation(report: dict[str, Any]) -> str:
    """One sentence below the headline."""
    verdict = report["verdict"]
    if verdict["semantic"] is None:
        kept = "What was collected is kept; running the campaign again continues it."
        state = "could not be carried out as pinned" if verdict["state"] == "blocked" else "is not finished"
        return f"The campaign {state}, so it has no semantic result. {kept}"
    if verdict["semantic"] == "PASS" and not any(row["result"] == "PASS" for row in report["rows"]):
        return "No row was qualified."
    return VERDICTS[verdict["semantic"]]


def performance(report: dict[str, Any]) -> str:
    """The performance result, or that there is none."""
    found = report["verdict"]["performance"]
    if found is None:
        return "not measured (the campaign declares no gate)"
    return str(found).replace("_", " ").lower() if found == "NOT_MEASURED" else str(found)


def corpus(report: dict[str, Any]) -> str:
    """What kind of campaign this is, in words."""
    campaign = report["campaign"]
    kind = "long corpus" if campaign["corpus"] == "long" else "preflight corpus, not a long one"
    matrix = "authoritative matrix" if campaign["matrix"] == "authoritative" else "focused, not the whole matrix"
    return f"{kind}; {matrix}" + ("; self-check of one revision" if campaign.get("self_check") else "")


def revision(pinned: dict[str, Any]) -> str:
    """A pinned revision on one line."""
    if pinned["source"] == "wheel":
        return str(pinned["requirement"])
    if pinned["source"] == "checkout":
        return f"{pinned['repository']} @ {pinned['commit']}"
    patch = pinned.get("patch")
    return f"embedded {pinned.get('core', 'engine')} {str(pinned['sha256'])[:12]}" + (
        f" with patch {str(patch['sha256'])[:12]}" if patch else ""
    )


def revision_name(pinned: dict[str, Any]) -> str:
    """A pinned revision by name alone, where its digests stand beside it in full."""
    if pinned["source"] != "embedded":
        return revision(pinned)
    patch = pinned.get("patch")
    return f"embedded {pinned.get('core', 'engine')}" + (f" with patch {patch['file']}" if patch else "")


def relation(report: dict[str, Any]) -> str:
    """How the two revisions are related."""
    found = report.get("relation")
    if found is None:
        return "one revision against itself" if report["campaign"].get("self_check") else "not stated"
    return "the baseline is an ancestor of the candidate" if found["kind"] == "ancestor" else str(found["text"])


def topology(found: dict[str, Any]) -> str:
    """A topology in short: `4 workers`, `2P + 2D`, `2P x dp 2 + 2D x dp 4`."""
    if found["kind"] == "aggregated":
        return f"{found['workers']} worker{'s' if found['workers'] != 1 else ''}{_dp(found)}"
    return " + ".join(f"{found[role]['workers']}{role[0].upper()}{_dp(found[role])}" for role in ("prefill", "decode"))


def _dp(pool: dict[str, Any]) -> str:
    return f" × dp {pool['dp']}" if pool.get("dp", 1) != 1 else ""


def pressure(evidence: dict[str, Any]) -> str:
    """Pressure events in an arm's evidence, or that they cannot be told."""
    events = evidence["pressure"]["events"]
    return "cannot be told" if events is None else str(events)


def both(row: dict[str, Any], of: Callable[[dict[str, Any]], str], joint: str = ARROW) -> str:
    """A figure of the row's evidence: once where the arms agree or only one has it, else baseline → candidate."""
    found = [row["arms"][arm]["evidence"] for arm in ("baseline", "candidate")]
    return joint.join(dict.fromkeys(of(evidence) for evidence in found if evidence is not None)) or "–"


def both_pressures(row: dict[str, Any], joint: str = ARROW) -> str:
    """Pressure events of the row."""
    return both(row, pressure, joint)


def requests(row: dict[str, Any]) -> str:
    """How many requests the row's records hold."""
    return both(row, lambda evidence: f"{evidence['requests']:,}")


def virtual_ms(row: dict[str, Any], joint: str = ARROW) -> str:
    """The row's virtual duration in ms."""
    return both(row, lambda evidence: milliseconds(evidence["virtual_duration_ms"]), joint)


def arrows(report: dict[str, Any]) -> str:
    """The note below a table of rows: what an arrow in it means; empty where there is none."""
    shown = any(
        ARROW in text for row in report["rows"] for text in (both_pressures(row), requests(row), virtual_ms(row))
    )
    return ARROWS if shown else ""


def pressure_words(row: dict[str, Any]) -> str:
    """Pressure events of the row with their name; empty where nothing was run."""
    found, name = both_pressures(row), EVENTS[row["engine"]]
    if found == "–":
        return ""
    if found == "cannot be told":
        return f"{name} cannot be told"
    return f"{found} {name.removesuffix('s') if found == '1' else name}"


def result(row: dict[str, Any]) -> str:
    """A row's result in a word or two."""
    return RESULTS.get(row["result"], str(row["result"]))


def digest_cell(row: dict[str, Any]) -> str:
    """The row's digest in short; both where they differ, and what else there is to say."""
    shorts = {arm: [digest[:12] for digest in row["arms"][arm]["digests"]] for arm in ("baseline", "candidate")}
    if any(len(found) > 1 for found in shorts.values()):
        arms = [arm for arm, found in shorts.items() if len(found) > 1]
        return f"{' and '.join(arms)} unstable"
    found = list(dict.fromkeys(found[0] for found in shorts.values() if found))
    return DIFFERS.join(found) if found else "–"


def parting(difference: dict[str, Any] | None) -> str:
    """Where the two sides part, on one line."""
    if difference is None:
        return ""
    found = difference["first_parting"]
    if found is None:
        return cell(difference, "")
    return f"{in_ms(found['at_ms'])} ms, {found['request']} {found['field'].lstrip('/')}"


def no_parting(difference: dict[str, Any]) -> str:
    """A sentence in place of the first parting, where no two points in virtual time differ."""
    if difference.get("same_values"):
        return f"the values are the same: {SPELLING}"
    return "no point in virtual time differs"


def spread(difference: dict[str, Any]) -> str:
    """How far a difference goes, in requests, values and classes."""
    counts = difference["requests"]
    return (
        f"{counts['differing']:,} of {plural(counts['compared'], 'request')} differ{_ends(difference)}, "
        f"{plural(difference['values'], 'value')} in {plural(difference['classes_in_all'], 'class', 'classes')}"
    )


def _ends(difference: dict[str, Any]) -> str:
    """How many of the requests that differ end at another time; empty where the difference does not tell."""
    listed = difference["classes"]
    ends = [entry for entry in listed if entry["pattern"] == _ENDS and entry["change"] == Change.VALUE]
    if ends:
        number = ends[0]["requests"]
        return f" ({number:,} {'ends' if number == 1 else 'end'} at another time)"
    parting = difference["first_parting"]
    own = (parting or {}).get("record") or {}
    known = all("/terminal_time_ms" in (own.get(side) or {}) for side in ("a", "b"))
    whole = len(listed) == difference["classes_in_all"] and not any(entry["pattern"] == _ENDS for entry in listed)
    return " (none ends at another time)" if known and whole and not only_on(difference, ("", "")) else ""


def only_on(difference: dict[str, Any], names: tuple[str, str]) -> list[str]:
    """What is said of requests that one side alone has, and of their order."""
    found = [
        f"{plural(len(difference['requests'][key]), 'request')} on the {name} only"
        for key, name in (("only_a", names[0]), ("only_b", names[1]))
        if difference["requests"][key]
    ]
    return found + (["the records stand in another order"] if difference["requests"]["order"] == "different" else [])


def every_class(row: str, arm: str | None = None) -> str:
    """The command that lists every class of a row's difference, or of the difference of an unstable arm from itself."""
    if arm is None:
        return f"aisimc diff RUN --row {row} --limit 0"
    sides = " ".join(f"RUN/rows/{row}/replays/{arm}-{number}/canonical.jsonl" for number in (1, 2))
    return f"aisimc diff {sides} --limit 0"


def uncovered_coverage(report: dict[str, Any]) -> list[tuple[str, str]]:
    """Matrix ids that this campaign says nothing about, with the reason."""
    reasons = {"unsupported": "declared unsupported", "not-declared": "not part of this campaign"}
    found = [
        (entry["id"], entry.get("reason") or reasons.get(entry["status"], entry["status"]))
        for entry in report["coverage"]
        if entry["status"] != "covered"
    ]
    done = {name for name, _ in found}
    for row in report["rows"]:
        name = row.get("matrix_id") or row["name"]
        if row["result"] in ("INCOMPLETE", "NOT_COVERED") and name not in done:
            found.append((name, "; ".join(row["reasons"])))
        elif row["expect_error"] is not None and name not in done:
            found.append((name, "expected to be refused by the engine, so nothing is qualified"))
    return found


def change_size(entry: dict[str, Any]) -> str:
    """How large the changes of a class are."""
    delta, ulps = entry["largest_delta"], entry["largest_ulps"]
    if entry["change"] == "last bits only":
        return f"up to {ulps} ulp"
    if delta is None:
        return ""
    return f"up to {signed(delta)}" + (" ms" if entry["pattern"].endswith("_ms") else "")


def milliseconds(value: float | None) -> str:
    """A time in virtual ms, for people."""
    return "–" if value is None else in_ms(value)


def replays(report: dict[str, Any]) -> int:
    """How many replays ran."""
    return sum(replay["ran"] for row in report["rows"] for arm in row["arms"].values() for replay in arm["replays"])
