"""Thumb instructions (Armv6-M to Armv8.1-M) become steps (step.py); veneers, too.

A veneer is code that a linker adds in front of a function too far away to branch to.
GNU ld and lld write three forms, by what the core can do:
  ldr.w pc, [pc]; .word f
  movw ip, f; movt ip, f; bx ip
  push {r0}; ldr r0, ..; mov ip, r0; pop {r0}; bx ip; .word f   (or with r1)
"""

from __future__ import annotations

import struct

from ember.firmware.stack.step import ControlFlow, Decoded, Expression

SP, LR, PC = 13, 14, 15
_Sets = tuple[tuple[int, Expression], ...]


def decode(data: bytes, at: int) -> Decoded:
    first = int.from_bytes(data[at : at + 2], "little")
    if first >> 11 < 0b11101:
        return _narrow(first, at)
    return _wide(first, int.from_bytes(data[at + 2 : at + 4], "little"), at)


def _signed(value: int, bits: int) -> int:
    return value - (1 << bits) if value >> (bits - 1) else value


def _unknown(*registers: int) -> _Sets:
    return tuple((register, None) for register in registers)


def _listed(mask: int) -> _Sets:
    """Registers that are loaded, without SP and PC."""
    return _unknown(
        *(register for register in range(15) if mask >> register & 1 and register != SP)
    )


# ---- 16 bits -------------------------------------------------------------------------

_NARROW: dict[int, Decoded] = {}  # those that mean the same wherever they stand


def _narrow(word: int, at: int) -> Decoded:
    if word >> 13 == 0b101 or word >> 12 in (0b0100, 0b1101, 0b1110):
        special = _narrow_special(word, at)
        if special is not None:
            return special
    known = _NARROW.get(word)
    if known is None:
        known = Decoded(2, _narrow_sets(word), stores=_narrow_stores(word))
        _NARROW[word] = known
    return known


def _narrow_special(word: int, at: int) -> Decoded | None:
    """Stack, branches, and what addresses SP or PC."""
    top = word & 0xFF00
    if word & 0xFE00 == 0xB400:  # push
        return Decoded(2, ((SP, ("add", SP, -4 * (word & 0x1FF).bit_count())),))
    if word & 0xFE00 == 0xBC00:  # pop
        up = (SP, ("add", SP, 4 * (word & 0x1FF).bit_count()))
        flow = ControlFlow.RETURN if word & 0x100 else ControlFlow.NEXT
        popped = ((number, ("popped",)) for number in range(8) if word >> number & 1)
        return Decoded(2, (up, *popped), flow)
    if top == 0xB000:
        down = bool(word & 0x80)
        return Decoded(2, ((SP, ("add", SP, (-4 if down else 4) * (word & 0x7F))),))
    if top in (0x4400, 0x4600):
        return _high_registers(word)
    if top == 0x4700:
        register = word >> 3 & 15
        if word & 0x80:
            return Decoded(2, _unknown(LR), ControlFlow.POINTER_CALL, register)
        if register == LR:
            return Decoded(2, (), ControlFlow.RETURN)
        return Decoded(2, (), ControlFlow.POINTER_JUMP, register)
    if word & 0xF800 == 0x4800:
        place = (at + 4 & ~3) + 4 * (word & 0xFF)
        return Decoded(2, ((word >> 8 & 7, ("literal", place)),))
    if word & 0xF800 == 0xA000:
        place = (at + 4 & ~3) + 4 * (word & 0xFF)
        return Decoded(2, ((word >> 8 & 7, ("here", place)),))
    if word & 0xF800 == 0xA800:
        return Decoded(2, ((word >> 8 & 7, ("add", SP, 4 * (word & 0xFF))),))
    if word & 0xF500 == 0xB100:
        offset = (word >> 3 & 0x40) | (word >> 2 & 0x3E)
        return Decoded(2, (), ControlFlow.BRANCH, at + 4 + offset)
    if top == 0xBF00:
        return _if_then(word) if word & 15 else Decoded(2)
    if top == 0xBE00:
        return Decoded(2, _unknown(0))  # a semihosting call
    if word & 0xF000 == 0xD000:
        return _branch(word, at)
    if word & 0xF800 == 0xE000:
        return Decoded(2, (), ControlFlow.JUMP, at + 4 + 2 * _signed(word & 0x7FF, 11))
    return None


def _high_registers(word: int) -> Decoded:
    target = word & 7 | word >> 4 & 8
    source = word >> 3 & 15
    if target == PC:
        if word & 0xFF00 == 0x4400:
            return Decoded(2, (), ControlFlow.POINTER_JUMP)
        return Decoded(
            2,
            (),
            ControlFlow.RETURN if source == LR else ControlFlow.ENTRY_JUMP,
            source,
        )
    if word & 0xFF00 == 0x4600:
        return Decoded(2, ((target, ("add", source, 0)),))
    return Decoded(2, ((target, ("sum", target, source)),))


def _if_then(word: int) -> Decoded:
    """IT: which of up to four instructions are executed when the condition holds."""
    first, mask = word >> 4 & 1, word & 15
    length = 4 - ((mask & -mask).bit_length() - 1)
    bits = [first, *(mask >> (3 - bit) & 1 for bit in range(length - 1))]
    return Decoded(2, (), ControlFlow.IT, tuple(bit == first for bit in bits))


def _branch(word: int, at: int) -> Decoded:
    condition = word >> 8 & 15
    if condition == 14:
        return Decoded(2, (), ControlFlow.STOP)
    if condition == 15:
        return Decoded(2, _unknown(0))
    return Decoded(2, (), ControlFlow.BRANCH, at + 4 + 2 * _signed(word & 0xFF, 8))


def _narrow_sets(word: int) -> _Sets:
    """Of instructions on r0 to r7."""
    low, high = word & 7, word >> 8 & 7
    group = word >> 11
    if group == 0b00000:
        return ((low, ("shift", word >> 3 & 7, word >> 6 & 31)),)
    if word >> 9 in (0b0001110, 0b0001111):
        sign = -1 if word & 0x200 else 1
        return ((low, ("add", word >> 3 & 7, sign * (word >> 6 & 7))),)
    if group == 0b00100:
        return ((high, ("const", word & 0xFF)),)
    if group in (0b00110, 0b00111):
        return ((high, ("add", high, (word & 0xFF) * (-1 if group & 1 else 1))),)
    if group == 0b00101 or word & 0xFF00 in (0x4500, 0x4200, 0xBA00 + 0x100):
        return _unknown(low) if word & 0xFFC0 == 0x4240 else ()
    if word >> 12 == 0b1100:
        loaded = _listed(word & 0xFF) if word & 0x800 else ()
        return (*loaded, (high, None))
    if word >> 12 in (0b1001, 0b1010):
        return _unknown(high) if word & 0x800 or word >> 12 == 0b1010 else ()
    if word >> 12 in (0b0101, 0b0110, 0b0111, 0b1000) and _is_store(word):
        return ()
    if word >> 9 == 0b0101100:
        return ((low, ("entry", word >> 3 & 7, word >> 6 & 7)),)
    if group == 0b01101:
        return ((low, ("load", word >> 3 & 7, word >> 4 & 0x7C)),)
    return _unknown(low)


def _is_store(word: int) -> bool:
    if word >> 12 == 0b0101:
        return word >> 9 & 7 < 3
    return not word & 0x800


def _narrow_stores(word: int) -> tuple[Expression, ...]:
    if word >> 11 == 0b01100:
        return (("add", word >> 3 & 7, word >> 4 & 0x7C),)
    if word >> 9 == 0b0101000:
        return (("sum", word >> 3 & 7, word >> 6 & 7),)
    return (("add", word >> 8 & 7, 0),) if word >> 11 == 0b11000 else ()


# ---- 32 bits -------------------------------------------------------------------------


def _wide(first: int, second: int, at: int) -> Decoded:
    kind = first >> 9 & 0x7F
    if kind == 0b1110100:
        if first & 0x40:
            return _dual(first, second, at)
        return _multiple(first, second)
    if kind == 0b1110101:
        return _shifted(first, second)
    if first & 0xEC00 == 0xEC00:
        return _coprocessor(first, second)
    if first & 0xF800 == 0xF000:
        if second & 0x8000:
            return _wide_branch(first, second, at)
        if first & 0x200:
            return _plain_immediate(first, second)
        return _immediate(first, second)
    if kind == 0b1111100:
        return _single(first, second, at)
    return Decoded(4, _unknown_of(second >> 8 & 15, second >> 12 & 15))


def _unknown_of(*registers: int) -> _Sets:
    """Fields that are registers, or 15 where there is none; SP cannot be one."""
    return _unknown(*(register for register in registers if register not in (SP, PC)))


def _moved(base: int, by: int) -> _Sets:
    return ((base, ("add", base, by)),)


def _multiple(first: int, second: int) -> Decoded:
    base, load, back = first & 15, bool(first & 0x10), bool(first & 0x20)
    count = 4 * second.bit_count()
    sets: _Sets = _listed(second) if load else ()
    if back:
        sets = (*_moved(base, count if first & 0x80 else -count), *sets)
    if load and second >> PC & 1 and base != PC:  # E89F is CLRM
        flow = ControlFlow.RETURN if base == SP else ControlFlow.POINTER_JUMP
        return Decoded(4, sets, flow)
    return Decoded(4, sets)


def _dual(first: int, second: int, at: int) -> Decoded:
    base = first & 15
    if first & 0xFFF0 == 0xE8D0 and second & 0xFFE0 == 0xF000:
        if base == PC:
            return Decoded(4, (), ControlFlow.TABLE, 2 if second & 0x10 else 1)
        return Decoded(4, (), ControlFlow.POINTER_JUMP)
    back, load = bool(first & 0x20), bool(first & 0x10)
    if not back and not first & 0x100:  # exclusive accesses
        return Decoded(4, _unknown_of(second >> 12 & 15, second >> 8 & 15, second & 15))
    by = 4 * (second & 0xFF) * (1 if first & 0x80 else -1)
    sets: _Sets = _moved(base, by) if back else ()
    if load and base != PC:
        at_once = by if first & 0x100 else 0
        low, high = second >> 12, second >> 8 & 15
        both = (low, ("load", base, at_once)), (high, ("load", base, at_once + 4))
        return Decoded(4, (*sets, *both))
    first_word = by if first & 0x100 else 0
    stores = ("add", base, first_word), ("add", base, first_word + 4)
    return Decoded(4, sets, stores=() if load else stores)


def _shifted(first: int, second: int) -> Decoded:
    operation, base = first >> 5 & 15, first & 15
    target, source = second >> 8 & 15, second & 15
    if second & 0x8000 or (operation == 2 and target == PC):  # CSEL, long shifts
        return Decoded(4, _unknown_of(target, target & 14, target | 1, base, base & 14))
    if target == PC:
        return Decoded(4)
    plain = not second & 0x70F0
    if plain and operation in (8, 13):
        name = "sum" if operation == 8 else "diff"
        return Decoded(4, ((target, (name, base, source)),))
    if operation == 8:
        return Decoded(4, ((target, ("item", base)),))
    if plain and operation == 2 and base == PC:
        return Decoded(4, ((target, ("add", source, 0)),))
    return Decoded(4, _unknown(target))


def _coprocessor(first: int, second: int) -> Decoded:
    """FP and Helium. None loads SP; some push and pop."""
    base, back = first & 15, bool(first & 0x20)
    if first >> 9 & 7 == 0b110 and first & 0xFFE0 != 0xEC40:
        if not back or base == PC:
            return Decoded(4)
        if base != SP:
            return Decoded(4, _unknown(base))
        if second >> 9 & 7 == 0b101:  # VLDM, VSTM
            by = 4 * (second & 0xFF)
        else:
            by = (second & 0x7F) << (second >> 7 & 3)
        return Decoded(4, _moved(SP, by if first & 0x80 else -by))
    return Decoded(
        4,
        _unknown_of(
            second >> 12, second >> 12 & 14, first >> 3 & 14 | 1, base & 14, base
        ),
    )


def _wide_branch(first: int, second: int, at: int) -> Decoded:
    kind = second & 0xD000
    sign, j1, j2 = first >> 10 & 1, second >> 13 & 1, second >> 11 & 1
    if kind in (0x9000, 0xD000):
        i1, i2 = 1 - (j1 ^ sign), 1 - (j2 ^ sign)
        value = sign << 24 | i1 << 23 | i2 << 22
        value |= (first & 0x3FF) << 12 | (second & 0x7FF) << 1
        target = at + 4 + _signed(value, 25)
        if kind == 0x9000:
            return Decoded(4, (), ControlFlow.JUMP, target)
        return Decoded(4, _unknown(LR), ControlFlow.CALL, target)
    if kind == 0xC000:  # low-overhead loops: they only go back, or to their end
        return Decoded(4, _unknown(LR))
    if first >> 6 & 15 < 14:
        value = sign << 20 | j2 << 19 | j1 << 18
        value |= (first & 0x3F) << 12 | (second & 0x7FF) << 1
        return Decoded(4, (), ControlFlow.BRANCH, at + 4 + _signed(value, 21))
    return _system(first, second)


def _system(first: int, second: int) -> Decoded:
    if first & 0xFFF0 == 0xF7F0 and second & 0xF000 == 0xA000:
        return Decoded(4, (), ControlFlow.STOP)
    if first & 0xFFE0 == 0xF3E0:
        return Decoded(4, _unknown_of(second >> 8 & 15))
    if first & 0xFFE0 == 0xF380 and second & 0xFF == 8:  # MSR MSP
        return Decoded(4, ((SP, ("add", first & 15, 0)),))
    return Decoded(4)


def _expanded(first: int, second: int) -> int:
    """ThumbExpandImm."""
    value = second & 0xFF
    shift = (first >> 10 & 1) << 4 | (second >> 12 & 7) << 1 | value >> 7
    if shift >= 8:
        value |= 0x80
        return (value >> shift | value << (32 - shift)) & 0xFFFFFFFF
    return value * (1, 0x00010001, 0x01000100, 0x01010101)[shift >> 1]


def _immediate(first: int, second: int) -> Decoded:
    operation, base, target = first >> 5 & 15, first & 15, second >> 8 & 15
    value = _expanded(first, second)
    result: Expression = None
    if target == PC:
        return Decoded(4)
    if operation in (8, 13):
        result = ("add", base, value if operation == 8 else -value)
    elif operation in (2, 3) and base == PC:
        result = ("const", value if operation == 2 else ~value & 0xFFFFFFFF)
    elif operation == 1 and value & (value + 1) == 0:
        result = ("align", base, value + 1)
    return Decoded(4, ((target, result),))


def _plain_immediate(first: int, second: int) -> Decoded:
    operation, base, target = first >> 4 & 31, first & 15, second >> 8 & 15
    value = (first >> 10 & 1) << 11 | (second >> 12 & 7) << 8 | second & 0xFF
    result: Expression = None
    if operation in (0, 10) and base != PC:
        result = ("add", base, value if operation == 0 else -value)
    elif operation == 4:
        result = ("const", base << 12 | value)
    elif operation == 12:
        result = ("high", target, base << 12 | value)
    elif operation == 22 and base == PC and not second & 0x70C0:  # BFC from bit 0
        result = ("align", target, 2 << (second & 31))
    return Decoded(4, ((target, result),))


def _single(first: int, second: int, at: int) -> Decoded:
    base, target, load = first & 15, second >> 12, bool(first & 0x10)
    if load and base == PC:
        if target == PC and first >> 5 & 3 != 2:
            return Decoded(4)  # PLD
        by = second & 0xFFF
        place = (at + 4 & ~3) + (by if first & 0x80 else -by)
        if target == PC:
            return Decoded(4, (), ControlFlow.POINTER_JUMP)
        return Decoded(4, ((target, ("literal", place)),))
    sets: _Sets = ()
    indexed = not first & 0x80 and second & 0x800
    if indexed and second & 0x100:
        by = second & 0xFF
        sets = _moved(base, by if second & 0x200 else -by)
    if not load:
        return Decoded(4, sets, stores=_single_stores(first, second))
    if first & 0x80 and first >> 5 & 3 == 2 and target != PC:
        return Decoded(4, ((target, ("load", base, second & 0xFFF)),))
    if target == PC:
        if first >> 5 & 3 != 2:
            return Decoded(4, sets)  # PLD, PLI
        if not first & 0x80 and second & 0xFF0 == 0x20:  # by a register times four
            return Decoded(4, (), ControlFlow.WORD_TABLE, base)
        flow = ControlFlow.RETURN if base == SP and sets else ControlFlow.POINTER_JUMP
        return Decoded(4, sets, flow)
    return Decoded(4, (*sets, (target, None)))


def _single_stores(first: int, second: int) -> tuple[Expression, ...]:
    base = first & 15
    if first >> 5 & 3 != 2:
        return ()  # no word
    if first & 0x80:
        return (("add", base, second & 0xFFF),)
    if second & 0x800:
        by = second & 0xFF if second & 0x400 else 0
        return (("add", base, by if second & 0x200 else -by),)
    if second & 0x30:  # an item of what begins at `base`
        return (("item", base),)
    return (("sum", base, second & 15),)


# ---- veneers -------------------------------------------------------------------------


VENEER_SIZE = 20  # bytes of the longest
VENEER_PUSHES = 8  # bytes of the stack that one of Armv6-M uses before it jumps
_LOAD_PC = (0xF85F, 0xF000), (0xF8DF, 0xF000)
_PUSHES = 0xB401, 0xB403
_IP = 12


def veneer_target(data: bytes, address: int) -> int | None:
    """The function behind the code at `address`; None: it is not a veneer."""
    if len(data) < 12:
        return None
    first, second = struct.unpack_from("<2H", data)
    if (first, second) in _LOAD_PC:
        return _word_at(data, 4)
    if first in _PUSHES and second >> 8 == 0x48:  # ldr r0, [pc, ..]
        place = (address + 6 & ~3) + 4 * (second & 0xFF) - address
        return _word_at(data, place) if place + 4 <= len(data) else None
    return _moved_in_ip(data)


def _moved_in_ip(data: bytes) -> int | None:
    low, high = decode(data, 0), decode(data, 4)
    jump = decode(data, 8)
    if (
        jump.flow is not ControlFlow.POINTER_JUMP
        or len(low.sets) != 1
        or len(high.sets) != 1
    ):
        return None
    (to, first), (again, second) = low.sets[0], high.sets[0]
    if (to, again) != (_IP, _IP) or first is None or second is None:
        return None
    if first[0] != "const" or second[0] != "high":
        return None
    return int(second[2] << 16 | first[1]) & ~1


def _word_at(data: bytes, at: int) -> int:
    (word,) = struct.unpack_from("<I", data, at)
    return int(word) & ~1
