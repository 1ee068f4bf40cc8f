"""Blocks become a UF2 file, and back: numbered pieces of 256 bytes, 512 bytes each."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence

from ember.errors import SdkError
from ember.toolchain.image import ImageSegment

_HEAD = struct.Struct("<8I")  # magic, magic, flags, address, size, index, count, family
_MAGIC_0, _MAGIC_1, _MAGIC_END = 0x0A32_4655, 0x9E5D_5157, 0x0AB1_6F30
_FAMILY_GIVEN = 0x2000
_NOT_FOR_FLASH = 0x0001
_BLOCK, _PAYLOAD = 512, 256


def pack(blocks: Sequence[ImageSegment], family: int, erased: int = 0xFF) -> bytes:
    """The file for a chip of `family`. Its boot loader writes whole pages."""
    pages = [page for block in blocks for page in _pages(block, erased)]
    return b"".join(
        _HEAD.pack(
            _MAGIC_0,
            _MAGIC_1,
            _FAMILY_GIVEN,
            page.address,
            _PAYLOAD,
            index,
            len(pages),
            family,
        )
        + page.data.ljust(_BLOCK - _HEAD.size - 4, b"\0")
        + struct.pack("<I", _MAGIC_END)
        for index, page in enumerate(pages)
    )


def unpack(data: bytes) -> tuple[tuple[ImageSegment, ...], int]:
    """Blocks and family; an SdkError when the file is broken."""
    if not data or len(data) % _BLOCK:
        raise SdkError(f"a UF2 file of {len(data)} bytes is not a multiple of 512")
    segments: list[ImageSegment] = []
    families = set()
    for index, at in enumerate(range(0, len(data), _BLOCK)):
        head = _HEAD.unpack_from(data, at)
        (end,) = struct.unpack_from("<I", data, at + _BLOCK - 4)
        magic = (_MAGIC_0, _MAGIC_1, _MAGIC_END)
        if (head[0], head[1], end) != magic or head[4] > _BLOCK - _HEAD.size - 4:
            raise SdkError(f"block {index} of the UF2 file is broken")
        if head[2] & _NOT_FOR_FLASH:
            continue
        if (head[5], head[6]) != (index, len(data) // _BLOCK):
            raise SdkError(f"block {index} of the UF2 file is out of order")
        families.add(head[7] if head[2] & _FAMILY_GIVEN else 0)
        start = at + _HEAD.size
        _append(segments, ImageSegment(head[3], data[start : start + head[4]]))
    if len(families) != 1:
        raise SdkError("the UF2 file is for several chips")
    return tuple(segments), families.pop()


def _pages(block: ImageSegment, erased: int) -> Iterator[ImageSegment]:
    fill = bytes([erased])
    before = block.address % _PAYLOAD
    data = fill * before + block.data
    data += fill * (-len(data) % _PAYLOAD)
    for at in range(0, len(data), _PAYLOAD):
        yield ImageSegment(block.address - before + at, data[at : at + _PAYLOAD])


def _append(segments: list[ImageSegment], page: ImageSegment) -> None:
    if segments and segments[-1].address + len(segments[-1].data) == page.address:
        page = ImageSegment(segments[-1].address, segments.pop().data + page.data)
    segments.append(page)
