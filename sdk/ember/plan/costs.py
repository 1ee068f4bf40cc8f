"""Pieces and their memories become what each placement costs in cycles of a run.

Pieces of one class in one memory are one row: what their accesses take there, and what
they would take in each of the other memories that may hold all of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from rich.console import Console

from ember import output
from ember.output import plain


@dataclass(frozen=True)
class PlacementCost:
    name: str  # of the class, such as activations
    memory: str
    bytes: int  # of all pieces, which may share addresses at other times
    accessed: int  # bytes in one run
    cycles: int
    elsewhere: dict[str, int]  # cycles, by memory


@dataclass(frozen=True)
class CostPiece:
    """What `PlacementCost` sums up."""

    name: str
    memory: str
    bytes: int
    accessed: int
    cycles: Mapping[str, float]  # by memory: where it lies, and where it may lie


def of(pieces: Iterable[CostPiece]) -> list[PlacementCost]:
    """The most cycles first."""
    groups: dict[tuple[str, str], list[CostPiece]] = {}
    for piece in pieces:
        groups.setdefault((piece.name, piece.memory), []).append(piece)
    rows = [_summed(group) for group in groups.values()]
    return sorted(rows, key=lambda row: (-row.cycles, row.name, row.memory))


def _summed(group: Sequence[CostPiece]) -> PlacementCost:
    first = group[0]
    common = [
        memory
        for memory in first.cycles
        if all(memory in piece.cycles for piece in group)
    ]
    cycles = {
        name: round(sum(piece.cycles[name] for piece in group)) for name in common
    }
    return PlacementCost(
        name=first.name,
        memory=first.memory,
        bytes=sum(piece.bytes for piece in group),
        accessed=sum(piece.accessed for piece in group),
        cycles=cycles.pop(first.memory),
        elsewhere=cycles,
    )


def to_json(pieces: Iterable[CostPiece]) -> list[dict[str, Any]]:
    return [asdict(row) for row in of(pieces)]


def show(console: Console, traffic: Mapping[str, Any], code: int = 0) -> None:
    """As text, where there is a choice; `code` are the cycles of waiting for code."""
    rows = traffic.get("placements", ())
    if not any(row["elsewhere"] for row in rows):
        return
    listed = output.table("placement", "memory", ">accessed", ">cycles", "elsewhere")
    for row in rows:
        others = ", ".join(f"{name} {n:,}" for name, n in row["elsewhere"].items())
        numbers = f"{row['accessed']:,}", f"{row['cycles']:,}"
        listed.add_row(
            plain(row["name"]), plain(row["memory"]), *numbers, plain(others)
        )
    console.print()
    console.print(
        f"cycles of memory accesses in a run: {total(traffic):,}"
        " (`read_cycles` and `write_cycles` of the board)"
    )
    if code:
        console.print(
            f"cycles of waiting for code in a run: {code:,}, by estimate"
            " (`fetch_cycles` or `read_cycles`)"
        )
    console.print(listed)
    console.print("accessed: bytes read and written in a run")


def total(traffic: Mapping[str, Any]) -> int:
    """Cycles of one run in all memories."""
    return sum(cost["cycles"] for cost in traffic.get("memories", {}).values())
