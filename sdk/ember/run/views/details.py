"""A build becomes what a profile shows besides costs: places, lifetimes, limits.

{"method", "instructions": [operators], "modules": [paths in the model, or null],
 "origins": [indices in the program as read],
 "nodes": [{"reads": [values], "writes": [values], "scratch": bytes,
            "arguments": {value: name in the operator's schema}}],
 "values": {value: {"name", "type", "bytes", "kind", "memory", "offset", "address"}},
 "memories": [{"id", "bytes", "memory", "offset", "address", "capacity",
               "peak", "alive"}],
 "tensors": as `ember plan --json` has them,
 "code": {"operators", "engines", "libraries"}: bytes of flash by name,
 "roof": the roofline of the core,
 "least": for each row of the profile the least it can take}

An address of null is known only at run time.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from ember import files
from ember.boards import Board, Memory
from ember.firmware import Built
from ember.kernels import KernelList
from ember.plan import effects, occupancy, regions
from ember.plan.effects import Effects
from ember.program import Method, Tensor
from ember.run.profile import Profile, Row
from ember.toolchain import elf, footprint


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
        "modules": facts["modules"],
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
            for name, value in known.named(method, call).arguments.items()
            if isinstance(method.values[value], Tensor)
        }
        for index, _, call in method.kernel_calls()
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
    facts["roof"] = roofline(board)
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
    return least(facts["roof"], per, type_of(words), row.macs, moved)


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


# ---- roofline ------------------------------------------------------------------------


_TYPES = {  # by what a kernel's name or a tensor's type says
    **dict.fromkeys(("int8", "uint8", "s8", "u8", "s4"), "int8"),
    **dict.fromkeys(("qs8", "qu8", "qd8", "qp8", "pqs8"), "int8"),  # XNNPACK's names
    **dict.fromkeys(("float16", "f16", "pf16"), "float16"),
    **dict.fromkeys(("float32", "f32", "pf32"), "float32"),
}


def roofline(board: Board) -> dict[str, Any] | None:
    """{"instruction": {"macs"}, "cycle": {"macs", "bytes", "memories"}} or None; bytes
    in a cycle, of the core and of each memory."""
    peak = board.core.peak if board.core else None
    if peak is None:
        return None
    facts: dict[str, Any] = {}
    if peak.instruction:
        facts["instruction"] = {"macs": dict(peak.instruction.macs)}
    if peak.cycle:
        bus = peak.cycle.bytes or 4
        memories = {memory.name: _rate(memory, bus) for memory in board.memories}
        facts["cycle"] = {
            "macs": dict(peak.cycle.macs),
            "bytes": bus,
            "memories": memories,
        }
    return facts


def _rate(memory: Memory, bus: float) -> float:
    """Bytes that a core with such a bus reads in a cycle."""
    widths = [width for width in (1, 2, 4, 8, 16, 32) if width <= bus]
    return max(width / memory.cycles(width) for width in widths)


def type_of(words: Iterable[str]) -> str | None:
    """The type that is multiplied: the first that a word names."""
    return next((_TYPES[word] for word in words if word in _TYPES), None)


def least(
    roof: Mapping[str, Any] | None,
    per: str,
    kind: str | None,
    macs: int,
    moved: Mapping[str | None, int],
) -> float | None:
    """The least cycles, or instructions, as `per` says; None: nobody knows.

    kind  -- of what is multiplied, as type_of() has it
    moved -- bytes by memory; None: somewhere
    """
    rates = (roof or {}).get(per)
    if rates is None:
        return None
    limits = []
    if macs and kind in rates["macs"]:
        limits.append(macs / rates["macs"][kind])
    if "bytes" in rates:
        speed = rates["memories"]
        limits.append(sum(n / speed.get(m, rates["bytes"]) for m, n in moved.items()))
    return max(limits, default=None)


# ---- places --------------------------------------------------------------------------


Place = dict[str, Any]  # memory, offset, address: of what is known, else null
NOWHERE: Place = {"memory": None, "offset": None, "address": None}


@dataclass(frozen=True)
class TensorPlaces:
    """Of a method as the firmware has it; without a build, only offsets are known."""

    method: Method
    built: Built | None = None

    def of_memory(self, number: int) -> Place:
        """Where a planned memory of the method begins."""
        place = self._region(f"planned_{number}")
        sizes = (
            {m.name: m.size for m in self.built.board.memories} if self.built else {}
        )
        return place | {"capacity": sizes.get(place["memory"])}

    def of_value(self, index: int) -> Place:
        """Where a tensor begins. A constant has no address: it is in the model."""
        tensor = self.method.values[index]
        assert isinstance(tensor, Tensor)
        if tensor.allocation is not None:
            return self._moved(tensor.allocation.memory_id, tensor.allocation.offset)
        if tensor.role in ("constant", "external"):
            return {**NOWHERE, "memory": self._model_memory}
        for what, values in (
            ("input", self.method.inputs),
            ("output", self.method.outputs),
        ):
            if index in values:
                return self._region(f"{what}_{values.index(index)}")
        return NOWHERE

    def _moved(self, number: int, offset: int) -> Place:
        memory = self.of_memory(number)
        address = None if memory["address"] is None else memory["address"] + offset
        return {"memory": memory["memory"], "offset": offset, "address": address}

    def _region(self, what: str) -> Place:
        for name in (f"{self._prefix}_{what}", f"shared_{what}"):
            if name in self._memories:
                symbol = self._elf.symbol(name) if self._elf else None
                address = symbol.address if symbol else None
                return {"memory": self._memories[name], "offset": 0, "address": address}
        return NOWHERE

    @functools.cached_property
    def _prefix(self) -> str:
        methods = self.built.methods if self.built else (self.method,)
        names = [method.name for method in methods]
        return regions.prefixes(methods)[names.index(self.method.name)]

    @functools.cached_property
    def _memories(self) -> dict[str, str]:
        regions = self.built.plan["regions"] if self.built else ()
        return {region["name"]: region["memory"] for region in regions}

    @functools.cached_property
    def _elf(self) -> elf.Elf | None:
        return elf.read(self.built.firmware) if self.built else None

    @functools.cached_property
    def _model_memory(self) -> str | None:
        if self.built is None:
            return None
        path = self.built.folder / "4-package" / "manifest.json"
        memories = [file["memory"] for file in files.read_json(path)["files"]]
        return memories[0] if memories else None
