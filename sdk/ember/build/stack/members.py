"""Objects and archives become what a linker takes of them: members, then sections.

It does what GNU ld and lld do with archives in a group and with --gc-sections.
"""

from __future__ import annotations

import functools
from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from ember.toolchain import elf, objects
from ember.toolchain.elf import Symbol
from ember.toolchain.objects import Archive, Object

# Sections that linker scripts drop, whoever refers to them.
_DROPPED = (".ARM.ex", ".eh_frame", ".note", ".comment", ".debug", ".ARM.attr")
_KEPT = (".ember_vectors", ".bss.ember_marks")


@dataclass(frozen=True)
class Place:
    """A byte of a section of an object: a function's start, a table's entry."""

    object: Object
    section: int
    offset: int


@functools.lru_cache(maxsize=64)
def _archive(path: Path, changed: int) -> Archive:
    return Archive(path)


class Members:
    """Every object of a firmware, and who defines each symbol."""

    def __init__(
        self,
        given: Sequence[Path],
        archives: Sequence[Path],
        entry: str,
        *,
        gnu: bool,
    ) -> None:
        self.entry = entry
        self.objects: list[Object] = []
        self._defined: dict[str, tuple[Object, Symbol]] = {}
        self._needed: dict[str, None] = {entry: None}
        self._archives = [
            _archive(archive, archive.stat().st_mtime_ns) for archive in archives
        ]
        self._taken: set[tuple[int, int]] = set()
        for path in given:
            self._add(objects.read(path))
        if gnu:
            self._take_in_passes()
        else:
            self._take_at_once()

    def _add(self, object_: Object) -> None:
        self.objects.append(object_)
        for name, symbol in object_.defined.items():
            known = self._defined.get(name)
            if known is None or (
                known[1].binding == elf.STB_WEAK and symbol.binding == elf.STB_GLOBAL
            ):
                self._defined[name] = (object_, symbol)
        for name in object_.needed():
            self._needed.setdefault(name)

    def _take(self, archive: int, place: int) -> bool:
        if (archive, place) in self._taken:
            return False
        self._taken.add((archive, place))
        self._add(self._archives[archive].member(place))
        return True

    def _take_in_passes(self) -> None:
        """GNU ld: each archive in turn gives all it can, until none gives more."""
        more = True
        while more:
            more = False
            for number in range(len(self._archives)):
                while self._pass(number):
                    more = True

    def _pass(self, number: int) -> bool:
        changed = False
        for name, place in self._archives[number].index:
            if name in self._needed and name not in self._defined:
                changed |= self._take(number, place)
        return changed

    def _take_at_once(self) -> None:
        """lld: the first archive that has a symbol gives it."""
        offered: dict[str, tuple[int, int]] = {}
        for number, archive in enumerate(self._archives):
            for name, place in archive.index:
                offered.setdefault(name, (number, place))
        work = list(self._needed)
        while work:
            name = work.pop(0)
            if name not in self._defined and name in offered:
                before = set(self._needed)
                self._take(*offered[name])
                work += [wanted for wanted in self._needed if wanted not in before]

    # ---- what symbols mean -------------------------------------------------------

    def definition(self, source: Object, symbol: Symbol) -> Place | None:
        """Where the symbol that `source` refers to is; None: the linker script says."""
        if symbol.section == 0 or (
            symbol.binding == elf.STB_WEAK and symbol.name in self._defined
        ):
            return self.named(symbol.name)
        if symbol.section >= elf.SHN_RESERVED:
            return None
        return Place(source, symbol.section, objects.offset_of(symbol, source))

    def named(self, name: str) -> Place | None:
        definition = self._defined.get(name)
        if definition is None or definition[1].section >= elf.SHN_RESERVED:
            return None
        object_, symbol = definition
        return Place(object_, symbol.section, objects.offset_of(symbol, object_))

    # ---- sections ----------------------------------------------------------------

    @functools.cached_property
    def kept(self) -> dict[tuple[Object, int], None]:
        """Sections that are reached, as --gc-sections finds them."""
        work = [*self._always_kept()]
        start = self.named(self.entry)
        if start is not None:
            work.append((start.object, start.section))
        return self.reached(work)

    def _always_kept(self) -> Iterator[tuple[Object, int]]:
        for object_ in self.objects:
            for index, section in enumerate(object_.file.sections):
                if section.name.startswith(_KEPT) and section.in_memory:
                    yield object_, index

    def reached(
        self,
        work: Iterable[tuple[Object, int]],
        *,
        core: bool = True,
        last: Container[tuple[Object, int]] = (),
    ) -> dict[tuple[Object, int], None]:
        """Sections that `work` refers to, at any depth; with or without the core's.

        What sections of `last` refer to does not count.
        """
        reached = dict.fromkeys(work)
        waiting = list(reached)
        while waiting:
            object_, index = waiting.pop()
            if (object_, index) in last:
                continue
            for relocation in object_.relocations.get(index, {}).values():
                place = self.definition(object_, relocation.symbol)
                if place is None or (not core and is_core(place.object)):
                    continue
                key = place.object, place.section
                name = place.object.section(place.section).name
                if key not in reached and not name.startswith(_DROPPED):
                    reached[key] = None
                    waiting.append(key)
        return reached

    def in_order(
        self, kept: dict[tuple[Object, int], None]
    ) -> Iterator[tuple[Object, int]]:
        """The same as a linker places them: by object, then as the object has them."""
        for object_ in self.objects:
            for index in range(len(object_.file.sections)):
                if (object_, index) in kept:
                    yield object_, index


def is_core(object_: Object) -> bool:
    return object_.archive in ("libember_core", "libember_prepared")


def size_of(sections: Iterable[tuple[Object, int]], end: int) -> int:
    """Bytes of sections in this order, each as it is aligned, up to a multiple of
    `end`."""
    at = 0
    for object_, index in sections:
        section = object_.section(index)
        at = _up(at, max(section.alignment, 1)) + section.size
    return _up(at, end)


def _up(value: int, step: int) -> int:
    return -(-value // step) * step
