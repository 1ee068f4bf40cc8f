"""An ET12 file -> where its FlatBuffer and segments are, and the data in the segments.

The first bytes:

0   u32 root offset     4  "ET12"
8   "eh00", u32 header length, u64 FlatBuffer size, u64 base of the segments and,
    from a length of 32 on, u64 size of the segments; absent without segment data
"""

from __future__ import annotations

import struct
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from ember.errors import SdkError
from ember.files.flat import Record
from ember.files.tensors import Data

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


def read_header(data: bytes, what: str) -> Header:
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


# ---- segments ------------------------------------------------------------------------


@dataclass(frozen=True)
class NamedData:
    """Data with a key, shared by delegates."""

    key: str
    data: Data


@dataclass(frozen=True)
class Segment:
    """A range of bytes of the file, behind its FlatBuffer."""

    offset: int  # from the start of the segments
    size: int
    use: str  # what it holds, for people


@dataclass(frozen=True)
class Layout:
    """The layout of a program's file; `write` keeps the alignments and the order."""

    has_header: bool = False
    file_size: int = 0
    flatbuffer_size: int = 0  # with the header
    segment_base: int = 0
    segments: tuple[Segment, ...] = ()
    inline_constants: bool = False  # an old file: constants inside the FlatBuffer
    segment_alignment: int = 128
    constant_alignment: int = 16
    payloads_last: tuple[str, ...] = ()  # of methods, asked for: behind all else


class Segments:
    """The segments that a program lists, from byte `base` of its file on.

    What is wrong with them goes to `problems`.
    """

    def __init__(
        self, data: bytes, base: int, listed: Sequence[Record], problems: list[str]
    ) -> None:
        self._data = memoryview(data)
        self._base = base
        self._listed = listed
        self._problems = problems
        self._uses: dict[int, list[str]] = defaultdict(list)
        self._cut: dict[int, Data] = {}

    def check(self) -> None:
        room = len(self._data) - self._base
        total = 0
        for index, segment in enumerate(self._listed):
            end = segment["offset"] + segment["size"]
            total += segment["size"]
            if end > room:
                self._problems.append(
                    f"segment {index} ends at byte {self._base + end} of a "
                    f"file of {len(self._data)}"
                )
        if total > len(self._data):
            self._problems.append("its segments overlap")

    def cut(self, index: int, use: str) -> Data:
        """The bytes of a segment, which `use` names; none when it is missing."""
        if index >= len(self._listed):
            self._problems.append(f"{use} is in segment {index}, which does not exist")
            return b""
        self._uses[index].append(use)
        if index not in self._cut:
            start = self._base + self._listed[index]["offset"]
            self._cut[index] = self._data[start : start + self._listed[index]["size"]]
        return self._cut[index]

    def pieces(
        self, index: int, offsets: Sequence[int], needs: dict[int, int], use: str
    ) -> tuple[tuple[Data, ...], list[tuple[int, int]]]:
        """A segment cut at `offsets`, where entry 0 holds nothing, and the gaps.

        The format states no sizes: a piece has the bytes that its tensors need, or
        reaches to the next offset when no tensor names it.
        """
        data = self.cut(index, use)
        starts = sorted({offset for offset in offsets if offset <= len(data)})
        following = dict(zip(starts, [*starts[1:], len(data)], strict=False))
        pieces: list[Data] = [b""]
        gaps: list[tuple[int, int]] = []
        known: dict[tuple[int, int], Data] = {}
        room, end = 2 * len(data), 0
        for number, offset in enumerate(offsets[1:], start=1):
            if offset > len(data):
                self._problems.append(
                    f"data {number} of the {use} starts at byte {offset}, "
                    f"its segment has {len(data)}"
                )
                break
            size = min(
                needs.get(number, following[offset] - offset), len(data) - offset
            )
            if (offset, size) not in known:
                room -= size
                if room < 0:
                    self._problems.append(f"its {use} overlap")
                    break
                known[offset, size] = data[offset : offset + size]
                if size and number in needs:
                    gaps.append((end, offset))
                end = offset + size if number in needs else following[offset]
            pieces.append(known[offset, size])
        return tuple(pieces), gaps

    def segments(self) -> tuple[Segment, ...]:
        """All pieces, with the purpose that each was cut for."""
        return tuple(
            Segment(segment["offset"], segment["size"], self._use(index))
            for index, segment in enumerate(self._listed)
        )

    def _use(self, index: int) -> str:
        uses = self._uses.get(index, [])
        if not uses:
            return "unused"
        more = f" and {len(uses) - 1} more" if len(uses) > 1 else ""
        return uses[0] + more
