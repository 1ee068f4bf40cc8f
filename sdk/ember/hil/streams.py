"""The two streams of a link: what has arrived, and what has to be sent (again)."""

from __future__ import annotations

import itertools
import math
import struct
import time
from collections.abc import Iterator, Sequence

from ember.hil import frames

RANGE = struct.Struct("<II")  # of a stream: start, end
_AGAIN = 6  # ranges in an ACK
BLOCK = 32  # bytes; EMBER_LINK_BLOCK
_LEAST_S, _MOST_S = 0.02, 0.5  # without a sign, before the board is asked


class Incoming:
    """The stream from the board."""

    def __init__(self, payload: int) -> None:
        self.data = bytearray()
        self.sent = 0  # as far as the board says it sent
        self.loss = Loss(payload)
        self._early: dict[int, bytes] = {}
        self._unanswered = False
        self._asked_at = 0.0

    @property
    def size(self) -> int:
        """Bytes that have arrived in order."""
        return len(self.data)

    @property
    def gaps(self) -> int:
        """Parts that arrived before what precedes them."""
        return len(self._early)

    def take(self, offset: int, payload: bytes) -> None:
        self._unanswered = True
        self.sent = max(self.sent, offset + len(payload))
        if offset > self.size:
            if len(payload) > len(self._early.get(offset, b"")):
                self._early[offset] = payload
            return
        self.data += payload[self.size - offset :]
        for start in sorted(self._early):
            if start <= self.size:
                part = self._early.pop(start)
                self.data += part[self.size - start :]

    def is_time_to_answer(self, now: float, patience_s: float) -> bool:
        return self._unanswered or (
            self.sent > self.size and now - self._asked_at >= patience_s
        )

    def lost(self, now: float, patience_s: float) -> list[tuple[int, int]]:
        """Ranges that the board should send again, unless it was just asked."""
        if now - self._asked_at < patience_s:
            return []
        ranges: list[tuple[int, int]] = []
        at = self.size
        for start in sorted(self._early):
            if start > at:
                ranges.append((at, start))
            at = max(at, start + len(self._early[start]))
        if self.sent > at:
            ranges.append((at, self.sent))
        if ranges:
            self._asked_at = now
        # A request longer than the answers would not get through.
        return ranges[: min(_AGAIN, self.loss.payload // RANGE.size // 2)]

    def answered(self) -> None:
        self._unanswered = False


class Outgoing:
    """The stream to the board."""

    def __init__(self, window: int, payload: int) -> None:
        self.next = 0  # all before is there
        self.number = 0  # of the last question
        self.damaged = 0
        self.loss = Loss(payload)
        self.loss_bytes = 0  # on the line since damage was last told
        self.least_payload = payload
        self.patience_s = 0.1
        self.wake_at = 0.0
        self._stream = b""
        self._ends: Iterator[int] = iter(())
        self._open = 0  # may be sent up to here
        self._limit = 0
        self._blocks = window // BLOCK
        self._early: set[int] = set()  # blocks that are there already
        self._on_way: dict[int, int] = {}  # block: order in which it was sent
        self._order = itertools.count(1)
        self._frames = 0  # sent since damage was last told
        self._questions: dict[int, tuple[int, float]] = {}  # number: order, when
        self._quiet_s = _LEAST_S
        self._heard_at = 0.0

    @property
    def most(self) -> int:
        """How far the board can have received the stream."""
        return self._open

    def load(self, chunks: Sequence[bytes]) -> None:
        self._stream = b"".join(chunks)
        self._ends = itertools.accumulate(map(len, chunks))
        self._heard_at = time.monotonic()

    # ---- what the board says ---------------------------------------------------------

    def take_state(
        self, offset: int, limit: int, early: int, answered: int, *, waiting: bool
    ) -> None:
        now = time.monotonic()
        newest = self._answer(answered, now)
        first = self.next // BLOCK
        self.next = max(self.next, min(offset, len(self._stream)))
        self._limit = max(self._limit, limit)
        self._early = {
            block
            for block in range(offset // BLOCK + 1, limit // BLOCK)
            if early >> block % self._blocks & 1
        }
        arrived = {*range(first, self.next // BLOCK), *self._early}
        for block in arrived & self._on_way.keys():
            newest = max(newest, self._on_way.pop(block))
        # The line keeps the order: what was sent before something that came is lost.
        self._on_way = {b: o for b, o in self._on_way.items() if o > newest}
        if self.next == self._open and self.next % BLOCK:
            self._on_way.pop(self.next // BLOCK, None)
        if waiting and self.next == self._open:
            self._open = next(self._ends, self._open)
        self._heard_at = now
        self._quiet_s = _LEAST_S

    def _answer(self, number: int, now: float) -> int:
        """The order of what was sent before a question that is answered; or 0.

        All that was sent before it has arrived or is lost.
        """
        if number not in self._questions:
            return 0
        order, asked_at = self._questions[number]
        self._questions.clear()
        self.patience_s = min(
            max((3 * self.patience_s + 2 * (now - asked_at)) / 4, _LEAST_S), _MOST_S
        )
        return order

    def take_damage(self, damaged: int) -> None:
        more = (damaged - self.damaged) & 0xFFFF
        if more or self._frames > 8:
            good = max(self._frames - more, 0)
            self.loss.saw(good, more, self.loss_bytes)
            self.damaged += more
            self._frames = self.loss_bytes = 0
            self.least_payload = min(self.least_payload, self.loss.payload)

    # ---- what to send ----------------------------------------------------------------

    def due(self) -> list[tuple[int, bytes]]:
        """Frames that may be sent now: offset and payload.

        Parts beyond the next one consist of whole blocks: the board keeps no others.
        """
        end = min(self._limit, self._open)
        if end < self._open:
            end = end // BLOCK * BLOCK
        if self.next >= end:
            return []  # an empty frame would be answered, and no question asked
        most = max(self.loss.payload // BLOCK, 1)
        blocks = []
        block = self.next // BLOCK
        while block * BLOCK < end:
            start = block
            while block - start < most and self._is_wanted(block, end):
                self._on_way[block] = next(self._order)
                block += 1
            if block == start:
                block += 1
                continue
            offset = max(start * BLOCK, self.next)
            blocks.append((offset, self._stream[offset : min(block * BLOCK, end)]))
        self._frames += len(blocks)
        return blocks

    def _is_wanted(self, block: int, end: int) -> bool:
        return (
            block * BLOCK < end
            and block not in self._early
            and block not in self._on_way
        )

    def is_time_to_ask(
        self, now: float, byte_seconds: float, *, expecting: bool
    ) -> bool:
        """Whether the board has been silent for too long.

        If nothing is on the way, the board computes: it is asked less and less often.
        """
        queued = len(self._on_way) * BLOCK * byte_seconds * 2
        wait = max(self._quiet_s, self.patience_s if self._on_way else 0) + queued
        self.wake_at = self._heard_at + wait
        if now < self.wake_at:
            return False
        self._heard_at = now
        if not self._on_way and not expecting:
            self._quiet_s = min(self._quiet_s * 1.5, _MOST_S)
        self.wake_at = now + wait
        return True

    def asked(self, now: float) -> int:
        """Records a new question; its number."""
        self.number = self.number % 255 + 1
        self._questions[self.number] = (next(self._order), now)
        return self.number


# ---- the errors of a line become the size that frames should have --------------------


_KEPT = 0.97  # weight of older frames, for each new one
_FEW = 64  # bytes; errors are hardly ever so frequent that smaller frames pay
_QUIET = 1e-6  # errors per byte, assumed of a line without any


class Loss:
    """Estimates the errors per byte of one direction from intact and damaged frames."""

    def __init__(self, payload: int) -> None:
        self.most = payload
        self._frames = 4.0  # as if so many had arrived intact
        self._damaged = 0.0
        self._bytes = self._frames * payload / 4

    def saw(self, good: int, damaged: int, length: int) -> None:
        """Counts the intact and damaged frames among `length` bytes of the line."""
        kept = _KEPT ** (good + damaged)
        self._frames = self._frames * kept + good + damaged
        self._damaged = self._damaged * kept + damaged
        self._bytes = self._bytes * kept + length

    @property
    def errors(self) -> float:
        """Errors per byte."""
        lost = min(self._damaged / self._frames, 0.95)
        length = max(self._bytes, 1.0)  # damage may be reported after it was forgotten
        return max(-math.log(1 - lost) * self._frames / length, _QUIET)

    @property
    def payload(self) -> int:
        """Bytes per frame that carry most over the line.

        For n bytes and an overhead h, exp(-errors (n + h)) n / (n + h) is largest near
        n = sqrt(h / errors).
        """
        best = int(math.sqrt(frames.OVERHEAD / self.errors))
        return min(max(best, _FEW // 2), self.most)
