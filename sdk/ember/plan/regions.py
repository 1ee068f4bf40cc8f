"""A model and its selection become a plan: how large each memory region is, and where.

First the memory that methods need, as names and bytes, before any board. A region then
goes to its home (memories.py chose it); without one, to the first memory of the board
that may hold it and has room. Methods that never run together share the memory of their
activations.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from ember import program, quoted
from ember.boards import Board, Role
from ember.plan.improved import Chosen, Improved
from ember.plan.replan import trimmed
from ember.plan.room import (
    Home,
    Homes,
    MethodPlan,
    NoRoomError,
    Placer,
    Plan,
    Region,
    RegionShortage,
    rounded,
    to_json,
    totals,
)
from ember.program import Method, Program
from ember.program.types import ALIGN, VIEWS
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
    program does not plan. Raises SdkError with what does not fit, and by how much.
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
    """As placed(); raises NoRoomError if something does not fit."""
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
        size = model_bytes(model)
        weights.append(placer.place("weights", size, "the model", "weights"))
        arenas.append(_arenas(selection, placer))
    placer.model = 0
    temp = None
    scratch = max(selection.scratch for _, selection in pairs)
    if scratch:
        end = rounded(len(pairs[0][0].content), ALIGN)
        temp = _scratch(placer, scratch, weights[0], range(end - lent, end))
        temp = replace(temp, shared=len(pairs) > 1)
    place(pairs, placer)
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
        for number, size in shared_memories(model, methods).items()
    }
    for prefix, (method, arena) in zip(prefixes(methods), arenas, strict=True):
        replanned = model.replanned.get(method.name)
        copied = replanned.copied if replanned else ()
        planned = _planned(prefix, method, placer, shared, copied)
        inputs = unbound_inputs(method, caller_io)
        outputs = unbound_outputs(method, caller_io)
        places.append(
            MethodPlan(
                prefix,
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
        model_bytes=model_bytes(model),
        constants=constants(model),
        activations=activations(model, methods),
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
            prefixes(selection.methods),
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
    """One region per planned memory; the largest is placed first. Memories with ids in
    `copied` hold copies of constants."""
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


# ---- methods that never run together -------------------------------------------------


def place(pairs: Sequence[Chosen], placer: Placer) -> None:
    """One region for the methods of a group in each memory, as large as the largest.

    A method has one region of activations in each memory: memories.py sees to that.
    """
    homes = placer.homes
    number = 0
    for group in homes.exclusive:
        spots: dict[str, dict[tuple[int, str], int]] = {}  # sizes by memory and region
        for index, (model, chosen) in enumerate(pairs):
            for name, key, size in _activation_regions(model, chosen, index):
                if (index, name) in group and key in homes.of:
                    spots.setdefault(homes.of[key].memory, {})[key] = size
        for memory, sizes in spots.items():
            if len(sizes) < 2:
                continue
            key = (placer.model, f"ember_activations_{number}")
            align = max(homes.of[method_key].align for method_key in sizes)
            placer.homes = replace(homes, of={**homes.of, key: Home(memory, align)})
            purpose = "activations of methods that never run together"
            region = placer.region(key[1], "planned", max(sizes.values()), purpose)
            placer.common |= dict.fromkeys(sizes, replace(region, shared=True))
            number += 1
    placer.homes = homes


def _activation_regions(
    model: Improved, chosen: Selection, index: int
) -> Iterator[tuple[str, tuple[int, str], int]]:
    """Method, region and bytes of each memory that keeps nothing between runs."""
    for prefix, method in zip(prefixes(chosen.methods), chosen.methods, strict=True):
        replanned = model.replanned.get(method.name)
        for number in replanned.packed if replanned and not replanned.has_state else ():
            size = method.planned_sizes[number]
            if size > 0:
                yield method.name, (index, f"{prefix}_planned_{number}"), size


def kept_apart(pairs: Sequence[Chosen], homes: Homes) -> Iterator[str]:
    """A sentence on each exclusive method that shares nothing."""
    for index, name in sorted(frozenset[tuple[int, str]]().union(*homes.exclusive)):
        model, chosen = pairs[index]
        replanned = model.replanned.get(name)
        built = name in [method.name for method in chosen.methods]
        if built and replanned and replanned.has_state:
            yield (
                f"{model.name}/{name} keeps state from run to run:"
                " its activations do not share memory with other methods"
            )


# ---- figures -------------------------------------------------------------------------


def constants(model: Improved) -> dict[str, int]:
    """Bytes in the image, removed as unused or equal, in it without use, and copied."""
    kept = model.program.constants
    unused = model.program.unused_constants()
    before = model.stock or model.program
    copied = _states(model.program) - _states(before)
    needed = sum(map(len, trimmed(before).constants))
    dead = sum(len(kept[index]) for index in unused)
    return {
        "bytes": sum(map(len, kept)) + copied - dead,
        "dropped": sum(map(len, before.constants)) - needed,
        "unreferenced": dead,
        "copied": copied,  # to other memory, when a method is loaded
    }


def _states(program: Program) -> int:
    """Bytes of initial states in the image, with which planned memory is filled."""
    return sum(len(piece) for segment in program.mutable_data for piece in segment)


def activations(model: Improved, methods: Sequence[Method]) -> dict[str, int]:
    """Bytes of planned memory: after planning, at least needed, as exported."""
    plans = [model.replanned.get(method.name) for method in methods]
    pairs = list(zip(methods, plans, strict=True))
    return {
        "planned": sum(p.planned if p else m.planned_bytes for m, p in pairs),
        "lower_bound": sum(p.lower_bound if p else m.planned_bytes for m, p in pairs),
        "stock": sum(p.stock if p else m.planned_bytes for m, p in pairs),
    }


# ---- what methods need ---------------------------------------------------------------


def model_bytes(model: Improved) -> int:
    return len(model.content) + sum(map(len, model.data))


def prefixes(methods: Sequence[Method]) -> list[str]:
    """A C identifier per method; numbered where names collide, also as macros, which
    are in capitals and have one EMBER_ in front."""
    texts: dict[str, str] = {"shared": ""}  # the prefix of what methods share
    for index, method in enumerate(methods):
        text = quoted.identifier(method.name) or "method"
        text = text if text[0].isalpha() else f"m_{text}"
        while (key := text.lower().removeprefix("ember_")) in texts:
            text = f"{text}_{index}"
        texts[key] = text
    return list(texts.values())[1:]


def shared_memories(model: Improved, methods: Sequence[Method]) -> dict[int, int]:
    """Bytes, by id, of memories in which several methods of a model keep state."""
    sizes: dict[int, int] = {}
    for method in methods if len(methods) > 1 else ():
        replanned = model.replanned.get(method.name)
        planned = (*replanned.packed, *replanned.copied) if replanned else ()
        for number, size in enumerate(method.planned_sizes):
            if replanned and number > 0 and number not in planned and size:
                sizes[number] = max(sizes.get(number, 0), size)
    return sizes


def unbound_inputs(method: Method, caller_io: bool) -> list[int | None]:
    """Per input the value that needs memory, or None."""
    seen: set[int] = set()
    return [_unbound(method, index, seen, caller_io) for index in method.inputs]


def unbound_outputs(method: Method, caller_io: bool) -> list[int | None]:
    """The same for outputs."""
    seen = {*method.inputs, *_viewed(method)}
    return [_unbound(method, index, seen, caller_io) for index in method.outputs]


def _unbound(method: Method, index: int, seen: set[int], caller_io: bool) -> int | None:
    value = method.values[index]
    unbound = isinstance(value, program.Tensor) and value.role == "unbound"
    if caller_io or not unbound or index in seen:
        return None
    seen.add(index)
    return index


def _viewed(method: Method) -> Iterable[int]:
    """Values that a view points at other memory."""
    for _, name, call in method.kernel_calls():
        if name in VIEWS:
            yield call.result
