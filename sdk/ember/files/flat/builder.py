"""Strings, vectors and tables become a FlatBuffer, from its end to its start.

The bytes are those that ExecuTorch's exporter gets from the package flatbuffers, which
takes several times as long: it looks at every number by itself.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence

_U32 = struct.Struct("<I")
_OFFSET = 4  # bytes of a way to a part, and to a vtable
_MOST = 1 << 31


class TooLongError(Exception):
    """Offsets do not reach that far."""


class Builder:
    """What is put goes before all that is there. A part is known by its offset: how
    far its first byte is from the end."""

    def __init__(self) -> None:
        self.align = 1  # of the start of what is built
        self.length = 0
        self._chunks: list[bytes | memoryview] = []
        self._vtables: dict[tuple[int, ...], int] = {}

    def _put(self, *chunks: bytes | memoryview) -> None:
        """The last of the chunks comes first."""
        for one in chunks:
            self._chunks.append(one)
            self.length += len(one)
        if self.length > _MOST:
            raise TooLongError

    def _padding(self, align: int, size: int) -> bytes:
        """What comes behind `size` bytes that start at a multiple of `align`."""
        self.align = max(self.align, align)
        return bytes(-(self.length + size) % align)

    def text(self, value: str) -> int:
        content = value.encode()
        end = self._padding(_OFFSET, len(content) + 1)
        self._put(end, b"\0", content, _U32.pack(len(content)))
        return self.length

    def vector(self, content: bytes | memoryview, count: int, align: int) -> int:
        """A vector of scalars; `align` is that of the first."""
        self._put(self._padding(_OFFSET, len(content)))
        self._put(self._padding(align, len(content)), content, _U32.pack(count))
        return self.length

    def offsets(self, parts: Sequence[int]) -> int:
        """A vector of parts."""
        size = _OFFSET * len(parts)
        self._put(self._padding(_OFFSET, size))
        end = self.length + size
        ways = [end - _OFFSET * at - part for at, part in enumerate(parts)]
        self._put(struct.pack(f"<{len(ways)}I", *ways), _U32.pack(len(parts)))
        return self.length

    def table(self, entries: Sequence[tuple[int, bytes | int]], slots: int) -> int:
        """A table of entries by slot, the last of which comes first: bytes, or the
        offset of a part."""
        start = length = self.length
        pieces: list[bytes] = []
        vtable = [0] * slots
        for slot, value in entries:
            size = _OFFSET if isinstance(value, int) else len(value)
            pad = -length % size
            length += pad + size
            if pad:
                pieces.append(bytes(pad))
            pieces.append(
                _U32.pack(length - value) if isinstance(value, int) else value
            )
            vtable[slot] = length
            self.align = max(self.align, size)
        pad = -length % _OFFSET
        length += pad + _OFFSET
        self.align = max(self.align, _OFFSET)
        pieces.append(bytes(pad))
        while vtable and not vtable[-1]:
            vtable.pop()
        places = [length - place if place else 0 for place in vtable]
        return self._close(pieces, length, (length - start, *places))

    def _close(self, pieces: list[bytes], at: int, layout: tuple[int, ...]) -> int:
        """Put a table that starts at `at`, and its vtable unless there is one."""
        known = self._vtables.get(layout)
        size = 2 * (1 + len(layout))
        way = (at + size if known is None else known) - at
        pieces.append(struct.pack("<i", way))
        self._put(b"".join(reversed(pieces)))
        if known is None:
            self._put(struct.pack(f"<{1 + len(layout)}H", size, *layout))
            self._vtables[layout] = self.length
        return at

    def finish(self, root: int, identifier: bytes) -> bytes:
        self._put(self._padding(self.align, 2 * _OFFSET), identifier)
        self._put(_U32.pack(self.length + _OFFSET - root))
        return b"".join(reversed(self._chunks))
