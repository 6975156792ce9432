"""Repository addresses: nothing secret gets into a plan, nothing that runs a command passes for an address."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.builders.campaigns import ON_CHECKOUTS, ON_WHEELS, assert_refused, changed, check, said

REPOSITORY = '"https://github.com/ai-dynamo/aisimulate"'
CHECKOUT = f'  repository = {REPOSITORY}\n  commit     = "6f9a315e583e8c4ed95e0a4fb5d20bd79d5cf140"'
UPSTREAM = '"https://github.com/kvcache-ai/Mooncake"'

REFUSED = [
    "https://token@example.org/r",
    "https://user:secret@example.org/r",
    "HTTPS://user:secret@example.org/r",
    "ssh://git:secret@example.org/r",
    "--upload-pack=touch /tmp/x",
    "-oProxyCommand=x",
    "ext::sh -c touch% /tmp/x",
    " ext::sh",
]
ACCEPTED = [
    "https://example.org/r.git",
    "https://example.org/a@b/r",
    "ssh://git@example.org/r",
    "git@example.org:a/r.git",
    "file:///srv/r",
    "../repo",
]


@pytest.mark.parametrize("address", REFUSED)
def test_an_upstream_address_that_is_none(address: str, tmp_path: Path) -> None:
    source, span = changed(ON_WHEELS, (UPSTREAM, f'«"{address}"»'))
    found = assert_refused(check(source, tmp_path), "input.upstream", span)
    assert "secret" not in found.help


@pytest.mark.parametrize("address", REFUSED)
def test_a_checkout_address_that_is_none(address: str, tmp_path: Path) -> None:
    other = CHECKOUT.replace(REPOSITORY, f'«"{address}"»')
    source, span = changed(ON_CHECKOUTS, (CHECKOUT, other), ("= ancestor", '= "another place"'))
    assert_refused(check(source, tmp_path), "pin.commit", span)


@pytest.mark.parametrize("address", ACCEPTED)
def test_addresses_that_name_a_repository(address: str, tmp_path: Path) -> None:
    source, _ = changed(ON_WHEELS, (UPSTREAM, f'"{address}"'))
    result = check(source, tmp_path)
    assert result.diagnostics == (), said(result.diagnostics)
