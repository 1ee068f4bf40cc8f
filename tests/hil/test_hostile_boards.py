"""Frames that no runner sends: one sentence that names them, in bounded time."""

from __future__ import annotations

import random
import struct
import time
import tracemalloc
from collections.abc import Callable, Iterable

import pytest

from ember.errors import SdkError
from ember.hil import frames
from ember.hil.frames import LinkFrame
from ember.hil.link import Ended, Link
from ember.hil.wire import WireGoneError

PAYLOAD, WINDOW = 512, 4096
HELLO = struct.pack("<HHI", 1, PAYLOAD, WINDOW)
MOST = 2**32 - 1
EARLY = bytes(WINDOW // 256)
Answer = Callable[[int], bytes]  # of a session: what comes over the wire
CHUNKS = [b"x" * 700, b"y" * 5000, b"z" * 40]


def state(
    limit: int = WINDOW,
    sent: int = 0,
    damaged: int = 0,
    answered: int = 0,
    early: bytes = EARLY,
) -> bytes:
    return struct.pack("<IIHH", limit, sent, damaged, answered) + early


class Script:
    """A wire whose board answers with these frames, and is then unplugged."""

    name = "/dev/ttyX"
    byte_seconds = 0.0

    def __init__(self, hello: bytes, answers: Iterable[Answer]) -> None:
        self.session: int | None = None
        self._hello = hello
        self._answers: list[bytes | Answer] = list(answers)
        self._reader = frames.Reader()

    def write(self, data: bytes) -> None:
        for frame in self._reader.feed(data):
            if frame.type == frames.CONNECT and self.session is None:
                self.session = frame.session
                hello = LinkFrame(frames.CONNECTED, frame.session, 0, self._hello)
                self._answers.insert(0, frames.encode(hello))

    def read(self, timeout_s: float) -> bytes:
        if not self._answers:
            raise WireGoneError("unplugged")
        answer = self._answers.pop(0)
        if isinstance(answer, bytes):
            return answer
        assert self.session is not None
        return answer(self.session)

    def close(self) -> None:
        """Nothing is open."""


def frame(kind: int, offset: int = 0, payload: bytes = b"", flags: int = 0) -> Answer:
    return lambda session: frames.encode(
        LinkFrame(kind, session, offset, payload, flags)
    )


def talk(*answers: Answer, hello: bytes = HELLO) -> Ended:
    link = Link(Script(hello, answers))
    link.connect(1)
    return link.run(CHUNKS, 0.2)


@pytest.mark.parametrize(
    ("hello", "sentence"),
    [
        (b"", "CONNECTED frame .* it has 0 bytes, not 2 to 64"),
        (HELLO[:6], "CONNECTED frame .* it has 6 bytes, not 8"),
        (HELLO + b"more", "CONNECTED frame .* it has 12 bytes, not 8"),
        (struct.pack("<HHI", 1, 0, WINDOW), "its payload is 0, not 32 to"),
        (struct.pack("<HHI", 1, 65535, WINDOW), "its payload is 65535"),
        (struct.pack("<HHI", 1, 512, 0), "its window is 0, not 1024 to"),
        (struct.pack("<HHI", 1, 512, MOST), "its window is 4294967295"),
        (struct.pack("<HHI", 1, 512, 5000), "its window is 5000, not a power of two"),
        (struct.pack("<HHI", 7, 0, 0), "uses version 7 of the link"),
    ],
)
def test_the_first_answer(hello: bytes, sentence: str) -> None:
    with pytest.raises(SdkError, match=sentence):
        talk(hello=hello)


@pytest.mark.parametrize(
    ("sent", "sentence"),
    [
        (frame(frames.STATE, payload=b""), "STATE .* it has 0 bytes, not 28"),
        (frame(frames.STATE, payload=state(early=b"")), "it has 12 bytes, not 28"),
        (frame(frames.STATE, payload=state(limit=MOST)), "its limit is 4294967295"),
        (frame(frames.STATE, payload=state(sent=MOST)), "its sent is 4294967295"),
        (frame(frames.STATE, MOST, state()), "its offset is 4294967295, not 0"),
        (frame(frames.STATE, 5, state()), "its offset is 5, not 0"),
        (frame(frames.STATE, payload=state(answered=900)), "its answered is 900"),
        (frame(frames.STATE, payload=state(), flags=8), "its flags is 8, not 0 to 1"),
        (frame(frames.DATA), "DATA .* it has 0 bytes, not 1 to 512"),
        (frame(frames.DATA, payload=bytes(513)), "DATA .* it has 513 bytes"),
        (frame(frames.DATA, MOST, b"x"), "its end is 4294967296, not 0 to 4096"),
        (frame(frames.EXIT), "EXIT .* it has 0 bytes, not 4 to 512"),
        (frame(frames.EXIT, payload=b"abc"), "EXIT .* it has 3 bytes"),
        (frame(frames.EXIT, MOST, b"abcd"), "its offset is 4294967295"),
        (frame(99), "a frame of type 99"),
        (frame(frames.CONNECT), "type 1, which no runner sends"),
    ],
)
def test_fields(sent: Answer, sentence: str) -> None:
    with pytest.raises(SdkError, match=sentence):
        talk(sent)


def test_damage_that_was_never_sent_is_no_division_by_zero() -> None:
    told = [frame(frames.STATE, payload=state(damaged=n)) for n in (65535, 3, 65535, 2)]
    with pytest.raises(WireGoneError):
        talk(*told * 50)


def number(chance: random.Random, *usual: int) -> int:
    return chance.choice(
        [0, 1, 31, 4095, 4096, 2**31, MOST, chance.randrange(9000), *usual]
    )


def any_frame(chance: random.Random) -> Answer:
    """Sometimes right in all fields but one, sometimes in none."""
    kind = chance.choice([*range(9), 5, 5, 2, 2, 255])
    payload = chance.randbytes(chance.choice([0, 1, 3, 4, 12, 28, 100, 512, 600]))
    if chance.random() < 0.7 and kind == frames.STATE:
        fields = (number(chance, WINDOW), number(chance, 0))
        payload = struct.pack(
            "<IIHH", *fields, chance.randrange(65536), chance.randrange(300)
        ) + chance.randbytes(16)
    return frame(kind, number(chance, 0, 0, 0), payload, chance.choice([0, 0, 1, 255]))


def any_hello(chance: random.Random) -> bytes:
    if chance.random() < 0.8:
        return HELLO
    return struct.pack(
        "<HHI", 1, chance.choice([0, 31, 32, 64, 8192, 65535]), number(chance, 1024)
    )


def mutated(chance: random.Random, answer: Answer) -> Answer:
    def line(session: int) -> bytes:
        data = bytearray(answer(session))
        for _ in range(chance.choice([0, 0, 0, 1, 5])):
            data[chance.randrange(len(data))] = chance.randrange(256)
        return bytes(
            data[: chance.choice([len(data), len(data), chance.randrange(99)])]
        )

    return line


@pytest.mark.parametrize("seed", range(4))
def test_any_frames(seed: int) -> None:
    """Whatever a board says: a result or one sentence, in little time and memory."""
    chance = random.Random(seed)
    began = time.monotonic()
    tracemalloc.start()
    ends = {"SdkError": 0, "Ended": 0}
    for _ in range(400):
        answers = [mutated(chance, any_frame(chance)) for _ in range(30)]
        try:
            ended = talk(*answers, hello=any_hello(chance))
            assert isinstance(ended, Ended)
            ends["Ended"] += 1
        except SdkError as error:
            assert "\n" not in error.what
            ends["SdkError"] += 1
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 16 << 20
    assert time.monotonic() - began < 60
    assert min(ends.values()) > 5, ends
