"""A .npy file becomes an array, or one sentence that says why it cannot.

The header decides how much memory an array takes, so it is compared with the size of
the file before any is allocated. Objects are refused, because loading them runs code.
"""

from __future__ import annotations

import math
import tokenize
import warnings
import zipfile
import zlib
from pathlib import Path
from typing import IO, Any

import numpy as np

from ember import files
from ember.errors import SdkError
from ember.files.tensors import Array

MOST_MEMBERS = 64  # arrays of a .npz
MOST_UNPACKED = 8 * 1024**3  # bytes of all arrays together
_HINT = "write it with numpy.save()"
_HEADER_READERS = {
    (1, 0): np.lib.format.read_array_header_1_0,
    (2, 0): np.lib.format.read_array_header_2_0,
}
# What numpy raises for malformed headers: it parses them as Python literals.
_NO_HEADER = (
    *(ValueError, TypeError, SyntaxError, KeyError, EOFError, OverflowError),
    *(RecursionError, MemoryError, UnicodeError, tokenize.TokenError),
)


def read(path: Path) -> Array:
    """The array in a .npy file."""
    with files.opened(path, "a .npy file") as file:
        return _read(file, path.stat().st_size, str(path))


def read_all(path: Path) -> list[Array]:
    """The array in a .npy file, or the arrays in a .npz."""
    with files.opened(path, "a .npy or .npz file") as file:
        if file.read(4) != b"PK\x03\x04":
            file.seek(0)
            return [_read(file, path.stat().st_size, str(path))]
        file.seek(0)
        try:
            with zipfile.ZipFile(file) as archive:
                return _members(archive, path)
        except (zipfile.BadZipFile, NotImplementedError, RuntimeError) as error:
            raise SdkError(f"{path} is not a .npz file: {_line(error)}") from error


def _members(archive: zipfile.ZipFile, path: Path) -> list[Array]:
    members = archive.infolist()
    unpacked = sum(member.file_size for member in members)
    if len(members) > MOST_MEMBERS or unpacked > MOST_UNPACKED:
        raise SdkError(
            f"{path} has {len(members):,} arrays of {unpacked:,} bytes; at most"
            f" {MOST_MEMBERS} arrays and {MOST_UNPACKED:,} bytes are read"
        )
    arrays = []
    for member in members:
        with archive.open(member) as file:
            arrays.append(_read(file, member.file_size, f"{path}: {member.filename}"))
    return arrays


def _read(file: IO[bytes], size: int, name: str) -> Array:
    shape, is_fortran, dtype = _header(file, name)
    count = math.prod(shape)
    left = size - file.tell()
    if count * dtype.itemsize > left:
        raise SdkError(
            f"{name}: its header says {count * dtype.itemsize:,} bytes, but {left:,}"
            " follow",
            hint="the file is truncated or damaged: write it again",
        )
    try:
        data = bytearray(file.read(count * dtype.itemsize))
        array = np.frombuffer(data, dtype, count)
        array = array.reshape(shape, order="F" if is_fortran else "C")
    except (ValueError, OSError, zipfile.BadZipFile, zlib.error) as error:
        raise _no_npy(name, _line(error)) from error
    return array if dtype.isnative else array.astype(dtype.newbyteorder("="))


def _header(file: IO[bytes], name: str) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    try:
        version = np.lib.format.read_magic(file)
        read_header = _HEADER_READERS.get(version)
        if read_header is None:
            raise ValueError(f"its format version is {version[0]}.{version[1]}")
        with warnings.catch_warnings():  # about headers written by Python 2
            warnings.simplefilter("ignore")
            shape, is_fortran, dtype = read_header(file)
    except _NO_HEADER as error:
        raise _no_npy(name, _line(error)) from error
    if dtype.hasobject or dtype.itemsize == 0:
        raise _no_npy(name, f"it contains {dtype}, not numbers")
    if any(size < 0 for size in shape):
        raise _no_npy(name, f"its shape {list(shape)} has a negative size")
    return tuple(map(int, shape)), is_fortran, dtype


def _no_npy(name: str, reason: str) -> SdkError:
    return SdkError(f"{name} is not a .npy file of numbers: {reason}", hint=_HINT)


def _line(error: Exception) -> str:
    return str(error).split("\n")[0] or type(error).__name__
