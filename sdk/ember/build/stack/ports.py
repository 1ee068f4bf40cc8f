"""Where the firmware of each port starts, and what exceptions take of its stack."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from ember.boards import Board
from ember.build.stack.bound import Bound, CallGraph
from ember.build.stack.interrupts import Interrupts, Vectors
from ember.build.stack.members import Members, Place
from ember.toolchain import linker
from ember.toolchain.libraries import Libraries

_STEP = 32  # bytes; what a stack's size is a multiple of

# Cortex-M pushes r0-r3, r12, lr, pc and xpsr when an exception begins; with FPU also
# s0-s15, FPSCR and a word. One word more may align the stack.
_BASIC, _EXTENDED, _ALIGNED = 8 * 4, 26 * 4, 4


@dataclass(frozen=True)
class _Port:
    entry: str
    main: str = ""  # the stack that the entry changes to; "" when it starts on it
    vectors: bool = False  # whether it has a table of handlers
    handlers: tuple[str, ...] = ()  # those with a name; they run on `handler_stack`
    handler_stack: str = ""
    floor: int = 4  # bytes at the end of the stack that must never be written


_PORTS = {
    "a64": _Port(
        "_start",
        "__ember_stack_end",
        handlers=("report",),
        handler_stack="fault_stack_end",
    ),
    "linux_user": _Port("_start"),
    # Signals are handled on a stack of their own.
    "linux_user_wide": _Port("_start", "__ember_stack_end"),
    "linux_user_hexagon": _Port("_start", "__ember_stack_end"),
    # A guard of 64 bytes, and the word above that tells whether the stack was full.
    "cortexm": _Port("ember_cortexm_reset", vectors=True, floor=68),
}
# What applications call to open, load and run a model.
_FOR_TASKS = (
    *("ember_model_open_of", "ember_model_load_of", "ember_model_start"),
    *("ember_method_load", "ember_method_execute", "ember_method_execute_traced"),
)
_BOUNDED = ("cortexm", "a64", "linux_user_wide", "linux_user_hexagon")


def _name(board: Board) -> str:
    """The port, with its instruction set where there are several."""
    if board.port != "linux_user":
        return board.port
    if board.core is not None and board.core.arch == "hexagon":
        return "linux_user_hexagon"
    return "linux_user_wide" if board.pointer_bytes == 8 else board.port


def is_bounded(board: Board) -> bool:
    """Whether firmware for the board has a bound of its stack."""
    return _name(board) in _BOUNDED


def members(libs: Libraries, objects: Sequence[Path]) -> Members | None:
    """What a firmware of `objects` is linked of; None on this computer."""
    port = _PORTS.get(_name(libs.board))
    if port is None:
        return None
    given = [*objects, *libs.objects]
    return Members(given, libs.all_archives, port.entry, gnu=not libs.uses_lld)


def graph(libs: Libraries, members: Members | None) -> CallGraph | None:
    """The calls of a firmware; None where nobody reads its instructions."""
    if members is None or not is_bounded(libs.board):
        return None
    return CallGraph(members)


def bound(libs: Libraries, calls: CallGraph, declared: Interrupts) -> Bound:
    """StackError where there is none; `declared` are handlers of the application."""
    port = _PORTS[_name(libs.board)]
    for place in _labelled(calls.members, port.handlers):
        calls.add_stack(place, port.handler_stack)
    if not port.vectors:
        return replace(calls.bound([], 0, port.main), tasks=_tasks(calls))
    frame = _exception(libs)
    vectors = Vectors(calls, declared.on(libs.board), frame)
    levels = vectors.levels()
    deepest = calls.bound(vectors.ending, frame, port.main)
    base = libs.board.memories_for("vectors")[0].base
    vectors.check(base + linker.header_bytes(libs.board))
    return replace(deepest, levels=levels, tasks=_tasks(calls))


def _tasks(calls: CallGraph) -> dict[str, int]:
    """What a task of an operating system needs to call each of these functions."""
    return {
        name: calls.need(place)[0]
        for name in _FOR_TASKS
        if (place := calls.members.named(name)) in calls.reached and place is not None
    }


def _exception(libs: Libraries) -> int:
    """Bytes that the hardware pushes where an exception begins."""
    if any(word == "-mfloat-abi=soft" for word in libs.flags):
        return _BASIC + _ALIGNED
    return _EXTENDED + _ALIGNED


def size(libs: Libraries, bound: Bound) -> int:
    """Bytes to reserve for a stack with this bound."""
    return -(-(bound.total + floor(libs)) // _STEP) * _STEP


def floor(libs: Libraries) -> int:
    return _PORTS[_name(libs.board)].floor


def _labelled(members: Members, names: Sequence[str]) -> list[Place]:
    """Handlers in the assembly of a port."""
    return [
        Place(object_, section, offset)
        for object_, section in members.kept
        if object_.archive is None
        for offset, label in object_.labels.get(section, [])
        if label in names
    ]
