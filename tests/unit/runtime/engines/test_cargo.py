"""What a build depends on: the toolchain that was named, the declared flags, and nothing of the environment."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from aisimc_runtime.engines import cargo
from aisimc_runtime.engines.builds import exposes_prepared_loop
from aisimc_runtime.engines.sources import CORE, shipped
from aisimc_runtime.failures import Blocked
from aisimc_runtime.ports.processes import Processes


def test_only_what_finds_the_toolchain_and_the_registry_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    steering = {
        "RUSTFLAGS": "-C opt-level=0",
        "CARGO_ENCODED_RUSTFLAGS": "-C",
        "RUSTC_WRAPPER": "sccache",
        "RUSTC": "other",
        "RUSTUP_TOOLCHAIN": "nightly",
        "CARGO_BUILD_TARGET": "x",
        "CARGO_PROFILE_RELEASE_LTO": "fat",
        "CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_LINKER": "lld",
        "CARGO_TARGET_DIR": "/elsewhere",
        "CFLAGS": "-O0",
    }
    useful = {
        "CARGO_HOME": "/cargo",
        "https_proxy": "http://proxy",
        "CARGO_HTTP_TIMEOUT": "5",
        "CARGO_NET_OFFLINE": "true",
    }
    for name, value in (steering | useful).items():
        monkeypatch.setenv(name, value)
    found = cargo.environment(("-C", "target-cpu=x86-64-v2"))
    assert {name: found[name] for name in useful} == useful
    assert found["CARGO_ENCODED_RUSTFLAGS"] == "-C\x1ftarget-cpu=x86-64-v2"
    assert [name for name in steering if name in found] == ["CARGO_ENCODED_RUSTFLAGS"]
    assert cargo.environment()["CARGO_ENCODED_RUSTFLAGS"] == ""  # set and empty, so that no configuration adds any


def test_a_missing_cargo_is_one_line(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(Blocked, match="cargo is not installed"):
        cargo.find_toolchain("system", Processes(), tmp_path)
    with pytest.raises(Blocked, match="rustup is not installed"):
        cargo.find_toolchain("1.93.1", Processes(), tmp_path)


@pytest.mark.skipif(shutil.which("rustup") is None, reason="asks rustup for a toolchain that nobody has")
def test_a_toolchain_that_is_not_installed_is_named_with_its_command(tmp_path: Path) -> None:
    with pytest.raises(Blocked, match=r"the Rust toolchain 1\.60\.0 cannot be used") as caught:
        cargo.find_toolchain("1.60.0", Processes(), tmp_path)
    assert caught.value.help == "rustup toolchain install 1.60.0"


@pytest.mark.skipif(shutil.which("cargo") is None, reason="needs a Rust toolchain")
def test_the_systems_toolchain_says_what_it_is(tmp_path: Path) -> None:
    toolchain = cargo.find_toolchain("system", Processes(), tmp_path)
    assert toolchain.cargo == ("cargo",)
    facts = toolchain.to_json()
    assert facts["rustc"].startswith("rustc ")
    assert facts["host"]


def test_an_artifact_that_cargo_did_not_compile_anew_is_noticed() -> None:
    def message(package: str, target: str, fresh: bool, executable: str | None = None) -> str:
        return json.dumps(
            {
                "reason": "compiler-artifact",
                "package_id": package,
                "target": {"name": target},
                "fresh": fresh,
                "executable": executable,
            }
        )

    lines = [
        message("registry#serde", "serde", True),
        message("path#core", "aisimulate_core", False),
        message("path#runner", "aisimc-runner", False, "/t/aisimc-runner"),
        '{"reason":"build-finished","success":true}',
    ]
    assert cargo.built("\n".join(lines), {"path#core", "path#runner"}) == ("/t/aisimc-runner", set())
    lines[1] = message("path#core", "aisimulate_core", True)
    assert cargo.built("\n".join(lines), {"path#core", "path#runner"})[1] == {"aisimulate_core"}


def test_every_configuration_that_a_build_reads_is_part_of_its_key(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CARGO_HOME", str(tmp_path / "home"))
    inner = tmp_path / "a" / "b"
    inner.mkdir(parents=True)
    before = cargo.configuration_digest_input(inner)
    (tmp_path / "a" / ".cargo").mkdir()
    (tmp_path / "a" / ".cargo" / "config.toml").write_text('[build]\ntarget = "x"\n')
    assert cargo.configuration_digest_input(inner) != before


def test_the_loop_boundary_is_looked_for_in_the_sources(tmp_path: Path) -> None:
    assert exposes_prepared_loop(shipped(CORE))
    (tmp_path / "src" / "replay").mkdir(parents=True)
    (tmp_path / "src" / "replay" / "mod.rs").write_text("pub struct Replayer;\n")
    assert not exposes_prepared_loop(tmp_path)
