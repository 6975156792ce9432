"""The size rule."""

from __future__ import annotations

from typing import Any

import pytest

from aisimc_runtime.gate.size import judge_sizes


def artifacts(baseline: Any, candidate: Any, text: Any = (None, None), kinds: Any = ("embedded", "embedded")) -> Any:
    return {
        arm: {"source": kind, "size_bytes": size, "text_size_bytes": text_size}
        for arm, kind, size, text_size in zip(
            ("baseline", "candidate"), kinds, (baseline, candidate), text, strict=True
        )
    }


@pytest.mark.parametrize(
    ("baseline", "candidate", "failed"),
    [
        (1000, 1000, False),
        (1000, 1050, False),
        (1000, 1051, True),
        (1000, 500, False),
        (10**15, 105 * 10**13 + 1, True),
    ],
)
def test_more_than_five_percent_fails(baseline: int, candidate: int, failed: bool) -> None:
    assert judge_sizes(artifacts(baseline, candidate), None).failed is failed


def test_text_alone_may_fail() -> None:
    result = judge_sizes(artifacts(1000, 1000, (100, 106)), None)
    assert result.failed
    assert [growth.exceeded for growth in result.growths] == [False, True]


def test_an_explanation_lifts_it_and_stays_in_the_record() -> None:
    result = judge_sizes(artifacts(1000, 2000), "a second scheduler")
    assert not result.failed
    assert result.growths[0].exceeded


def test_a_wheel_does_not_compare_with_a_binary() -> None:
    assert not judge_sizes(artifacts(1000, 9000, kinds=("wheel", "checkout")), None).comparable
    assert judge_sizes(artifacts(1000, 9000, kinds=("embedded", "checkout")), None).failed


def test_unknown_sizes_fail_nothing() -> None:
    assert not judge_sizes({}, None).failed
    assert not judge_sizes(artifacts(None, 10), None).failed
