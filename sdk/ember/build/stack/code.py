"""Sections of objects, or of a linked image, as code to walk; see walk.Code."""

from __future__ import annotations

import bisect
from collections.abc import Callable
from dataclasses import dataclass

from ember.build.stack import a64, hexagon, hexagon_registers, thumb
from ember.build.stack.members import Members, Place
from ember.build.stack.step import Decoded
from ember.build.stack.values import Value
from ember.build.stack.walk import StackFrame, UnknownStackError, walk
from ember.toolchain import elf
from ember.toolchain.objects import Object, Relocation

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
    """Whether code or data begins at a mark; None: the name is no mark."""
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
        """UnknownStackError where it is not known."""
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
            raise UnknownStackError(f"it calls '{name}', which is not defined")
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
