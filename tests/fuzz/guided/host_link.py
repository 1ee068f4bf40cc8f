"""The host's side of the serial link, led by any bytes and guided by coverage.

Bytes are steps of a board that loses, repeats, reorders and lies. However they are: the
session ends in a result or one sentence, in bounded time; what the host sends are parts
of its own stream that the board has room for; and it receives the board's stream,
unless the board itself sent another.
"""

from __future__ import annotations

import random
import struct
import sys
import time
from collections.abc import Iterable
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any

from ember.errors import SdkError
from ember.hil import frames, link, streams
from ember.hil.frames import LinkFrame
from ember.hil.wire import WireGoneError

FOLDER = Path(frames.__file__).parent
TRACED = {
    str(FOLDER / f"{n}.py"): n for n in ("frames", "limits", "link", "loss", "streams")
}
CHUNKS = [bytes(range(256)) * 3, b"", b"\0" * 1500, b"\xff" * 40]
SENT = b"".join(CHUNKS)
STREAM = bytes((at * 167 + (at >> 8)) & 255 for at in range(1 << 17))
LEAST_SECONDS, STEP_SECONDS = 2.0, 0.02  # of the processor, while it is traced
LONGEST = 2048  # bytes of an input
_STATE = struct.Struct("<IIHH")
_MOST = 2**32 - 1


class Clock:
    """Time that passes only where the host waits."""

    def __init__(self) -> None:
        self.now = 0.0

    def monotonic(self) -> float:
        return self.now


def require(holds: bool, what: str) -> None:
    if not holds:
        raise AssertionError(what)


class Board:
    """A wire whose other end does what bytes say."""

    name = "fuzz"
    byte_seconds = 0.0

    def __init__(self, data: bytes, clock: Clock) -> None:
        self.honest = True
        self.link: link.Link
        self._clock = clock
        self._data, self._at = data[8:], 0
        self._hello = data[:8].ljust(8, b"\0")
        self._greeted = False
        self._next = 0  # of the host's stream, as far as the board says
        self._room = 0  # that the board said it has
        self._heard = frames.Reader()
        self._last = b""

    def close(self) -> None: ...

    # ---- what the host sends ---------------------------------------------------------

    def write(self, data: bytes) -> None:
        for frame in self._heard.feed(data):
            if frame.type == frames.DATA:
                end = frame.offset + len(frame.payload)
                part = SENT[frame.offset : end]
                require(frame.payload == part != b"", "the host sends another stream")
                require(end <= self._room, "the host sends more than there is room for")
        require(self._heard.damaged == 0, "the host sends broken frames")

    # ---- what it hears ---------------------------------------------------------------

    def read(self, timeout_s: float) -> bytes:
        require(timeout_s > 0, "the host does not wait")
        self._clock.now += min(timeout_s, 0.1)
        if not self._greeted:
            self._greeted = True
            return self._frame(frames.CONNECTED, payload=self._greeting())
        step = self._take(4)
        if len(step) < 4:
            raise WireGoneError("unplugged")
        self._last = _STEPS[step[0] % len(_STEPS)](self, *step[1:]) or self._last
        return self._last

    def _take(self, size: int) -> bytes:
        self._at += size
        return self._data[self._at - size : self._at]

    def _frame(
        self, kind: int, offset: int = 0, payload: bytes = b"", flags: int = 0
    ) -> bytes:
        offset = min(max(offset, 0), _MOST)
        return frames.encode(LinkFrame(kind, self.link.session, offset, payload, flags))

    def _greeting(self) -> bytes:
        """Any, or one of those that runners send."""
        kind = self._hello[0]
        if kind & 1:
            return self._hello
        return struct.pack("<HHI", 1, 32 << (kind >> 1 & 7), 1024 << (kind >> 4 & 3))

    def _data_frame(self, offset: int, low: int, high: int) -> bytes:
        offset = min(max(offset, 0), len(STREAM))
        size = (low | high << 8) % 600
        return self._frame(frames.DATA, offset, STREAM[offset : offset + size])

    def again(self, low: int, high: int, back: int) -> bytes:
        return self._data_frame(len(self.link.output) - back, low, high)

    def early(self, low: int, high: int, ahead: int) -> bytes:
        return self._data_frame(len(self.link.output) + 16 * ahead, low, high)

    def state(self, more: int, room: int, flags: int) -> bytes:
        self._next = min(self._next + 4 * more, self.link._out.most)
        limit = self._next + 16 * room
        self._room = max(self._room, limit)
        answered = self.link._out.number if flags & 2 else flags
        sent = len(self.link.output) + (flags & 0xF0)
        words = 4 * (self.link._window // 1024)
        fields = _STATE.pack(limit, sent, more if flags & 4 else 0, answered)
        early = self._take(words).ljust(words, b"\0") if flags & 8 else bytes(words)
        return self._frame(frames.STATE, self._next, fields + early, flags & 1)

    def noise(self, size: int, *_: int) -> bytes:
        return self._take(size)

    def anything(self, kind: int, flags: int, size: int) -> bytes:
        """A frame of any fields; what it says of room is believed."""
        self.honest = False
        (offset,) = struct.unpack("<I", self._take(4).ljust(4, b"\0"))
        payload = self._take(size)
        if kind == frames.STATE and len(payload) >= 4:
            self._room = max(self._room, *struct.unpack_from("<I", payload))
        return self._frame(kind, offset, payload, flags & 3)

    def end(self, ahead: int, size: int, *_: int) -> bytes:
        payload = self._take(4).ljust(4, b"\0") + self._take(size)
        return self._frame(frames.EXIT, len(self.link.output) + ahead // 16, payload)

    def damaged(self, at: int, bits: int, cut: int) -> bytes:
        data = bytearray(self._last)
        if data:
            data[at % len(data)] ^= bits
        return bytes(data[: len(data) - cut % 8])

    def nothing(self, tenths: int, *_: int) -> bytes:
        self._clock.now += tenths / 10
        self._last = b""
        return b""


_STEPS = (
    *(Board.again, Board.early, Board.state, Board.state, Board.noise),
    *(Board.anything, Board.end, Board.damaged, Board.nothing),
)


# ---- one input ---------------------------------------------------------------------


@dataclass
class Edges:
    """Pairs of lines of the host's side that followed each other."""

    seen: set[tuple[str, int, int]] = field(default_factory=set)

    @contextmanager
    def traced(self) -> Any:
        sys.settrace(self._call)
        try:
            yield
        finally:
            sys.settrace(None)

    def _call(self, frame: FrameType, event: str, _: object) -> Any:
        name = TRACED.get(frame.f_code.co_filename)
        if name is None:
            return None
        before = 0

        def line(frame: FrameType, event: str, _: object) -> Any:
            nonlocal before
            if event == "line":
                self.seen.add((name, before, frame.f_lineno))
                before = frame.f_lineno
            return line

        return line


def run(data: bytes) -> set[tuple[str, int, int]]:
    """What an input reaches; an AssertionError, or any but an SdkError, is a fault."""
    clock, edges = Clock(), Edges()
    board = Board(data[:LONGEST], clock)
    board.link = link.Link(board)
    began = time.process_time()
    modules: Any = (link, streams)
    for module in modules:
        module.time = clock
    try:
        with edges.traced():
            board.link.connect(1)
            board.link.run(CHUNKS, 5)
    except SdkError as error:
        require("\n" not in error.what and error.what != "", "no sentence")
    finally:
        for module in modules:
            module.time = time
    took = time.process_time() - began
    most = LEAST_SECONDS + STEP_SECONDS * len(data) / 4
    require(took < most, f"{took:.1f} s of the processor")
    if board.honest and hasattr(board.link, "_in"):
        output = board.link.output
        require(output == STREAM[: len(output)], "another stream is received")
    return edges.seen


# ---- many --------------------------------------------------------------------------


@dataclass
class Found:
    executions: int = 0
    edges: set[tuple[str, int, int]] = field(default_factory=set)
    inputs: list[bytes] = field(default_factory=list)  # each reaches what others do not
    failed: tuple[bytes, BaseException] | None = None

    def try_one(self, data: bytes) -> bool:
        """Whether it went well; it is kept when it reaches something new."""
        self.executions += 1
        try:
            seen = run(data)
        except BaseException as error:
            if isinstance(error, KeyboardInterrupt):
                raise
            self.failed = (data, error)
            return False
        if not seen <= self.edges:
            self.edges |= seen
            self.inputs.append(data)
        return True


def replay(inputs: Iterable[bytes]) -> Found:
    """Each input once, the small ones first."""
    outcome = Found()
    all(outcome.try_one(data) for data in sorted(inputs, key=len))
    return outcome


def fuzz(inputs: Iterable[bytes], seconds: float, seed: int) -> Found:
    """Mutants of what reached something new, for so long or until one fails."""
    chance = random.Random(seed)
    end = time.monotonic() + seconds
    outcome = replay(inputs)
    while outcome.failed is None and time.monotonic() < end:
        outcome.try_one(mutated(outcome.inputs, chance))
    return outcome


def mutated(inputs: list[bytes], chance: random.Random) -> bytes:
    data = bytearray(chance.choice(inputs))
    for _ in range(chance.choice((1, 1, 2, 4))):
        at = chance.randrange(len(data) + 1)
        kind = chance.randrange(5)
        if kind == 0:
            data[at : at + 1] = bytes(
                [chance.choice((0, 1, 255, chance.randrange(256)))]
            )
        elif kind == 1:  # another step
            data[at // 4 * 4 : at // 4 * 4] = bytes(
                [chance.randrange(9), *chance.randbytes(3)]
            )
        elif kind == 2:
            del data[at // 4 * 4 : at // 4 * 4 + 4 * chance.randrange(1, 8)]
        elif kind == 3:  # steps of another input
            other = chance.choice(inputs)
            first = 4 * chance.randrange(len(other) // 4 + 1)
            data[at // 4 * 4 : at // 4 * 4] = other[
                first : first + 4 * chance.randrange(1, 16)
            ]
        else:
            data[at:at] = chance.randbytes(chance.randrange(1, 12))
    return bytes(data[:LONGEST])
