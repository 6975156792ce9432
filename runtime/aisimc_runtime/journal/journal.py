"""What has happened in a run: one JSON object a line, appended and synced before anything relies on it.

    {"at": "2026-10-24T03:00:00.000Z", "event": "done", "action": "replay/vllm-aggregated/candidate/2", ...}

Events: `started`, `resumed` (the run as a whole), `start`, `done`, `failed` (an action), `blocked`, `interrupted`,
`note`, `finished`. A torn last line was never acknowledged: readers pass over it and the next writer cuts it off.
"""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from aisimc_runtime.ports.files import explain, sync_folder


class Journal:
    """The journal of one run; appending is safe from several threads of the process that holds the run's lock."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = threading.Lock()
        try:
            self._handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o644)
            self._cut_torn_line()
            sync_folder(path.parent)
        except OSError as error:
            raise explain(error, f"cannot write the journal {path}") from error

    def append(self, event: str, action: str = "", **more: Any) -> None:
        """Write one event and sync it. Raises `Blocked` when the disk refuses."""
        now = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        line = json.dumps({"at": now, "event": event, "action": action, **more}, ensure_ascii=False, default=str)
        data = line.encode() + b"\n"
        with self._lock:
            try:
                written = os.write(self._handle, data)
                if written != len(data):
                    raise OSError(28, os.strerror(28))
                os.fdatasync(self._handle)
            except OSError as error:
                raise explain(error, f"cannot write the journal {self.path}") from error

    def close(self) -> None:
        """Release the file."""
        os.close(self._handle)

    def _cut_torn_line(self) -> None:
        size = os.fstat(self._handle).st_size
        if size == 0 or os.pread(self._handle, 1, size - 1) == b"\n":
            return
        whole = self.path.read_bytes().rfind(b"\n") + 1
        os.ftruncate(self._handle, whole)
        os.fsync(self._handle)


def events(path: Path) -> Iterator[dict[str, Any]]:
    """The whole events of a journal, oldest first; what is torn or is no event is passed over."""
    try:
        data = path.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return
    for line in data.split(b"\n"):
        try:
            event = json.loads(line)
        except ValueError:
            continue
        if isinstance(event, dict) and "event" in event:
            yield event


def finished(path: Path) -> dict[str, Any] | None:
    """The last `finished` event, unless the run was taken up again after it; None while the run is unfinished."""
    found = None
    for event in events(path):
        if event["event"] == "finished":
            found = event
        elif event["event"] in ("started", "resumed"):
            found = None
    return found
