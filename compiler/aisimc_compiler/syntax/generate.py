"""Parser tables from the grammar, made by Lark: when the package is built, or in memory where that was not done.

This is the only module of the compiler that imports Lark. It must not import the rest of the package: the build
hook loads it by its path.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from lark import Lark
from lark.parsers.lalr_analysis import Reduce

END = "$END"

# What a reduction builds; the driver switches on these numbers.
FIRST, MORE, FILE, ATTRIBUTE, BLOCK, STATEMENT, LIST, SAME = range(8)
_ACTIONS = {"file": FILE, "attribute": ATTRIBUTE, "block": BLOCK, "statement": STATEMENT, "list": LIST}

Rule = tuple[int, int, int, int]


def generate(grammar: str) -> dict[str, Any]:
    """The tables of a grammar as plain data.

    TERMINALS: names by number, 0 is the end of the text. PATTERN: one regular expression, in which group N is
    terminal N and what is ignored may stand before. SHIFT: for each state, by terminal number, the next state
    (>0), the rule to reduce (-1 - rule) or 0 for an error. GOTO: for each state, {symbol number: next state}.
    RULES: (symbol number, length, action, place of the element to keep). SYMBOLS: names of the nonterminals by number.
    """
    lark = Lark(grammar, parser="lalr", lexer="basic", start="file")
    ignored = set(lark.ignore_tokens)
    # Lark's own order of trial, so that both lexers split a text alike.
    terminals = sorted(
        (terminal for terminal in lark.terminals if terminal.name not in ignored),
        key=lambda t: (-t.priority, -t.pattern.max_width, -len(t.pattern.value), t.name),
    )
    names = [END, *(terminal.name for terminal in terminals)]
    return {
        "GRAMMAR": grammar,
        "TERMINALS": tuple(names),
        "PATTERN": _pattern(lark, [terminal.pattern.to_regexp() for terminal in terminals], ignored),
        **_automaton(lark, names),
    }


def _pattern(lark: Lark, terminals: list[str], ignored: set[str]) -> str:
    blanks = "|".join(t.pattern.to_regexp() for t in lark.terminals if t.name in ignored)
    groups = "|".join(f"({terminal})" for terminal in terminals)
    return f"(?:{blanks})*+(?:{groups})"


def _automaton(lark: Lark, names: list[str]) -> dict[str, Any]:
    parser: Any = lark.parser
    table = parser.parser._parse_table
    start, final = table.start_states["file"], table.end_states["file"]
    states: dict[int, dict[str, Any]] = {
        state: {symbol: _bypass(states_row, table.states, action) for symbol, action in states_row.items()}
        for state, states_row in table.states.items()
    }
    number = {state: index for index, state in enumerate(_reachable(states, start), start=1)}
    symbols = sorted({str(rule.origin.name) for rule in lark.rules})
    rules: list[Rule] = []
    shift: list[tuple[int, ...]] = [(0,) * len(names)]
    goto: list[dict[int, int]] = [{}]  # state 0 is no state, so that 0 can mean an error
    for state in number:
        row = states[state]
        shift.append(_with_default([_cell(row.get(name), number, rules, symbols) for name in names], rules))
        ways = {symbols.index(s): number[arg] for s, (_, arg) in row.items() if s in symbols and arg in number}
        goto.append(dict(sorted(ways.items())))
    return {
        "SHIFT": tuple(shift),
        "GOTO": tuple(goto),
        "RULES": tuple(rules),
        "SYMBOLS": tuple(symbols),
        "FINAL": number[final],
    }


def _with_default(row: list[int], rules: list[Rule]) -> tuple[int, ...]:
    """Where a state reduces one rule only, it does so whatever comes: an error is then found in a state that says
    what was expected, with everything before it finished. No token is shifted that would not be otherwise."""
    reductions = {cell for cell in row if cell < 0}
    if len(reductions) != 1 or rules[-1 - min(reductions)][2] == FILE:
        return tuple(row)
    return tuple(cell or min(reductions) for cell in row)


def _cell(action: Any, number: dict[int, int], rules: list[Rule], symbols: list[str]) -> int:
    if action is None:
        return 0
    kind, argument = action
    if kind is not Reduce:
        return number[argument]
    rule = _rule(argument, symbols)
    if rule not in rules:
        rules.append(rule)
    return -1 - rules.index(rule)


def _rule(rule: Any, symbols: list[str]) -> Rule:
    """A repetition that Lark made of `*` is named `__…` and has one element, with or without a comma."""
    name = str(rule.origin.name)
    recursive = rule.expansion[0].name == name if rule.expansion else False
    repeats = name.startswith("__")
    action = (MORE if recursive else FIRST) if repeats else _ACTIONS.get(name, SAME)
    kept = [place for place, part in enumerate(rule.expansion) if not getattr(part, "filter_out", False)]
    element = kept[-1] if kept else 0
    return symbols.index(name), len(rule.expansion), action, element


def _bypass(row: dict[str, Any], states: dict[int, dict[str, Any]], action: Any) -> Any:
    """Skip a state that can only rename one symbol (`?value: STRING`): go where the renamed symbol goes.

    It saves a third of all steps; the language accepted stays the same.
    """
    kind, target = action
    while kind is not Reduce:
        reductions = {id(argument): argument for k, argument in states[target].values() if k is Reduce}
        if len(reductions) != 1 or any(k is not Reduce for k, _ in states[target].values()):
            break
        (rule,) = reductions.values()
        if not (rule.options.expand1 and len(rule.expansion) == 1):
            break
        kind, target = row[rule.origin.name]
    return kind, target


def _reachable(states: dict[int, dict[str, Any]], start: int) -> list[int]:
    """The states in the order in which a walk by symbol names finds them: Lark's own numbers vary from run to run."""
    found = [start]
    for state in found:
        for symbol in sorted(states[state]):
            kind, target = states[state][symbol]
            if kind is not Reduce and target not in found:
                found.append(target)
    return found


def write(grammar: Path, tables: Path) -> None:
    """Write the tables of a grammar file as a Python module, through a temporary name."""
    data = generate(grammar.read_text(encoding="utf-8"))
    lines = [
        '"""Made from grammar.lark when the package was built. Do not edit."""',
        "",
        "from aisimc_compiler.hints import Any",
        "",
    ]
    lines += [f"{name}: Any = {value!r}" for name, value in data.items()]
    temporary = tables.with_name(f".{tables.name}.{os.getpid()}")
    temporary.write_text("\n".join(lines) + "\n", encoding="utf-8")
    temporary.replace(tables)
