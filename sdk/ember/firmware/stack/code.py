"""Objects and archives become the sections that a linker takes, as code to walk.

Members and sections are taken as GNU ld and lld do, with archives in a group and with
--gc-sections. `ObjectCode` shows a section, of an object or of a linked image, as
walk.py reads it.
"""

from __future__ import annotations

import bisect
import functools
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from ember.firmware.stack import a64, hexagon, hexagon_registers, thumb
from ember.firmware.stack.step import Decoded
from ember.firmware.stack.walk import StackFrame, UnknownStackError, Value, walk
from ember.toolchain import elf
from ember.toolchain.elf import Archive, Object, Relocation, Symbol

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
            self._add(elf.read_object(path))
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
        return Place(source, symbol.section, elf.offset_of(symbol, source))

    def named(self, name: str) -> Place | None:
        definition = self._defined.get(name)
        if definition is None or definition[1].section >= elf.SHN_RESERVED:
            return None
        object_, symbol = definition
        return Place(object_, symbol.section, elf.offset_of(symbol, object_))

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


# ---- sections as code ----------------------------------------------------------------


_JUMPS_BY_TABLE = "__gnu_thumb1_case_"  # how GCC writes a switch for Armv6-M
_CODE, _DATA = ("$t", "$x", "$a"), "$d"


@dataclass(frozen=True)
class Machine:
    """One instruction set; relocations by R_*."""

    name: str
    decode: Callable[[bytes, int], Decoded]
    stack_register: int
    kept_registers: frozenset[int]
    branches: frozenset[int]  # relocations of calls and jumps
    addresses: frozenset[int]  # of words and instructions that hold an address
    pointer_bytes: int
    whole_addresses: bool  # that instructions load; not in a part and another's offset


_ARM = Machine(
    name="Thumb",
    decode=thumb.decode,
    stack_register=thumb.SP,
    kept_registers=frozenset([4, 5, 6, 7, 8, 9, 10, 11, 13]),
    branches=frozenset([10, 30, 51, 102, 103]),  # THM_CALL, THM_JUMP24, 19, 11, 8
    addresses=frozenset([2, 38, 47, 48]),  # ABS32, TARGET1, THM_MOVW_ABS_NC, MOVT
    pointer_bytes=4,
    whole_addresses=True,
)
_A64 = Machine(
    name="A64",
    decode=a64.decode,
    stack_register=a64.SP,
    kept_registers=frozenset(range(19, 30)) | {a64.SP},
    branches=frozenset([279, 280, 282, 283]),  # TSTBR14, CONDBR19, JUMP26, CALL26
    addresses=frozenset([257, 274, 275, 277]),  # ABS64, ADR, ADRP, ADD_ABS_LO12_NC
    pointer_bytes=8,
    whole_addresses=False,
)
_HEXAGON = Machine(
    name="Hexagon",
    decode=hexagon.decode,
    stack_register=hexagon_registers.SP,
    kept_registers=frozenset(range(16, 28))
    | {hexagon_registers.SP, hexagon_registers.FP},
    branches=frozenset([1, 2, 3, 14, 15, *range(18, 23), 36]),  # B22_PCREL, .., PLT_B22
    addresses=frozenset([6, 17]),  # 32, 32_6_X
    pointer_bytes=4,
    whole_addresses=True,
)
_MACHINES = {elf.EM_ARM: _ARM, elf.EM_AARCH64: _A64, elf.EM_HEXAGON: _HEXAGON}


def machine(number: int) -> Machine | None:
    return _MACHINES.get(number)


class _Labels:
    """Which bytes of a section are instructions, by the marks of the assembler."""

    def __init__(self, size: int, marks: list[tuple[int, bool]]) -> None:
        marks.sort()
        self._size = size
        self._places = [at for at, _ in marks]
        self._is_code = [code for _, code in marks]

    def is_code(self, at: int) -> bool:
        index = bisect.bisect_right(self._places, at) - 1
        inside = 0 <= at < self._size
        return inside and (self._is_code[index] if index >= 0 else not self._places)

    def next_code(self, at: int) -> int:
        for place, code in zip(self._places, self._is_code, strict=True):
            if code and place >= at:
                return place
        return self._size


def _mark(name: str) -> bool | None:
    """Whether code or data begins at a mark; None: the name is not a mark."""
    if name[:2] in _CODE and name[2:3] in ("", "."):
        return True
    return False if name[:2] == _DATA and name[2:3] in ("", ".") else None


# ---- objects -------------------------------------------------------------------------


class CodeObjects:
    """Frames of the functions of objects, each walked once."""

    def __init__(self, members: Members, kind: Machine) -> None:
        self.members = members
        self.machine = kind
        self.stacks: dict[str, int] = {}  # bytes of the stacks that code changes to
        self._frames: dict[Place, StackFrame] = {}
        self._busy: set[Place] = set()
        self._codes: dict[tuple[Object, int], ObjectCode] = {}

    def frame(self, place: Place) -> StackFrame:
        """Raises UnknownStackError where the depth is unknown."""
        frame = self._frames.get(place)
        if frame is None:
            self._busy.add(place)
            try:
                frame = walk(self.code(place.object, place.section), place.offset)
            finally:
                self._busy.discard(place)
            self._frames[place] = frame
        return frame

    def code(self, object_: Object, section: int) -> ObjectCode:
        code = self._codes.get((object_, section))
        if code is None:
            code = self._codes[object_, section] = ObjectCode(self, object_, section)
        return code

    def returns(self, place: Place | None) -> bool:
        """Whether a function does; one that is being walked is thought to."""
        if place is None or place in self._busy:
            return True
        try:
            return self.frame(place).returns
        except UnknownStackError:  # it is said when it is asked for by itself
            return True

    def address(self, object_: Object, section: int, at: int) -> Value:
        """What the word or instruction at `at` refers to by a relocation."""
        relocation = object_.relocations.get(section, {}).get(at)
        if relocation is None or relocation.kind not in self.machine.addresses:
            return None
        addend = relocation.addend
        if addend is None:
            addend = self._held(object_, section, at, relocation)
        place = self.members.definition(object_, relocation.symbol)
        return "address", place or relocation.symbol.name, addend

    def _held(
        self, object_: Object, section: int, at: int, relocation: Relocation
    ) -> int:
        """The addend in the bytes; it is never large in an instruction."""
        if relocation.kind not in (2, 38):
            return 0
        word = int.from_bytes(object_.content(section)[at : at + 4], "little")
        return word - (1 << 32) if word >> 31 else word

    def function(self, value: Value) -> Place | None:
        """The function at an address."""
        if value is None or value[0] != "address" or not isinstance(value[1], Place):
            return None
        place: Place = value[1]
        section = place.object.section(place.section)
        if not section.flags & elf.SHF_EXECINSTR:
            return None
        offset = place.offset + value[2]
        if self.machine is _ARM:
            offset &= ~1
        return Place(place.object, place.section, offset)

    def name(self, place: Place) -> str:
        names = place.object.functions
        name = names.get((place.section, place.offset))
        if name is None:
            labels = place.object.labels.get(place.section, [])
            at = [n for o, n in labels if o <= place.offset and _mark(n) is None]
            name = at[-1] if at else place.object.section(place.section).name
        return name


class ObjectCode:
    def __init__(self, owner: CodeObjects, object_: Object, section: int) -> None:
        kind = owner.machine
        self.owner, self.object, self.section = owner, object_, section
        self.data = object_.content(section)
        self.stack_register = kind.stack_register
        self.kept_registers = kind.kept_registers
        marks = [
            (at, mark)
            for at, name in object_.labels.get(section, [])
            if (mark := _mark(name)) is not None
        ]
        labels = _Labels(len(self.data), marks)
        self.is_code, self.next_code = labels.is_code, labels.next_code
        self.relocations = object_.relocations.get(section, {})

    def decode(self, at: int) -> Decoded:
        return self.owner.machine.decode(self.data, at)

    def literal(self, at: int) -> Value:
        value = self.owner.address(self.object, self.section, at)
        if value is not None or at in self.relocations:
            return value
        return "const", int.from_bytes(self.data[at : at + 4], "little")

    def place_of(self, at: int) -> int | None:
        value = self.owner.address(self.object, self.section, at)
        if value is None or not isinstance(value[1], Place):
            return None
        place = value[1]
        is_here = place.object is self.object and place.section == self.section
        return place.offset + value[2] & ~1 if is_here else None

    def immediate(self, at: int) -> Value:
        return self.owner.address(self.object, self.section, at)

    def constant(self, base: Value, offset: int) -> Value:
        if not self.owner.machine.whole_addresses:
            return None
        if base is None or base[0] != "address" or not isinstance(base[1], Place):
            return None
        place, at = base[1], base[1].offset + base[2] + offset
        if place.object.section(place.section).flags & elf.SHF_WRITE:
            return None
        value = self.owner.address(place.object, place.section, at)
        return value if self.owner.function(value) else None

    def goes_to(
        self, at: int, target: int, inside: int
    ) -> tuple[int | None, Place | None]:
        relocation = self.relocations.get(at + inside)
        place: Place | None = Place(self.object, self.section, target)
        if relocation is not None:
            if relocation.kind not in self.owner.machine.branches:
                raise UnknownStackError(
                    f"a branch has the unexpected relocation {relocation.kind}"
                )
            place = self._resolved(relocation, target - at, inside)
        if place is None:
            return None, None
        is_here = place.object is self.object and place.section == self.section
        is_here = is_here and self.is_code(place.offset)
        return (place.offset if is_here else None), place

    def is_function(self, at: int) -> bool:
        return (self.section, at) in self.object.functions

    def _resolved(
        self, relocation: Relocation, distance: int, inside: int
    ) -> Place | None:
        place = self.owner.members.definition(self.object, relocation.symbol)
        if relocation.symbol.name.startswith(_JUMPS_BY_TABLE):
            raise UnknownStackError("it jumps through a table after a call")
        if place is None and relocation.symbol.binding == elf.STB_WEAK:
            return None  # the linker makes it a call of nothing
        if place is None:
            name = relocation.symbol.name
            error = UnknownStackError(f"it calls '{name}', which is not defined")
            error.is_missing = True
            raise error
        addend = relocation.addend
        if addend is None:  # the branch was encoded as if its symbol were at 0
            addend = distance
        return Place(place.object, place.section, place.offset + addend - inside)

    def function_of(self, value: Value) -> Place | None:
        return self.owner.function(value)

    def entries(self, table: Value) -> list[int]:
        if table is None or table[0] != "address" or not isinstance(table[1], Place):
            return []
        place, at = table[1], table[1].offset + table[2]
        entries: list[int] = []
        while at in place.object.relocations.get(place.section, {}):
            target = self.owner.address(place.object, place.section, at)
            function = self.owner.function(target)
            if function is None or function.object is not self.object:
                break
            if function.section != self.section:
                break
            entries.append(function.offset)
            at += 4
        return entries

    def other_stack(self, value: Value) -> str:
        if value is None or value[0] != "address":
            raise UnknownStackError("it sets its stack pointer to a computed address")
        place, addend = value[1], value[2]
        if isinstance(place, str):
            return place
        end = place.offset + addend
        name = f"{self.owner.name(place)}"
        self.owner.stacks[name] = end - place.object.label_before(place.section, end)
        return name

    def returns(self, target: Place | None) -> bool:
        return self.owner.returns(target)
