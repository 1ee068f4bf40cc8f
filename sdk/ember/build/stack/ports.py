"""Where the firmware of each port starts, and what exceptions take of its stack."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ember.boards import Board
from ember.build.stack.bound import Bound, CallGraph
from ember.build.stack.members import Members, Place
from ember.toolchain import elf
from ember.toolchain.libraries import Libraries

_STEP = 32  # bytes; what a stack's size is a multiple of

# Cortex-M pushes r0-r3, r12, lr, pc and xpsr when an exception begins; with FPU also
# s0-s15, FPSCR and a word. One word more may align the stack.
_BASIC, _EXTENDED, _ALIGNED = 8 * 4, 26 * 4, 4


@dataclass(frozen=True)
class _Port:
    entry: str
    main: str = ""  # the stack that the entry changes to; "" when it starts on it
    vectors: str | None = None  # the section with the addresses of handlers
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
    # A guard of 64 bytes, and the word above that tells whether the stack was full.
    "cortexm": _Port("ember_cortexm_reset", vectors=".ember_vectors", floor=68),
}
_BOUNDED = ("cortexm", "a64", "linux_user_wide")


def _name(board: Board) -> str:
    """The port, with the width of its pointers where there are two."""
    wide = board.port == "linux_user" and board.pointer_bytes == 8
    return "linux_user_wide" if wide else board.port


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


def bound(libs: Libraries, calls: CallGraph) -> Bound:
    """StackError where there is none."""
    port = _PORTS[_name(libs.board)]
    for place in _labelled(calls.members, port.handlers):
        calls.add_stack(place, port.handler_stack)
    if port.vectors is None:
        return calls.bound([], 0, port.main)
    handlers = _vectors(calls.members, port.vectors)
    return calls.bound(handlers, _exception(libs), port.main)


def _exception(libs: Libraries) -> int:
    """Bytes that the hardware pushes; handlers of the port do not nest."""
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


def _vectors(members: Members, section: str) -> list[Place]:
    """The handlers in the vector table, without the entry."""
    places: dict[Place, None] = {}
    for object_, index in members.kept:
        if object_.section(index).name != section:
            continue
        for relocation in object_.relocations.get(index, {}).values():
            place = members.definition(object_, relocation.symbol)
            if place is not None and _is_code(place):
                places[place] = None
    entry = members.named(members.entry)
    return [place for place in places if place != entry]


def _is_code(place: Place) -> bool:
    section = place.object.section(place.section)
    return bool(section.flags & elf.SHF_EXECINSTR)
