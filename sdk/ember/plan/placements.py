"""Placements of data become reports: cycles in each memory, and copies of constants.

Pieces of one class in one memory are one row: what their accesses cost there, and what
they would cost in each of the other memories that may hold all of them.

A constant is copied into faster memory when its method is loaded, if faster reads
during a run are worth it (memories.py). The copy takes memory that an application may
want, so the report gives the reason for each, and the line of ember.yaml that leaves
constants in place.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from rich.console import Console

from ember import output
from ember.output import counted, plain
from ember.program import Method, types


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
    cycles: Mapping[str, float]  # by memory: where it is, and where it may be


def costs(pieces: Iterable[CostPiece]) -> list[PlacementCost]:
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


def costs_to_json(pieces: Iterable[CostPiece]) -> list[dict[str, Any]]:
    return [asdict(row) for row in costs(pieces)]


def show_costs(console: Console, traffic: Mapping[str, Any], code: int = 0) -> None:
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
        f"cycles of memory accesses in a run: {total_cost(traffic):,}"
        " (`read_cycles` and `write_cycles` of the board)"
    )
    if code:
        console.print(
            f"cycles of waiting for code in a run: {code:,}, by estimate"
            " (`fetch_cycles` or `read_cycles`)"
        )
    console.print(listed)
    console.print("accessed: bytes read and written in a run")


def total_cost(traffic: Mapping[str, Any]) -> int:
    """Cycles of one run in all memories."""
    return sum(cost["cycles"] for cost in traffic.get("memories", {}).values())


# ---- copies of constants -------------------------------------------------------------


_SHOWN = 8  # rows; the rest is summed up


@dataclass(frozen=True)
class Copy:
    model: str
    method: str
    value: int  # of the method
    name: str  # of the tensor, or the call that reads it first
    type: str
    bytes: int
    source: str  # memories
    memory: str
    cycles_in_place: int  # that one run takes to read it
    cycles_copied: int


def copied(
    model: str,
    method: Method,
    data: int,
    places: tuple[str, str],
    cycles: tuple[float, float],
) -> Copy:
    """A copy of the constant `data`, from the first of `places` to the second."""
    value, tensor = next(
        (index, constant)
        for index, constant in method.tensors
        if constant.is_constant and constant.data_index == data
    )
    return Copy(
        model=model,
        method=method.name,
        value=value,
        name=tensor.name or _reader(method, value),
        type=str(tensor),
        bytes=tensor.nbytes,
        source=places[0],
        memory=places[1],
        cycles_in_place=round(cycles[0]),
        cycles_copied=round(cycles[1]),
    )


def _reader(method: Method, value: int) -> str:
    """The first call that takes a value, or a list with it."""
    for index, call in enumerate(method.instructions):
        if not isinstance(call, types.KernelCall):
            continue
        for position, argument in enumerate(call.args):
            held = method.values[argument]
            inside = getattr(held, "items", ()) if argument != value else ()
            if argument == value or (isinstance(inside, tuple) and value in inside):
                name = method.operator_names[call.op_index]
                return f"{name}, instruction {index}, argument {position}"
    return f"value {value}"


def copies_to_json(copies: Iterable[Copy]) -> list[dict[str, Any]]:
    """The largest first."""
    ordered = sorted(
        copies, key=lambda copied: (-copied.bytes, copied.model, copied.value)
    )
    return [asdict(copied) for copied in ordered]


def copy_summary(copies: Sequence[Mapping[str, Any]]) -> str:
    """What the copies are and why they are made; one sentence."""
    total = counted(sum(copied["bytes"] for copied in copies), "byte")
    before = sum(copied["cycles_in_place"] for copied in copies)
    after = sum(copied["cycles_copied"] for copied in copies)
    return (
        f"copies of constants: {total}, made at load, because a run then reads them"
        f" in {after:,} cycles instead of {before:,} (`read_cycles` of the board)"
    )


def copy_remedy(copies: Sequence[Mapping[str, Any]]) -> str:
    """How to leave the constants where the model is."""
    sources = sorted({copied["source"] for copied in copies})
    places = sources[0] if len(sources) == 1 else f"[{', '.join(sources)}]"
    rule = f"memory: {{place: {{constants: {places}}}}}"
    return f"to use them in place, put this in ember.yaml: {rule}"


COPY_COLUMNS = ("constant", "type", "bytes", "from", "to", "cycles in place", "copied")


def copy_rows(copies: Sequence[Mapping[str, Any]]) -> Iterator[tuple[str | int, ...]]:
    """A line of each, under COPY_COLUMNS."""
    for copied in copies:
        yield (
            *(
                copied["name"],
                copied["type"],
                copied["bytes"],
                copied["source"],
                copied["memory"],
            ),
            *(copied["cycles_in_place"], copied["cycles_copied"]),
        )


def show_copies(console: Console, copies: Sequence[Mapping[str, Any]]) -> None:
    """The largest as text, and the others summed up in one line."""
    if not copies:
        return
    listed = output.table(
        "constant", ">bytes", "from", "to", ">cycles in place", ">copied"
    )
    for name, _, *numbers in copy_rows(copies[:_SHOWN]):
        cells = (f"{x:,}" if isinstance(x, int) else plain(x) for x in numbers)
        listed.add_row(plain(str(name)), *cells)
    console.print()
    console.print(copy_summary(copies))
    console.print(listed)
    if rest := copies[_SHOWN:]:
        total = counted(sum(copied["bytes"] for copied in rest), "byte")
        console.print(f"and {len(rest)} smaller ones: {total}")
    console.print(plain(copy_remedy(copies)), soft_wrap=True)  # to be taken as it is
