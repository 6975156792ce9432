"""Each way in which cargo fails is one line that names the reason, and the log."""

from __future__ import annotations

from pathlib import Path

import pytest

from aisimc_runtime.engines.cargo_errors import build_failure
from aisimc_runtime.ports.processes import Finished

LOG = Path("/runs/x/build-baseline.log")
COMPILE = """\
   Compiling aisimulate-core v0.1.0 (/x/core)
error[E0432]: unresolved import `crate::replay::HandoffStamp`
  --> core/src/engine/runtime.rs:18:28
   |
error: could not compile `aisimulate-core` (lib) due to 1 previous error
"""
LOCK = """\
error: cannot update the lock file /x/Cargo.lock because --locked was passed to prevent this
If you want to try to generate the lock file without accessing the network, remove the --locked flag.
"""
MISSING = """\
error: no matching package named `blake3` found
location searched: crates.io index
As a reminder, you're using offline mode (--offline)
"""
FEATURE = """\
error: failed to select a version for `aisimulate-core`.
package `aisimc-runner` depends on it with feature `replay-bench` but `aisimulate-core` does not have that feature.
"""


@pytest.mark.parametrize(
    ("stderr", "message"),
    [
        (COMPILE, "core/src/engine/runtime.rs:18:28: error[E0432]: unresolved import `crate::replay::HandoffStamp`"),
        (LOCK, "the lock file does not fit its manifest"),
        (MISSING, "not in cargo's cache and cannot be downloaded (no matching package named `blake3` found)"),
        (FEATURE, "the core has no such feature"),
        ("error: profile `fast` is not defined\n", "there is no such profile"),
        ("error: linker `cc` not found\n", "the system's linker is missing"),
        ("note: a\nerror: something new\n", "something new"),
        ("", "no message"),
    ],
)
def test_the_reason_is_one_line(stderr: str, message: str) -> None:
    failure = build_failure(Finished(101, "", stderr), LOG)
    assert message in failure.message
    assert "\n" not in failure.message
    assert str(LOG) in failure.help


def test_a_signal_and_a_time_out_are_no_compile_errors() -> None:
    assert "signal 9" in build_failure(Finished(-9, "", COMPILE), LOG).message
    assert "in time" in build_failure(Finished(-9, "", "", True), LOG).message
