"""Revisions that are published wheels: fetched by pip with the hash required, never installed.

The compiled runtime is unpacked into the store and loaded by path, by the driver in `wheel_driver/`, in a fresh
isolated interpreter per replay. Nothing else of the wheel is used.
"""

from __future__ import annotations

import json
import re
import shutil
import sys
import tempfile
import zipfile
from contextlib import suppress
from hashlib import sha256
from pathlib import Path

from aisimc_compiler.rules.pinning.identity import package_name
from aisimc_runtime.engines.base import Acquired, Artifact, EngineContext, Json, PinnedFile
from aisimc_runtime.engines.elf import text_size_bytes
from aisimc_runtime.engines.pip_errors import explain_pip
from aisimc_runtime.engines.unpack import unpack_runtime
from aisimc_runtime.failures import Blocked
from aisimc_runtime.ports.files import explain, sha256_file, write_atomic
from aisimc_runtime.ports.processes import bare_environment
from aisimc_runtime.store.content import Store

DRIVER = Path(__file__).parent / "wheel_driver"
CORRECTION = "stable_request_identity"
LAST_CHUNK_COUNTING_BUILD = "0.12.0.dev2"
"""Up to this build SGLang's continued prefill chunks are reported as readmissions (observed on all builds)."""
PIP_TIMEOUT_S = 1800.0
DESCRIBE_TIMEOUT_S = 60.0


class WheelEngine:
    """The engine behind `wheel = "aisimulate==VERSION"`."""

    source = "wheel"

    def acquire(self, arm: str, revision: Json, context: EngineContext) -> Acquired:
        """The pinned wheel in the store, its bytes hashed. Raises `Blocked`."""
        pinned = revision["sha256"]
        if context.store.has(pinned):
            path = context.store.checked(pinned)
        else:
            context.say(f"fetching {revision['requirement']}")
            path = fetch(revision, context)
        return Acquired(revision, f"{revision['requirement']} sha256:{pinned}", files={"wheel": path})

    def build(self, arm: str, acquired: Acquired, context: EngineContext) -> Artifact:
        """Unpack the compiled runtime (nothing is built). Raises `Blocked` for a wheel of another form."""
        revision = acquired.revision
        runtime = unpacked(acquired.files["wheel"], revision, context.store)
        path = context.store.checked(runtime)
        correction = correction_of(context.corrections)
        reader = orjson_module()
        driver = driver_files()
        files = [PinnedFile(path, runtime), *driver]
        if reader is not None:
            files.append(PinnedFile(reader, sha256_file(reader)))
        return Artifact(
            arm=arm,
            source=self.source,
            revision=acquired.identity,
            path=path,
            sha256=runtime,
            size_bytes=path.stat().st_size,
            text_size_bytes=text_size_bytes(path),
            files=tuple(files),
            runner_source_sha256=tree_sha256(driver),
            corrections=tuple(correction),
            settings={
                "python": sys.executable,
                "driver": str(DRIVER / "driver.py"),
                "version": revision["version"],
                "wheel_sha256": revision["sha256"],
                "orjson": None if reader is None else str(reader),
                "correction": correction[0]["name"] if correction else None,
                "chunks": counts_chunks(revision["version"]),
            },
        )

    def describe(self, artifact: Artifact, context: EngineContext) -> Json:
        """Ask the runtime with tiny replays. Raises `Blocked` when it cannot even be loaded."""
        argv = [*base_command(artifact), "--describe"]
        done = context.processes.run(argv, env=bare_environment(), timeout_s=DESCRIBE_TIMEOUT_S)
        if done.status != 0:
            reason = done.stderr.strip() or f"it ended with status {done.status}"
            raise Blocked(f"the runtime of {artifact.revision.split()[0]} does not answer: {reason}")
        described: Json = json.loads(done.stdout)
        return described

    def command(self, artifact: Artifact, config: Path, out: Path) -> list[str]:
        """The driver, isolated, around this artifact's runtime."""
        return [*base_command(artifact), str(config), str(out)]


def base_command(artifact: Artifact) -> list[str]:
    """Interpreter, driver and identity; the positional arguments follow."""
    settings = artifact.settings
    argv = [settings["python"], "-B", "-I", "-S", settings["driver"]]
    argv += ["--runtime", str(artifact.path), "--runtime-sha256", artifact.sha256]
    argv += ["--wheel-version", settings["version"], "--wheel-sha256", settings["wheel_sha256"]]
    if settings["orjson"]:
        argv += ["--orjson", settings["orjson"]]
    if settings["correction"]:
        argv += ["--correction", settings["correction"]]
    if settings["chunks"]:
        argv.append("--chunks-count-as-readmissions")
    return argv


def counts_chunks(version: str) -> bool:
    """Whether this build's SGLang readmissions include prefill chunks, so that they are no evidence of pressure."""
    from packaging.version import InvalidVersion, Version

    try:
        return Version(version) <= Version(LAST_CHUNK_COUNTING_BUILD)
    except InvalidVersion:
        return True


def correction_of(corrections: list[Json] | tuple[Json, ...] | object) -> list[Json]:
    """The declared built-in correction with the SHA-256 of its source. Raises `Blocked` for one that no wheel takes."""
    found: list[Json] = []
    for correction in corrections if isinstance(corrections, (list, tuple)) else ():
        if correction.get("kind") != "built_in" or correction.get("name") != CORRECTION:
            raise Blocked(f"a wheel cannot be corrected by `{correction.get('name')}`: only {CORRECTION} is built in")
        found.append({"name": CORRECTION, "sha256": sha256_file(DRIVER / f"{CORRECTION}.py")})
    return found


def driver_files() -> list[PinnedFile]:
    """The driver's modules with their digests, by name."""
    return [PinnedFile(path, sha256_file(path)) for path in sorted(DRIVER.glob("*.py"))]


def tree_sha256(files: list[PinnedFile]) -> str:
    """One digest over the driver's sources: name and digest of each, in order of names."""
    digest = sha256()
    for file in files:
        digest.update(f"{file.path.name}\0{file.sha256}\n".encode())
    return digest.hexdigest()


def orjson_module() -> Path | None:
    """orjson's compiled module, which the driver may load by path; None where it is built in some other way."""
    import importlib.util

    with suppress(ImportError, ValueError):
        spec = importlib.util.find_spec("orjson.orjson")
        if spec is not None and spec.origin and spec.origin.endswith(".so"):
            return Path(spec.origin)
    return None


def fetch(revision: Json, context: EngineContext) -> Path:
    """Let pip download the wheel, hash required, and put it into the store. Raises `Blocked`."""
    requirement, pinned = revision["requirement"], revision["sha256"]
    folder = Path(tempfile.mkdtemp(prefix="pip-", dir=context.store.scratch()))
    try:
        wanted = folder / "requirements.txt"
        wanted.write_text(f"{requirement} --hash=sha256:{pinned}\n", encoding="utf-8")
        argv = [sys.executable, "-I", "-m", "pip", "download", "--quiet", "--no-input", "--no-deps", "--no-cache-dir"]
        argv += ["--disable-pip-version-check", "--retries", "2", "--progress-bar", "off"]
        argv += ["--only-binary", ":all:", "--require-hashes", "--dest", str(folder), "-r", str(wanted)]
        done = context.processes.run(argv, timeout_s=PIP_TIMEOUT_S, guarded=True)
        wheels = sorted(folder.glob("*.whl"))
        if done.status != 0 or len(wheels) != 1:
            raise explain_pip(requirement, pinned, done)
        with wheels[0].open("rb") as stream:
            context.store.add_stream(stream, kind="wheel", name=wheels[0].name, expected=pinned)
    except OSError as error:
        raise explain(error, f"cannot fetch {requirement}") from error
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return context.store.path(pinned)


def unpacked(wheel: Path, revision: Json, store: Store) -> str:
    """SHA-256 of the wheel's runtime, unpacked into the store unless it is there. Raises `Blocked`.

    The record under `wheels/` only saves unpacking again: what it names is hashed before it is used.
    """
    record = store.root / "wheels" / f"{revision['sha256']}.json"
    try:
        known = json.loads(record.read_bytes())
        if [known["name"], known["version"]] == [revision["name"], revision["version"]] and store.has(known["runtime"]):
            return str(known["runtime"])
    except (OSError, ValueError, KeyError, TypeError):
        pass
    check_identity(wheel, revision)
    label = f"{revision['name']} {revision['version']}"
    runtime, member = unpack_runtime(wheel, store, label)
    found = {"name": revision["name"], "version": revision["version"], "member": member, "runtime": runtime}
    with suppress(OSError, Blocked):
        record.parent.mkdir(parents=True, exist_ok=True)
        write_atomic(record, json.dumps(found, sort_keys=True).encode() + b"\n")
    return runtime


def check_identity(wheel: Path, revision: Json) -> None:
    """The wheel's own metadata must be of the pinned name and version. Raises `Blocked`."""
    requirement = revision["requirement"]
    try:
        name, version = identity_of(wheel)
    except Blocked as error:
        raise Blocked(f"the wheel of {requirement}: {error.message}", help=PIN_AGAIN.format(requirement)) from error
    if (name, version) != (revision["name"].lower(), revision["version"]):
        raise Blocked(
            f"the bytes pinned for {requirement} are of {name} {version}",
            help=f"{PIN_AGAIN.format(requirement)}; if {version} is meant, write `{name}=={version}`",
        )


PIN_AGAIN = "`aisimc pin --refresh` asks the index for the hash of {}"


def identity_of(wheel: Path) -> tuple[str, str]:
    """Name (normalised) and version in a wheel's own metadata. Raises `Blocked` for what is no wheel."""
    try:
        with zipfile.ZipFile(wheel) as archive:
            names = [n for n in archive.namelist() if re.fullmatch(r"[^/]+\.dist-info/METADATA", n)]
            text = archive.read(names[0]).decode("utf-8", "replace") if names else ""
    except (OSError, zipfile.BadZipFile, EOFError, RuntimeError, ValueError) as error:
        raise Blocked(f"the file with the pinned hash is no wheel: {error}") from error
    head = dict(re.findall(r"^(Name|Version): *(\S+)", text.split("\n\n", 1)[0], flags=re.MULTILINE))
    return package_name(head.get("Name", "?")), head.get("Version", "?")
