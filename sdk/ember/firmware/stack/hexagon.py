"""Packets of Hexagon become steps; see step.py.

A packet is one to four words, whose instructions read registers as they were before it.
Bits 15 and 14 of a word say whether it is the last one, and whether a loop of the
hardware ends; 00 is a word of two short instructions. Bits 31 to 29 and 13 of that word
say of which groups the two are: loads (L1, L2), stores (S1, S2) or arithmetic (A); the
one in the lower bits is executed in slot 0. A word of class 0 has the upper 26 bits of
the next one's immediate.
"""

from __future__ import annotations

from typing import NamedTuple

from ember.firmware.stack.hexagon_registers import (
    LOOPS,
    LR,
    SP,
    Extended,
    Sets,
    allocated,
    deallocated,
    sets,
    short,
    signed,
)
from ember.firmware.stack.step import ControlFlow, Decoded, Expression

_MOST_WORDS = 4
_LAST, _LOOP_END = 0b11, 0b10
_CONDITIONS = 0b111 << 11  # of a return


class _Word(NamedTuple):
    word: int
    at: int  # bytes behind the packet's begin
    extended: tuple[int, int] | None  # bits above those of its immediate; their place


class _Way(NamedTuple):
    """How one instruction of a packet goes on elsewhere."""

    flow: ControlFlow
    target: object = None
    sometimes: bool = False
    at: int = 0


def decode(data: bytes, at: int) -> Decoded:
    words, size, ends = _packet(data, at)
    if not words:  # it does not end: no code
        return Decoded(4, ((SP, None),))
    after: Sets = ()
    ways = [_Way(ControlFlow.LOOP, LOOPS[number], sometimes=True) for number in ends]
    for each in words:
        if each.word >> 14 & 3:
            ways += _ways(each, at)
            after += _loop(each, at) or sets(each.word, each.extended)
        else:
            pair = decode_duplex(each.word, each.extended)
            after += pair.sets
            ways += [_Way(flow, to, sometimes) for flow, to, sometimes in pair.ways]
    return _step(size, after, ways)


def _packet(data: bytes, at: int) -> tuple[list[_Word], int, list[int]]:
    """Its instructions, its bytes, and the loops that end with it."""
    words: list[_Word] = []
    marks: list[int] = []
    extended: tuple[int, int] | None = None
    for place in range(at, min(at + 4 * _MOST_WORDS, len(data) - 3), 4):
        word = int.from_bytes(data[place : place + 4], "little")
        marks.append(word >> 14 & 3)
        if marks[-1] and word >> 28 == 0:
            extended = (word >> 16 & 0xFFF) << 14 | word & 0x3FFF, place
        else:
            words.append(_Word(word, place - at, extended))
            extended = None
        if marks[-1] in (0, _LAST):
            ends = [n for n, mark in enumerate(marks[:2]) if mark == _LOOP_END]
            return words, place + 4 - at, ends
    return [], 0, []


def _step(size: int, after: Sets, ways: list[_Way]) -> Decoded:
    """A jump beside others may be taken or not: all of them are."""
    known: dict[int, Expression] = {}
    for register, value in after:
        known[register] = None if register in known else value
    if all(way.sometimes for way in ways):
        ways = [*ways, _Way(ControlFlow.NEXT)]
    first, *others = (
        Decoded(size, tuple(known.items()), way.flow, way.target, inside=way.at)
        for way in ways
    )
    return first._replace(also=tuple(others))


# ---- where it goes on ----------------------------------------------------------------


def _ways(each: _Word, at: int) -> list[_Way]:
    word, register = each.word, each.word >> 16 & 31
    if word >> 28 in (1, 2) and not word >> 27 & 1:
        field = (word >> 20 & 3) << 7 | word >> 1 & 127
        unconditional = word >> 25 == 0b0001011
        return _jump(each, at, field, 9, sometimes=not unconditional)
    if word >> 24 in (0b01011100, 0b01011101):
        field = (word >> 22 & 3) << 13 | register << 8
        field |= (word >> 13 & 1) << 7 | word >> 1 & 127
        return _jump(each, at, field, 15, calls=bool(word >> 24 & 1), sometimes=True)
    if word >> 26 == 0b010110:
        field = (word >> 16 & 511) << 13 | word >> 1 & 0x1FFF
        return _jump(each, at, field, 22, calls=bool(word >> 25 & 1))
    if word >> 24 == 0b01100001:
        field = (word >> 21 & 1) << 12 | (word >> 13 & 1) << 11 | word >> 1 & 0x7FF
        return _jump(each, at, field, 13, sometimes=True)
    return _by_register(word, register)


def _jump(
    each: _Word,
    at: int,
    field: int,
    bits: int,
    *,
    calls: bool = False,
    sometimes: bool = False,
) -> list[_Way]:
    flow = ControlFlow.CALL if calls else ControlFlow.JUMP
    return [_Way(flow, at + _distance(each, field, bits), sometimes, each.at)]


def _distance(each: _Word, field: int, bits: int) -> int:
    if each.extended is None:
        return 4 * signed(field, bits)
    return signed(each.extended[0] << 6 | field & 63, 32)


def _by_register(word: int, register: int) -> list[_Way]:
    kind = word >> 21
    if kind in (0b01010000101, 0b01010000110, 0b01010001000, 0b01010001001):
        return [_Way(ControlFlow.POINTER_CALL, register, bool(word >> 24 & 1))]
    if kind in (0b01010010100, 0b01010010110, 0b01010011010, 0b01010011011):
        flow = ControlFlow.RETURN if register == LR else ControlFlow.POINTER_JUMP
        target = None if register == LR else register
        return [_Way(flow, target, bool(word >> 24 & 1))]
    if kind == 0b10010110000:
        return [_Way(ControlFlow.RETURN, None, bool(word & _CONDITIONS))]
    if word >> 21 == 0b01010111111:  # rte
        return [_Way(ControlFlow.RETURN)]
    return []


def _loop(each: _Word, at: int) -> Sets | None:
    """The place where a loop begins, which its end jumps to."""
    word = each.word
    if word >> 24 not in (0b01100000, 0b01101001):
        return None
    field = (word >> 8 & 31) << 2 | word >> 3 & 3
    number = int(word >> 21 & 7 == 1)
    place = at + _distance(each, field, 7)
    return ((LOOPS[number], ("place", place, each.at)),)


# ---- words of two short instructions -------------------------------------------------


_FP = 30
_GROUPS = (
    *("L1 L1", "L2 L1", "L2 L2", "A A", "L1 A", "L2 A", "S1 A", "S2 A"),
    *("S1 L1", "S1 L2", "S1 S1", "S2 S1", "S2 L1", "S2 L2", "S2 S2"),
)
_HalfWay = tuple[ControlFlow, object, bool]  # flow, target, whether only sometimes


class SubInstructions(NamedTuple):
    sets: Sets
    ways: tuple[_HalfWay, ...] = ()


def decode_duplex(word: int, extended: Extended) -> SubInstructions:
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
