"""Growth of the artifact and of its `.text` section (`perf.size`)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

ALLOWED_PERCENT = 5


@dataclass(frozen=True, slots=True)
class Growth:
    """One measure of one artifact on both arms, in bytes; None where it is not known."""

    measure: str
    baseline_bytes: int | None
    candidate_bytes: int | None

    @property
    def ratio(self) -> float | None:
        """Candidate over baseline."""
        if not self.baseline_bytes or self.candidate_bytes is None:
            return None
        return self.candidate_bytes / self.baseline_bytes

    @property
    def exceeded(self) -> bool:
        """More than 5 % growth, decided in integers so that exactly 5 % is still allowed."""
        if not self.baseline_bytes or self.candidate_bytes is None:
            return False
        return self.candidate_bytes * 100 > self.baseline_bytes * (100 + ALLOWED_PERCENT)


@dataclass(frozen=True, slots=True)
class SizeResult:
    """Both measures and whether they fail the gate."""

    growths: tuple[Growth, ...]
    comparable: bool
    explanation: str | None

    @property
    def failed(self) -> bool:
        """Grown beyond the allowance, comparable, and not explained."""
        return self.comparable and not self.explanation and any(growth.exceeded for growth in self.growths)


def judge_sizes(artifacts: Mapping[str, Any], explanation: str | None) -> SizeResult:
    """Judge the run's `artifacts.json`; artifacts of different kinds (a wheel, a binary) do not compare."""
    arms = [artifacts.get(arm) or {} for arm in ("baseline", "candidate")]
    growths = tuple(
        Growth(measure, arms[0].get(key), arms[1].get(key))
        for measure, key in (("artifact", "size_bytes"), (".text", "text_size_bytes"))
    )
    kinds = [_kind(arm) for arm in arms]
    return SizeResult(growths, comparable=None not in kinds and kinds[0] == kinds[1], explanation=explanation)


def _kind(artifact: Mapping[str, Any]) -> str | None:
    """`binary` for what was built here, `wheel` for what was published; None where nothing was acquired."""
    source = artifact.get("source")
    kind = source.get("source") if isinstance(source, Mapping) else source
    if kind is None:
        return None
    return "wheel" if kind == "wheel" else "binary"
