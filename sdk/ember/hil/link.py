"""A wire that loses bytes becomes two reliable streams, to and from a board.

runtime_c/port/uart/link.h is the other side: it only answers; this side has the clock.
The stream to the board is cut into chunks. A board receives only while it reads; after
a chunk it computes and hears nothing, so the next chunk starts when the board asks.
"""

from __future__ import annotations

import secrets
import struct
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from ember.errors import SdkError
from ember.hil import frames
from ember.hil.frames import LinkFrame
from ember.hil.streams import BLOCK, RANGE, Incoming, Outgoing
from ember.hil.wire import Wire
from ember.toolchain.emulator import WALL

VERSION = 1
_TELL, _WAITING = 1, 1  # flags
_HELLO = struct.Struct("<HHI")  # version, payload, window
_STATE = struct.Struct("<IIHH")  # limit, sent, damaged, answered; then the early blocks
_VERSION = struct.Struct("<H")
_CODE = struct.Struct("<i")
_WINDOW_OF_WORD = 32 * BLOCK  # bytes that a word of early blocks describes
_MOST_NUMBER = 255  # of a question
_MOST_OFFSET = 2**32 - 1
_ACK = struct.Struct("<HBB")  # payload, ranges, number
_CONNECT_S = 0.2  # between two attempts


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
        self._window = 0  # bytes; the board says it

    @property
    def output(self) -> bytes:
        """What the board sent, as far as it has arrived in order."""
        return bytes(self._in.data)

    # ---- the session -----------------------------------------------------------------

    def connect(self, patience_s: float) -> None:
        """Begins a session. Raises SdkError without an answer in our version."""
        deadline = time.monotonic() + patience_s
        hello = None
        while hello is None:
            if time.monotonic() >= deadline:
                raise self._nobody()
            self._send(LinkFrame(frames.CONNECT, self.session, flags=VERSION))
            until = min(time.monotonic() + _CONNECT_S, deadline)
            while hello is None and time.monotonic() < until:
                hello = self._hello(until)
        payload, self._window = hello
        self._in = Incoming(payload)
        self._out = Outgoing(self._window, payload)

    def _hello(self, until: float) -> tuple[int, int] | None:
        """Bytes of a frame and of the window, if the board has sent them."""
        for frame in self._receive(until - time.monotonic()):
            if frame.type != frames.CONNECTED or frame.session != self.session:
                continue
            frames.check_size(frame, _VERSION.size, frames.MOST_HELLO)
            (version,) = _VERSION.unpack_from(frame.payload)
            if version != VERSION:
                raise self._another_version(version)
            frames.check_size(frame, _HELLO.size, _HELLO.size)
            _, payload, window = _HELLO.unpack(frame.payload)
            frames.check_hello(frame, payload, window)
            return payload, window
        return None

    def _another_version(self, version: int) -> SdkError:
        return SdkError(
            f"the runner on {self.wire.name} uses version {version} of the link, this"
            f" Ember version {VERSION}",
            hint="flash the runner again: ember flash --runner --board NAME",
        )

    def _nobody(self) -> SdkError:
        heard = self._reader.bytes
        if heard:
            what = (
                f"{heard} bytes received, but no answer: wrong baud rate or firmware?"
            )
        else:
            what = "no answer: is the runner flashed, and the baud rate right?"
        return SdkError(
            f"{self.wire.name}: {what}",
            hint="flash the runner (ember flash --runner --board NAME), or reset the"
            " board: it may still be busy with a case",
        )

    def run(
        self,
        chunks: Sequence[bytes],
        limit_s: float,
        clock: Callable[[], float] | None = None,
    ) -> Ended:
        """Sends all chunks and collects what comes, until the board ends or nothing
        has moved for `limit_s`.

        clock -- measures that time, such as an emulator's CPU time (default: wall
        time); wall time without progress is then limited to a multiple of `limit_s`
        """
        out = self._out
        out.load(chunks)
        clock, most = (clock, WALL * limit_s) if clock else (time.monotonic, limit_s)
        progress, at, moved_at = (-1, -1), clock(), time.monotonic()
        while self._ended is None:
            now = time.monotonic()
            if progress != (progress := (out.next, self._in.size)):
                at, moved_at = clock(), now
            elif clock() - at > limit_s or now - moved_at > most:
                return Ended("silent", None, "", self.output)
            self._pump(now)
        return self._ended

    def _pump(self, now: float) -> None:
        """Sends what may be sent, asks if it is time, and handles what arrives."""
        out = self._out
        burst = [
            frames.encode(LinkFrame(frames.DATA, self.session, offset, data))
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
        payload += b"".join(RANGE.pack(*range_) for range_ in again)
        flags = _TELL if ask else 0
        self._send(LinkFrame(frames.ACK, self.session, self._in.size, payload, flags))
        self._in.answered()

    # ---- frames ----------------------------------------------------------------------

    def _send(self, frame: LinkFrame) -> None:
        self._write(frames.encode(frame), 1)

    def _write(self, data: bytes, count: int) -> None:
        self.statistics.sent_bytes += len(data)
        self.statistics.sent_frames += count
        self.wire.write(data)

    def _receive(self, timeout_s: float) -> list[LinkFrame]:
        reader = self._reader
        good, damaged = reader.good, reader.damaged
        data = self.wire.read(timeout_s)
        arrived = reader.feed(data) if data else []
        if data and hasattr(self, "_in"):
            self._in.loss.saw(reader.good - good, reader.damaged - damaged, len(data))
        self.statistics.received_bytes += len(data)
        self.statistics.damaged_here = reader.damaged
        return arrived

    def _take(self, frame: LinkFrame) -> None:
        if frame.type == frames.RESTARTED:
            self._ended = Ended("restarted", None, "", self.output)
        elif frame.session != self.session or frame.type == frames.CONNECTED:
            return  # late, from an earlier session
        elif frame.type == frames.DATA:
            self._take_data(frame)
        elif frame.type == frames.STATE:
            self._take_state(frame)
        elif frame.type == frames.EXIT:
            self._take_exit(frame)
        else:
            raise frames.unknown(frame)

    def _take_data(self, frame: LinkFrame) -> None:
        frames.check_size(frame, 1, self._in.loss.most)
        self._check_sent(frame, "end", frame.offset + len(frame.payload))
        frames.check_gaps(frame, self._in.gaps)
        self._in.take(frame.offset, frame.payload)

    def _take_state(self, frame: LinkFrame) -> None:
        words = self._window // _WINDOW_OF_WORD
        frames.check_size(frame, *[_STATE.size + 4 * words] * 2)
        limit, sent, damaged, answered = _STATE.unpack_from(frame.payload)
        frames.check_field(frame, "flags", frame.flags, 0, _WAITING)
        frames.check_field(frame, "offset", frame.offset, 0, self._out.most)
        most = frame.offset + self._window
        frames.check_field(frame, "limit", limit, frame.offset, most)
        frames.check_field(frame, "answered", answered, 0, _MOST_NUMBER)
        self._check_sent(frame, "sent", sent)
        early = int.from_bytes(frame.payload[_STATE.size :], "little")
        self._in.sent = max(self._in.sent, sent)
        waiting = frame.flags & _WAITING != 0
        self._out.take_state(frame.offset, limit, early, answered, waiting=waiting)
        self._out.take_damage(damaged)
        self.statistics.damaged_there = self._out.damaged
        self.statistics.least_payload = self._out.least_payload

    def _take_exit(self, frame: LinkFrame) -> None:
        frames.check_size(frame, _CODE.size, self._in.loss.most)
        self._check_sent(frame, "offset", frame.offset)
        frames.check_field(frame, "offset", frame.offset, self._in.size, _MOST_OFFSET)
        if frame.offset > self._in.size:
            self._in.sent = max(self._in.sent, frame.offset)
            return
        (code,) = _CODE.unpack_from(frame.payload)
        text = frame.payload[_CODE.size :].decode("utf-8", "replace")
        self._ended = Ended("exit", code, text, self.output)

    def _check_sent(self, frame: LinkFrame, name: str, end: int) -> None:
        """Checks a position in the board's stream: its window limits what we lack."""
        most = min(self._in.size + self._window, frames.MOST_STREAM)
        frames.check_field(frame, name, end, 0, most)
