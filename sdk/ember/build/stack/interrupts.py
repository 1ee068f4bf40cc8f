"""Vector tables, and what ember.yaml declares, become levels of handlers that nest.

interrupts:
  handlers: {SysTick_Handler: 3, dma_done: 1}  # function: its priority, or null
  levels: 2                                    # at most so many nest

Handlers of the same priority do not preempt each other. One without a priority may
preempt every other, and be preempted by them.
"""

from __future__ import annotations

import struct
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from difflib import get_close_matches

from ember.boards import Board
from ember.build.stack.bound import CallGraph, HandlerLevel, StackError
from ember.build.stack.members import Place
from ember.toolchain import elf
from ember.toolchain.objects import Object

SECTION = ".ember_vectors"  # of the table, and with a suffix of what follows it
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
        """StackError where code sets up a table of vectors that nobody declared.

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
            if object_.section(index).name.startswith(SECTION):
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
        f" addresses in the section {SECTION}.external, which follows Ember's 16"
        " vectors",
    )


def _holds_vtor(object_: Object, index: int) -> bool:
    """Whether data has a pointer to VTOR: who writes through it, nobody can tell."""
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
