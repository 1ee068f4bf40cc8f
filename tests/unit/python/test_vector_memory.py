"""Copying and filling memory with Hexagon's vectors, against what bytes() does."""

from __future__ import annotations

import ctypes
import subprocess
from itertools import product

import pytest

from ember import paths

SIZES = (0, 1, 7, 15, 16, 17, 31, 63, 127, 128, 129, 200, 255, 256, 257, 400)
PLACES = (0, 1, 8, 13, 64, 120, 127, 128)
ROOM = 640
SOURCE = bytes((7 * i + 3) % 251 for i in range(ROOM))
NAMES = ("memcpy", "memmove", "memset")


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    """The functions with other names: the model of vectors uses the host's."""
    folder = tmp_path_factory.mktemp("memory")
    source = folder / "memory.c"
    lines = ["#include <string.h>", "#include <hexagon_hvx.h>"]
    lines += [f"#define {name} vector_{name}" for name in NAMES]
    lines.append('#include "memory_hvx.c"')
    source.write_text("\n".join(lines))
    folders = [paths.kernels() / "models", paths.runtime() / "libc"]
    options = ["-std=c11", "-O1", "-fPIC", "-shared", "-w", "-fsanitize=undefined"]
    options += [
        "-fsanitize-undefined-trap-on-error",
        *(f"-I{each}" for each in folders),
    ]
    library_path = folder / "libmemory.so"
    subprocess.run(["cc", *options, source, "-o", library_path], check=True)
    return ctypes.CDLL(str(library_path))


class Buffer:
    """Bytes that begin at a multiple of 128."""

    def __init__(self) -> None:
        self.memory = ctypes.create_string_buffer(ROOM + 128)
        self.start = -ctypes.addressof(self.memory) % 128
        self.address = ctypes.addressof(self.memory) + self.start

    def fill(self, data: bytes) -> None:
        ctypes.memmove(self.address, data, len(data))

    def content(self) -> bytes:
        return self.memory.raw[self.start : self.start + ROOM]


def call(library: ctypes.CDLL, name: str, to: int, second: int, size: int) -> None:
    function = getattr(library, f"vector_{name}")
    function.restype = ctypes.c_void_p
    kind = ctypes.c_int if name == "memset" else ctypes.c_void_p
    function.argtypes = [ctypes.c_void_p, kind, ctypes.c_size_t]
    assert function(to, second, size) == to


@pytest.mark.parametrize("name", ["memcpy", "memmove"])
def test_copies(library: ctypes.CDLL, name: str) -> None:
    to, source = Buffer(), Buffer()
    source.fill(SOURCE)
    before = bytes([0xEE] * ROOM)
    for at, start, size in product(PLACES, PLACES, SIZES):
        to.fill(before)
        call(library, name, to.address + at, source.address + start, size)
        want = before[:at] + SOURCE[start : start + size] + before[at + size :]
        assert to.content() == want, (at, start, size)


def test_moves_within_a_buffer(library: ctypes.CDLL) -> None:
    buffer = Buffer()
    for at, start, size in product((*PLACES, 3, 100), (*PLACES, 3, 100), SIZES):
        buffer.fill(SOURCE)
        call(library, "memmove", buffer.address + at, buffer.address + start, size)
        want = SOURCE[:at] + SOURCE[start : start + size] + SOURCE[at + size :]
        assert buffer.content() == want, (at, start, size)


def test_fills(library: ctypes.CDLL) -> None:
    buffer = Buffer()
    for at, size, value in product(PLACES, SIZES, (0, 0x5A, -2)):
        buffer.fill(SOURCE)
        call(library, "memset", buffer.address + at, value, size)
        want = SOURCE[:at] + bytes([value & 0xFF]) * size + SOURCE[at + size :]
        assert buffer.content() == want, (at, size, value)
