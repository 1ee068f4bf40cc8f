"""A model and its selection become a plan: how large each memory region is, and where.

A region goes to its home (memories.py chose it); without one, to the first memory of
the board that may hold it and has room.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from ember import program
from ember.boards import Board, Role
from ember.plan.improved import Chosen, Improved
from ember.plan.regions import exclusive, facts, wanted
from ember.plan.regions.regions import (
    MethodPlan,
    Plan,
    Region,
    rounded,
    to_json,
    totals,
)
from ember.plan.regions.room import Home, Homes, NoRoomError, Placer, RegionShortage
from ember.program import Method
from ember.program.types import ALIGN
from ember.select.selection import Selection
from ember.toolchain import linker

__all__ = [
    "Home",
    "Homes",
    "MethodPlan",
    "NoRoomError",
    "Plan",
    "Region",
    "RegionShortage",
    "make",
    "make_all",
    "placed",
    "to_json",
    "totals",
]


def make(
    model: Improved,
    selection: Selection,
    board: Board,
    *,
    stack: int = linker.DEFAULT_STACK,
    caller_io: bool = False,
) -> Plan:
    """Place the model and the memory of the selection's methods on `board`.

    With `caller_io` the application lends memory for inputs and outputs that the
    program does not plan. SdkError that names what does not fit, and by how much.
    """
    pairs = [Chosen(model, selection)]
    return make_all(pairs, board, stack=stack, caller_io=caller_io)[0]


def make_all(
    pairs: Sequence[Chosen],
    board: Board,
    *,
    stack: int = linker.DEFAULT_STACK,
    caller_io: bool = False,
    homes: Homes | None = None,
    lent: int = 0,
) -> list[Plan]:
    """As placed(); SdkError when something has no room."""
    plans, shortages = placed(
        pairs, board, stack=stack, caller_io=caller_io, homes=homes, lent=lent
    )
    if shortages:
        names = ", ".join(model.name for model, _ in pairs)
        raise NoRoomError(names, board, shortages)
    return plans


def placed(
    pairs: Sequence[Chosen],
    board: Board,
    *,
    stack: int = linker.DEFAULT_STACK,
    caller_io: bool = False,
    homes: Homes | None = None,
    lent: int = 0,
    linked: Mapping[str, int] | None = None,
) -> tuple[list[Plan], list[RegionShortage]]:
    """Place several models side by side; they share scratch, and what is exclusive.

    The last `lent` bytes of the only model may be used again, by scratch. A region
    without room goes where most is left, and is reported as a shortage. `linked` are
    bytes by memory of code and variables, a guess when None.
    """
    placer = Placer(board, stack, homes or Homes(), linked)
    weights, arenas = [], []
    for placer.model, (model, selection) in enumerate(pairs):
        size = wanted.model_bytes(model)
        weights.append(placer.place("weights", size, "the model", "weights"))
        arenas.append(_arenas(selection, placer))
    placer.model = 0
    temp = None
    scratch = max(selection.scratch for _, selection in pairs)
    if scratch:
        end = rounded(len(pairs[0][0].content), ALIGN)
        temp = _scratch(placer, scratch, weights[0], range(end - lent, end))
        temp = replace(temp, shared=len(pairs) > 1)
    exclusive.place(pairs, placer)
    plans = []
    for placer.model, (model, _) in enumerate(pairs):
        methods, where = arenas[placer.model], weights[placer.model]
        plans.append(_place(model, methods, placer, where, caller_io))
    if len(plans) > 1:
        plans = [
            _named(plan, model.identifier)
            for plan, (model, _) in zip(plans, pairs, strict=True)
        ]
    return [replace(plan, temp=temp) for plan in plans], placer.shortages


def _scratch(placer: Placer, size: int, weights: str, lent: range) -> Region:
    """The region of scratch; in memory `weights` it begins in the `lent` bytes at the
    end of the model."""
    align = placer.homes.of.get((0, "ember_temp"), Home("")).align
    start = max(rounded(lent.start, align), (lent.stop - size) // align * align)
    inside = min(max(lent.stop - start, 0), size) if lent else 0
    placer.free[weights] += inside
    purpose = "scratch of the largest node"
    region = placer.region("ember_temp", "temp", size, purpose)
    if region.memory == weights:
        return replace(region, lent=inside)
    placer.free[weights] -= inside
    return region


def _named(plan: Plan, prefix: str) -> Plan:
    """The plan with region names that no other model's plan has."""

    def renamed(region: Region | None) -> Region | None:
        if region is None or region.shared:
            return region
        return replace(region, name=f"{prefix}_{region.name}")

    methods = tuple(
        replace(
            method,
            arena=renamed(method.arena),
            planned=tuple(map(renamed, method.planned)),
            inputs=tuple(map(renamed, method.inputs)),
            outputs=tuple(map(renamed, method.outputs)),
        )
        for method in plan.methods
    )
    return replace(plan, methods=methods)


def _place(
    model: Improved,
    arenas: Sequence[tuple[Method, Region | None]],
    placer: Placer,
    weights: str,
    caller_io: bool,
) -> Plan:
    methods = [method for method, _ in arenas]
    places = []
    shared = {
        number: placer.region(
            f"shared_planned_{number}", "planned", size, f"planned memory {number}"
        )
        for number, size in wanted.shared_memories(model, methods).items()
    }
    for prefix, (method, arena) in zip(wanted.prefixes(methods), arenas, strict=True):
        replanned = model.replanned.get(method.name)
        copied = replanned.copied if replanned else ()
        planned = _planned(prefix, method, placer, shared, copied)
        inputs = wanted.unbound_inputs(method, caller_io)
        outputs = wanted.unbound_outputs(method, caller_io)
        places.append(
            MethodPlan(
                method,
                arena,
                planned,
                _lent(f"{prefix}_input", method, inputs, placer),
                _lent(f"{prefix}_output", method, outputs, placer),
            )
        )
    return Plan(
        board=placer.board,
        stack=placer.stack,
        stack_memory=placer.stack_memory,
        methods=tuple(places),
        temp=None,
        weights=weights,
        model_bytes=wanted.model_bytes(model),
        constants=facts.constants(model),
        activations=facts.activations(model, methods),
    )


def _arenas(selection: Selection, placer: Placer) -> list[tuple[Method, Region | None]]:
    if selection.prepared:
        return [(method, None) for method in selection.methods]
    return [
        (
            method,
            placer.region(
                f"{prefix}_arena",
                "method",
                max(needs.arena, ALIGN),
                f"the method arena of {method.name}",
            ),
        )
        for prefix, method, needs in zip(
            wanted.prefixes(selection.methods),
            selection.methods,
            selection.needs,
            strict=True,
        )
    ]


def _planned(
    prefix: str,
    method: Method,
    placer: Placer,
    shared: Mapping[int, Region],
    copied: Sequence[int],
) -> tuple[Region | None, ...]:
    """One region per planned memory; the largest is placed first. Those of the ids
    in `copied` are for copies of constants."""
    ids = range(1, len(method.planned_sizes))
    placed = dict(shared)
    for number in sorted(
        ids, key=lambda memory: (-method.planned_sizes[memory], memory)
    ):
        size = method.planned_sizes[number]
        if size > 0 and number not in shared:
            name = f"{prefix}_planned_{number}"
            purpose = f"planned memory {number} of {method.name}"
            if number in copied:
                purpose = f"copies of constants of {method.name}"
            role: Role = "weights" if number in copied else "planned"
            placed[number] = placer.region(name, role, size, purpose)
    return tuple(placed.get(number) for number in ids)


def _lent(
    name: str, method: Method, values: Sequence[int | None], placer: Placer
) -> tuple[Region | None, ...]:
    """Regions for the tensors that the program leaves to the caller."""
    regions: list[Region | None] = []
    for number, index in enumerate(values):
        value = method.values[index] if index is not None else None
        region = None
        if isinstance(value, program.Tensor):
            purpose = f"{name.rsplit('_', 1)[1]} {number} of {method.name}"
            size = max(value.nbytes, 1)
            region = placer.region(f"{name}_{number}", "io", size, purpose)
        regions.append(region)
    return tuple(regions)
