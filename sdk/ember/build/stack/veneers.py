"""Code that a linker adds in front of a function too far away to branch to, as Thumb.

GNU ld and lld write one of three forms, by what the core can do:
  ldr.w pc, [pc]; .word f
  movw ip, f; movt ip, f; bx ip
  push {r0}; ldr r0, ..; mov ip, r0; pop {r0}; bx ip; .word f   (or with r1)
"""

from __future__ import annotations

import struct

from ember.build.stack import thumb
from ember.build.stack.step import ControlFlow

SIZE = 20  # bytes of the longest
PUSHED = 8  # bytes of the stack that one of Armv6-M uses before it jumps
_LOAD_PC = (0xF85F, 0xF000), (0xF8DF, 0xF000)
_PUSHES = 0xB401, 0xB403
_IP = 12


def target(data: bytes, address: int) -> int | None:
    """The function behind the code at `address`; None: it is no veneer."""
    if len(data) < 12:
        return None
    first, second = struct.unpack_from("<2H", data)
    if (first, second) in _LOAD_PC:
        return _word(data, 4)
    if first in _PUSHES and second >> 8 == 0x48:  # ldr r0, [pc, ..]
        place = (address + 6 & ~3) + 4 * (second & 0xFF) - address
        return _word(data, place) if place + 4 <= len(data) else None
    return _moved(data)


def _moved(data: bytes) -> int | None:
    low, high = thumb.decode(data, 0), thumb.decode(data, 4)
    jump = thumb.decode(data, 8)
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


def _word(data: bytes, at: int) -> int:
    (word,) = struct.unpack_from("<I", data, at)
    return int(word) & ~1
