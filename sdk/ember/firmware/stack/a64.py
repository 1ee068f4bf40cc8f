"""A64 instructions become steps; see step.py. Register 31 is the stack pointer."""

from __future__ import annotations

from ember.firmware.stack.step import ControlFlow, Decoded, Expression

SP, LR = 31, 30
_VECTOR = 256  # bytes of the longest vector that SVE and SME may have
_Sets = tuple[tuple[int, Expression], ...]


def decode(data: bytes, at: int) -> Decoded:
    word = int.from_bytes(data[at : at + 4], "little")
    return _branch(word, at) or Decoded(4, _sets(word, at))


def _signed(value: int, bits: int) -> int:
    value &= (1 << bits) - 1
    return value - (1 << bits) if value >> (bits - 1) else value


# ---- where it goes on ----------------------------------------------------------------


def _branch(word: int, at: int) -> Decoded | None:
    if word >> 26 in (0b000101, 0b100101):
        target = at + 4 * _signed(word, 26)
        if word >> 31:
            return Decoded(4, ((LR, None),), ControlFlow.CALL, target)
        return Decoded(4, (), ControlFlow.JUMP, target)
    if word >> 24 == 0x54 or word >> 25 & 0x3F == 0b011010:
        return Decoded(4, (), ControlFlow.BRANCH, at + 4 * _signed(word >> 5, 19))
    if word >> 25 & 0x3F == 0b011011:
        return Decoded(4, (), ControlFlow.BRANCH, at + 4 * _signed(word >> 5, 14))
    register = word >> 5 & 31
    kind = word & 0xFFFFFC1F
    if kind == 0xD61F0000:
        return Decoded(4, (), ControlFlow.POINTER_JUMP, register)
    if kind == 0xD63F0000:
        return Decoded(4, ((LR, None),), ControlFlow.POINTER_CALL, register)
    if kind == 0xD65F0000 or word == 0xD69F03E0:  # RET, ERET
        return Decoded(4, (), ControlFlow.RETURN)
    if word >> 21 == 0b11010100001 or word >> 16 == 0:  # BRK, UDF
        return Decoded(4, (), ControlFlow.STOP)
    return None


# ---- registers -----------------------------------------------------------------------


def _sets(word: int, at: int) -> _Sets:
    target, base = word & 31, word >> 5 & 31
    group = word >> 23 & 0x3F
    if word >> 25 & 0x1D == 0b10100:
        return _pair(word)
    if word >> 27 & 7 == 0b111 and word >> 24 & 3 != 2:
        return _single(word)
    if word & 0x3B000000 == 0x18000000:
        place = at + 4 * _signed(word >> 5, 19)
        return _integer(word, target, ("literal", place))
    if group == 0b100010:
        return _add_immediate(word)
    if word & 0x1FE00000 == 0x0B200000 or word & 0x1F200000 == 0x0B000000:
        return _add_register(word)
    if group == 0b100100:
        return _logical(word)
    if group == 0b100101:
        return _wide_move(word)
    if word & 0x1F000000 == 0x10000000:
        return ((target, ("const", None)),)  # ADR, ADRP: a relocation says of what
    if word & 0x7FE0FFE0 == 0x2A0003E0:
        return _not_zero(target, ("add", word >> 16 & 31, 0))
    if word & 0xFFA0F000 == 0x04205000:
        amount = _signed(word >> 5, 6) * _VECTOR // (8 if word & 0x400000 else 1)
        return ((target, ("add", word >> 16 & 31, amount)),)  # ADDVL, ADDPL, ADDS..
    if word & 0xFFFFF000 == 0x04BF5000:
        return _not_zero(target, ("const", _signed(base | word >> 5 & 32, 6) * _VECTOR))
    return _not_zero(target, None)


def _not_zero(target: int, expression: Expression) -> _Sets:
    return ((target, expression),) if target != SP else ()


def _integer(word: int, target: int, expression: Expression) -> _Sets:
    """Of a load, unless it loads a vector."""
    return () if word & 0x4000000 else _not_zero(target, expression)


def _moved(base: int, by: int) -> _Sets:
    return ((base, ("add", base, by)),)


def _pair(word: int) -> _Sets:
    base, size = word >> 5 & 31, word >> 30
    scale = 4 << size if word & 0x4000000 else (8 if size == 2 else 4)
    by = _signed(word >> 15, 7) * scale
    sets: _Sets = _moved(base, by) if word & 0x800000 else ()
    if word & 0x400000:
        first = by if word >> 23 & 3 != 1 else 0
        sets += _integer(word, word & 31, ("load", base, first))
        sets += _integer(word, word >> 10 & 31, ("load", base, first + scale))
    return sets


def _single(word: int) -> _Sets:
    target, base, size = word & 31, word >> 5 & 31, word >> 30
    loads = bool(word >> 22 & 1) if word & 0x4000000 else bool(word >> 22 & 3)
    if word & 0x1000000:  # an unsigned offset
        value: Expression = ("load", base, (word >> 10 & 0xFFF) << size)
        return _integer(word, target, value) if loads else ()
    sets: _Sets = ()
    if not word & 0x200000 and word >> 10 & 1:  # before or after
        sets = _moved(base, _signed(word >> 12, 9))
    if word & 0x200000 and word >> 10 & 3 == 0:  # atomic: the old value
        loads = True
    return sets + (_integer(word, target, None) if loads else ())


def _add_immediate(word: int) -> _Sets:
    target, base = word & 31, word >> 5 & 31
    amount = (word >> 10 & 0xFFF) << (12 if word & 0x400000 else 0)
    value = ("add", base, -amount if word & 0x40000000 else amount)
    return _not_zero(target, value) if word & 0x20000000 else ((target, value),)


def _add_register(word: int) -> _Sets:
    target, base, other = word & 31, word >> 5 & 31, word >> 16 & 31
    extended = bool(word & 0x200000)
    shifted = word >> 10 & (7 if extended else 0x3F)
    name = "diff" if word & 0x40000000 else "sum"
    value: Expression = ("computed",) if shifted else (name, base, other)
    if extended and not word & 0x20000000:
        return ((target, value),)
    return _not_zero(target, value)


def _logical(word: int) -> _Sets:
    """Immediates; AND with ones above zeros rounds down."""
    target, kind = word & 31, word >> 29 & 3
    zeros = 64 - (word >> 16 & 63)
    rounds = kind == 0 and word >> 22 & 1 and word >> 10 & 63 == 63 - zeros
    value: Expression = ("align", word >> 5 & 31, 1 << zeros) if rounds else None
    return _not_zero(target, value) if kind == 3 else ((target, value),)


def _wide_move(word: int) -> _Sets:
    target, kind, part = word & 31, word >> 29 & 3, word >> 21 & 3
    value = word >> 5 & 0xFFFF
    if kind == 2:
        return _not_zero(target, ("const", value << 16 * part))
    if kind == 3 and part == 1:
        return _not_zero(target, ("high", target, value))
    return _not_zero(target, None)
