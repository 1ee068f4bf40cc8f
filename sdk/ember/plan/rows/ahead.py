"""Branches of a cascade run ahead where less waits then.

Of what several calls read, a window keeps rows for the one that reads last. Where the
rows of a later result on that branch are shorter, these wait instead.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from ember.plan.rows import reads, wanted
from ember.plan.rows.pace import Pace
from ember.plan.rows.wanted import Reader, WantedRows


@dataclass(frozen=True)
class _Ahead:
    """A branch with other paces, and the bytes of rows that wait at its end."""

    paces: Mapping[int, Pace]  # by value
    reader: Pace
    bytes: int


def let_run(asked: WantedRows, made: Mapping[int, WantedRows]) -> set[int]:
    """Readers of a tensor that read late run ahead, when all of them are known. Returns
    the values whose windows are others now."""
    changed: set[int] = set()
    while (ways := _cheaper(asked, made)) is not None:
        for number, way in ways.items():
            _take(asked, number, way, made)
            changed |= way.paces.keys()
    return changed


def _cheaper(
    asked: WantedRows, made: Mapping[int, WantedRows]
) -> dict[int, _Ahead] | None:
    """By the readers that want most rows: how they want less of them, where what waits
    then is less than what they do not want."""
    depths = [asked.depth(reader) for reader in asked.readers]
    most = max(depths, default=0)
    latest = [number for number, depth in enumerate(depths) if depth == most]
    others = [depth for depth in depths if depth < most]
    if not others:
        return None
    row_bytes = reads.row_bytes(asked.readers[0].read.tensor)
    for less in range(most - max(others), 0, -1):
        ways = [_way(asked, asked.readers[number], less, made) for number in latest]
        taken = [way for way in ways if way is not None]
        waiting = sum(way.bytes for way in taken)
        if len(taken) == len(ways) and waiting < less * row_bytes:
            return dict(zip(latest, taken, strict=True))
    return None


def _take(
    asked: WantedRows, number: int, way: _Ahead, made: Mapping[int, WantedRows]
) -> None:
    asked.readers[number] = replace(asked.readers[number], pace=way.reader)
    for value, pace in way.paces.items():
        made[value].pace = pace
    values = [*way.paces]
    for value, after in itertools.pairwise(values):
        (reader,) = made[value].readers
        assert reader.out == after
        made[value].readers = [replace(reader, pace=way.paces[value])]


def _way(
    asked: WantedRows, late: Reader, less: int, made: Mapping[int, WantedRows]
) -> _Ahead | None:
    """The cheapest one after which a branch reads `less` rows earlier, or more."""
    lag = asked.lag(late.pace)
    ways = []
    branch: list[int] = []
    for value in _branch(late.out, made):
        branch.append(value)
        call = made[value].call
        if call is None or made[value].may_be_home:
            continue
        for rows in range(1, lag + 1):
            paces = _paces(branch, rows, made)
            reader = _newest(made[late.out], paces[late.out]) if paces else None
            if paces is None or reader is None or asked.lag(reader) < 0:
                break
            if asked.lag(reader) <= lag - less:
                ways.append(_Ahead(paces, reader, rows * reads.row_bytes(call.tensor)))
                break
    return min(ways, key=lambda way: way.bytes, default=None)


def _branch(value: int, made: Mapping[int, WantedRows]) -> Iterator[int]:
    """Results, each made of the one before alone."""
    while True:
        asked = made[value]
        call = asked.call
        if call is None or len(call.reads) > 1 or call.made > 1 or call.renewed:
            return
        if not asked.readers:
            return
        yield value
        if len(asked.readers) > 1:
            return
        value = asked.readers[0].out


def _paces(
    branch: list[int], rows: int, made: Mapping[int, WantedRows]
) -> dict[int, Pace] | None:
    """Where the last one is so many rows ahead."""
    last = made[branch[-1]].pace
    assert last is not None
    pace: Pace | None = replace(last, offset=last.offset + rows * last.every)
    paces: dict[int, Pace] = {}
    for value in reversed(branch):
        if pace is None:
            return None
        paces[value] = pace
        pace = _newest(made[value], pace)
    return dict(reversed(paces.items()))


def _newest(asked: WantedRows, pace: Pace) -> Pace | None:
    """That a result's call reads, where the result has another pace."""
    assert asked.call is not None
    (read,) = asked.call.reads
    return wanted.newest(replace(asked, pace=pace), asked.call, read)
