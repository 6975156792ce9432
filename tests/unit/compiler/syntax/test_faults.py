"""Each kind of slip: where it is reported, as what, and what `--fix` would make of it."""

from __future__ import annotations

import pytest

from aisimc_compiler.fixing import apply
from aisimc_compiler.source import Source
from aisimc_compiler.syntax.parser import parse
from tests.builders.texts import brief, faults_of

# text, (underlined text, part of the message)…, text after the safe mends (None: the same)
CASES: list[tuple[str, list[tuple[str, str]], str | None]] = [
    # look-alikes
    ("a = “b”", [("“", "does not quote")], 'a = "b"'),
    ("a = “it’s – b”", [("“", "does not quote")], 'a = "it’s – b"'),
    ("a\u00a0= 1", [("\u00a0", "not a space")], "a = 1"),
    ("rоw x { }", [("о", "looks like `o`")], "row x { }"),
    ("a = ５０", [("５", "looks like `5`")], "a = 50"),
    ("a = 1–3", [("1–3", "two dots"), ("–", "looks like `-`")], None),
    ("\ufeffa = 1", [("\ufeff", "byte order mark")], "a = 1"),
    ("en\u200bgine = 1", [("\u200b", "not a space")], "engine = 1"),
    ("a\u200b = 1", [("\u200b", "not a space")], None),
    ("a ＝ 1", [("＝", "looks like `=`")], "a = 1"),
    ("größe = 1", [("ö", "cannot stand in a name")], None),
    ("a = x # “this” – and\u00a0that are fine", [], None),
    ('a = "“this” – and\u00a0that"', [], None),
    # characters that hide something
    ("a = 1\rb = 2", [("\r", "carriage return")], "a = 1\nb = 2"),
    ("# a\rb = 2", [("\r", "carriage return")], "# a\nb = 2"),
    ("a = 1\r\nb = 2\r\n", [], None),
    ('a = "x\u202ey"', [("\u202e", "order")], 'a = "xy"'),
    ("a = 1\0", [("\0", "NUL")], "a = 1"),
    ("a =\x01 1", [("\x01", "control character")], "a = 1"),
    # habits from elsewhere
    ("a: 1", [(":", "not `:`")], "a = 1"),
    ("a := 1", [(":=", "not `:=`")], "a = 1"),
    ("a == 1", [("==", "one `=`")], "a = 1"),
    ("a => 1", [("=>", "not `=>`")], "a = 1"),
    ("a = 1;", [(";", "need no `;`")], "a = 1"),
    ("// x = {\na = 1", [("//", "starts with `#`")], "# x = {\na = 1"),
    ("a = 1 // don't \"stop", [("//", "starts with `#`")], "a = 1 # don't \"stop"),
    ("/* b\n c } */ a = 1", [("/*", "starts with `#`")], None),
    ("-- b\na = 1", [("--", "starts with `#`")], "# b\na = 1"),
    ("a = 'b'", [("'b'", "double quotes")], 'a = "b"'),
    ("a = 'say \"b\"'", [("'say \"b\"'", "double quotes")], None),
    ('a = """b"""', [('"""', "not six")], None),
    ("row = { }", [("=", "no `=` before its `{`")], "row { }"),
    ("family = { b = 1 }", [("=", "no `=` before its `{`")], "family { b = 1 }"),
    ("row x { family = { paged } b = 1 }", [("{ paged }", "takes a value, not a block")], None),
    ("engine = { a = { } b = 1 }", [("{ a = { } b = 1 }", "takes a value")], None),
    ("a =\nslice { }", [("=", "has no value")], None),
    ("a = # x\n\nslice {\n}", [("=", "has no value")], None),
    ("a = b\n{ }", [("{", "a keyword before its `{`")], None),
    ("a = = 1", [("=", "one `=`")], "a = 1"),
    ("timming polynomial", [], None),
    ("engine vllm", [("vllm", "no `=` between")], "engine = vllm"),
    ('a = "one\n  two" b = 1', [('"one', "ends on its line")], None),
    ('a = "one\n# x\n  two"\n', [('"one', "ends on its line")], None),
    ('a = "one\nb = "two"', [('"one', "not closed")], None),
    ('a = "one\nb "two" c = 1', [('"one', "not closed"), ('"two"', "no `=` between")], None),
    ("a = 12 031", [("12 031", "not with blanks")], "a = 12_031"),
    ("a = 1 000 000", [("1 000 000", "not with blanks")], "a = 1_000_000"),
    ("a = 12 345 b = 1", [("12 345", "not with blanks")], "a = 12_345 b = 1"),
    ("exclude { summary/wall_time_ms }", [("summary/wall_time_ms", "not a word")], "exclude { /summary/wall_time_ms }"),
    ("row _x { }", [("_", "does not begin with `_`")], None),
    ('"a" = 1', [('"a"', "without quotes")], "a = 1"),
    ("exclude { - /a\n - /b }", [("-", "no dash"), ("-", "no dash")], None),
    ("exclude {\n - /a\n}", [("-", "no dash")], "exclude {\n  /a\n}"),
    ("exclude [ /a ]", [("[", "braces")], None),
    ("[row]\na = 1", [("[", "headers")], None),
    ("a = ${b}", [("${b}", "means nothing")], None),
    ("a = f(b)\nc = 1", [("(b)", "means nothing")], None),
    ("a = <<EOF\n b = {\nEOF\nc = 1", [("<<EOF\n b = {\nEOF", "means nothing")], None),
    # numbers
    ("a = 1-3", [("1-3", "two dots")], None),
    ("a = 1...3", [("1...3", "not with `...`")], None),
    ("a = 1..=3", [("1..=3", "not with `..=`")], None),
    ("a = 1..", [("1..", "both ends")], None),
    ("a = ..3", [("..3", "both ends")], None),
    ("a = 007", [("007", "leading zeros")], None),
    ("a = 5_", [("5_", "between two digits")], None),
    ("a = 1__0", [("1__0", "between two digits")], None),
    ("a = +5", [("+5", "plus sign")], None),
    ("a = .5", [(".5", "before its point")], None),
    ("a = 5.", [("5.", "after its point")], None),
    ("a = 0x1F", [("0x1F", "decimal")], None),
    ("a = 50%", [("50%", "not a number")], None),
    ("a = 10parsec", [("10parsec", "not a unit")], None),
    ("a = 1,000", [("1,000", "grouped with `_`")], None),
    ("a = 12,345,678", [("12,345,678", "grouped with `_`")], None),
    ("a = [1,500]", [], None),
    # text without quotes
    ("a = 9334cf5150", [("9334cf5150", "a hash is text")], 'a = "9334cf5150"'),
    ("a = 1.93.1", [("1.93.1", "a version is text")], 'a = "1.93.1"'),
    ("a = 0.12.0.dev1", [("0.12.0.dev1", "a version is text")], 'a = "0.12.0.dev1"'),
    ("a = 2026-11-29", [("2026-11-29", "a date is text")], 'a = "2026-11-29"'),
    ("a = some words here\nb = 1", [("some words here", "stands in quotes")], None),
    ("a = b.c", [("b.c", "not a name")], None),
    # strings
    ('a = "b', [('"b', "not closed")], None),
    ('x { a = "b }\ny { }', [('"b', "not closed")], None),
    ('a = "b”', [("”", "does not close")], 'a = "b"'),
    ('a = "\\q"', [("\\q", "not an escape")], None),
    ('a = "\\u12"', [("\\u12", "not an escape")], None),
    ('a = "\\ud800"', [("\\ud800", "surrogate")], None),
    ('a = "b\tc"', [("\t", "a tab")], 'a = "b\\tc"'),
    # pointers
    ("a = /b~", [("~", "stands alone")], None),
    ("a = /b~2c", [("~", "stands alone")], None),
    # attributes and blocks
    ("a =", [("=", "`a` has no value")], None),
    ("a =\nb = 1", [("=", "`a` has no value")], None),
    ("x { a = }", [("=", "`a` has no value")], None),
    ("a = b = c", [("=", "has its value already")], None),
    ("a = 1 2", [("2", "does not fit here")], None),
    ("a 1", [("1", "no `=`")], "a = 1"),
    ('purpose "b"', [('"b"', "no `=`")], 'purpose = "b"'),
    ("a [1]", [("[", "no `=`")], "a = [1]"),
    ("= 1", [("=", "no name before it")], None),
    ("a", [("a", "stands alone")], None),
    ("row", [("row", "stands alone")], None),
    ("x { }, y { }", [(",", "no comma")], "x { } y { }"),
    ("x { a = 1,, b = 2 }", [(",", "no comma")], "x { a = 1, b = 2 }"),
    ("row a b { }", [("b", "has one name")], None),
    ('row "a" "b" { }', [('"b"', "has one name")], None),
    ("row 5x { }", [("5x", "starts with a digit")], None),
    ("row 5 { }", [("5", "not a name")], None),
    ("{ a = 1 }", [("{", "keyword before")], None),
    ("row x\n a = 1\n}", [("x", "has no body")], None),
    ("x { } }", [("}", "closes nothing")], None),
    # lists
    ("a = [1 2]", [("2", "comma is missing")], "a = [1, 2]"),
    ("a = [1,,2]", [(",", "value is missing")], "a = [1,2]"),
    ("a = [1\nb = 2", [("[", "not closed")], None),
    ("x { a = [1 }", [("[", "not closed")], None),
    ("a = [1, 2", [("[", "not closed")], None),
]


@pytest.mark.parametrize(("text", "expected", "mended"), CASES, ids=[repr(case[0])[:50] for case in CASES])
def test_fault(text: str, expected: list[tuple[str, str]], mended: str | None) -> None:
    faults = faults_of(text)
    found = [(text[fault.span.start : fault.span.end], fault.message) for fault in faults]
    assert [token for token, _ in found] == [token for token, _ in expected], found
    for (_, message), (_, part) in zip(found, expected, strict=True):
        assert part in message
    if mended is not None:
        replacements = [fault.replacement for fault in faults if fault.replacement and fault.replacement.applicable]
        assert apply(text, replacements) == mended
        assert not faults_of(mended)


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("row x {\n  a = @\n  b = 2\n}\nrow y { c = 3 }", "row x { a=? b=2 } row y { c=3 }"),
        ("row x {\n  a =\n  b = 2\n}", "row x { a=? b=2 }"),
        ("row x {\n  a = 1 }\n}\nrow y { c = 3 }", "row x { a=1 } row y { c=3 }"),
        ("row x {\n  cap {\n    a = 1\n  b = 2\n}\nrow y { c = 3 }", "row x { cap { a=1 } b=2 } row y { c=3 }"),
        ("row x {\n  cap { a = 1\n}\nrow y { c = 3 }", "row x { cap { a=1 } } row y { c=3 }"),
        ("row x {\n  a = 1\n\nrow y { c = 3 }\nrow z { d = 4 }", "row x { a=1 } row y { c=3 } row z { d=4 }"),
        ("row x\n  a = 1\n}\nrow y { c = 3 }", "row x { a=1 } row y { c=3 }"),
        ("row x { a = [1, 2\n b = 3 }", "row x { a=[1, 2 b=3 }"),
        ('row x {\n a = "b\n c = 1\n}', "row x { a=? c=1 }"),
        ("a = 1 ) b = 2", "a=1 b=2"),
        ("row x { 5 = a b = 2 }", "row x { b=2 }"),
        ("row x { family = { a { b = 1 } } c = 2 }", "row x { family=? c=2 }"),
        (
            "timing polynomial evidence { a = 1 } timing fixed { b = 2 }",
            "timing polynomial evidence { a=1 } timing fixed { b=2 }",
        ),
    ],
)
def test_what_is_left_of_the_tree(text: str, left: str) -> None:
    file, _ = parse(Source("test", text))
    assert brief(file.body) == left


def test_every_error_is_found_in_order() -> None:
    text = "row x {\n  a = 007\n  b =\n}\nrow y {\n  c = 'd'\n  e = “f”\n  g = [1 2]\n"
    messages = [fault.message for fault in faults_of(text)]
    assert len(messages) == 6
    assert [fault.span.start for fault in faults_of(text)] == sorted(fault.span.start for fault in faults_of(text))


def test_an_unclosed_block_is_shown_at_its_brace_and_at_what_follows() -> None:
    text = "row x {\n  a = 1\n\nrow y { c = 3 }\n"
    (fault,) = faults_of(text)
    assert text[fault.span.start : fault.span.end] == "{"
    assert fault.span.start == 6
    (label,) = fault.secondary
    assert text[label.span.start : label.span.end] == "row"
    assert fault.replacement is not None
    assert apply(text, [fault.replacement]) == "row x {\n  a = 1\n}\n\nrow y { c = 3 }\n"


def test_no_error_is_said_twice_of_one_place() -> None:
    text = "a = $ $ b = (1\n" * 50
    starts = [fault.span.start for fault in faults_of(text)]
    assert len(starts) == len(set(starts))
