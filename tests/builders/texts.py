"""Texts for tests of the language front, and how to write a tree down for comparison."""

from __future__ import annotations

from pathlib import Path

from aisimc_compiler.diagnostics.model import Diagnostic
from aisimc_compiler.source import Source
from aisimc_compiler.syntax import tree
from aisimc_compiler.syntax.parser import parse

SPECS = sorted((Path(__file__).resolve().parents[2] / "specs").glob("**/*.campaign"))

EVERY_CONSTRUCT = """\
# every construct of the grammar, in both layouts
import "common/part.campaign"

campaign "all of it" { language = 1, purpose = "say \\"so\\" \\u00e9 \\ud83d\\ude00", }
row a-1 {
  engine = vllm input = trace     # several on one line
  flag = true other = false
  timing polynomial
  timing fixed { prefill = 10 ms decode = 2.5 ms }
  numbers { a = 5_000 b = -1 c = 2.5 d = 1e-3 e = -0.5E+2 f = 0 }
  quantities { a = 100 GB/s b = 12.5GB/s c = 262_144 B d = 1 KiB e = 3 sec }
  ranges { a = 1..3 b = 1 .. 3 c = -2..-1 d = 0.5..1.5 }
  lists { a = [] b = [1] c = [1, "two", three, 4 ms, [5, /6],] }
  paths = [/per_request/*/at_ms, /a~0b/~1c, /]
  ms { s = 1 b = 2 s-1 = 3 }
}
exclude { /summary/wall_time_ms, /planner/html_report_path }
exclude {
  /one
  /two
}
empty { }
"""


def tree_of(text: str) -> tree.File:
    """The tree of a text that has no syntax error."""
    file, diagnostics = parse(Source("test.campaign", text))
    assert not diagnostics, diagnostics
    return file


def faults_of(text: str) -> list[Diagnostic]:
    """The syntax errors of a text."""
    return parse(Source("test.campaign", text))[1]


def written(node: object) -> object:
    """A tree as nested lists, with spans as pairs of offsets."""
    if isinstance(node, tree.Name):
        return ["name", node.text, node.span[1:]]
    if isinstance(node, tree.Value):
        return [node.kind, written(node.value), node.raw, node.unit, node.span[1:]]
    if isinstance(node, tree.Attribute):
        return ["attribute", written(node.name), written(node.value)]
    if isinstance(node, tree.Block):
        return ["block", written(node.keyword), written(node.labels), written(node.body), node.braces, node.span[1:]]
    if isinstance(node, tree.File):
        return written(node.body)
    return [written(part) for part in node] if isinstance(node, tuple) else node


def brief(body: tuple[object, ...]) -> str:
    """A tree on one line, for assertions: `row x { a=1 b=vllm }`."""
    parts = []
    for item in body:
        if isinstance(item, tree.Block):
            labels = "".join(f" {label.raw if isinstance(label, tree.Value) else label.text}" for label in item.labels)
            parts.append(f"{item.keyword.text}{labels}" + (f" {{ {brief(item.body)} }}" if item.braces else ""))
        elif isinstance(item, tree.Attribute):
            parts.append(f"{item.name.text}={item.value.raw if item.value.kind != 'invalid' else '?'}")
        else:
            assert isinstance(item, tree.Value)
            parts.append(item.raw)
    return " ".join(parts)
