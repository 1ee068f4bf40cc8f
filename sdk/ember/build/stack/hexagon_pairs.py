"""Words of two short instructions of Hexagon become what they set; see hexagon.py.

Bits 31 to 29 and 13 say of which groups the two are: loads (L1, L2), stores (S1, S2) or
arithmetic (A). The one in the lower bits is executed in slot 0.
"""

from __future__ import annotations

from typing import NamedTuple

from ember.build.stack.hexagon_registers import (
    LR,
    SP,
    Extended,
    Sets,
    allocated,
    deallocated,
    short,
    signed,
)
from ember.build.stack.step import ControlFlow, Expression

_FP = 30
_GROUPS = (
    *("L1 L1", "L2 L1", "L2 L2", "A A", "L1 A", "L2 A", "S1 A", "S2 A"),
    *("S1 L1", "S1 L2", "S1 S1", "S2 S1", "S2 L1", "S2 L2", "S2 S2"),
)
_Way = tuple[ControlFlow, object, bool]  # flow, target, whether only sometimes


class SubInstructions(NamedTuple):
    sets: Sets
    ways: tuple[_Way, ...] = ()


def decode(word: int, extended: Extended) -> SubInstructions:
    number = (word >> 29) << 1 | word >> 13 & 1
    if number >= len(_GROUPS):
        return SubInstructions(((SP, None),))
    lower, upper = _GROUPS[number].split()
    first = _single(lower, word & 0x1FFF, None)
    second = _single(upper, word >> 16 & 0x1FFF, extended)
    return SubInstructions(first.sets + second.sets, first.ways + second.ways)


def _single(group: str, half: int, extended: Extended) -> SubInstructions:
    if group == "L1":
        return SubInstructions(((short(half), _load(half)),))
    if group == "L2":
        return _second_load(half)
    if group == "A":
        return SubInstructions(_arithmetic(half, extended))
    if group == "S2" and half >> 9 == 0b1110:
        return SubInstructions(allocated(SP, (half >> 4 & 31) * 8))
    return SubInstructions(())


def _load(half: int) -> Expression:
    if half >> 12:  # of a byte
        return None
    return "load", short(half >> 4), 4 * (half >> 8 & 15)


def _second_load(half: int) -> SubInstructions:
    if half >> 11 != 0b11:
        return SubInstructions(((short(half), None),))
    if half >> 9 == 0b1110:
        return SubInstructions(((short(half), ("load", SP, 4 * (half >> 4 & 31))),))
    if half >> 8 == 0b11110:
        low = _pair(half)
        return SubInstructions(((low, None), (low | 1, None)))
    sometimes = bool(half & 4)
    kind = half >> 6 & 3
    if kind == 0:
        return SubInstructions((*deallocated(_FP), (_FP, None), (LR, None)))
    return SubInstructions((), ((ControlFlow.RETURN, None, sometimes),))


def _pair(half: int) -> int:
    number = half & 7
    return 2 * number if number < 4 else 2 * number + 8


def _arithmetic(half: int, extended: Extended) -> Sets:
    if half >> 10 == 0b111:  # a pair of two numbers, or of a register and 0
        low = _pair(half)
        return ((low, None), (low | 1, None))
    if half >> 8 == 0b11001:  # a comparison
        return ()
    return ((short(half), _result(half, extended)),)


def _result(half: int, extended: Extended) -> Expression:
    target, base = short(half), short(half >> 4)
    if half >> 12 == 0:
        return _with_number(half, target, extended)
    if half >> 8 == 0b10000:
        return "add", base, 0
    return ("sum", target, base) if half >> 8 == 0b11000 else None


def _with_number(half: int, target: int, extended: Extended) -> Expression:
    number, upper = half >> 4 & 63, extended[0] << 6 if extended else 0
    if half >> 10 == 0b011:
        return "add", SP, 4 * number
    if half >> 10 == 0b010:
        return (
            ("placed", extended[1], upper | number) if extended else ("const", number)
        )
    if extended:
        return "add_placed", extended[1], signed(upper | number, 32), target
    return "add", target, signed(half >> 4, 7)
