"""Numbers leave the driver as they came, by either reader, and both readers write the same bytes."""

from __future__ import annotations

import json

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.runtime.engines.drivers import load

lossless = load("lossless")

NUMBERS = st.one_of(
    st.integers(),
    st.floats(allow_nan=False, allow_infinity=False),
    st.sampled_from([0.0, -0.0, 1.0, 5000.0, 1e22, 1e-7, 5e-324, 1.7976931348623157e308, 2**63, 2**64, -(2**70)]),
)
DOCUMENTS = st.recursive(
    st.one_of(st.none(), st.booleans(), NUMBERS, st.text()),
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(st.text(), inner, max_size=4)),
    max_leaves=20,
)


@pytest.mark.parametrize(
    "text",
    ["1", "1.0", "-0.0", "0", "1e5", "1E5", "1e+05", "0.1000", "18446744073709551616", "0.1", "1e-7", "5e-324"],
)
def test_a_number_keeps_its_text(text: str) -> None:
    document = f'{{"b":[{text}],"a":{text}}}'
    assert lossless.write(lossless.read(document)) == f'{{"a":{text},"b":[{text}]}}'
    reader = lossless.reader(document, orjson)
    assert reader.bytes(reader.document) == f'{{"a":{text},"b":[{text}]}}'.encode()


@given(document=DOCUMENTS)
def test_both_readers_write_the_same_bytes(document: object) -> None:
    try:
        text = orjson.dumps(document).decode()
    except TypeError:  # integers beyond 64 bits and lone surrogates are not orjson's
        text = json.dumps(document, separators=(",", ":"), ensure_ascii=True)
    plain = lossless.Plain(text)
    fast = lossless.reader(text, orjson)
    assert plain.bytes(plain.document) == fast.bytes(fast.document)


def test_text_that_the_fast_reader_would_change_goes_through_the_plain_one() -> None:
    assert isinstance(lossless.reader('{"a":1.0}', orjson), lossless.Fast)
    for text in ('{"a": 1.0}', '{"a":1.00}', '{"a":1e5}', '{"a":-0}'):
        assert isinstance(lossless.reader(text, orjson), lossless.Plain)


@pytest.mark.parametrize("text", ['{"a":NaN}', '{"a":Infinity}', '{"a":-Infinity}', '{"a":1,"a":2}', "{", ""])
def test_what_is_not_one_json_text_is_refused(text: str) -> None:
    with pytest.raises(ValueError):
        lossless.reader(text, orjson)


@given(value=st.floats(allow_nan=False, allow_infinity=False))
def test_a_computed_number_is_written_alike_and_reads_back(value: float) -> None:
    plain, fast = lossless.Plain("{}"), lossless.Fast("{}", orjson)
    assert plain.bytes([plain.number(value)]) == fast.bytes([fast.number(value)])
    assert json.loads(plain.bytes([plain.number(value)])) == [value]


@pytest.mark.parametrize("value", [float("nan"), float("inf"), float("-inf")])
def test_a_figure_that_is_not_finite_is_refused(value: float) -> None:
    with pytest.raises(ValueError, match="not finite"):
        lossless.Plain("{}").number(value)
