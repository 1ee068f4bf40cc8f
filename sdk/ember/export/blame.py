"""An error of the exporter becomes a sentence: what failed, and where in the source."""

from __future__ import annotations

import linecache
import re
import traceback
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from ember.errors import SdkError

_FRAME = re.compile(r'File "(?P<file>[^"]+)", line (?P<line>\d+)')
_OPERATOR = re.compile(r"aten\.(\w+)|\w+::(\w+)")
_ROOT = re.compile(r"^(L\['self'\]|L__self__|self)\.?")  # of the path of a module
_AGAIN = re.compile(r"@\d+")  # a module that is called a second time
_EMPTY = "An error occurred when running the"  # and behind it the cause
_NODE_NAMES = ("node", "n", "fx_node", "input_node")  # of variables of the exporter
_OURS = str(Path(__file__).parents[1])


class LoweringError(Exception):
    """An error of the exporter, with the graph in which operators have source lines."""

    def __init__(self, error: Exception, nodes: Sequence[Any]) -> None:
        super().__init__(str(error))
        self.error = error
        self.nodes = nodes


def of(
    what: str,
    error: BaseException,
    path: Path,
    nodes: Sequence[Any] = (),
    hint: str | None = None,
) -> SdkError:
    """The sentence for an error of the user's model or of its export.

    nodes -- of a graph, in which the operator that the error names is found
    """
    chain = list(_chain(error))
    for part in chain:
        nodes = part.nodes if isinstance(part, LoweringError) else nodes
    place = _place(chain, path, nodes)
    return SdkError(f"{what}{place}: {_reason(chain)}", hint)


def first_line(error: BaseException) -> str:
    """The message of an error without the pages that the exporter adds."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    if not lines:
        return "no reason given"
    return " ".join(lines[: 2 if lines[0].endswith(":") else 1])


# ---- errors behind errors ------------------------------------------------------------


def _chain(error: BaseException) -> Iterator[BaseException]:
    """An error, its cause, and so on; its context if it has no message."""
    seen: set[int] = set()
    current: BaseException | None = error
    while current is not None and id(current) not in seen:
        seen.add(id(current))
        yield current
        beside = None if current.__suppress_context__ else current.__context__
        current = current.__cause__ or (beside if _says_nothing(current) else None)


def _says_nothing(error: BaseException) -> bool:
    said = str(error).strip()
    return not said or said.startswith(_EMPTY) or isinstance(error, LoweringError)


def _reason(chain: Sequence[BaseException]) -> str:
    """Kind and message of the first cause that has a message, or of the error."""
    speaking = [error for error in chain if not _says_nothing(error)]
    error = (speaking or chain)[-1]
    if isinstance(error, LoweringError):
        error = error.error
    said = type(error).__name__
    if str(error).strip():
        said = f"{said}: {first_line(error)}"
    return f"{said}{_library_line(error)}"


def _library_line(error: BaseException) -> str:
    """Where an error without a message was raised."""
    frames = traceback.extract_tb(error.__traceback__)
    if len(str(error).split()) > 2 or not frames:
        return ""
    file = Path(frames[-1].filename)
    return f" ({file.parent.name}/{file.name}:{frames[-1].lineno}: `{frames[-1].line}`)"


# ---- modules and lines of the source -------------------------------------------------


def _place(chain: Sequence[BaseException], path: Path, nodes: Sequence[Any]) -> str:
    """The user's module and line: of the error itself, of the node that the exporter
    was at, or of a node or an operator that the error names."""
    for error in reversed(chain):
        line = _line_of(error, path)
        place = f", at {line}" if line else where(_node_at(error))
        if place:
            return place
    for error in reversed(chain):
        place = where(_node_named(error, nodes))
        if place:
            return place
    return ""


def where(node: Any) -> str:
    """Behind a sentence: module and line of a node, as far as they are known."""
    meta = getattr(node, "meta", None) or {}
    module, trace = module_of(meta), meta.get("stack_trace")
    line = line_in(trace) if isinstance(trace, str) else None
    return (f", in {module}" if module else "") + (f", at {line}" if line else "")


def module_of(meta: Mapping[str, Any]) -> str:
    """The path of the module that calls a node; empty: the model itself, or unknown."""
    stack = list((meta.get("nn_module_stack") or {}).values())
    return _AGAIN.sub("", _ROOT.sub("", str(stack[-1][0]))) if stack else ""


def _node_at(error: BaseException) -> Any | None:
    """The graph's node in the innermost frame that has one with a place."""
    for frame, _ in reversed(list(traceback.walk_tb(error.__traceback__))):
        for name in _NODE_NAMES:
            node = frame.f_locals.get(name)
            if isinstance(getattr(node, "meta", None), dict) and where(node):
                return node
    return None


def _node_named(error: BaseException, nodes: Sequence[Any]) -> Any | None:
    """A node whose name the error has, or the first call of an operator that it has."""
    words = set(re.findall(r"\w+", str(error)))
    calls = [node for node in nodes if node.op == "call_function" and where(node)]
    known = [node for node in calls if node.name in words]
    operator = _OPERATOR.search(str(error))
    if not known and operator:
        known = _calls(calls, f"aten::{operator[1] or operator[2]}")
    return known[0] if known else None


def line_in(trace: str) -> str | None:
    """The innermost line of a stack trace in the user's code: file:line: `code`."""
    frame = _users_frame(trace)
    return _named(frame["file"], int(frame["line"])) if frame else None


def place_in(trace: str) -> tuple[str, int] | None:
    """The same as a file without folders, and a line."""
    frame = _users_frame(trace)
    return (Path(frame["file"]).name, int(frame["line"])) if frame else None


def _users_frame(trace: str) -> re.Match[str] | None:
    frames = [m for m in _FRAME.finditer(trace) if _is_users(m["file"])]
    return frames[-1] if frames else None


def calls_of(nodes: Iterable[Any], operator: str) -> list[str]:
    """The modules and source lines of the calls of an operator (aten::add.out) in a
    graph: in features.3, at net.py:3: `code`."""
    places = (where(node).removeprefix(", ") for node in _calls(nodes, operator))
    return list(dict.fromkeys(place for place in places if place))


def _calls(nodes: Iterable[Any], operator: str) -> list[Any]:
    # what an operator is decomposed into has a name that starts with _
    name = operator.partition("::")[2].partition(".")[0].lstrip("_")
    return [
        node
        for node in nodes
        if node.op == "call_function" and f".{name}." in f"{node.target}."
    ]


def _line_of(error: BaseException, path: Path) -> str | None:
    """The line from an error's traceback, or from the stack that it quotes."""
    if isinstance(error, SyntaxError) and error.filename and error.lineno:
        return _named(error.filename, error.lineno)
    wanted = str(path.resolve())
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        if str(Path(frame.filename).resolve()) == wanted and frame.lineno:
            return _named(frame.filename, frame.lineno)
    return line_in(str(error))


def _is_users(file: str) -> bool:
    library = ("site-packages", "dist-packages", "<", "/lib/python")
    return not file.startswith(_OURS) and not any(part in file for part in library)


def _named(file: str, line: int) -> str:
    code = linecache.getline(file, line).strip()
    return f"{Path(file).name}:{line}" + (f": `{code}`" if code else "")
