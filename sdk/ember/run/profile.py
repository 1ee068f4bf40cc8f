"""A run log becomes a profile: costs by node and by operator, the highest first."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ember import files
from ember.errors import SdkError
from ember.program import KernelCall, Method, OptionalTensorList, Tensor, TensorList
from ember.run.costs import InsideRun, added
from ember.run.run import NodeRun, RunLog
from ember.toolchain import emulator


@dataclass(frozen=True)
class Row:
    """What a node, or all nodes of an operator, cost in one execution of the method."""

    name: str  # the operator
    kernels: tuple[str, ...]
    nodes: tuple[int, ...]  # instruction indices
    instructions: int
    macs: int  # multiply-accumulates; 0 for operators that have none
    moved: int  # bytes of the tensors that are read and written, constants included
    share: float  # of the instructions of all nodes
    cycles: int | None = None  # an estimate at zero wait states
    board_cycles: int | None = None  # with the memories of the board
    inside: int | None = None  # the node's place in the graph of a delegate
    module: str | None = None  # of the model that a node comes from, if known

    @property
    def macs_per_instruction(self) -> float | None:
        return (
            self.macs / self.instructions if self.macs and self.instructions else None
        )


@dataclass(frozen=True)
class Profile:
    model: str
    board: str
    unit: str  # instructions or packets; cycles where a board counted them
    load: int | None  # None: not counted
    execute: int  # nodes, and what the runtime adds
    nodes: tuple[Row, ...]
    operators: tuple[Row, ...]
    load_cycles: int | None = None  # as those of a row
    execute_cycles: int | None = None
    load_board_cycles: int | None = None
    execute_board_cycles: int | None = None
    details: Mapping[str, Any] | None = None  # as views/details.py has them
    options: Mapping[str, str] | None = None  # of the build; None: not recorded


def of_run(log: RunLog) -> Profile:
    """The profile of a run whose board counts."""
    if log.load is None or log.execute is None or log.unit is None:
        raise SdkError(
            emulator.counts_nothing(log.built.board),
            hint="choose a board whose emulator counts: see `ember boards`",
        )
    rows = of_nodes(log.built.packed(log.method.name), log.nodes)
    return Profile(
        model=log.built.model.name,
        board=log.built.board.name,
        unit=log.unit,
        load=log.load,
        execute=log.execute,
        nodes=rows,
        operators=of_operators(rows),
        load_cycles=log.load_cycles.core,
        execute_cycles=log.execute_cycles.core,
        load_board_cycles=log.load_cycles.board,
        execute_board_cycles=log.execute_cycles.board,
        options=log.built.options.told(log.built.board),
    )


def of_nodes(method: Method, nodes: Sequence[NodeRun]) -> tuple[Row, ...]:
    """A row for each node that was executed, the costliest first."""
    total = sum(node.instructions or 0 for node in nodes) or 1
    rows: list[Row] = []
    for node in nodes:
        if node.executions:
            within = [_inside_row(node, inside, total) for inside in node.inside]
            rows += [_without(_row(method, node, total), within, total), *within]
    return _sorted(rows)


def of_operators(rows: Iterable[Row]) -> tuple[Row, ...]:
    """A row for each operator, the costliest first."""
    return _sorted(_joined(rows))


def _row(method: Method, node: NodeRun, total: int) -> Row:
    times = node.executions or 0
    instruction = method.instructions[node.index]
    moved = _moved(method, instruction) if isinstance(instruction, KernelCall) else 0
    return Row(
        name=node.op,
        kernels=(node.kernel,) if node.kernel else (),
        nodes=(node.index,),
        instructions=node.instructions or 0,
        macs=(node.macs or 0) * times,
        moved=moved * times,
        share=(node.instructions or 0) / total,
        cycles=node.cycles.core,
        board_cycles=node.cycles.board,
        module=node.module or None,
    )


def _inside_row(node: NodeRun, inside: InsideRun, total: int) -> Row:
    return Row(
        name=f"{node.op} {inside.op}",
        kernels=(inside.kernel,) if inside.kernel else (),
        nodes=(node.index,),
        instructions=inside.instructions,
        macs=(inside.macs or 0) * inside.executions,
        moved=inside.moved * inside.executions,
        share=inside.instructions / total,
        cycles=inside.cycles.core,
        board_cycles=inside.cycles.board,
        inside=inside.index,
        module=inside.module or None,
    )


def _without(row: Row, within: Sequence[Row], total: int) -> Row:
    """A call of a delegate less its nodes, which have rows of their own. What marks
    between them move by a few instructions never makes it negative."""
    if not within:
        return row
    rest = max(0, row.instructions - sum(inside.instructions for inside in within))
    return dataclasses.replace(
        row,
        instructions=rest,
        share=rest / total,
        cycles=_less(row.cycles, added(inside.cycles for inside in within)),
        board_cycles=_less(
            row.board_cycles, added(inside.board_cycles for inside in within)
        ),
    )


def _less(whole: int | None, part: int | None) -> int | None:
    return None if whole is None or part is None else max(0, whole - part)


def _moved(method: Method, call: KernelCall) -> int:
    """Bytes of the call's tensors, each once; a call names its output twice."""
    places: set[int] = set()
    for index in call.args:
        value = method.values[index]
        if isinstance(value, TensorList | OptionalTensorList):
            places.update(item for item in value.items if item >= 0)
        else:
            places.add(index)
    values = (method.values[index] for index in places)
    return sum(value.nbytes for value in values if isinstance(value, Tensor))


def _joined(rows: Iterable[Row]) -> Iterable[Row]:
    """One row for each operator."""
    groups: dict[str, list[Row]] = {}
    for row in rows:
        groups.setdefault(row.name, []).append(row)
    for name, group in groups.items():
        yield Row(
            name=name,
            kernels=tuple(dict.fromkeys(k for row in group for k in row.kernels)),
            nodes=tuple(index for row in group for index in row.nodes),
            instructions=sum(row.instructions for row in group),
            macs=sum(row.macs for row in group),
            moved=sum(row.moved for row in group),
            share=sum(row.share for row in group),
            cycles=added(row.cycles for row in group),
            board_cycles=added(row.board_cycles for row in group),
        )


def _sorted(rows: Iterable[Row]) -> tuple[Row, ...]:
    return tuple(sorted(rows, key=lambda row: (-row.instructions, row.nodes)))


# ---- JSON --------------------------------------------------------------------------


def to_json(profile: Profile) -> dict[str, Any]:
    names = (field.name for field in dataclasses.fields(profile))
    record = {name: getattr(profile, name) for name in names}
    for key in ("nodes", "operators"):
        rows: Sequence[Row] = getattr(profile, key)
        record[key] = [
            dataclasses.asdict(row) | {"macs_per_instruction": row.macs_per_instruction}
            for row in rows
        ]
    for operator in record["operators"]:
        del operator["module"]  # it may have many
    return record


def read(path: Path) -> Profile:
    """What to_json() was written to."""
    try:
        data = files.read_json(path)
        nodes, operators = (
            tuple(_row_of(row) for row in data.pop(key))
            for key in ("nodes", "operators")
        )
        return Profile(**data, nodes=nodes, operators=operators)
    except (SdkError, ValueError, TypeError, KeyError, AttributeError):
        raise SdkError(
            f"{path} is not a profile",
            hint="make it with `ember profile MODEL --board NAME --json FILE`",
        ) from None


def _row_of(data: Mapping[str, Any]) -> Row:
    names = (field.name for field in dataclasses.fields(Row))
    newer = ("cycles", "board_cycles", "inside", "module")
    fields = {name: data[name] for name in names if name not in newer}
    for name in newer:  # older ones have none
        fields[name] = data.get(name)
    fields |= {"kernels": tuple(data["kernels"]), "nodes": tuple(data["nodes"])}
    return Row(**fields)


# ---- two of them -------------------------------------------------------------------


@dataclass(frozen=True)
class Change:
    """An operator, or the whole, in two profiles; None: one lacks it."""

    name: str
    before: Row | None
    after: Row | None

    @property
    def instructions(self) -> tuple[int, int]:
        return (
            self.before.instructions if self.before else 0,
            self.after.instructions if self.after else 0,
        )

    @property
    def cycles(self) -> tuple[int | None, int | None]:
        return (
            self.before.cycles if self.before else None,
            self.after.cycles if self.after else None,
        )


def changes(before: Profile, after: Profile) -> list[Change]:
    """Every operator of two profiles, what changed most first."""
    old = {row.name: row for row in before.operators}
    new = {row.name: row for row in after.operators}
    changes = [
        Change(name, old.get(name), new.get(name))
        for name in dict.fromkeys([*old, *new])
    ]
    return sorted(
        changes,
        key=lambda change: (
            -abs(change.instructions[1] - change.instructions[0]),
            change.name,
        ),
    )
