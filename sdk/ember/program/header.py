"""The first bytes of an ET12 file -> where its FlatBuffer and its segments are.

0   u32 root offset     4  "ET12"
8   "eh00", u32 header length, u64 FlatBuffer size, u64 base of the segments and,
    from a length of 32 on, u64 size of the segments; absent without segment data
"""

from __future__ import annotations

import struct
from dataclasses import dataclass

from ember.errors import SdkError

MAGIC = b"eh00"
_AT = 8
_HEADER = struct.Struct("<4sIQQ")
_SIZE_AT = _AT + _HEADER.size  # the last field, absent in old headers

DAMAGED = "the file is damaged or truncated: export or copy it again"


@dataclass(frozen=True)
class Header:
    present: bool
    flat_size: int
    base: int  # of the segments


def read(data: bytes, what: str) -> Header:
    """Raises SdkError when the file ends before what its header states."""
    if data[_AT : _AT + 4] != MAGIC:
        return Header(present=False, flat_size=len(data), base=len(data))
    if len(data) < _SIZE_AT:
        raise SdkError(f"{what} ends within its header", hint=DAMAGED)
    _, length, flat_size, base = _HEADER.unpack_from(data, _AT)
    if length < _HEADER.size:
        raise SdkError(f"{what} has a header of {length} bytes", hint=DAMAGED)
    size = 0
    if length > _HEADER.size and len(data) >= _SIZE_AT + 8:
        size = struct.unpack_from("<Q", data, _SIZE_AT)[0]
    end = max(flat_size, base + size)
    if end > len(data):
        raise SdkError(
            f"{what} is truncated: its header says {end} bytes, but it has {len(data)}",
            hint=DAMAGED,
        )
    if base == 0:
        return Header(present=True, flat_size=flat_size, base=len(data))
    if base < flat_size:
        raise SdkError(f"{what} is malformed: segments inside its FlatBuffer", DAMAGED)
    return Header(present=True, flat_size=flat_size, base=base)
