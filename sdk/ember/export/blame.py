"""What the exporter could not do becomes a sentence: what, and where in the source."""

from __future__ import annotations

import linecache
import re
import traceback
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from ember.errors import SdkError

_FRAME = re.compile(r'File "(?P<file>[^"]+)", line (?P<line>\d+)')
_OPERATOR = re.compile(r"aten\.(\w+)|\w+::(\w+)")
_OURS = str(Path(__file__).parents[1])


class LoweringError(Exception):
    """An error of the exporter, after the graph was made that has source lines."""

    def __init__(self, error: Exception, nodes: Sequence[Any]) -> None:
        super().__init__(str(error))
        self.error = error
        self.nodes = nodes


def of(
    what: str, error: BaseException, path: Path, nodes: Sequence[Any] = ()
) -> SdkError:
    """The sentence for an error of the user's model or of its export.

    By `nodes`, of a graph, the line of an operator is found that the error names.
    """
    if isinstance(error, LoweringError):
        return of(what, error.error, path, error.nodes)
    where = _line_of(error, path) or _line_of_operator(error, nodes)
    place = f", at {where}" if where else ""
    return SdkError(f"{what}{place}: {type(error).__name__}: {first_line(error)}")


def first_line(error: BaseException) -> str:
    """What an error says, without the pages that the exporter adds."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    if not lines:
        return "no reason is given"
    return " ".join(lines[: 2 if lines[0].endswith(":") else 1])


def line_in(trace: str) -> str | None:
    """The innermost line of a stack trace that is the user's: file:line: `code`."""
    found = [m for m in _FRAME.finditer(trace) if _is_users(m["file"])]
    return _named(found[-1]["file"], int(found[-1]["line"])) if found else None


def calls_of(nodes: Iterable[Any], operator: str) -> list[str]:
    """The source lines of the calls of an operator, aten::add.out, in a graph."""
    # what an operator is decomposed into has a name that starts with _
    name = operator.partition("::")[2].partition(".")[0].lstrip("_")
    lines = [
        line_in(node.meta.get("stack_trace") or "")
        for node in nodes
        if node.op == "call_function" and f".{name}." in f"{node.target}."
    ]
    return list(dict.fromkeys(line for line in lines if line))


def _line_of(error: BaseException, path: Path) -> str | None:
    """By its traceback, or by the stack that the exporter quotes."""
    if isinstance(error, SyntaxError) and error.filename and error.lineno:
        return _named(error.filename, error.lineno)
    wanted = str(path.resolve())
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        if str(Path(frame.filename).resolve()) == wanted and frame.lineno:
            return _named(frame.filename, frame.lineno)
    return line_in(str(error))


def _line_of_operator(error: BaseException, nodes: Sequence[Any]) -> str | None:
    named = _OPERATOR.search(str(error))
    lines = calls_of(nodes, f"aten::{named[1] or named[2]}") if named else []
    return lines[0] if lines else None


def _is_users(file: str) -> bool:
    library = ("site-packages", "dist-packages", "<", "/lib/python")
    return not file.startswith(_OURS) and not any(part in file for part in library)


def _named(file: str, line: int) -> str:
    code = linecache.getline(file, line).strip()
    return f"{Path(file).name}:{line}" + (f": `{code}`" if code else "")
