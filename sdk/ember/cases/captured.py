"""What is to be captured becomes records for the test runner, and its answer nodes.

The records are described in runtime_c/app/batch.h.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass

from ember.cases import values

WATCH_HEAD = struct.Struct("<IIQII")
_WATCH = struct.Struct("<II")
_FEED = struct.Struct("<II")
_FED = struct.Struct("<II")
BODY = struct.Struct("<5I")  # of a captured node
NO_EVENT = NO_NODE = 0xFFFFFFFF
BEFORE, AFTER = 0, 1
# In scratch before each instruction: the largest int8, and 3.4e38 as a float.
FILL = 0x7F


@dataclass(frozen=True, order=True)
class ValueWatch:
    """A value to be written before or after each execution of an instruction."""

    instruction: int
    when: int  # BEFORE or AFTER
    value: int  # its index in the method


@dataclass(frozen=True)
class Feed:
    """What tensors get just before an event: a value's index, its bytes."""

    event: int
    values: tuple[tuple[int, bytes], ...]


@dataclass(frozen=True)
class Capture:
    """What a case is asked to write while it executes."""

    watches: tuple[tuple[ValueWatch, ...], ...]  # of each method that the case uses
    room: int  # bytes, after which nothing is written any more
    first: int = 0  # the first event that is written
    feeds: tuple[tuple[Feed, ...], ...] | None = None  # of each run
    fill: int = FILL


@dataclass(frozen=True)
class NodeValues:
    """Watched values of one executed instruction, in the order of their indices."""

    run: int
    event: int
    instruction: int
    when: int
    values: tuple[values.Value, ...]
    inside: int | None = None  # a node of the delegate, whose output this is

    @property
    def key(self) -> tuple[int, int, int, int, int | None]:
        """Where it stands in the execution of a case."""
        return self.run, self.event, self.when, self.instruction, self.inside


def watch_body(watches: Sequence[ValueWatch], capture: Capture) -> bytes:
    """The body of a WATCH record."""
    head = WATCH_HEAD.pack(len(watches), capture.first, capture.room, capture.fill, 0)
    rows = (
        _WATCH.pack(2 * watch.instruction + watch.when, watch.value)
        for watch in sorted(watches)
    )
    return b"".join([head, *rows])


def feed_body(feeds: Sequence[Feed]) -> bytes:
    """What stands behind the inputs in the RUN record of a fed case."""
    pieces = []
    for feed in feeds:
        pieces.append(_FEED.pack(feed.event, len(feed.values)))
        for value, data in feed.values:
            pieces += (_FED.pack(value, len(data)), data, bytes(-len(data) % 4))
    pieces.append(_FEED.pack(NO_EVENT, 0))
    return b"".join(pieces)


def node(body: bytes, read: tuple[values.Value, ...]) -> NodeValues:
    """From the body of a NODE record and its values."""
    _, run, event, moment, inside = BODY.unpack_from(body)
    where = None if inside == NO_NODE else inside
    return NodeValues(run, event, moment // 2, moment % 2, read, where)
