"""A model becomes a signed one: a head with digests, its signature, and the files.

`runtime_c/include/ember/verify.h` has the layout.
"""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from ember.errors import SdkError
from ember.release.keys import Algorithm, PrivateKey

MAGIC = b"EMBS"
FORMAT = 1
MOST_DATA = 7  # files
MOST_VERSION = 2**32 - 1
PURPOSE_BYTES = 16
SIGNATURE_BYTES = 64
_ALIGN = 16
_HEAD = struct.Struct("<4sBBHII16s16s")
_PART = struct.Struct("<II32s")
_PROGRAM, _DATA = 0, 1  # kinds of parts
_MOST_BYTES = 2**32 - 1


@dataclass(frozen=True)
class Head:
    """What a signature covers, except for the digests."""

    algorithm: Algorithm
    version: int
    size: int  # bytes of the whole file
    key: bytes  # its id
    purpose: str


def sign(
    program: bytes,
    data: Sequence[bytes],
    key: PrivateKey,
    version: int,
    purpose: str = "",
) -> bytes:
    """The signed model: `program` and `data` files, for devices that ask for a
    `purpose` and accept this `version`. SdkError when one of them does not fit."""
    if len(data) > MOST_DATA:
        raise SdkError(f"a signed model has at most {MOST_DATA} data files")
    parts = [program, *data]
    starts = _starts(parts)
    if starts[-1] > _MOST_BYTES:
        raise SdkError(f"a signed model has at most {_MOST_BYTES:,} bytes")
    head = _HEAD.pack(
        MAGIC,
        FORMAT,
        key.algorithm,
        len(parts),
        version,
        starts[-1],
        key.public.id,
        purpose_bytes(purpose),
    )
    for index, part in enumerate(parts):
        kind = _DATA if index else _PROGRAM
        head += _PART.pack(kind, len(part), hashlib.sha256(part).digest())
    content = bytearray(head + key.sign(head))
    for (start, _), part in zip(pairwise(starts), parts, strict=True):
        content += bytes(start - len(content)) + part
    return bytes(content)


def _starts(parts: Sequence[bytes]) -> list[int]:
    """Where each part begins, and where the file ends."""
    at = _HEAD.size + _PART.size * len(parts) + SIGNATURE_BYTES
    starts = []
    for part in parts:
        start = -(-at // _ALIGN) * _ALIGN
        starts.append(start)
        at = start + len(part)
    return [*starts, at]


def purpose_bytes(purpose: str) -> bytes:
    """The text as it is signed; SdkError when it is too long or not plain."""
    if not (purpose.isascii() and purpose.isprintable()):
        raise SdkError("a purpose has only letters, digits and signs of ASCII")
    if len(purpose) > PURPOSE_BYTES:
        raise SdkError(
            f"a purpose has at most {PURPOSE_BYTES} characters, not {len(purpose)}"
        )
    return purpose.encode()


def read(content: bytes, what: str) -> Head:
    """What a signed model says of itself; nothing is verified."""
    if len(content) < _HEAD.size or content[:4] != MAGIC:
        raise SdkError(f"{what} is not a signed model", hint="make one: ember sign")
    _, form, algorithm, _, version, size, key, purpose = _HEAD.unpack_from(content)
    known = algorithm in [member.value for member in Algorithm]
    if form != FORMAT or not known or size != len(content):
        raise SdkError(f"{what} is damaged, or from a newer version of Ember")
    text = purpose.rstrip(b"\0").decode("ascii", "replace")
    return Head(Algorithm(algorithm), version, size, key, text)
