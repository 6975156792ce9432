"""No sequence of observations loses a finished row, passes one without its result, or ends one without evidence."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from aisimc_runtime.executors.cluster.port import Contradictory, JobView, Known, Phase, Unknown
from aisimc_runtime.executors.cluster.states import Bundle, Files, Patience, Row, Seen, State, look

PATIENCE = Patience(settle_s=10, beat_s=2)
WORDS = st.text("abc ", min_size=1, max_size=5)
VIEWS = st.builds(
    JobView,
    job=st.just("7"),
    phase=st.sampled_from(Phase),
    word=WORDS,
    reason=st.one_of(st.just(""), WORDS),
    node=st.sampled_from(["", "node1", "node2"]),
    may_return=st.booleans(),
)
ANSWERS = st.one_of(
    st.builds(Known, st.one_of(st.none(), VIEWS)), st.builds(Unknown, WORDS), st.builds(Contradictory, WORDS)
)
SILENT = st.one_of(st.builds(Unknown, WORDS), st.builds(Contradictory, WORDS))
FILES = st.builds(
    Files,
    bundle=st.sampled_from(Bundle),
    broken=WORDS,
    attempt=st.sampled_from(["", "7.0", "7.1", "8.0"]),
    node=st.sampled_from(["", "node1"]),
    beats=st.integers(0, 5),
    failure=st.one_of(st.just(""), WORDS),
)
NO_RESULT = FILES.filter(lambda files: files.bundle is not Bundle.WHOLE)


def looks(answers: st.SearchStrategy[object], files: st.SearchStrategy[Files]) -> st.SearchStrategy[list[Seen]]:
    """Looks in the order of time, a few seconds apart."""
    one = st.tuples(st.floats(0.1, 20), answers, answers, st.one_of(st.builds(Known, files), st.builds(Unknown, WORDS)))
    return st.lists(one, min_size=1, max_size=12).map(_in_time)


def _in_time(parts: list[tuple[float, object, object, object]]) -> list[Seen]:
    at_s, found = 0.0, []
    for step_s, queue, accounting, files in parts:
        at_s += step_s
        found.append(Seen(at_s, queue, accounting, files))  # type: ignore[arg-type]
    return found


def states(sequence: list[Seen], row: Row | None = None) -> list[Row]:
    row = row or Row()
    found = []
    for seen in sequence:
        row = look(row, seen, PATIENCE)
        found.append(row)
    return found


def whole(seen: Seen) -> bool:
    return isinstance(seen.files, Known) and seen.files.value.bundle is Bundle.WHOLE


@given(looks(ANSWERS, FILES), looks(ANSWERS, FILES))
def test_a_finished_row_stays_finished(before: list[Seen], after: list[Seen]) -> None:
    rows = states([*before, *after])
    finished = [row.state is State.FINISHED for row in rows]
    assert finished == sorted(finished)


@given(looks(ANSWERS, FILES))
def test_a_row_is_finished_exactly_when_its_whole_result_was_seen(sequence: list[Seen]) -> None:
    for count, row in enumerate(states(sequence), start=1):
        assert (row.state is State.FINISHED) == any(whole(seen) for seen in sequence[:count])


@given(looks(SILENT, NO_RESULT.filter(lambda files: files.bundle is Bundle.ABSENT)))
def test_silence_and_contradiction_alone_end_no_row(sequence: list[Seen]) -> None:
    assert not any(row.final for row in states(sequence))


@given(looks(ANSWERS, NO_RESULT))
def test_nothing_that_speaks_against_a_row_counts_before_the_grace(sequence: list[Seen]) -> None:
    row = Row()
    for seen in sequence:
        before, row = row, look(row, seen, PATIENCE)
        if row.final and not before.final:
            assert seen.at_s - row.doubt_since_s >= PATIENCE.settle_s


@given(looks(ANSWERS, FILES))
def test_every_state_has_its_line(sequence: list[Seen]) -> None:
    assert all(row.line for row in states(sequence))


@given(looks(ANSWERS, NO_RESULT))
def test_a_row_is_given_up_as_lost_only_when_no_attempt_is_heard(sequence: list[Seen]) -> None:
    before = Row()
    for row, seen in zip(states(sequence), sequence, strict=True):
        if row.state is State.LOST and not before.final and row.beat_at_s is not None:
            assert seen.at_s - row.beat_at_s >= PATIENCE.silent_s
        before = row


@given(looks(ANSWERS, NO_RESULT))
def test_a_final_row_moves_only_to_finished(sequence: list[Seen]) -> None:
    rows = states(sequence)
    for before, after in pairwise(rows):
        if before.final:
            assert after.state is before.state
