"""Copying, filling and comparing memory on Cortex-M, against what bytes() does."""

from __future__ import annotations

import ctypes
import subprocess
from itertools import product
from typing import cast

import pytest

from ember import paths

ALIGNMENTS = range(8)
SIZES = range(65)
ROOM = 96  # bytes of a buffer: guards around what is written


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    library_path = tmp_path_factory.mktemp("string") / "libstring.so"
    source = paths.runtime() / "libc" / "small_string.c"
    flags = ["-std=c11", "-Os", "-fno-builtin", "-fno-tree-loop-distribute-patterns"]
    flags += ["-fPIC", "-shared", "-Wl,-Bsymbolic"]
    subprocess.run(["cc", *flags, source, "-o", library_path], check=True)
    return ctypes.CDLL(str(library_path))


class Buffer:
    """Bytes at a known alignment."""

    def __init__(self) -> None:
        self.memory = ctypes.create_string_buffer(ROOM + 16)
        self.start = -ctypes.addressof(self.memory) % 16
        self.address = ctypes.addressof(self.memory) + self.start

    def fill(self, data: bytes) -> None:
        ctypes.memmove(self.address, data, len(data))

    def content(self) -> bytes:
        return self.memory.raw[self.start : self.start + ROOM]


def call(library: ctypes.CDLL, name: str, *arguments: int) -> int | None:
    function = getattr(library, name)
    function.restype = ctypes.c_void_p
    kinds = {"memset": "pis", "__aeabi_memset": "psi", "__aeabi_memclr": "ps"}
    types = {"p": ctypes.c_void_p, "s": ctypes.c_size_t, "i": ctypes.c_int}
    function.argtypes = [types[kind] for kind in kinds.get(name, "pps")]
    return cast("int | None", function(*arguments))


SOURCE = bytes((7 * i + 3) % 251 for i in range(ROOM))
BEFORE = bytes(0xEE for _ in range(ROOM))


@pytest.mark.parametrize("name", ["memcpy", "memmove", "__aeabi_memcpy"])
def test_copies(library: ctypes.CDLL, name: str) -> None:
    to, source = Buffer(), Buffer()
    source.fill(SOURCE)
    for at, start, size in product(ALIGNMENTS, ALIGNMENTS, SIZES):
        to.fill(BEFORE)
        got = call(library, name, to.address + at, source.address + start, size)
        want = BEFORE[:at] + SOURCE[start : start + size] + BEFORE[at + size :]
        assert to.content() == want, (at, start, size)
        if not name.startswith("__"):
            assert got == to.address + at


@pytest.mark.parametrize("name", ["memmove", "__aeabi_memmove", "__aeabi_memmove8"])
def test_moves_within_a_buffer(library: ctypes.CDLL, name: str) -> None:
    buffer = Buffer()
    for at, start, size in product(range(20), range(20), SIZES):
        buffer.fill(SOURCE)
        call(library, name, buffer.address + at, buffer.address + start, size)
        want = SOURCE[:at] + SOURCE[start : start + size] + SOURCE[at + size :]
        assert buffer.content() == want, (at, start, size)


@pytest.mark.parametrize("name", ["memset", "__aeabi_memset", "__aeabi_memclr"])
def test_fills(library: ctypes.CDLL, name: str) -> None:
    buffer = Buffer()
    for at, size, value in product(ALIGNMENTS, SIZES, (0, 0x5A, -2, 0x1234)):
        buffer.fill(SOURCE)
        to = buffer.address + at
        if name == "memset":
            assert call(library, name, to, value, size) == to
        elif name == "__aeabi_memset":
            call(library, name, to, size, value)
        else:
            call(library, name, to, size)
        byte = 0 if name == "__aeabi_memclr" else value & 0xFF
        want = SOURCE[:at] + bytes([byte]) * size + SOURCE[at + size :]
        assert buffer.content() == want, (at, size, value)


def test_compares(library: ctypes.CDLL) -> None:
    buffer, other = Buffer(), Buffer()
    buffer.fill(SOURCE)
    library.memcmp.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t]
    for at, start, size in product(ALIGNMENTS, ALIGNMENTS, SIZES):
        same = BEFORE[:start] + SOURCE[at : at + size] + bytes(ROOM)
        for wrong in {0, size // 2, size - 1, size}:  # where they differ
            if wrong < 0:
                continue
            for byte in (0, 255):
                data = bytearray(same[:ROOM])
                data[start + wrong] = byte
                other.fill(bytes(data))
                a, b = SOURCE[at : at + size], bytes(data[start : start + size])
                got = library.memcmp(buffer.address + at, other.address + start, size)
                assert (got > 0) - (got < 0) == (a > b) - (a < b), (at, start, size)


TEXTS = [
    b"",
    b"a",
    b"ab",
    b"abc",
    b"abd",
    b"b",
    b"\xff",
    b"a\xff",
    b"forward",
    b"forwarx",
]


def sign(number: int) -> int:
    return (number > 0) - (number < 0)


def test_compares_texts(library: ctypes.CDLL) -> None:
    library.strncmp.argtypes = [ctypes.c_char_p, ctypes.c_char_p, ctypes.c_size_t]
    library.strcmp.argtypes = [ctypes.c_char_p, ctypes.c_char_p]
    for a, b in product(TEXTS, TEXTS):
        assert sign(library.strcmp(a, b)) == (a > b) - (a < b), (a, b)
        for size in range(9):
            want = (a[:size] > b[:size]) - (a[:size] < b[:size])
            assert sign(library.strncmp(a, b, size)) == want, (a, b, size)


def test_measures_texts(library: ctypes.CDLL) -> None:
    library.strlen.argtypes = [ctypes.c_char_p]
    library.strlen.restype = ctypes.c_size_t
    for text in TEXTS:
        assert library.strlen(text) == len(text)
