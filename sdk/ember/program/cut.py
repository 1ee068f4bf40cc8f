"""Segments of a file -> the pieces of data in them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from ember.files.flat import Record
from ember.files.segments import Data
from ember.program.types import Segment


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
