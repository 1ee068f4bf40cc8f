"""Frames of a serial line become bytes, and back; what a board's frames say is checked.

runtime_c/port/uart/frame.h is the other side. A board may be broken or hostile, and
its frames decide how much memory is taken and how often loops run. So each number is
compared with what the firmware of runtime_c/port/uart/link.h can send; a frame that no
firmware sends ends the session with an error that names it.
"""

from __future__ import annotations

import struct
import zlib
from dataclasses import dataclass

from ember.errors import SdkError

CONNECT, DATA, ACK, CONNECTED, STATE, EXIT, RESTARTED = range(1, 8)
_HEAD = struct.Struct("<BBHI")  # type, flags, session, offset
_CRC = struct.Struct("<I")
_MOST = 64 * 1024  # bytes kept between two zeros
OVERHEAD = _HEAD.size + _CRC.size + 4  # bytes of a frame besides its payload, at most


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
    """Encodes bytes by COBS, so that none is zero."""
    stuffed = bytearray()
    for part in data.split(b"\0"):
        at = 0
        while len(part) - at >= 254:
            stuffed += b"\xff" + part[at : at + 254]
            at += 254
        stuffed += bytes([len(part) - at + 1]) + part[at:]
    return bytes(stuffed)


def unstuffed(data: bytes) -> bytes | None:
    """The inverse of stuffed(), or None if `data` is malformed."""
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
    """Turns the bytes of a line into frames; counts intact and damaged ones."""

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


# ---- what a board may send -----------------------------------------------------------


MOST_STREAM = 256 << 20  # bytes from a board in one session
MOST_HELLO = 64  # bytes, of any version
_WINDOWS = (1024, 65536)  # bytes: least and most
_PAYLOADS = (32, 8192)  # bytes of a frame, so that a block fits
_MOST_GAPS = 4096  # parts that arrived before what precedes them
_NAMES = {
    DATA: "DATA",
    CONNECTED: "CONNECTED",
    STATE: "STATE",
    EXIT: "EXIT",
    RESTARTED: "RESTARTED",
}


def wrong(frame: LinkFrame, what: str) -> SdkError:
    """An error for a frame that no runner sends."""
    return SdkError(
        f"the board sent a {_NAMES[frame.type]} frame that no runner sends: {what}",
        hint="flash the runner again (ember flash --runner --board NAME): lost bytes"
        " do not cause this",
    )


def check_size(frame: LinkFrame, least: int, most: int) -> None:
    """Raises SdkError unless the payload has `least` to `most` bytes."""
    size = len(frame.payload)
    if not least <= size <= most:
        raise wrong(frame, f"it has {size} bytes, not {_between(least, most)}")


def check_field(frame: LinkFrame, name: str, value: int, least: int, most: int) -> None:
    """Raises SdkError unless least <= value <= most."""
    if not least <= value <= most:
        raise wrong(frame, f"its {name} is {value}, not {_between(least, most)}")


def check_hello(frame: LinkFrame, payload: int, window: int) -> None:
    check_field(frame, "payload", payload, *_PAYLOADS)
    check_field(frame, "window", window, *_WINDOWS)
    if window & (window - 1):
        raise wrong(frame, f"its window is {window}, not a power of two")


def check_gaps(frame: LinkFrame, count: int) -> None:
    if count >= _MOST_GAPS:
        raise wrong(frame, f"more than {_MOST_GAPS} parts of the stream have gaps")


def unknown(frame: LinkFrame) -> SdkError:
    return SdkError(
        f"the board sent a frame of type {frame.type}, which no runner sends",
        hint="check the port: it may echo what it receives",
    )


def _between(least: int, most: int) -> str:
    return f"{least}" if least == most else f"{least} to {most}"
