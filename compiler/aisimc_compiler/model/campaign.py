"""The resolved campaign: families applied, defaults filled in, and every value still knowing where it stands.

Whatever could not be resolved is `None` or absent; the resolver has reported it, so that a rule that meets a gap
says nothing.
"""

from __future__ import annotations

from aisimc_compiler.hints import Any, Generic, Literal, TypeVar
from aisimc_compiler.records import NamedTuple
from aisimc_compiler.source import Source, Span

T = TypeVar("T")

Origin = Literal["written", "family", "default"]


class Given(NamedTuple, Generic[T]):
    """A value with its place.

    `span` is the value's text and `name` its attribute's name; of a default both are the name of the block that
    lacks it. `taker` is the name of the row that took the value over from a family, else None. That a value came by
    an import shows in `span.source`.
    """

    value: T
    span: Span
    name: Span
    origin: Origin = "written"
    taker: Span | None = None


class Interval(NamedTuple):
    """A closed range of integers."""

    low: int
    high: int


Values = dict[str, Given[Any]]
"""Attribute name → value, for blocks whose attributes are a closed set of the same kind of thing."""


class Revision(NamedTuple):
    """One arm, pinned. `arm` is where the arm is named."""

    arm: Given[str]
    repository: Given[str] | None
    commit: Given[str] | None
    wheel: Given[str] | None
    embedded: Given[str] | None
    sha256: Given[str] | None
    patch: Given[str] | None
    patch_sha256: Given[str] | None
    relation: Given[str] | None
    relation_is_word: bool
    base: str
    """Folder of the file it stands in, relative to the campaign's, "" or ending in `/`."""
    touched: frozenset[str]
    """What stands in the block, resolved or not: nothing of it counts as missing (also below)."""

    @property
    def kind(self) -> str:
        """`wheel`, `checkout`, `embedded`, or "" when none of them is named."""
        if self.wheel:
            return "wheel"
        if self.repository or self.commit:
            return "checkout"
        return "embedded" if self.embedded else ""


class Build(NamedTuple):
    """How checkouts and embedded sources are built."""

    keyword: Span
    toolchain: Given[str] | None
    profile: Given[str] | None
    features: Given[tuple[Given[str], ...]] | None
    rustflags: Given[tuple[Given[str], ...]] | None
    locked: Given[bool] | None


class Correction(NamedTuple):
    """A determinism correction, always for both arms."""

    name: Given[str]
    patch: Given[str] | None
    sha256: Given[str] | None
    base: str
    touched: frozenset[str]


class Determinism(NamedTuple):
    """How entropy is kept out."""

    keyword: Span
    mode: Given[str] | None
    repetitions: Given[int] | None
    corrections: tuple[Correction, ...]


class Slice(NamedTuple):
    """One contiguous window of an input."""

    keyword: Span
    start: Given[int] | None
    rows: Given[int] | None
    sha256: Given[str] | None
    touched: frozenset[str]


class Generator(NamedTuple):
    """A trace that the project generates itself."""

    keyword: Span
    seed: Given[int] | None
    rows: Given[int] | None


class Input(NamedTuple):
    """A trace, pinned."""

    name: Given[str]
    format: Given[str] | None
    block_size: Given[int] | None
    file: Given[str] | None
    upstream: Given[str] | None
    commit: Given[str] | None
    path: Given[str] | None
    generator: Generator | None
    sha256: Given[str] | None
    rows: Given[int] | None
    slice: Slice | None
    base: str
    touched: frozenset[str]


class Timing(NamedTuple):
    """A timing model; the times are ms, and set for `fixed` only."""

    kind: Given[str]
    prefill_ms: Given[float] | None
    decode_ms: Given[float] | None


class Pool(NamedTuple):
    """Workers of one kind. `capacity` and `timing` are the role's own merged over the row's."""

    keyword: Span
    workers: Given[int] | None
    dp: Given[int] | None
    tp: Given[int] | None
    capacity: Values
    timing: Timing | None


class Transfer(NamedTuple):
    """How the KV cache moves from prefill to decode."""

    keyword: Span
    bytes_per_token: Given[int] | None
    bandwidth_gb_s: Given[float] | None
    mode: Given[str] | None
    latency_ms: Given[float] | None
    touched: frozenset[str]


class Topology(NamedTuple):
    """`pools` holds `workers` for an aggregated topology, else `prefill` and `decode`."""

    kind: Given[str]
    pools: dict[str, Pool]
    transfer: Transfer | None


class Frozen(NamedTuple):
    """A frozen configuration file: its text when it could be read."""

    file: Given[str]
    sha256: Given[str] | None
    path: str
    data: bytes | None
    has_digest: bool
    """A digest stands beside it, resolved or not."""
    inherited: Values
    """What the row's family says of the engine, the kind of topology and the admission."""


class Golden(NamedTuple):
    """A golden file: its bytes when it could be read."""

    file: Given[str]
    path: str
    data: bytes | None


class Row(NamedTuple):
    """One row or fixture, its family applied."""

    name: Given[str]
    kind: Literal["row", "fixture"]
    family: Given[str] | None
    engine: Given[str] | None
    input: Given[str] | None
    arrival_speedup_ratio: Given[float] | None
    max_sim_time_ms: Given[float] | None
    max_in_flight: Given[int] | None
    topology: Topology | None
    composition: Values
    evidence: Values
    expect: Values
    expect_error: Given[str] | None
    golden: Golden | None
    frozen: Frozen | None
    beside_frozen: tuple[Given[str], ...]
    """The names of what stands beside `frozen` and would change the configuration."""


class Unsupported(NamedTuple):
    """A row of the matrix that is not covered."""

    id: Given[str]
    on: Given[str] | None
    reason: Given[str] | None


class RegressionTest(NamedTuple):
    """The test that tells an exception's two behaviours apart."""

    keyword: Span
    command: Given[tuple[Given[str], ...]] | None
    fails_on: Given[str] | None
    passes_on: Given[str] | None
    touched: frozenset[str]


class SemanticException(NamedTuple):
    """The record of an intended difference. `parts` holds its attributes by name."""

    name: Given[str]
    parts: Values
    test: RegressionTest | None
    touched: frozenset[str]
    torn: bool


class Performance(NamedTuple):
    """The performance gate's design."""

    keyword: Span
    parts: Values
    diagnostics: Values | None
    diagnostics_keyword: Span | None
    touched: frozenset[str]
    diagnostics_touched: frozenset[str]


class Exclude(NamedTuple):
    """The declared exclusions, in the order in which they stand."""

    keyword: Span
    pointers: tuple[Given[str], ...]
    strange: bool
    """Something else stands in it, which was reported."""


class Campaign(NamedTuple):
    """A whole campaign, or a fragment of one (`fragment`)."""

    source: Source
    fragment: bool
    name: Given[str] | None
    language: Given[int] | None
    purpose: Given[str] | None
    corpus: Given[str] | None
    matrix: Given[str] | None
    self_check: Given[bool] | None
    revisions: dict[str, Revision]
    arms_written: int
    """`revision` blocks in the text, also those that were refused."""
    build: Build | None
    determinism: Determinism | None
    inputs: dict[str, Input]
    exclude: Exclude | None
    rows: tuple[Row, ...]
    families: tuple[Row, ...]
    """What each family says, as a row without the rest: its values are judged whether or not a row takes them."""
    unsupported: tuple[Unsupported, ...]
    exceptions: tuple[SemanticException, ...]
    performance: Performance | None
    blocks: frozenset[str]
    """The keywords of the top-level blocks that stand somewhere in it, resolved or not."""
    refused_rows: frozenset[str]
    """Names of rows that were refused whole."""
    torn: bool
    """Some of the text could not be read, so that an absence proves nothing."""
    sound: bool
    """The resolver had nothing to report."""

    def may_mean_refused(self, name: str) -> bool:
        """Whether a row of that name may be one that was refused: one so called, or one whose name is missing."""
        return not self.refused_rows.isdisjoint((name, ""))
