"""A board and changed sizes of its memories become the board that it would be, and two
answers become what a run would gain."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from ember.boards import Board
from ember.boards.keys import size_of
from ember.errors import UsageError
from ember.plan import placements

_CHANGE = re.compile(r"(?P<name>[^=]+)=(?P<sign>[+-]?)(?P<size>.+)")


def changed(board: Board, changes: Sequence[str]) -> Board:
    """`board` with memories of other sizes: tcm=+64K, tcm=-64K or tcm=128K."""
    for text in changes:
        board = _with(board, text)
    return board


def _with(board: Board, text: str) -> Board:
    match = _CHANGE.fullmatch(text)
    if match is None:
        raise UsageError(f"--what-if {text}: write MEMORY=SIZE, such as tcm=+64K")
    names = [memory.name for memory in board.memories]
    if match["name"] not in names:
        raise UsageError(
            f"--what-if {text}: {board.name} has no memory {match['name']}, only"
            f" {', '.join(names)}"
        )
    number = names.index(match["name"])
    memory = board.memories[number]
    size = _size(text, match, memory.size)
    # A size that is tried need not be one of the flash's sectors.
    other = memory.model_copy(update={"size": size, "flash": None})
    for neighbour in board.memories:
        if neighbour is not memory and memory.base < neighbour.base < other.end:
            raise UsageError(
                f"--what-if {text}: {memory.name} would reach into {neighbour.name} at"
                f" {neighbour.base:#x}; at most {neighbour.base - memory.base:,} bytes"
                " fit in front of it"
            )
    memories = list(board.memories)
    memories[number] = other
    kind = type(board.memories)
    return board.model_copy(update={"memories": kind(memories)})


def _size(text: str, match: re.Match[str], now: int) -> int:
    try:
        amount = size_of(
            int(match["size"]) if match["size"].isdecimal() else match["size"]
        )
    except ValueError as error:
        raise UsageError(f"--what-if {text}: {error}") from None
    size = {"+": now + amount, "-": now - amount}.get(match["sign"], amount)
    if size <= 0:
        raise UsageError(f"--what-if {text}: {match['name']} has only {now:,} bytes")
    return size


def compared(
    changes: Sequence[str], now: Mapping[str, Any], then: Mapping[str, Any]
) -> dict[str, Any]:
    """Two answers of `ember plan`, as JSON; cycles are those of accesses to data, those
    of waiting for code are `code`: with the kernels moved that have room."""
    before, after = (_cycles(facts) for facts in (now, then))
    code_now, code = (facts.get("code", {}).get("least") for facts in (now, then))
    return {
        "changes": list(changes),
        "fits": then["fits"],
        "cycles_now": before,
        "cycles": after,
        "gain": None if before is None or after is None else before - after,
        "code_now": code_now,
        "code": code,
        "gains": then.get("gains", []),
        "memories": then["memories"],
        "placements": then["traffic"].get("placements", []),
    }


def summary(comparison: Mapping[str, Any]) -> str:
    """What a run would gain, in a line."""
    what = f"with {', '.join(comparison['changes'])}"
    if not comparison["fits"]:
        return f"{what}: it does not fit"
    if comparison["gain"] is None:
        return f"{what}: it fits"
    now, then = comparison["cycles_now"], comparison["cycles"]
    line = (
        f"{what}: {then:,} cycles of memory accesses in a run instead of {now:,},"
        f" {_difference(now, then)}"
    )
    now, then = comparison["code_now"], comparison["code"]
    if now == then or None in (now, then):
        return line
    return (
        f"{line}; with the kernels moved that have room, {then:,} cycles of waiting for"
        f" code instead of {now:,}, {_difference(now, then)}"
    )


def _difference(now: int, then: int) -> str:
    return f"{abs(now - then):,} {'more' if then > now else 'less'}"


def _cycles(answer: Mapping[str, Any]) -> int | None:
    """None where nothing is placed, because it does not fit."""
    placed = answer["fits"] and answer["traffic"].get("memories")
    return placements.total_cost(answer["traffic"]) if placed else None
