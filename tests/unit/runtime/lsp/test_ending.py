"""An editor that ends the session as the protocol has it gets exit status 0 and not a word on standard error."""

from __future__ import annotations

import json

import pytest

from tests.unit.runtime.command.aisimc import aisimc

pytest.importorskip("pygls", reason="the language server is an extra")


def framed(*messages: dict[str, object]) -> bytes:
    """Messages as they go over the wire."""
    bodies = [json.dumps({"jsonrpc": "2.0", **message}).encode() for message in messages]
    return b"".join(b"Content-Length: %d\r\n\r\n%s" % (len(body), body) for body in bodies)


def test_shutdown_and_exit() -> None:
    start = {"id": 1, "method": "initialize", "params": {"processId": None, "rootUri": None, "capabilities": {}}}
    done = aisimc("lsp", stdin=framed(start, {"id": 2, "method": "shutdown"}, {"method": "exit"}))
    assert '"id": 2' in done.out or '"id":2' in done.out
    assert (done.status, done.err) == (0, "")
