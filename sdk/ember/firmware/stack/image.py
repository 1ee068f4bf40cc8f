"""A linked image becomes frames, to compare with those of its objects.

A section of the image that differs from its object's only in addresses has the object's
frames and calls; all others are walked again.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from ember.firmware.stack import code, thumb
from ember.firmware.stack.bound import CallGraph
from ember.firmware.stack.code import Members, ObjectCode, Place
from ember.firmware.stack.step import Decoded
from ember.firmware.stack.walk import StackFrame, UnknownStackError, Value, walk
from ember.toolchain import elf, footprint
from ember.toolchain.elf import Object, Relocation

# Arm's relocations, by the bytes that a linker writes. Sections with others are walked.
_BRANCHES = {10: 4, 30: 4, 51: 4, 102: 2, 103: 2}  # THM_CALL, THM_JUMP24, 19, 11, 8
_WORDS = {2: 4, 38: 4}  # ABS32, TARGET1
_HALVES = {47: ("const", 0), 48: ("high", 16)}  # THM_MOVW_ABS_NC, THM_MOVT_ABS
_SIZES = _BRANCHES | _WORDS | dict.fromkeys(_HALVES, 4)


class LinkedSection:
    """A section of an object, and the bytes at the address where it was linked.

    `addresses` says where a function or datum is; `through` what a branch reaches.
    """

    def __init__(
        self,
        code: ObjectCode,
        linked: bytes,
        address: int,
        addresses: Callable[[Place], int | None],
        through: Callable[[int], int],
    ) -> None:
        self._code = code
        self._linked = linked
        self._address = address
        self._addresses = addresses
        self._through = through

    def is_copy(self) -> bool:
        """Whether it differs only in addresses, and these are the right ones."""
        relocations = self._code.relocations
        if any(each.kind not in _SIZES for each in relocations.values()):
            return False
        given, linked = bytearray(self._code.data), bytearray(self._linked)
        for at, relocation in relocations.items():
            end = at + _SIZES[relocation.kind]
            given[at:end] = linked[at:end]
        return given == linked and all(
            self._is_right(at, each) for at, each in relocations.items()
        )

    def _is_right(self, at: int, relocation: Relocation) -> bool:
        if relocation.kind in _BRANCHES:
            return self._branches_right(at)
        value = self._code.immediate(at)
        if value is None or not isinstance(value[1], Place):
            return False  # the linker's own symbols
        start = self._addresses(value[1])
        if start is None:
            return False
        wanted: int = start + value[2] & 0xFFFFFFFF
        if relocation.kind in _WORDS:
            word = int.from_bytes(self._linked[at : at + 4], "little")
            return word | 1 == wanted | 1  # the lowest bit of a function's says Thumb
        return self._loads(at, wanted, *_HALVES[relocation.kind])

    def _branches_right(self, at: int) -> bool:
        step = self._code.decode(at)
        linked = self._code.owner.machine.decode(self._linked, at)
        if (step.flow, step.size) != (linked.flow, linked.size):
            return False
        try:
            _, place = self._code.goes_to(at, step.target, 0)
        except UnknownStackError:
            return False
        reached = self._through(self._address + linked.target)
        return place is not None and self._addresses(place) == reached

    def _loads(self, at: int, wanted: int, kind: str, shift: int) -> bool:
        """Whether an instruction loads a half of an address to its register."""
        decode = self._code.owner.machine.decode
        ((register, _),) = decode(self._code.data, at).sets
        ((loaded, half),) = decode(self._linked, at).sets
        if loaded != register or half is None or half[0] != kind:
            return False
        wanted = wanted >> shift & 0xFFFF
        return half[-1] in ((wanted,) if shift else (wanted, wanted | 1))


# ---- an image ------------------------------------------------------------------------


def differences(graph: CallGraph, firmware: Path) -> list[str]:
    """A sentence for each function whose frame is another one in the firmware."""
    image = _Image(graph, elf.read(firmware), firmware.read_bytes())
    return [text for place in graph.reached if (text := image.compared(place))]


class _Image:
    def __init__(self, graph: CallGraph, file: elf.Elf, data: bytes) -> None:
        self.graph = graph
        self.file = file
        self.data = data
        self._addresses = _addresses(graph.members, file.path.with_suffix(".map"))
        self._copies: dict[tuple[Object, int], bool] = {}
        self._known = {
            address: place
            for place in graph.reached
            if (address := self.address(place)) is not None
        }

    def address(self, place: Place) -> int | None:
        """Where a function is; None: its section is not there."""
        start = self._addresses.get((place.object, place.section))
        return None if start is None else start + place.offset

    def compared(self, place: Place) -> str | None:
        name = self.graph.code.name(place)
        address = self.address(place)
        if address is None:
            return f"{name} is missing"
        if self._is_copy(place.object, place.section):
            return None
        expected = self.graph.reached[place]
        try:
            linked = walk(_ImageCode(self, place, address - place.offset), place.offset)
        except UnknownStackError as error:
            return f"{name}: {error}"
        if sorted(linked.depths.values()) != sorted(expected.depths.values()):
            return f"{name} uses {_most(linked)} bytes, not {_most(expected)}"
        calls = {
            (depth, self.address(target))
            for (_, target), depth in expected.calls.items()
        }
        if calls != {(depth, target) for (_, target), depth in linked.calls.items()}:
            return f"{name} calls other functions"
        return None

    def _is_copy(self, object_: Object, section: int) -> bool:
        known = self._copies.get((object_, section))
        if known is None:
            given = self.graph.code.code(object_, section)
            start = self._addresses[object_, section]
            linked = self.content(start, len(given.data))
            moved = LinkedSection(
                given, linked, start, self.address, self.behind_veneer
            )
            known = self._copies[object_, section] = moved.is_copy()
        return known

    def behind_veneer(self, address: int) -> int:
        """The function that a branch to `address` reaches: a linker puts a veneer in
        front of one that is too far away for the instruction."""
        is_thumb = self.graph.code.machine is code.machine(elf.EM_ARM)
        if not is_thumb or self.is_function(address):
            return address
        target = thumb.veneer_target(self.content(address, thumb.VENEER_SIZE), address)
        return address if target is None else target

    def returns(self, address: int) -> bool:
        place = self._known.get(address)
        return place is None or self.graph.reached[place].returns

    def is_function(self, address: int) -> bool:
        return address in self._known

    def is_constant(self, address: int) -> bool:
        return any(
            section.address <= address < section.address + section.size
            for section in self.file.sections
            if section.in_memory and not section.flags & elf.SHF_WRITE
        )

    def content(self, address: int, size: int) -> bytes:
        for section in self.file.sections:
            inside = section.address <= address < section.address + section.size
            if inside and section.in_memory and section.in_file:
                at = section.offset + address - section.address
                return self.data[at : at + size]
        return b""


def _addresses(members: Members, map_file: Path) -> dict[tuple[Object, int], int]:
    """Where the linker put each section of the objects.

    Its map has no more than the names of archive, member and section: sections of the
    same names are in the order of their objects.
    """
    left: dict[tuple[str | None, str, str], list[int]] = {}
    for piece in footprint.pieces(map_file):
        left.setdefault((piece.archive, piece.member, piece.section), []).append(
            piece.address
        )
    addresses: dict[tuple[Object, int], int] = {}
    for source, index in members.in_order(members.kept):
        section = source.section(index)
        same = left.get((source.archive, source.name, section.name))
        if same and section.size > 0:
            addresses[source, index] = same.pop(0)
    return addresses


def _most(frame: StackFrame) -> int:
    return max(frame.depths.values())


class _ImageCode:
    """A section of an object as it was linked; its functions are addresses."""

    def __init__(self, image: _Image, place: Place, address: int) -> None:
        objects = image.graph.code
        source = objects.code(place.object, place.section)
        self.stack_register = source.stack_register
        self.kept_registers = source.kept_registers
        self.is_code, self.next_code = source.is_code, source.next_code
        self.is_function = source.is_function
        self.data = image.content(address, len(source.data))
        self._decode = objects.machine.decode
        self._image, self._address = image, address

    def decode(self, at: int) -> Decoded:
        return self._decode(self.data, at)

    def literal(self, at: int) -> Value:
        return "const", int.from_bytes(self.data[at : at + 4], "little")

    def place_of(self, at: int) -> int | None:
        word = int.from_bytes(self.data[at : at + 4], "little")
        return (word & ~1) - self._address

    def immediate(self, at: int) -> Value:
        return None

    def constant(self, base: Value, offset: int) -> Value:
        """The functions of the objects: the image has no others."""
        if base is None or base[0] != "const":
            return None
        place: int = base[1] + offset
        if not self._image.is_constant(place):
            return None
        word = int.from_bytes(self._image.content(place, 4), "little")
        return ("const", word) if self.function_of(("const", word)) else None

    def goes_to(self, at: int, target: int, inside: int) -> tuple[int | None, int]:
        here = target if self.is_code(target) else None
        return here, self._image.behind_veneer(self._address + target)

    def function_of(self, value: Value) -> int | None:
        if value is None or value[0] != "const":
            return None
        address: int = value[1] & ~1
        return address if self._image.is_function(address) else None

    def entries(self, table: Value) -> list[int]:
        entries: list[int] = []
        while table is not None and table[0] == "const":
            word = self._image.content(table[1] + 4 * len(entries), 4)
            at = (int.from_bytes(word, "little") & ~1) - self._address
            if len(word) < 4 or not 0 <= at < len(self.data):
                break
            entries.append(at)
        return entries

    def other_stack(self, value: Value) -> str:
        return str(value)

    def returns(self, target: int) -> bool:
        return self._image.returns(target)
