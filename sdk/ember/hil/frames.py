"""Frames on a serial line: runtime_c/port/uart/frame.h is the other side."""

from __future__ import annotations

import struct
import zlib
from dataclasses import dataclass

CONNECT, DATA, ACK, CONNECTED, STATE, EXIT, RESTARTED = range(1, 8)
_HEAD = struct.Struct("<BBHI")  # type, flags, session, offset
_CRC = struct.Struct("<I")
_MOST = 64 * 1024  # bytes between two zeros that are worth keeping
OVERHEAD = _HEAD.size + _CRC.size + 4  # bytes of a frame beside its payload, at most


@dataclass(frozen=True)
class LinkFrame:
    type: int
    session: int
    offset: int = 0
    payload: bytes = b""
    flags: int = 0


def encode(frame: LinkFrame) -> bytes:
    """The bytes of a frame on the line, a zero at either end."""
    head = _HEAD.pack(frame.type, frame.flags, frame.session, frame.offset)
    body = head + frame.payload
    return b"\0" + stuffed(body + _CRC.pack(zlib.crc32(body))) + b"\0"


def stuffed(data: bytes) -> bytes:
    """COBS: the same information without a zero."""
    stuffed = bytearray()
    for part in data.split(b"\0"):
        at = 0
        while len(part) - at >= 254:
            stuffed += b"\xff" + part[at : at + 254]
            at += 254
        stuffed += bytes([len(part) - at + 1]) + part[at:]
    return bytes(stuffed)


def unstuffed(data: bytes) -> bytes | None:
    """The inverse; None when it cannot be."""
    content = bytearray()
    at = 0
    while at < len(data):
        code = data[at]
        if at + code > len(data):
            return None
        content += data[at + 1 : at + code]
        at += code
        if code != 0xFF and at < len(data):
            content.append(0)
    return bytes(content)


class Reader:
    """Bytes of a line become frames; counts what was damaged."""

    def __init__(self) -> None:
        self.good = 0
        self.damaged = 0
        self.bytes = 0
        self._open = bytearray()

    def feed(self, data: bytes) -> list[LinkFrame]:
        self.bytes += len(data)
        *ended, rest = (bytes(self._open) + data).split(b"\0")
        self._open = bytearray(rest[-_MOST:])
        frames = []
        for part in ended:
            frame = self._frame(part) if part else None
            if frame is not None:
                self.good += 1
                frames.append(frame)
            elif part:
                self.damaged += 1
        return frames

    @staticmethod
    def _frame(part: bytes) -> LinkFrame | None:
        body = unstuffed(part)
        if body is None or len(body) < _HEAD.size + _CRC.size:
            return None
        content, crc = body[: -_CRC.size], body[-_CRC.size :]
        if _CRC.unpack(crc)[0] != zlib.crc32(content):
            return None
        kind, flags, session, offset = _HEAD.unpack_from(content)
        return LinkFrame(kind, session, offset, content[_HEAD.size :], flags)
