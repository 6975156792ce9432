"""Where things go: indentation, what shares a line, and the alignment of `=`, `{` and comments."""

from __future__ import annotations

from dataclasses import dataclass

from aisimc_compiler.syntax.format.concrete import Body, Comment, Element, Item, Trailing, Values

WIDTH = 132
"""Longer lines are broken where they can be. The published campaigns have lines of up to 128."""

_OUTLIER = 8
"""A name longer than the next shorter one by more than this stands outside the alignment of its neighbours."""

_INDENT = "  "


@dataclass(slots=True)
class Line:
    """One line of output. `key` and `rest` are what is aligned: name and `= value`, or head and `{ … }`."""

    indent: str
    key: str
    rest: str = ""
    kind: str = "other"  # attribute, flat (a block on one line), comment, blank, other
    shape: tuple[str, ...] = ()
    trailing: Trailing | None = None
    width: int = 0

    @property
    def text(self) -> str:
        """The line without its trailing comment."""
        if self.kind == "blank":
            return ""
        key = self.key.ljust(self.width) if self.rest else self.key
        return f"{self.indent}{key}{' ' if self.rest else ''}{self.rest}"


def lay_out(file: Body) -> list[str]:
    """The lines of a formatted file."""
    lines: list[Line] = []
    _body(file, 0, lines)
    _align(lines)
    return _with_comments(lines)


# Flat forms: on one line, or not at all.


def _flat_value(value: str | Values) -> str | None:
    if isinstance(value, str):
        return value
    if not value.flat:
        return None
    parts = [_flat_value(element.value) for element in value.elements]
    return f"[{', '.join(part for part in parts if part is not None)}]" if None not in parts else None


def _flat_item(item: Item) -> str | None:
    if item.above or item.trailing is not None:
        return None
    return _flat_core(item)


def _flat_core(item: Item) -> str | None:
    """The item on one line, leaving its own comments aside."""
    if item.kind == "attribute":
        value = _flat_value(item.value)
        return None if value is None else f"{item.head} = {value}"
    if item.body is None:
        return item.head
    inside = _flat_body(item.body)
    return None if inside is None else f"{item.head} {inside}"


def _flat_body(body: Body) -> str | None:
    if body.opening is not None or body.below:
        return None
    if not body.items:
        return "{ }"
    if not body.flat:
        return None
    parts: list[str] = []
    for number, item in enumerate(body.items):
        flat = _flat_item(item)
        if flat is None:
            return None
        parts.append(flat + ("," if item.comma and number < len(body.items) - 1 else ""))
    return f"{{ {' '.join(parts)} }}"


def _shape(item: Item) -> tuple[str, ...]:
    return tuple(part.head for part in item.body.items) if item.body is not None else ()


# Lines.


def _comments(comments: list[Comment], indent: str, lines: list[Line], first_blank: bool) -> None:
    for number, comment in enumerate(comments):
        if not comment.text:
            _blank(lines)
            continue
        if (comment.blank and number) or (number == 0 and first_blank):
            _blank(lines)
        lines.append(Line(indent, comment.text, kind="comment"))


def _blank(lines: list[Line]) -> None:
    if lines and lines[-1].kind != "blank" and not lines[-1].text.endswith(("{", "[")):
        lines.append(Line("", "", kind="blank"))


def _body(body: Body, depth: int, lines: list[Line]) -> None:
    indent = _INDENT * depth
    start = len(lines)
    for item in body.items:
        flat = _flat_core(item)
        fits = flat is not None and len(indent) + len(flat) <= WIDTH
        if fits and flat is not None and not item.breaks and _joins(item, depth, lines, start, flat):
            continue
        _comments(item.above, indent, lines, item.blank)
        if item.blank and not item.above:
            _blank(lines)
        if fits:
            _flat_line(item, indent, lines)
        else:
            _tall(item, depth, lines)
    _comments(body.below, indent, lines, bool(body.below and body.below[0].blank))


def _joins(item: Item, depth: int, lines: list[Line], start: int, flat: str) -> bool:
    """Put an item on the line of the one before it, where it stood and where there is room."""
    if depth == 0 or len(lines) == start or item.above:
        return False
    last = lines[-1]
    if last.kind in ("comment", "blank", "tall") or last.trailing is not None:
        return False
    comma = "," if last.shape[-1:] == (",",) else ""
    before = f"{last.key} {last.rest}".rstrip() if last.rest else last.key
    joined = f"{before}{comma} {flat}"
    if len(last.indent) + len(joined) > WIDTH:
        return False
    lines[-1] = Line(last.indent, joined, shape=(",",) if item.comma else (), trailing=item.trailing)
    return True


def _flat_line(item: Item, indent: str, lines: list[Line]) -> None:
    shape = (*_shape(item), ",") if item.comma else _shape(item)
    if item.kind == "attribute":
        rest = f"= {_flat_value(item.value)}"
        lines.append(Line(indent, item.head, rest, "attribute", shape, item.trailing))
    elif item.body is not None:
        rest = _flat_body(item.body) or ""
        lines.append(Line(indent, item.head, rest, "flat", shape, item.trailing))
    else:
        lines.append(Line(indent, item.head, shape=shape, trailing=item.trailing))


def _tall(item: Item, depth: int, lines: list[Line]) -> None:
    """An item over several lines."""
    indent = _INDENT * depth
    if item.body is not None:
        lines.append(Line(indent, f"{item.head} {{", trailing=item.body.opening))
        for inner in item.body.items if item.body.flat else ():
            inner.breaks = True
        _body(item.body, depth + 1, lines)
        lines.append(Line(indent, "}", kind="tall", trailing=item.trailing))
        return
    if isinstance(item.value, str):  # too long, and nowhere to break it
        _flat_line(item, indent, lines)
        return
    lines.append(Line(indent, item.head, "= [", "attribute"))
    _elements(item.value, depth + 1, lines)
    lines.append(Line(indent, "]", kind="tall", trailing=item.trailing))


def _elements(values: Values, depth: int, lines: list[Line]) -> None:
    indent = _INDENT * depth
    for element in values.elements:
        _comments(element.above, indent, lines, bool(element.above and element.above[0].blank))
        _element(element, depth, lines)
    _comments(values.below, indent, lines, bool(values.below and values.below[0].blank))


def _element(element: Element, depth: int, lines: list[Line]) -> None:
    indent = _INDENT * depth
    flat = _flat_value(element.value)
    if flat is not None:
        lines.append(Line(indent, f"{flat},", trailing=element.trailing))
        return
    assert isinstance(element.value, Values)
    lines.append(Line(indent, "["))
    _elements(element.value, depth + 1, lines)
    lines.append(Line(indent, "],", kind="tall", trailing=element.trailing))


# Alignment.


def _align(lines: list[Line]) -> None:
    """Pad names so that `=` stands in one column in each run of attributes, and `{` in runs of blocks of one shape."""
    run: list[Line] = []
    for line in [*lines, Line("", "", kind="blank")]:
        if line.kind == "comment" and run:
            continue
        if run and (line.kind, line.indent) == (run[0].kind, run[0].indent) and _alike(run[0], line):
            run.append(line)
            continue
        _pad(run)
        run = [line] if line.kind in ("attribute", "flat") else []


def _alike(one: Line, other: Line) -> bool:
    return one.kind == "attribute" or [s for s in one.shape if s != ","] == [s for s in other.shape if s != ","]


def _pad(run: list[Line]) -> None:
    if not run:
        return
    lengths = sorted({len(line.key) for line in run})
    width = lengths[0]
    for length in lengths[1:]:
        if length - width > _OUTLIER:
            break
        width = length
    for line in run:
        line.width = width


def _with_comments(lines: list[Line]) -> list[str]:
    """The finished texts. A trailing comment stays in its column where there is room; neighbours share one."""
    texts = [line.text for line in lines]
    columns = [0] * len(lines)
    group: list[int] = []
    for number in range(len(lines) + 1):
        trails = number < len(lines) and lines[number].trailing is not None
        if trails and (not group or lines[group[-1]].indent == lines[number].indent):
            group.append(number)
            continue
        wanted = [max(_column(lines[at]), len(texts[at]) + 2) for at in group]
        for at in group:
            columns[at] = max(wanted)
        group = [number] if number < len(lines) and lines[number].trailing is not None else []
    result: list[str] = []
    for text, column, line in zip(texts, columns, lines, strict=True):
        result.append(text.ljust(column) + line.trailing.text if line.trailing is not None else text.rstrip())
    return result


def _column(line: Line) -> int:
    return line.trailing.column if line.trailing is not None else 0
