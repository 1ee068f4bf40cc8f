"""Constants that a plan copies into faster memory become a report for people.

A copy is made when its method is loaded, if faster reads during a run are worth it
(memories.py). It takes memory that an application may want, so the report gives the
reason for each, and the line of ember.yaml that leaves constants in place.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from rich.console import Console

from ember import output
from ember.output import counted, plain
from ember.program import Method, types

_SHOWN = 8  # rows; the rest is summed up


@dataclass(frozen=True)
class Copy:
    model: str
    method: str
    value: int  # of the method
    name: str  # the tensor's own, or who reads it first
    type: str
    bytes: int
    source: str  # memories
    memory: str
    cycles_in_place: int  # that one run takes to read it
    cycles_copied: int


def of(
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


def to_json(copies: Iterable[Copy]) -> list[dict[str, Any]]:
    """The largest first."""
    ordered = sorted(
        copies, key=lambda copied: (-copied.bytes, copied.model, copied.value)
    )
    return [asdict(copied) for copied in ordered]


def summary(copies: Sequence[Mapping[str, Any]]) -> str:
    """What the copies are and why they are made; one sentence."""
    total = counted(sum(copied["bytes"] for copied in copies), "byte")
    before = sum(copied["cycles_in_place"] for copied in copies)
    after = sum(copied["cycles_copied"] for copied in copies)
    return (
        f"copies of constants: {total}, made at load, because a run then reads them"
        f" in {after:,} cycles instead of {before:,} (`read_cycles` of the board)"
    )


def remedy(copies: Sequence[Mapping[str, Any]]) -> str:
    """How to leave the constants where the model lies."""
    sources = sorted({copied["source"] for copied in copies})
    places = sources[0] if len(sources) == 1 else f"[{', '.join(sources)}]"
    rule = f"memory: {{place: {{constants: {places}}}}}"
    return f"to use them in place, put this in ember.yaml: {rule}"


COLUMNS = ("constant", "type", "bytes", "from", "to", "cycles in place", "copied")


def rows(copies: Sequence[Mapping[str, Any]]) -> Iterator[tuple[str | int, ...]]:
    """A line of each, under COLUMNS."""
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


def show(console: Console, copies: Sequence[Mapping[str, Any]]) -> None:
    """The largest as text, and the others summed up in one line."""
    if not copies:
        return
    listed = output.table(
        "constant", ">bytes", "from", "to", ">cycles in place", ">copied"
    )
    for name, _, *numbers in rows(copies[:_SHOWN]):
        cells = (f"{x:,}" if isinstance(x, int) else plain(x) for x in numbers)
        listed.add_row(plain(str(name)), *cells)
    console.print()
    console.print(summary(copies))
    console.print(listed)
    if rest := copies[_SHOWN:]:
        total = counted(sum(copied["bytes"] for copied in rest), "byte")
        console.print(f"and {len(rest)} smaller ones: {total}")
    console.print(plain(remedy(copies)), soft_wrap=True)  # to be taken as it is
