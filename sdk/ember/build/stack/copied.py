"""Is a section of an image what its object has, but for addresses? Then no instruction
needs to be followed again: its frames are the object's, and its calls.
"""

from __future__ import annotations

from collections.abc import Callable

from ember.build.stack.code import ObjectCode
from ember.build.stack.members import Place
from ember.build.stack.walk import UnknownStackError
from ember.toolchain.objects import Relocation

# Arm's relocations, by the bytes that a linker writes. Sections with others are walked.
_BRANCHES = {10: 4, 30: 4, 51: 4, 102: 2, 103: 2}  # THM_CALL, THM_JUMP24, 19, 11, 8
_WORDS = {2: 4, 38: 4}  # ABS32, TARGET1
_HALVES = {47: ("const", 0), 48: ("high", 16)}  # THM_MOVW_ABS_NC, THM_MOVT_ABS
_SIZES = _BRANCHES | _WORDS | dict.fromkeys(_HALVES, 4)


class LinkedSection:
    """A section of an object, and the bytes at the address where it was linked.

    `addresses` says where a function or datum lies; `through` what a branch reaches.
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
        """Whether it differs in addresses alone, and these are the right ones."""
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
