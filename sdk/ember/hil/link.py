"""Two streams of bytes to and from a board, over a line that loses some of them.

runtime_c/port/uart/link.h is the other side: it answers, this side has the clock. The
stream to the board is cut into chunks. A board receives while it reads; behind a chunk
it computes, and hears nothing: the next one starts when the board asks for more.
"""

from __future__ import annotations

import itertools
import secrets
import struct
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from ember.errors import SdkError
from ember.hil import frames
from ember.hil.frames import Frame
from ember.hil.loss import Loss
from ember.hil.wire import Wire

VERSION = 1
_BLOCK = 32  # bytes; EMBER_LINK_BLOCK
_AGAIN = 6  # ranges in an ACK
_TELL, _WAITING = 1, 1  # flags
_HELLO = struct.Struct("<HHI")  # version, payload, window
_STATE = struct.Struct("<IIHH")  # limit, sent, damaged, answered; then the early blocks
_ACK = struct.Struct("<HBB")  # payload, ranges, number
_RANGE = struct.Struct("<II")
_CONNECT_S = 0.2  # between two attempts
_LEAST_S, _MOST_S = 0.02, 0.5  # without a sign, before the board is asked


@dataclass(frozen=True)
class Ended:
    """How a session ended."""

    why: Literal["exit", "restarted", "silent"]
    code: int | None
    text: str
    output: bytes


@dataclass
class Statistics:
    """What went over the line."""

    sent_bytes: int = 0
    received_bytes: int = 0
    sent_frames: int = 0
    least_payload: int = 0
    damaged_there: int = 0
    damaged_here: int = 0


class Link:
    """One session over a wire."""

    def __init__(self, wire: Wire) -> None:
        self.wire = wire
        self.session = secrets.randbelow(0xFFFF) + 1
        self.statistics = Statistics()
        self._reader = frames.Reader()
        self._ended: Ended | None = None

    @property
    def output(self) -> bytes:
        """What the board sent, as far as it is here in order."""
        return bytes(self._in.data)

    # ---- the session -----------------------------------------------------------------

    def connect(self, patience_s: float) -> None:
        """Begin; SdkError when nothing answers, or not in our version."""
        deadline = time.monotonic() + patience_s
        hello = None
        while hello is None:
            if time.monotonic() >= deadline:
                raise self._nobody()
            self._send(Frame(frames.CONNECT, self.session, flags=VERSION))
            until = min(time.monotonic() + _CONNECT_S, deadline)
            while hello is None and time.monotonic() < until:
                hello = self._hello(until)
        version, payload, window = hello
        if version != VERSION:
            raise SdkError(
                f"the runner on {self.wire.name} speaks version {version} of the link,"
                f" this ember version {VERSION}",
                hint="flash the runner again: ember flash --runner --board NAME",
            )
        self._in = _Incoming(payload)
        self._out = _Outgoing(window, payload)

    def _hello(self, until: float) -> tuple[int, int, int] | None:
        for frame in self._receive(until - time.monotonic()):
            mine = frame.type == frames.CONNECTED and frame.session == self.session
            if mine and len(frame.payload) >= _HELLO.size:
                found: tuple[int, int, int] = _HELLO.unpack_from(frame.payload)
                return found
        return None

    def _nobody(self) -> SdkError:
        heard = self._reader.bytes
        if heard:
            what = f"{heard} bytes came, but no answer: another baud rate or firmware?"
        else:
            what = "nothing answers: is the runner flashed, and the baud rate right?"
        return SdkError(
            f"{self.wire.name}: {what}",
            hint="flash the runner (ember flash --runner --board NAME), or reset the"
            " board: it may still be busy with a case",
        )

    def run(self, chunks: Sequence[bytes], limit_s: float) -> Ended:
        """Send all chunks and gather what comes until the board ends, or for `limit_s`
        nothing moves."""
        out = self._out
        out.load(chunks)
        progress, moved_at = (-1, -1), time.monotonic()
        while self._ended is None:
            now = time.monotonic()
            if progress != (progress := (out.next, self._in.size)):
                moved_at = now
            elif now - moved_at > limit_s:
                return Ended("silent", None, "", self.output)
            self._pump(now)
        return self._ended

    def _pump(self, now: float) -> None:
        """Send what may be sent, ask when it is time, take what comes."""
        out = self._out
        burst = [
            frames.encode(Frame(frames.DATA, self.session, offset, data))
            for offset, data in out.due()
        ]
        if burst:
            self._write(b"".join(burst), len(burst))
            out.loss_bytes += sum(map(len, burst))
        expecting = self._in.sent > self._in.size
        ask = out.is_time_to_ask(now, self.wire.byte_seconds, expecting=expecting)
        if ask or self._in.is_time_to_answer(now, out.patience_s):
            self._acknowledge(now, ask=ask)
        wait = out.wake_at - now
        if expecting:
            wait = min(wait, out.patience_s)
        for frame in self._receive(max(wait, 0.001)):
            self._take(frame)

    def _acknowledge(self, now: float, *, ask: bool) -> None:
        again = self._in.lost(now, self._out.patience_s)
        number = self._out.asked(now) if ask else self._out.number
        payload = _ACK.pack(self._in.loss.payload, len(again), number)
        payload += b"".join(_RANGE.pack(*one) for one in again)
        flags = _TELL if ask else 0
        self._send(Frame(frames.ACK, self.session, self._in.size, payload, flags))
        self._in.answered()

    # ---- frames ----------------------------------------------------------------------

    def _send(self, frame: Frame) -> None:
        self._write(frames.encode(frame), 1)

    def _write(self, data: bytes, count: int) -> None:
        self.statistics.sent_bytes += len(data)
        self.statistics.sent_frames += count
        self.wire.write(data)

    def _receive(self, timeout_s: float) -> list[Frame]:
        reader = self._reader
        good, damaged = reader.good, reader.damaged
        data = self.wire.read(timeout_s)
        found = reader.feed(data) if data else []
        if data and hasattr(self, "_in"):
            self._in.loss.saw(reader.good - good, reader.damaged - damaged, len(data))
        self.statistics.received_bytes += len(data)
        self.statistics.damaged_here = reader.damaged
        return found

    def _take(self, frame: Frame) -> None:
        if frame.type == frames.RESTARTED:
            self._ended = Ended("restarted", None, "", self.output)
        elif frame.session != self.session:
            return
        elif frame.type == frames.DATA:
            self._in.take(frame.offset, frame.payload)
        elif frame.type == frames.STATE and len(frame.payload) >= _STATE.size:
            self._take_state(frame)
        elif frame.type == frames.EXIT and frame.offset == self._in.size:
            (code,) = struct.unpack_from("<i", frame.payload)
            text = frame.payload[4:].decode("utf-8", "replace")
            self._ended = Ended("exit", code, text, self.output)
        elif frame.type == frames.EXIT:
            self._in.sent = max(self._in.sent, frame.offset)

    def _take_state(self, frame: Frame) -> None:
        limit, sent, damaged, answered = _STATE.unpack_from(frame.payload)
        early = int.from_bytes(frame.payload[_STATE.size :], "little")
        self._in.sent = max(self._in.sent, sent)
        waiting = frame.flags & _WAITING != 0
        self._out.take_state(frame.offset, limit, early, answered, waiting=waiting)
        self._out.take_damage(damaged)
        self.statistics.damaged_there = self._out.damaged
        self.statistics.least_payload = self._out.least_payload


class _Incoming:
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
        """Bytes that are here in order."""
        return len(self.data)

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
        """What the board shall send again: nothing that it was just asked for."""
        if now - self._asked_at < patience_s:
            return []
        found: list[tuple[int, int]] = []
        at = self.size
        for start in sorted(self._early):
            if start > at:
                found.append((at, start))
            at = max(at, start + len(self._early[start]))
        if self.sent > at:
            found.append((at, self.sent))
        if found:
            self._asked_at = now
        # A question that is longer than the answers would not get through.
        return found[: min(_AGAIN, self.loss.payload // _RANGE.size // 2)]

    def answered(self) -> None:
        self._unanswered = False


class _Outgoing:
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
        self._blocks = window // _BLOCK
        self._early: set[int] = set()  # blocks that are there already
        self._on_way: dict[int, int] = {}  # block: order in which it was sent
        self._order = itertools.count(1)
        self._frames = 0  # sent since damage was last told
        self._questions: dict[int, tuple[int, float]] = {}  # number: order, when
        self._quiet_s = _LEAST_S
        self._heard_at = 0.0

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
        first = self.next // _BLOCK
        self.next = max(self.next, min(offset, len(self._stream)))
        self._limit = max(self._limit, limit)
        self._early = {
            block
            for block in range(offset // _BLOCK + 1, limit // _BLOCK)
            if early >> block % self._blocks & 1
        }
        arrived = {*range(first, self.next // _BLOCK), *self._early}
        for block in arrived & self._on_way.keys():
            newest = max(newest, self._on_way.pop(block))
        # The line keeps the order: what was sent before something that came is lost.
        self._on_way = {b: o for b, o in self._on_way.items() if o > newest}
        if self.next == self._open and self.next % _BLOCK:
            self._on_way.pop(self.next // _BLOCK, None)
        if waiting and self.next == self._open:
            self._open = next(self._ends, self._open)
        self._heard_at = now
        self._quiet_s = _LEAST_S

    def _answer(self, number: int, now: float) -> int:
        """Everything that was sent before the question came, or is lost."""
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
        """Frames that may be sent now: offset and payload. A later part than the next
        one has whole blocks, for the board keeps no others."""
        end = min(self._limit, self._open)
        if end < self._open:
            end = end // _BLOCK * _BLOCK
        most = max(self.loss.payload // _BLOCK, 1)
        found = []
        block = self.next // _BLOCK
        while block * _BLOCK < end:
            start = block
            while block - start < most and self._is_wanted(block, end):
                self._on_way[block] = next(self._order)
                block += 1
            if block == start:
                block += 1
                continue
            offset = max(start * _BLOCK, self.next)
            found.append((offset, self._stream[offset : min(block * _BLOCK, end)]))
        self._frames += len(found)
        return found

    def _is_wanted(self, block: int, end: int) -> bool:
        return (
            block * _BLOCK < end
            and block not in self._early
            and block not in self._on_way
        )

    def is_time_to_ask(
        self, now: float, byte_seconds: float, *, expecting: bool
    ) -> bool:
        """Whether the board has been silent for too long. When nothing is on the way
        it computes, and is left in peace for longer and longer.
        """
        queued = len(self._on_way) * _BLOCK * byte_seconds * 2
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
        """A new question; its number."""
        self.number = self.number % 255 + 1
        self._questions[self.number] = (next(self._order), now)
        return self.number
