"""What starts a firmware, and what interrupts it: entries, vectors, nested handlers.

interrupts:                                    # of ember.yaml
  handlers: {SysTick_Handler: 3, dma_done: 1}  # function: its priority, or null
  levels: 2                                    # at most so many nest

Handlers of the same priority do not preempt each other. One without a priority may
preempt every other, and be preempted by them. A port adds what an exception pushes.
"""

from __future__ import annotations

import struct
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from pathlib import Path

from ember.boards import Board
from ember.firmware.stack.bound import Bound, CallGraph, HandlerLevel, StackError
from ember.firmware.stack.code import Members, Place
from ember.toolchain import elf, linker
from ember.toolchain.compiler import Libraries
from ember.toolchain.elf import Object

VECTORS = ".ember_vectors"  # of the table, and with a suffix of what follows it
_VTOR = 0xE000ED08
_SCB = 0xE000ED00  # the registers that VTOR is one of
_MODEL = ".ember_model"  # sections of weights, which may have any bytes
_MOST_VECTORS = 4 * (16 + 480)  # bytes
_NULL = 0x1000  # bytes from address 0 that a structure at NULL may take
_SETS_VTOR = "ember_cortexm_start"  # to the table that is read here


@dataclass(frozen=True)
class Interrupts:
    """What a project says of its application's handlers."""

    handlers: Mapping[str, int | None] = field(default_factory=dict)  # priorities
    levels: int | None = None
    is_declared: bool = False  # also where there are none
    of_board: Mapping[str, int | None] = field(default_factory=dict)  # if linked

    def on(self, board: Board) -> Interrupts:
        """With what the board's file says of those that its applications share."""
        known = [self.levels, board.interrupts.levels]
        levels = min((count for count in known if count is not None), default=None)
        return replace(self, levels=levels, of_board=board.interrupts.handlers)


class Vectors:
    """The handlers of a firmware: those that its table names, and declared ones."""

    def __init__(self, calls: CallGraph, declared: Interrupts, frame: int) -> None:
        self._calls = calls
        self._declared = declared
        self._frame = frame
        self._table = Counter(self._in_table())
        self._named = {name: self._place(name) for name in declared.handlers}
        functions = self._functions()
        shared = {
            name: functions[name] for name in declared.of_board if name in functions
        }
        self._named = {**shared, **self._named}
        calls.calls.handlers.update(self._named.values())

    @property
    def ending(self) -> list[Place]:
        """Those that do not return: the first of them ends the program."""
        return [place for place in self._places if not self._returns(place)]

    def levels(self) -> tuple[HandlerLevel, ...]:
        """The deepest handler of each priority; the first is the deepest of all."""
        known = {**self._declared.of_board, **self._declared.handlers}
        priorities = {place: known[name] for name, place in self._named.items()}
        deepest: dict[int, HandlerLevel] = {}
        others: list[HandlerLevel] = []
        for place in filter(self._returns, self._places):
            level = self._level(place, priorities.get(place))
            if level.priority is None:  # each of its vectors may preempt the others
                others += [level] * max(1, self._table[place])
                continue
            before = deepest.get(level.priority)
            if before is None or level.bytes > before.bytes:
                deepest[level.priority] = level
        nested = sorted([*deepest.values(), *others], key=lambda level: -level.bytes)
        return tuple(nested[: self._declared.levels])

    def check(self, table_at: int) -> None:
        """Raises StackError if code sets up a table of vectors that is not declared.

        In archives, writes near address 0 do not count: a compiler puts them on paths
        that it knows to be wrong, where a pointer to a structure is NULL.
        """
        if self._declared.is_declared:
            return
        for place, frame in self._calls.reached.items():
            name = self._calls.code.name(place)
            from_archive = place.object.archive is not None
            what = _changed(frame.writes, table_at, _NULL if from_archive else 0)
            if what is not None and name != _SETS_VTOR:
                raise _undeclared(f"'{name}' writes {what}")
        for object_, index in self._calls.members.kept:
            if _holds_vtor(object_, index):
                raise _undeclared(
                    f"a table of {object_.name}, in {object_.section(index).name},"
                    " has the address of VTOR"
                )

    @property
    def _places(self) -> list[Place]:
        return list(dict.fromkeys([*self._table, *self._named.values()]))

    def _returns(self, place: Place) -> bool:
        return self._calls.code.returns(place)

    def _level(self, place: Place, priority: int | None) -> HandlerLevel:
        size, path = self._calls.need(place)
        name = self._calls.code.name(place)
        return HandlerLevel(name, priority, size + self._frame, path)

    def _in_table(self) -> Iterator[Place]:
        """The handler of each vector, without the entry."""
        members = self._calls.members
        entry = members.named(members.entry)
        for object_, index in members.kept:
            if object_.section(index).name.startswith(VECTORS):
                for relocation in object_.relocations.get(index, {}).values():
                    place = members.definition(object_, relocation.symbol)
                    if place is not None and _is_code(place) and place != entry:
                        yield place

    def _functions(self) -> dict[str, Place]:
        """Those of the application, by name."""
        return {
            name: Place(object_, section, offset)
            for object_, index in self._calls.members.kept
            if object_.archive is None
            for (section, offset), name in object_.functions.items()
            if section == index
        }

    def _place(self, name: str) -> Place:
        """A declared handler. A static one hides the port's of the same name."""
        functions = self._functions()
        place = functions.get(name) or self._calls.members.named(name)
        if place is None or not _is_code(place):
            near = get_close_matches(name, functions, n=1)
            meant = f": did you mean {near[0]}?" if near else ""
            raise StackError(
                f"interrupts: the application has no function '{name}'{meant}",
                hint="`handlers` in ember.yaml names functions that are linked",
            )
        return place


def _undeclared(what: str) -> StackError:
    return StackError(
        f"{what}, so interrupts may run handlers that the bound of the stack does not"
        " count",
        hint="declare every handler with its priority in ember.yaml,"
        " `interrupts: {handlers: {SysTick_Handler: 3, NAME: PRIORITY}}`"
        " (`handlers: {}` where none runs); or leave the table as it is: name the"
        f" addresses in the section {VECTORS}.external, which follows Ember's 16"
        " vectors",
    )


def _holds_vtor(object_: Object, index: int) -> bool:
    """Whether data has a pointer to VTOR: writes through it cannot be found."""
    section = object_.section(index)
    if section.flags & elf.SHF_EXECINSTR or not (section.in_memory and section.in_file):
        return False
    if section.name.startswith(_MODEL):
        return False
    data = object_.content(index)
    words = struct.unpack(f"<{len(data) // 4}I", data[: len(data) // 4 * 4])
    return _VTOR in words or _SCB in words


def _changed(writes: set[tuple[str, int]], table_at: int, first: int) -> str | None:
    """How a function changes the vectors; None: it does not, as far as one can see."""
    if writes & {("const", _VTOR), ("given", _VTOR), ("given", _SCB)}:
        return "VTOR"
    inside = range(max(first, table_at), table_at + _MOST_VECTORS)
    into = any(kind == "const" and address in inside for kind, address in writes)
    return "the table of vectors" if into or ("read", _VTOR) in writes else None


def _is_code(place: Place) -> bool:
    section = place.object.section(place.section)
    return bool(section.flags & elf.SHF_EXECINSTR)


# ---- ports ---------------------------------------------------------------------------


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
    """What a firmware of `objects` is linked of; None on the host."""
    port = _PORTS.get(_name(libs.board))
    if port is None:
        return None
    given = [*objects, *libs.objects]
    return Members(given, libs.all_archives, port.entry, gnu=not libs.uses_lld)


def graph(libs: Libraries, members: Members | None) -> CallGraph | None:
    """The calls of a firmware; None where its instructions cannot be read."""
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
