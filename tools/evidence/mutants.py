"""A C file becomes mutants: the same with one operator, number or call changed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

# What becomes the other where it is a token of its own, both ways, and what one way.
_PAIRS = (
    *((" < ", " <= "), (" > ", " >= "), (" == ", " != "), (" && ", " || ")),
    *((" + ", " - "), (" += ", " -= "), ("true", "false"), (" 0", " 1")),
)
_CHANGES = {" & ": " | ", "!": "", "++": "--", **dict(_PAIRS)}
_CHANGES |= {after: before for before, after in _PAIRS}
_TOKEN = re.compile(
    r" (?:<=|>=|==|!=|&&|\|\||\+=|-=|[<>+&-]) |!(?=[a-z(])|\btrue\b|\bfalse\b"
    r"|(?<=[=(,]) [01](?=[;,)u ])|\+\+"
)
_CALL = re.compile(r"^    +(?:\(void\))?!?(?:ember|flat|mem)\w+\(.*\);$")
_HIDDEN = re.compile(r'//[^\n]*|"(?:\\.|[^"\\\n])*"|^ *#[^\n]*', re.M)


@dataclass(frozen=True)
class Mutant:
    path: Path
    line: int
    start: int  # of what is changed, in the file
    end: int
    before: str
    after: str

    @property
    def text(self) -> str:
        """The file with the change."""
        source = self.path.read_text(encoding="utf-8")
        return source[: self.start] + self.after + source[self.end :]

    @property
    def name(self) -> str:
        to = self.after.strip() or "nothing"
        return f"{self.path.name}:{self.line}: {self.before.strip()} -> {to}"


def of(path: Path) -> Iterator[Mutant]:
    """All mutants of a file, in their order."""
    source = path.read_text(encoding="utf-8")
    code = _HIDDEN.sub(lambda match: " " * len(match[0]), source)
    for match in _TOKEN.finditer(code):
        if match[0] in _CHANGES:
            yield _mutant(path, code, *match.span(), _CHANGES[match[0]])
    at = 0
    for line in code.splitlines(keepends=True):
        if _CALL.match(line.rstrip("\n")):
            start = at + len(line) - len(line.lstrip())
            yield _mutant(path, code, start, at + len(line) - 1, ";")
        at += len(line)


def _mutant(path: Path, code: str, start: int, end: int, after: str) -> Mutant:
    line = code.count("\n", 0, start) + 1
    return Mutant(path, line, start, end, code[start:end], after)
