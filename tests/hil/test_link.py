"""The link, its two sides on the host: whatever a line does, no byte is wrong."""

from __future__ import annotations

import random
import socket
import struct
import subprocess
import threading
import time
import zlib
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import pytest
from faults import Direction, FaultyWire, OneFault
from lines import rfc2217

from ember.errors import SdkError
from ember.hil import frames
from ember.hil.frames import LinkFrame
from ember.hil.link import Ended, Link
from ember.hil.streams import Loss
from ember.hil.wire import SocketWire, Wire, open_port

ROOT = Path(__file__).parents[2]
UART = ROOT / "runtime_c/port/uart"
SOURCES = ("frame", "line", "link", "link_in", "link_out")
FLAGS = ["-std=gnu11", "-g", "-O1", "-Wall", "-Wextra", "-Werror", f"-I{ROOT}"]
SANITIZERS = ["-fsanitize=address,undefined", "-fno-sanitize-recover=undefined"]


@pytest.fixture(scope="session", params=[1024, 4096])
def echo(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """A program that is a board with a window of so many bytes."""
    program = tmp_path_factory.mktemp("echo") / "echo"
    sources = [str(UART / f"{name}.c") for name in SOURCES]
    words = ["gcc", *FLAGS, *SANITIZERS, f"-DEMBER_LINK_WINDOW={request.param}"]
    here = str(Path(__file__).with_name("echo.c"))
    subprocess.run([*words, here, *sources, "-o", str(program)], check=True)
    return program


class Board(SocketWire):
    """A running board, and our end of its line."""

    def __init__(self, program: Path) -> None:
        near, self._far = socket.socketpair()
        super().__init__(near, "the board")
        self._program = program
        self.start()

    def start(self) -> None:
        number = self._far.fileno()
        words = [str(self._program), str(number)]
        self._process = subprocess.Popen(words, pass_fds=[number])

    def reset(self) -> None:
        self._process.kill()
        self._process.wait()
        self.start()

    def close(self) -> None:
        self._far.close()
        super().close()
        assert self._process.wait(10) == 0  # no report of a sanitizer


@pytest.fixture
def board(echo: Path) -> Iterator[Board]:
    running = Board(echo)
    yield running
    running.close()


def chunk(data: bytes) -> bytes:
    return struct.pack("<I", len(data)) + data


END = struct.pack("<I", 0)


def sent(
    wire: Wire, contents: Iterable[bytes], limit_s: float = 20
) -> tuple[Link, Ended]:
    link = Link(wire)
    link.connect(10)
    return link, link.run([*map(chunk, contents), END], limit_s)


def test_streams_of_all_sizes_come_back(board: Board) -> None:
    random.seed(1)
    contents = [random.randbytes(n) for n in (1, 2, 31, 32, 33, 511, 513, 5000, 50000)]
    link, ended = sent(board, contents)
    assert (ended.why, ended.code, ended.text) == ("exit", 7, "all is echoed")
    assert ended.output == b"".join(contents)
    assert link.statistics.damaged_here == link.statistics.damaged_there == 0


@pytest.mark.parametrize("data", [bytes(3000), b"\xff" * 3000, bytes(range(256)) * 12])
def test_no_byte_is_special(board: Board, data: bytes) -> None:
    assert sent(board, [data])[1].output == data


@pytest.mark.parametrize(
    "rate", [0.001, 0.01, pytest.param(0.03, marks=pytest.mark.broad)]
)
def test_lost_and_flipped_bytes(board: Board, rate: float) -> None:
    random.seed(2)
    sizes = (4, 12000, 3, 6000) if rate <= 0.01 else (4, 1500, 3)
    contents = [random.randbytes(size) for size in sizes]
    wire = FaultyWire(board, rate, seed=3)
    link, ended = sent(wire, contents)
    assert ended.why == "exit"
    assert ended.output == b"".join(contents)
    assert wire.there.count > 0 and wire.here.count > 0
    if rate >= 0.01:
        assert link.statistics.least_payload <= 64


CHANGES: dict[str, Callable[[int], bytes]] = {
    "lost": lambda byte: b"",
    "twice": lambda byte: bytes([byte, byte]),
    "flipped": lambda byte: bytes([byte ^ 0x10]),
}
CONTENTS = (b"a", b"short exchange")


def exchanged(program: Path, direction: str, fault: Direction) -> dict[str, int]:
    """A short exchange with `fault` in one direction; bytes sent there and here."""
    board = Board(program)
    wire = FaultyWire(board, 0)
    wire.there, wire.here = OneFault(), OneFault()
    setattr(wire, direction, fault)
    try:
        ended = sent(wire, CONTENTS)[1]
    finally:
        board.close()
    assert (ended.why, ended.code, ended.text) == ("exit", 7, "all is echoed")
    assert ended.output == b"".join(CONTENTS)
    return {"there": wire.there.count, "here": wire.here.count}


@pytest.mark.parametrize("echo", [1024], indirect=True)
@pytest.mark.parametrize("direction", ["there", "here"])
@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize(
    "step", [16, pytest.param(1, marks=pytest.mark.broad)], ids=["some", "every"]
)
def test_one_byte_harmed_at_each_position(
    echo: Path, direction: str, change: str, step: int
) -> None:
    """All bytes of the exchange in turn: it ends right, nothing is heard twice."""
    length = exchanged(echo, direction, OneFault())[direction]
    for position in range(0, length, step):
        fault = OneFault(position, CHANGES[change])
        sizes = exchanged(echo, direction, fault)  # which differ with the board's pace
        assert fault.done or sizes[direction] <= position


def test_bursts_of_garbage(board: Board) -> None:
    content = random.randbytes(20000)
    wire = FaultyWire(board, 0, burst_every=3000)
    assert sent(wire, [content])[1].output == content


def test_the_next_host_gets_a_fresh_board(board: Board) -> None:
    """The first one is gone in the middle: no goodbye, half a chunk."""
    first = Link(board)
    first.connect(10)
    board.write(
        frames.encode(LinkFrame(frames.DATA, first.session, 0, chunk(b"x" * 900)))
    )
    assert sent(board, [b"second"])[1].output == b"second"
    assert sent(board, [b"third"])[1].output == b"third"  # behind an end, too


def test_a_board_that_was_reset_says_so(board: Board) -> None:
    link = Link(board)
    link.connect(10)
    board.reset()
    assert link.run([chunk(b"abc"), END], 10).why == "restarted"
    assert sent(board, [b"once more"])[1].output == b"once more"


def test_a_silent_board(board: Board) -> None:
    link = Link(board)
    link.connect(10)
    assert link.run([struct.pack("<I", 100)], 0.5).why == "silent"


def test_an_emulator_without_cpu_time_is_waited_for(board: Board) -> None:
    link = Link(board)
    link.connect(10)
    started = time.monotonic()
    assert link.run([struct.pack("<I", 100)], 0.1, lambda: 0.0).why == "silent"
    assert time.monotonic() - started >= 0.9


def test_nobody(board: Board) -> None:
    near, far = socket.socketpair()
    with near, far, pytest.raises(SdkError) as error:
        Link(SocketWire(near, "/dev/ttyX")).connect(0.5)
    assert "no answer: is the runner flashed" in error.value.what
    assert error.value.hint is not None
    assert "flash --runner" in error.value.hint


def test_noise_instead_of_an_answer(board: Board) -> None:
    near, far = socket.socketpair()
    with near, far, pytest.raises(SdkError) as error:
        far.sendall(b"Hello from another firmware\r\n" * 5)
        Link(SocketWire(near, "/dev/ttyX")).connect(0.5)
    assert "bytes received, but no answer" in error.value.what


def test_another_version(board: Board) -> None:
    near, far = socket.socketpair()

    def answer() -> None:
        reader = frames.Reader()
        while True:
            for frame in reader.feed(far.recv(100)):
                payload = struct.pack("<HHI", 9, 512, 4096)
                far.sendall(
                    frames.encode(
                        LinkFrame(frames.CONNECTED, frame.session, 0, payload)
                    )
                )
                return

    thread = threading.Thread(target=answer)
    thread.start()
    with near, far, pytest.raises(SdkError) as error:
        Link(SocketWire(near, "/dev/ttyX")).connect(5)
    thread.join()
    assert "uses version 9 of the link, this Ember version 1" in error.value.what


# ---- untrusted frames ----------------------------------------------------------------


def test_valid_frames_with_any_numbers_touch_nothing(board: Board) -> None:
    """Under sanitizers: a frame with a right CRC can say anything."""
    link = Link(board)
    link.connect(10)
    chance = random.Random(4)
    for _ in range(3000):
        offset = chance.choice(
            [0, 1, 31, 32, 4095, 4096, 5000, 2**31, 2**32 - 1, chance.randrange(9000)]
        )
        size = chance.choice([0, 1, 4, 31, 32, 52, 128, chance.randrange(128)])
        kind = chance.choice([frames.DATA, frames.ACK, frames.STATE, 0, 99])
        payload = chance.randbytes(size)
        if kind == frames.ACK:
            payload = struct.pack(
                "<HBB12I",
                chance.choice([0, 1, 16, 128, 512, 65535]),
                chance.choice([0, 1, 6, 7, 255]),
                chance.randrange(256),
                *(chance.choice([0, 1, 100, 2**32 - 1]) for _ in range(12)),
            )
        frame = LinkFrame(kind, link.session, offset, payload, chance.randrange(256))
        board.write(frames.encode(frame))
        if chance.random() < 0.05:
            board.read(0)
    board.write(b"\x07" * 5000 + b"\0")  # longer than any frame
    assert sent(board, [b"still well"])[1].output == b"still well"


# ---- frames --------------------------------------------------------------------------


@pytest.mark.parametrize("size", [0, 1, 253, 254, 255, 508, 509, 1000])
def test_stuffing(size: int) -> None:
    for data in (bytes(size), b"\x01" * size, random.randbytes(size)):
        stuffed = frames.stuffed(data)
        assert 0 not in stuffed
        assert frames.unstuffed(stuffed) == data


def test_a_damaged_frame_does_not_take_the_next_with_it() -> None:
    frame = LinkFrame(frames.DATA, 5, 100, b"payload")
    line = bytearray(frames.encode(frame) * 3)
    line[20] ^= 4
    reader = frames.Reader()
    assert reader.feed(bytes(line)) == [frame, frame]
    assert (reader.good, reader.damaged) == (2, 1)


def test_the_crc_is_the_usual_one() -> None:
    line = frames.encode(LinkFrame(frames.ACK, 0x1234, 7, b"ab", 1))
    body = frames.unstuffed(line[1:-1])
    assert body is not None
    assert body[:-4] == b"\x03\x01\x34\x12\x07\x00\x00\x00ab"
    assert struct.unpack("<I", body[-4:])[0] == zlib.crc32(body[:-4])


def test_frames_shrink_under_loss_and_grow_again() -> None:
    loss = Loss(512)
    assert loss.payload == 512
    for _ in range(20):
        loss.saw(1, 9, 5200)
    assert loss.payload <= 64
    for _ in range(300):
        loss.saw(10, 0, 1000)
    assert loss.payload == 512


def test_a_line_by_rfc_2217() -> None:
    """Every byte comes through, those that Telnet escapes, too."""
    every = bytes(range(256)) * 4
    with rfc2217() as number:
        line = open_port(f"rfc2217://127.0.0.1:{number}?ign_set_control", 115200)
        line.write(every)
        heard = b""
        deadline = time.monotonic() + 20
        while len(heard) < len(every) and time.monotonic() < deadline:
            heard += line.read(0.1)
        line.close()
    assert heard == every
