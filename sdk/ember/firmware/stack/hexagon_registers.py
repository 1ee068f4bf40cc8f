"""Single instructions of Hexagon become the registers that they set; see step.py.

Bits 31 to 28 are an instruction's class and bits 27 to 21 nearly always say whether it
sets registers, and which field names them. What is read wrongly here would make a bound
wrong: tests compare it with LLVM for random instructions of every kind.
"""

from __future__ import annotations

from ember.firmware.stack.step import Expression

FP, SP, LR = 30, 29, 31
LOOPS = (32, 33)  # where the loops of the hardware begin
_PAIR_BASE = 8  # bytes below which allocframe puts r31:30
Sets = tuple[tuple[int, Expression], ...]
Extended = tuple[int, int] | None  # upper bits of an immediate, and their place
# Ranges of bits 27 to 21, and what such an instruction sets. d: the register that bits
# 4 to 0 name, s: bits 20 to 16, m: bits 12 to 8. dd, mm: the pair of it. c: control
# registers. L: d, but dd if the last three bits are 110. W: dd, but d for 001 and 011,
# nothing for 000.
_WRITES: dict[int, tuple[tuple[int, int, str], ...]] = {
    2: ((0b1001000, 0b1011111, "s"), (0b1101000, 0b1101111, "s")),
    3: ((0b0000000, 0b0001111, "L"), (0b1010000, 0b1010111, "L")),
    4: tuple((first, first + 7, "L") for first in range(0b0001000, 0b10000000, 16)),
    5: ((0b0101101, 0b0101101, "d"), (0b0101111, 0b0101111, "d")),
    6: (
        (0b0010000, 0b0011111, "c"),
        (0b0110000, 0b0110011, "d"),
        (0b1000000, 0b1000000, "dd"),
        (0b1010000, 0b1010111, "d"),
        (0b1100010, 0b1100010, "dd"),
        (0b1100110, 0b1100111, "d"),
        (0b1110000, 0b1110111, "d"),
        (0b1111000, 0b1111111, "dd"),
    ),
    7: (
        (0b0000000, 0b0000111, "d"),
        (0b0001000, 0b0010111, "s"),
        (0b0011000, 0b0100111, "d"),
        (0b0110000, 0b1011111, "d"),
        (0b1100000, 0b1100111, "dd"),
        (0b1110000, 0b1110111, "d"),
    ),
    8: (
        (0b0000000, 0b0100111, "dd"),
        (0b0111000, 0b1001111, "d"),
        (0b1010000, 0b1010111, "dd"),
        (0b1011000, 0b1111111, "d"),
    ),
    9: (
        (0b0000000, 0b0000000, "dd"),
        *((first, first + 7, "W") for first in range(0, 0b1000000, 16)),
        *((first + 8, first + 15, "L") for first in range(0, 0b1000000, 16)),
        *((first, first + 7, "sW") for first in range(0b1000000, 0b10000000, 16)),
        *((first + 8, first + 15, "sL") for first in range(0b1000000, 0b10000000, 16)),
    ),
    10: ((0b0100011, 0b0100011, "d"), (0b1000000, 0b1111111, "s")),
    11: ((0b0000000, 0b1111111, "d"),),
    12: (
        (0b0000000, 0b0011111, "dd"),
        (0b0100000, 0b0110111, "d"),
        (0b1000000, 0b1001111, "d"),
        (0b1010000, 0b1011111, "dd"),
        (0b1100000, 0b1111111, "d"),
    ),
    13: (
        (0b0000000, 0b0000111, "d"),
        (0b0001000, 0b0001111, "dd"),
        (0b0011000, 0b0100111, "dd"),
        (0b0101000, 0b0111111, "d"),
        (0b1000000, 0b1000111, "m"),
        (0b1001000, 0b1001111, "dd"),
        (0b1010010, 0b1010011, "s"),
        (0b1010000, 0b1010111, "d"),
        (0b1011000, 0b1011111, "m"),
        (0b1110000, 0b1110111, "s"),
        (0b1111000, 0b1111111, "m"),
    ),
    14: (
        (0b0000000, 0b0010111, "d"),
        (0b0011000, 0b0011111, "m"),
        (0b0100000, 0b1000111, "dd"),
        (0b1001000, 0b1001111, "d"),
        (0b1010000, 0b1010111, "dd"),
        (0b1011000, 0b1111111, "d"),
    ),
    15: (
        (0b0000000, 0b0001111, "d"),
        (0b0011000, 0b0100111, "d"),
        (0b0101000, 0b0101111, "dd"),
        (0b0110000, 0b1011111, "d"),
        (0b1101000, 0b1101111, "dd"),
    ),
}
# By bits 31 to 21, where bits 7 to 5 decide.
_BY_LOW_BITS: dict[int, dict[int, str]] = {
    0b10001000110: {4: "dd", 6: "dd"},
    0b10001100111: {2: "dd"},
    0b11000001010: {1: "d"},
    0b11000110110: {2: "dd"},
    0b11010011111: {7: "d"},
}


def signed(value: int, bits: int) -> int:
    value &= (1 << bits) - 1
    return value - (1 << bits) if value >> (bits - 1) else value


def sets(word: int, extended: Extended) -> Sets:
    return _known(word, extended) or tuple((name, None) for name in written(word))


# ---- which registers -----------------------------------------------------------------


def written(word: int) -> tuple[int, ...]:
    kind = _kind(word)
    names = {"d": word & 31, "s": word >> 16 & 31, "m": word >> 8 & 31}
    if kind == "c":
        return LOOPS
    if kind in ("n", "k"):
        return (short(word >> (16 if kind == "n" else 8)),)
    registers: list[int] = []
    for letter in dict.fromkeys(kind):
        pair = kind.count(letter) == 2
        registers += [names[letter], names[letter] ^ 1] if pair else [names[letter]]
    return tuple(registers)


def _kind(word: int) -> str:
    key = word >> 21 & 127
    if word >> 28 == 1:
        jumps = {0b0110000: "n", 0b0110001: "n", 0b0111000: "k", 0b0111001: "k"}
        return jumps.get(key, "")
    if word >> 22 == 0b0111001100:  # combine, or one of two
        return "dd" if word >> 13 & 1 else "d"
    if word >> 21 == 0b10010010000:  # a locked load, or a word of a vector
        if word >> 5 & 7 == 2:  # or a copy in memory
            return ""
        return "dd" if word >> 12 & 3 == 1 and not word >> 5 & 1 else "d"
    if word >> 21 == 0b11001011001:  # the largest or smallest, or a sum
        return "dd" if word >> 5 & 7 == 7 else "mm"
    kind = next(
        (
            kind
            for first, last, kind in _WRITES.get(word >> 28, ())
            if first <= key <= last
        ),
        "",
    )
    return _BY_LOW_BITS.get(word >> 21, {}).get(word >> 5 & 7, _of_load(kind, key & 7))


def _of_load(kind: str, size: int) -> str:
    if kind.endswith("L"):
        return kind[:-1] + ("dd" if size == 6 else "d")
    if kind.endswith("W"):
        return kind[:-1] + ("" if size == 0 else "d" if size in (1, 3) else "dd")
    return kind


def short(field: int) -> int:
    """A register in four bits."""
    field &= 15
    return field if field < 8 else field + 8


# ---- what is in them -----------------------------------------------------------------


def _known(word: int, extended: Extended) -> Sets | None:
    """None: what the instruction computes is unknown."""
    if word >> 28 == 0b1011 or word >> 23 in (0b111100110, 0b011101100):
        return _summed(word, extended)
    if word >> 24 in (0b01110000, 0b01110011, 0b01111000, 0b01111100, 0b11110101):
        return _moved(word, extended)
    return (None if extended else _frame(word)) or _loaded(word, extended)


def _summed(word: int, extended: Extended) -> Sets | None:
    target, base, other = word & 31, word >> 16 & 31, word >> 8 & 31
    if word >> 28 == 0b1011:
        number = _number((word >> 21 & 127) << 9 | word >> 5 & 511, 16, extended)
        return ((target, _sum(base, number)),)
    if word >> 21 == 0b11110011000:
        return ((target, ("sum", base, other)),)
    if word >> 21 == 0b11110011001:
        return ((target, ("diff", other, base)),)
    if word >> 22 == 0b0111011000 and not extended:  # and
        mask = signed((word >> 21 & 1) << 9 | word >> 5 & 511, 10)
        rounds = -mask >= _PAIR_BASE and -mask & (-mask - 1) == 0
        return ((target, ("align", base, -mask) if rounds else None),)
    return None


def _moved(word: int, extended: Extended) -> Sets | None:
    target, base = word & 31, word >> 16 & 31
    if word >> 21 == 0b01110000011:
        return ((target, ("add", base, 0)),)
    if word >> 24 == 0b01111000:
        number = (word >> 22 & 3) << 14 | base << 9 | word >> 5 & 511
        return ((target, _constant(_number(number, 16, extended))),)
    if word >> 23 == 0b111101010:
        return ((target, ("add", word >> 8 & 31, 0)), (target ^ 1, ("add", base, 0)))
    if word >> 22 == 0b0111001100 and word >> 13 & 1:
        return _one_number(word, extended)
    return _two_numbers(word, extended) if word >> 24 == 0b01111100 else None


def _number(field: int, bits: int, extended: Extended) -> Expression:
    """("at", place, n) where the upper bits have a place, and may be an address's."""
    if extended is None:
        return "const", signed(field, bits)
    return "at", extended[1], extended[0] << 6 | field & 63


def _constant(number: Expression) -> Expression:
    assert number is not None
    return ("placed", number[1], number[2]) if number[0] == "at" else number


def _sum(base: int, number: Expression) -> Expression:
    assert number is not None
    if number[0] == "const":
        return "add", base, number[1]
    return "add_placed", number[1], signed(number[2], 32), base


def _one_number(word: int, extended: Extended) -> Sets:
    """A pair of a number and a register."""
    number = _constant(_number(word >> 5 & 255, 8, extended))
    copied: Expression = ("add", word >> 16 & 31, 0)
    high, low = (number, copied) if word >> 21 & 1 else (copied, number)
    return (((word & 31) | 1, high), (word & 30, low))


def _two_numbers(word: int, extended: Extended) -> Sets:
    """The lower one has eight bits, or six where it is the one that is extended."""
    is_short = bool(word >> 23 & 1)
    field = (word >> 16 & 127) << 1 | word >> 13 & 1
    low: Expression = "const", field & 63 if is_short else signed(field, 8)
    if is_short and extended:
        low = _constant(_number(field, 6, extended))
    high = _number(word >> 5 & 255, 8, None if is_short else extended)
    return (((word & 31) | 1, _constant(high)), (word & 30, low))


def _frame(word: int) -> Sets | None:
    if word >> 24 == 0b01110100 and word & 31 == word >> 16 & 31 == SP:
        # Where it has a condition the deeper stack counts, as where paths meet.
        return ((SP, ("add", SP, min(signed(word >> 5, 8), 0))),)
    if word >> 21 == 0b10100000100:
        return allocated(word >> 16 & 31, (word & 0x7FF) * 8)
    if word >> 21 == 0b10010000000:
        target = word & 31
        return (*deallocated(word >> 16 & 31), (target, None), (target ^ 1, None))
    return None


def allocated(stack: int, size: int) -> Sets:
    below: Expression = ("add", stack, -_PAIR_BASE)
    return ((FP, below), (stack, ("add", stack, -_PAIR_BASE - size)))


def deallocated(frame: int) -> Sets:
    return ((SP, ("add", frame, _PAIR_BASE)),)


def _loaded(word: int, extended: Extended) -> Sets | None:
    """Words behind what a register points to, at an address, or of a table."""
    target, base, size = word & 31, word >> 16 & 31, word >> 21 & 15
    field = (word >> 25 & 3) << 9 | word >> 5 & 511
    if word >> 21 == 0b10011101100 and word >> 12 & 1 and extended:
        field = word >> 5 & 3 | (word >> 8 & 15) << 2
        return ((target, ("entry_at", extended[1], extended[0] << 6 | field)),)
    if word >> 27 == 0b01001 and size == 0b1100 and extended:
        at, bits = extended[1], extended[0] << 6 | word >> 5 & 63
        return ((target, ("load_placed", at, bits)),)
    if word >> 27 != 0b10010 or extended:
        return None
    if size == 0b1100:
        return ((target, ("load", base, 4 * signed(field, 11))),)
    if size == 0b1110:
        offset = 8 * signed(field, 11)
        low: Expression = ("load", base, offset)
        return ((target & 30, low), (target | 1, ("load", base, offset + 4)))
    return None
