"""Fields of a board's frames are checked: a board may be broken, or be no friend.

What a frame says decides how much memory is taken and how often loops run. So each of
its numbers is compared with what the firmware of runtime_c/port/uart/link.h can say;
a frame that no firmware sends ends the session with a sentence that names it.
"""

from __future__ import annotations

from ember.errors import SdkError
from ember.hil import frames
from ember.hil.frames import LinkFrame

MOST_STREAM = 256 << 20  # bytes from a board in one session
MOST_HELLO = 64  # bytes, of any version
_WINDOWS = (1024, 65536)  # bytes: least and most
_PAYLOADS = (32, 8192)  # bytes of a frame, so that a block fits
_MOST_GAPS = 4096  # parts that came before what they follow
NAMES = {
    frames.DATA: "DATA",
    frames.CONNECTED: "CONNECTED",
    frames.STATE: "STATE",
    frames.EXIT: "EXIT",
    frames.RESTARTED: "RESTARTED",
}


def wrong(frame: LinkFrame, what: str) -> SdkError:
    """The error for a frame that no runner sends."""
    return SdkError(
        f"the board sent a {NAMES[frame.type]} frame that no runner sends: {what}",
        hint="flash the runner again (ember flash --runner --board NAME): lost bytes"
        " alone do not cause this",
    )


def check_size(frame: LinkFrame, least: int, most: int) -> None:
    """Raise an SdkError unless its payload has so many bytes."""
    size = len(frame.payload)
    if not least <= size <= most:
        raise wrong(frame, f"it has {size} bytes, not {_between(least, most)}")


def check_field(frame: LinkFrame, name: str, value: int, least: int, most: int) -> None:
    """Raise an SdkError unless least <= value <= most."""
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
