"""A program becomes what its file says: read back once, for the check of its plan."""

from __future__ import annotations

from ember.program.reader import parse
from ember.program.remembered import remembered
from ember.program.types import Layout, Program
from ember.program.writer import content


def read_back(program: Program) -> Program:
    """What a reader of its file finds; SdkError where that contradicts itself."""
    parsed = parse(content(program))
    remembered(program, _LAYOUT, lambda: parsed.layout)
    return parsed


def layout_of(program: Program) -> Layout:
    """How the program lies in its file."""
    return remembered(program, _LAYOUT, lambda: parse(content(program)).layout)


_LAYOUT = "layout"
