"""Scalars, vectors and tables become the bytes of a FlatBuffer, last part first.

A part that is written is known by its place: how far its start is from the end of the
buffer. Parts come before what points to them, so that offsets lead forward.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass

from ember.flat.tables import FlatError

_U32 = struct.Struct("<I")
_I32 = struct.Struct("<i")
_MOST = 2**31 - 1  # bytes of a buffer, because the way to a vtable is signed
_MOST_TABLE = 2**16 - 1


@dataclass(frozen=True)
class Slot:
    """A field of a table: a scalar's bytes, or the place that it leads to."""

    index: int
    content: bytes | int


class Builder:
    def __init__(self) -> None:
        self._parts: list[bytes] = []  # from the last
        self._size = 0
        self._vtables: dict[bytes, int] = {}
        self.align = 1  # of the start and the end of the buffer

    def finish(self, root: int, identifier: bytes) -> bytes:
        self._pad(max(self.align, 4), 4 + len(identifier))
        self._prepend(identifier)
        self._prepend(_U32.pack(self._size + 4 - root))
        return b"".join(reversed(self._parts))

    def text(self, text: str) -> int:
        content = text.encode()
        self._pad(4, len(content) + 1)
        return self._counted(content + b"\0", len(content))

    def vector(self, content: bytes, count: int, align: int) -> int:
        """A vector whose first item is aligned to `align` bytes."""
        self._pad(max(align, 4), len(content))
        return self._counted(content, count)

    def offsets(self, places: Sequence[int]) -> int:
        """A vector of offsets to those places."""
        size = 4 * len(places)
        self._pad(4, size)
        first = self._size + size
        items = [first - 4 * at - place for at, place in enumerate(places)]
        return self._counted(struct.pack(f"<{len(items)}I", *items), len(items))

    def table(self, slots: Sequence[Slot]) -> int:
        """A table; the first of `slots` lies last in it.

        It shares the vtable of an earlier table that has its size, too, and its fields
        at the same offsets: the size that a vtable states is true of all its tables.
        """
        end = self._size
        places = {}
        for slot in slots:
            content = slot.content
            self._pad(4 if isinstance(content, int) else len(content), 0)
            if isinstance(content, int):
                content = _U32.pack(self._size + 4 - content)
            self._prepend(content)
            places[slot.index] = self._size
        self._pad(4, 0)
        place = self._size + 4
        vtable = _vtable(place - end, {slot: place - at for slot, at in places.items()})
        known = self._vtables.get(vtable)
        distance = len(vtable) if known is None else known - place
        self._prepend(_I32.pack(distance))
        if known is None:
            self._prepend(vtable)
            self._vtables[vtable] = self._size
        return place

    def _counted(self, content: bytes, count: int) -> int:
        self._prepend(content)
        self._prepend(_U32.pack(count))
        return self._size

    def _pad(self, align: int, size: int) -> None:
        """Pads such that `size` bytes more end at a multiple of `align`."""
        self.align = max(self.align, align)
        self._prepend(bytes(-(self._size + size) % align))

    def _prepend(self, content: bytes) -> None:
        if self._size + len(content) > _MOST:
            raise FlatError(
                "more than 2 GB inside the FlatBuffer",
                "store constants and delegates in segments",
            )
        self._parts.append(content)
        self._size += len(content)


def _vtable(size: int, offsets: dict[int, int]) -> bytes:
    """The vtable of a table of `size` bytes; `offsets` are those of fields, by slot."""
    count = max(offsets, default=-1) + 1
    if size > _MOST_TABLE:
        raise FlatError(f"a table of {size} bytes is too large")
    fields = [offsets.get(slot, 0) for slot in range(count)]
    return struct.pack(f"<{2 + count}H", 4 + 2 * count, size, *fields)
