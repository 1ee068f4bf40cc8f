"""A build becomes what a profile shows besides costs: what lies where, and when.

{"method", "instructions": [operators], "origins": [indices in the program as read],
 "nodes": [{"reads": [values], "writes": [values], "scratch": bytes,
            "arguments": {value: name in the operator's schema}}],
 "values": {value: {"name", "type", "bytes", "kind", "memory", "offset", "address"}},
 "memories": [{"id", "bytes", "memory", "offset", "address", "peak", "alive"}],
 "tensors": as `ember plan --json` has them,
 "code": {"operators", "engines", "libraries"}: bytes of flash by name,
 "roof": as roof.py has it,
 "least": for each row of the profile the least it can take, as roof.py says}

An address of null is known only at run time.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from ember.boards import Board
from ember.build import Built
from ember.kernels import KernelList, library
from ember.plan import effects, occupancy
from ember.plan.effects import Effects
from ember.program import Method, Tensor
from ember.run.profile import Profile, Row
from ember.run.views import roof
from ember.run.views.places import TensorPlaces
from ember.toolchain import footprint


def of_build(profile: Profile, built: Built, name: str) -> Profile:
    """The profile with details of a method of the build. SdkError as effects.of()."""
    method, known = built.packed(name), built.options.rules.known
    (selected,) = (m for m in built.selection["methods"] if m["name"] == name)
    scratch = {call["index"]: call["scratch"] or 0 for call in selected["calls"]}
    facts = _facts(TensorPlaces(method, built), known, scratch) | {
        "origins": selected["origins"],
        "code": _code(built.sizes["footprint"]),
    }
    return _with(profile, facts, built.board)


def of_program(
    profile: Profile, method: Method, board: Board, known: KernelList
) -> Profile:
    """The same of a method that a board's runner loaded: where, nobody knows."""
    origins = list(range(len(method.instructions)))
    facts = _facts(TensorPlaces(method), known, {}) | {"origins": origins, "code": {}}
    return _with(profile, facts, board)


def _facts(
    places: TensorPlaces, known: KernelList, scratch: Mapping[int, int]
) -> dict[str, Any]:
    method = places.method
    facts = occupancy.of_packed("", method, known)
    touched = effects.of(method, known)
    arguments = _arguments(method, known)
    memories = [memory | places.of_memory(memory["id"]) for memory in facts["memories"]]
    return {
        "method": method.name,
        "instructions": facts["instructions"],
        "nodes": [
            _node(index, effect, scratch) | {"arguments": arguments.get(index, {})}
            for index, effect in enumerate(touched)
        ],
        "values": _values(places, known, touched),
        "memories": memories,
        "tensors": facts["tensors"],
    }


def _node(index: int, effect: Effects, scratch: Mapping[int, int]) -> dict[str, Any]:
    return {
        "reads": sorted(effect.reads | effect.updates),
        "writes": sorted(effect.writes | effect.updates),
        "scratch": scratch.get(index, 0),  # bytes that it borrows
    }


def _arguments(method: Method, known: KernelList) -> dict[int, dict[str, str]]:
    """For each kernel call the tensors that its operator's schema names."""
    return {
        index: {
            str(value): name
            for name, value in zip(
                library.names(known.operators[op].schema), call.args, strict=False
            )
            if isinstance(method.values[value], Tensor)
        }
        for index, op, call in method.kernel_calls()
    }


def _values(
    places: TensorPlaces, known: KernelList, touched: Iterable[Effects]
) -> dict[str, Any]:
    """The tensors that instructions touch, and where each lies."""
    method = places.method
    names = occupancy.ValueNames(method, known)
    values: dict[str, Any] = {}
    for index in sorted({value for effect in touched for value in effect.touched}):
        tensor = method.values[index]
        if isinstance(tensor, Tensor):
            facts = {
                "name": names.of(index),
                "type": str(tensor),
                "bytes": tensor.nbytes,
                "kind": tensor.role,
            }
            values[str(index)] = facts | places.of_value(index)
    return values


def _code(parts: Mapping[str, Mapping[str, footprint.Row]]) -> dict[str, Any]:
    return {
        group: {name: footprint.flash(row) for name, row in rows.items()}
        for group, rows in parts.items()
    }


# ---- how far from the core's limit ---------------------------------------------------


def _with(profile: Profile, facts: dict[str, Any], board: Board) -> Profile:
    facts["roof"] = roof.of(board)
    per = per_of(profile)
    facts["least"] = [_least(facts, row, per) for row in profile.nodes]
    return replace(profile, details=facts)


def per_of(profile: Profile) -> str:
    """What limits count, cycle or instruction: as the trace's time."""
    in_cycles = profile.execute_board_cycles is not None or profile.unit == "cycles"
    return "cycle" if in_cycles else "instruction"


def _least(facts: Mapping[str, Any], row: Row, per: str) -> float | None:
    if not row.macs and not row.moved:
        return None
    node, values = facts["nodes"][row.nodes[0]], facts["values"]
    read = [values[str(v)] for v in node["reads"] if str(v) in values]
    words = [word for kernel in row.kernels for word in kernel.split("_")]
    if row.inside is None:
        words += [re.split(r"\W", value["type"])[0] for value in read]
    moved: dict[str | None, int] = {None: row.moved}
    if row.inside is None:
        moved = _by_memory(row, node, values)
    return roof.least(facts["roof"], per, roof.type_of(words), row.macs, moved)


def _by_memory(
    row: Row, node: Mapping[str, Any], values: Mapping[str, Any]
) -> dict[str | None, int]:
    """The bytes of a row, which are those of all its executions, by memory."""
    once: dict[str | None, int] = {}
    for index in {*node["reads"], *node["writes"]}:
        value = values.get(str(index))
        if value is not None:
            memory = value["memory"]
            once[memory] = once.get(memory, 0) + value["bytes"]
    total = sum(once.values())
    return {m: n * row.moved // total for m, n in once.items()} if total else {}
