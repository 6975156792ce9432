"""The two arms: processes that answer one replay payload per line, with a time limit."""

from __future__ import annotations

import json
import select
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

REPOSITORY = Path(__file__).resolve().parents[3]
CORE_BINARY = REPOSITORY / "runner-rust/target/release/examples/replay_json"
SERVER = Path(__file__).with_name("wheel_server.py")

Payload = dict[str, Any]
Answer = dict[str, Any]


@dataclass
class Arm:
    """A replay process; restarted when it exceeds its limit or dies."""

    name: str
    command: list[str]
    process: subprocess.Popen[str] | None = field(default=None, repr=False)

    def replay(self, payload: Payload, limit_s: float) -> Answer:
        """Answer of the process, ``{"timeout": True}`` or ``{"crash": status}``."""
        process = self._running()
        assert process.stdin is not None and process.stdout is not None
        process.stdin.write(json.dumps(payload) + "\n")
        process.stdin.flush()
        readable, _, _ = select.select([process.stdout], [], [], limit_s)
        if not readable:
            self.close()
            return {"timeout": True}
        line = process.stdout.readline()
        if not line:
            status = process.wait()
            self.close()
            return {"crash": status}
        answer: Answer = json.loads(line)
        return answer

    def _running(self) -> subprocess.Popen[str]:
        if self.process is None:
            self.process = subprocess.Popen(
                self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
            )
        return self.process

    def close(self) -> None:
        """End the process."""
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process = None


def core_arm() -> Arm:
    """The reference core (``cargo build --release --example replay_json`` makes the binary)."""
    return Arm("core", [str(CORE_BINARY)])


def wheel_arm(shared_object: Path) -> Arm:
    """A published runtime, given its compiled module."""
    return Arm("wheel", [sys.executable, "-I", str(SERVER), str(shared_object)])
