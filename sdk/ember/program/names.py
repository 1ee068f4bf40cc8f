"""An instruction -> the module of the model and the line of the source it came from.

Both are in the frames of a chain (`stacktrace`), a part of the format that no runtime
reads. A frame of `ember export` has the module's path behind MARK in its name; others
are lines of a Python stack. A call of a delegate has a frame for each node of its graph
and, as its last, its own. Decision 0055.
"""

from __future__ import annotations

from ember.program.types import Frame, Method

MARK = "nn:"  # cannot begin the name of a Python function


def frame(module: str | None, file: str = "", line: int = 0) -> Frame:
    return Frame(file, line, MARK + (module or ""), "")


def is_of_module(frame: Frame) -> bool:
    """Whether `ember export` wrote it; others are of Python functions."""
    return frame.name.startswith(MARK)


def module_of(method: Method, instruction: int, inside: int | None = None) -> str:
    """The path of the module, such as features.3; empty if it is the model itself, or
    the program does not say.

    inside -- a node of the graph of a delegate
    """
    near = _frame(method, instruction, inside)
    return near.name.removeprefix(MARK) if near and is_of_module(near) else ""


def source_of(
    method: Method, instruction: int, inside: int | None = None
) -> Frame | None:
    """The line of the source, if the export kept it."""
    near = _frame(method, instruction, inside)
    return near if near is not None and near.filename else None


def facts(method: Method, instruction: int) -> dict[str, str | None]:
    """Both as JSON."""
    return {
        "module": module_of(method, instruction) or None,
        "source": line(source_of(method, instruction)) or None,
    }


def line(frame: Frame | None) -> str:
    """Such as net.py:25; empty without a frame."""
    return "" if frame is None else f"{frame.filename}:{frame.line}"


def _frame(method: Method, instruction: int, inside: int | None) -> Frame | None:
    at = instruction
    for chain in method.chains:
        if at < len(chain.instructions):
            frames = chain.stacktrace[at] if chain.stacktrace is not None else ()
            if inside is not None and inside < len(frames) - 1:
                return frames[inside]
            return frames[-1] if frames else None
        at -= len(chain.instructions)
    return None
