"""How two literals differ: kinds, signs, spellings and last bits are told apart."""

from __future__ import annotations

import math

import pytest

from aisimc_runtime.compare.literals import LAST_BITS_ULPS, Change, kind, measure, number, ulps_between


@pytest.mark.parametrize(
    ("a", "b", "change"),
    [
        (b"1", b"1.0", Change.NUMBER_KIND),
        (b"1", b"2", Change.VALUE),
        (b"1", b"2.0", Change.VALUE),
        (b"-0.0", b"0.0", Change.SIGNED_ZERO),
        (b"-0", b"0", Change.SIGNED_ZERO),
        (b"1e3", b"1000.0", Change.NUMBER_TEXT),
        (b"0.1", b"0.10000000000000002", Change.LAST_BITS),
        (b"20.5", b"20.500000000000004", Change.LAST_BITS),
        (b"20.5", b"20.6", Change.VALUE),
        (b"9007199254740993", b"9007199254740992.0", Change.VALUE),
        (b"9007199254740993", b"9007199254740992", Change.VALUE),
        (b'"a"', b'"b"', Change.TEXT),
        (b"null", b"0", Change.TYPE),
        (b"true", b"1", Change.TYPE),
        (b"true", b"false", Change.VALUE),
        (b"NaN", b"0.5", Change.TYPE),
        (b"NaN", b"Infinity", Change.VALUE),
        (b"{}", b"[]", Change.VALUE),
        (b"1e999", b"1.0", Change.VALUE),
    ],
)
def test_change_is_told_from_the_literals(a: bytes, b: bytes, change: Change) -> None:
    assert measure(a, b).change is change
    assert measure(b, a).change is change


def test_delta_has_the_sign_of_b_minus_a() -> None:
    assert measure(b"10.0", b"7.5").delta == -2.5
    assert measure(b"7", b"10").delta == 3.0


def test_integers_of_any_size_are_exact() -> None:
    assert measure(b"18446744073709551616", b"18446744073709551617").delta == 1.0
    huge = b"1" + b"0" * 400
    assert measure(huge, b"0").delta == -math.inf


def test_last_bits_end_where_they_are_said_to() -> None:
    near, far = 1.0, 1.0
    for _ in range(LAST_BITS_ULPS):
        near = math.nextafter(near, 2.0)
    far = math.nextafter(near, 2.0)
    assert measure(b"1.0", repr(near).encode()).change is Change.LAST_BITS
    assert measure(b"1.0", repr(far).encode()).change is Change.VALUE


def test_ulps_count_across_zero() -> None:
    tiny = math.ulp(0.0)
    assert ulps_between(-tiny, tiny) == 2
    assert ulps_between(-0.0, 0.0) == 0


def test_tokens_are_no_numbers() -> None:
    assert number(b"NaN") is None
    assert number(b"null") is None
    assert number(None) is None
    assert number(b"-1.5e1") == -15.0
    assert kind(b"01") == "token"
