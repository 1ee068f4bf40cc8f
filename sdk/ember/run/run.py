"""Firmware and inputs become a run log: outputs, counts, memory that was used.

The firmware (runtime_c/app/run_main.c) reads its inputs from a file of the host
and writes a report; the emulator counts the regions that it marks.
"""

from __future__ import annotations

import struct
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from ember import program
from ember.cases.inputs import OtherValue, TensorValue, Value, from_bytes, to_bytes
from ember.cycles.estimate import NOT_ESTIMATED, Cycles
from ember.errors import SdkError
from ember.files import tensors
from ember.files.tensors import Array
from ember.firmware import Built, pack, trace
from ember.plan import traffic
from ember.program import Method, names
from ember.run.costs import (
    Cost,
    Costs,
    InsideRun,
    Step,
    Traced,
    has_graphs,
    inside_of_steps,
    summed,
)
from ember.toolchain import emulator

_MAGIC = b"EMR1"
_HEAD = struct.Struct("<4siIII")  # magic, status, instruction, stage, message length
_MEMORY = struct.Struct("<6Q")
_STAGES = ("opening the program", "loading the method", "reading the inputs", "running")
_NOWHERE = 0xFFFFFFFF
_LOAD, _EXECUTE, _NODE, _, _INSIDE = range(5)  # EMBER_MARK_*
# What a status means where the firmware has no sentences (ember/status.h).
_STATUSES = {
    -1: "the program is malformed",
    -2: "a call has no kernel",
    -3: "an arena is too small",
    -4: "a precondition is broken",
    -5: "a value read from tensor data is out of range",
    -6: "a method, key or file is missing",
    -7: "the program would take more steps than its budget",
    -8: "a file could not be read",
    -9: "a delegate failed",
}


@dataclass(frozen=True)
class NodeRun:
    """An instruction of the method, and what it took in this run."""

    index: int
    origin: int  # its index in the program as it was read, before passes
    op: str
    kernel: str | None
    instructions: int | None  # of all its executions
    executions: int | None
    macs: int | None  # multiply-accumulates of one execution
    cycles: Cycles = NOT_ESTIMATED  # of all its executions
    inside: tuple[InsideRun, ...] = ()  # of a delegate, what its nodes took
    module: str = ""  # of the model; empty: the model itself, or unknown


@dataclass(frozen=True)
class RunLog:
    built: Built
    method: Method
    outputs: tuple[Value, ...]
    load: int | None  # instructions (packets)
    execute: int | None
    unit: str | None
    nodes: tuple[NodeRun, ...]
    stack_used: int | None
    arena: int  # bytes of the method arena that loading took
    scratch: int  # bytes that the largest node asked for
    seconds: float
    load_cycles: Cycles = NOT_ESTIMATED
    execute_cycles: Cycles = NOT_ESTIMATED
    steps: tuple[Step, ...] = ()  # in the order of execution, where they are counted

    def arrays(self) -> list[Array | Value]:
        """Outputs as logical arrays where they are tensors."""
        arrays: list[Array | Value] = []
        for index, value in zip(self.method.outputs, self.outputs, strict=True):
            declared = self.method.values[index]
            if isinstance(value, TensorValue):
                order = (
                    declared.dim_order if isinstance(declared, program.Tensor) else None
                )
                arrays.append(value.array(order))
            else:
                arrays.append(value)
        return arrays

    @property
    def used(self) -> dict[str, int]:
        """The most that was used of a row of the certificate, by its place."""
        regions = self.built.plan["regions"]
        arenas = [region["name"] for region in regions if region["role"] == "method"]
        used = {}
        if arenas:  # none, where methods are prepared
            used[arenas[self.built.methods.index(self.method)]] = self.arena
        for region in regions:
            if region["role"] == "temp":
                lent = min(region.get("lent", self.scratch), self.scratch)
                used[region["name"]] = lent
                used[pack.rest_of(region["name"])] = self.scratch - lent
        if self.stack_used is not None:
            used[".ember_stack"] = self.stack_used
        return used

    def to_json(self) -> dict[str, Any]:
        sizes = self.built.sizes
        stack = self.built.certificate["stack"]
        return {
            "board": self.built.board.name,
            "model": self.built.model.name,
            "method": self.method.name,
            "status": "ok",
            "outputs": [output_json(v, a) for v, a in self._pairs()],
            "instructions": {"load": self.load, "execute": self.execute},
            **_cycles_json(self.load_cycles, self.execute_cycles),
            "unit": self.unit,
            "nodes": [
                {
                    "index": node.index,
                    "origin": node.origin,
                    **_node_json(node),
                    "inside": [
                        {"index": within.index, **_node_json(within)}
                        for within in node.inside
                    ],
                }
                for node in self.nodes
            ],
            "size": sizes["size"],
            "memory": sizes["memory"],
            "stack": {
                "bound": stack["bound"],
                "reserved": stack["reserved"],
                "used": self.stack_used,
            },
            "certificate": [
                {**row, "used": self.used.get(row["place"])}
                for row in self.built.certificate["rows"]
            ],
            "method_arena": sizes["method_arena"],
            "seconds": round(self.seconds, 3),
        }

    def _pairs(self) -> Iterable[tuple[Value, Array | Value]]:
        return zip(self.outputs, self.arrays(), strict=True)


def _node_json(node: NodeRun | InsideRun) -> dict[str, Any]:
    return {
        "op": node.op,
        "module": node.module or None,
        "kernel": node.kernel,
        "instructions": node.instructions,
        "cycles": node.cycles.core,
        "board_cycles": node.cycles.board,
        "executions": node.executions,
        "macs": node.macs,
    }


def _cycles_json(load: Cycles, execute: Cycles) -> dict[str, Any]:
    return {
        "cycles": {"load": load.core, "execute": execute.core},
        "board_cycles": {
            "load": load.board,
            "execute": execute.board,
        },
    }


def output_json(value: Value, array: Array | Value) -> Any:
    """An output: a tensor with its type, shape and numbers, or the value itself."""
    if isinstance(value, TensorValue) and isinstance(array, np.ndarray):
        numbers = floats(array, value.dtype) if value.dtype.is_float else array
        return {
            "dtype": value.dtype.label,
            "shape": list(value.sizes),
            "data": numbers.reshape(-1).tolist(),
        }
    if isinstance(value, OtherValue):
        return {"kind": value.kind}
    return value


def floats(array: Array, dtype: tensors.DType) -> Array:
    """Numbers of a floating type; bfloat16 is stored as the upper half of a float."""
    if dtype is tensors.DType.BFLOAT16:
        return (array.astype(np.uint32) << 16).view(np.float32)
    return array


# ---- running ---------------------------------------------------------------------


def run(
    built: Built,
    inputs: Sequence[Value],
    *,
    method: Method | None = None,
    trace: bool = True,
    cycles: bool = False,
    timeout_s: float | None = None,
    budget: int | None = None,
) -> RunLog:
    """Execute a method of the firmware once, on `inputs` as lay_out() gives them.

    With `trace`, a second run of its twin with marks gives the count of each node,
    where the board counts. With `cycles`, these are estimated too. With a `budget`, an
    execution that may take more steps ends. SdkError when the firmware fails.
    """
    method = method or built.methods[0]
    content = to_bytes(inputs)
    result, report = _start(
        built, built.firmware, method, content, False, cycles, timeout_s, budget
    )
    outputs, _ = from_bytes(report.rest)
    if len(outputs) != len(method.outputs):
        raise SdkError(
            f"the firmware wrote {len(outputs)} outputs of {method.name},"
            f" not {len(method.outputs)}"
        )
    costs = Costs.of(built.board, built.firmware, result)
    load, execute = costs.region(_LOAD), costs.region(_EXECUTE)
    nodes = None
    if trace and emulator.unit(built.board) is not None:
        nodes = _traced(built, method, content, cycles, timeout_s)
    return RunLog(
        built=built,
        method=method,
        outputs=tuple(outputs),
        load=load.instructions,
        execute=execute.instructions,
        unit=emulator.unit(built.board),
        nodes=tuple(_nodes(built, built.packed(method.name), nodes)),
        stack_used=report.stack_used if report.stack_size else None,
        arena=report.arena_peak,
        scratch=report.temp_used,
        seconds=result.seconds,
        load_cycles=load.cycles,
        execute_cycles=execute.cycles,
        steps=tuple(nodes.in_order()) if nodes else (),
    )


def _traced(
    built: Built, method: Method, content: bytes, cycles: bool, timeout_s: float | None
) -> Traced:
    twin = trace(built)
    result, report = _start(built, twin, method, content, True, cycles, timeout_s)
    costs, steps = Costs.of(built.board, twin, result), _steps(report)
    packed = built.packed(method.name)
    within = costs.regions(_INSIDE)
    nodes = (
        inside_of_steps(packed, _facts(built, method), steps, within)
        if _marks_inside(built, method)
        else {}
    )
    return Traced(steps, costs.regions(_NODE), within, nodes)


def _marks_inside(built: Built, method: Method) -> bool:
    """Whether nodes of delegates are told apart; prepared ones have no hooks."""
    return not built.options.prepared and has_graphs(built.packed(method.name))


def _facts(built: Built, method: Method) -> Mapping[str, Any]:
    """What the selection of kernels says of a method."""
    (facts,) = (m for m in built.selection["methods"] if m["name"] == method.name)
    return facts  # type: ignore[no-any-return]


@dataclass(frozen=True)
class _Report:
    stack_size: int
    stack_used: int
    arena_peak: int
    temp_used: int
    rest: bytes  # outputs, then the trace


def _start(
    built: Built,
    firmware: Path,
    method: Method,
    inputs: bytes,
    trace: bool,
    blocks: bool,
    timeout_s: float | None,
    budget: int | None = None,
) -> tuple[emulator.RunResult, _Report]:
    with tempfile.TemporaryDirectory(prefix="ember-run-") as temporary:
        folder = Path(temporary)
        (folder / "in.bin").write_bytes(inputs)
        words = ["in=in.bin", "out=out.bin"]
        if trace:
            words.append("trace=1")
            if _marks_inside(built, method):
                words.append("inside=1")
        if len(built.methods) > 1:
            words.append(f"method={method.name}")
        if budget is not None:
            words.append(f"budget={budget}")
        result = emulator.run(
            built.board,
            firmware,
            words,
            cwd=folder,
            timeout_s=timeout_s,
            blocks=blocks,
            ranges=[range(m.base, m.end) for m in built.board.memories]
            if blocks
            else (),
        )
        result.check(f"{built.model.name} on {built.board.name}")
        out = folder / "out.bin"
        return result, _read_report(built, out.read_bytes() if out.is_file() else b"")


def _read_report(built: Built, data: bytes) -> _Report:
    who = f"{built.model.name} on {built.board.name}"
    if data[:4] != _MAGIC or len(data) < _HEAD.size:
        raise SdkError(f"{who}: the firmware wrote no report")
    _, status, instruction, stage, length = _HEAD.unpack_from(data)
    at = _HEAD.size
    if status != 0:
        text = data[at : at + length].decode("utf-8", "replace")
        text = text or _STATUSES.get(status, f"status {status}")
        where = f" at instruction {instruction}" if instruction != _NOWHERE else ""
        raise SdkError(
            f"{who}: {_STAGES[min(stage, 3)]} failed{where}: {text}",
            hint=None if length else "--messages keeps the runtime's error messages",
        )
    at += length + -length % 4
    if len(data) < at + _MEMORY.size:
        raise SdkError(f"{who}: the firmware's report is truncated")
    size, used, _, peak, _, scratch = _MEMORY.unpack_from(data, at)
    bound = built.certificate["stack"]["bound"]
    if bound is not None and used > bound:
        raise SdkError(
            f"{who}: the stack used {used:,} bytes, more than its bound of {bound:,}"
        )
    return _Report(size, used, peak, scratch, data[at + _MEMORY.size :])


def _steps(report: _Report) -> list[int]:
    """The instruction index of each traced step, in order."""
    _, at = from_bytes(report.rest)
    count = (len(report.rest) - at) // 4
    return list(struct.unpack_from(f"<{count}I", report.rest, at)[:-1])


def named(read: Method, origin: int, inside: InsideRun) -> InsideRun:
    """A node of a delegate with its module; `read` is the method before passes."""
    return replace(inside, module=names.module_of(read, origin, inside.index))


def _nodes(built: Built, method: Method, traced: Traced | None) -> Iterable[NodeRun]:
    facts, operators = _facts(built, method), built.options.rules.known
    read = built.model.program.method(method.name) or method
    kernels = {call["index"]: call["kernel"] for call in facts["calls"]}
    calls = {index: (op, call) for index, op, call in method.kernel_calls()}
    totals: dict[int, list[Cost]] = {}
    for index, cost in zip(traced.steps, traced.costs, strict=False) if traced else ():
        totals.setdefault(index, []).append(cost)
    for index, instruction in enumerate(method.instructions):
        op, call = calls.get(index, (method.name_of(instruction), None))
        costs = totals.get(index, [])
        known = traced is not None
        origin = facts["origins"][index]
        inside = traced.inside.get(index, ()) if traced else ()
        yield NodeRun(
            index=index,
            origin=origin,
            op=op,
            kernel=kernels.get(index),
            instructions=sum(item.instructions or 0 for item in costs)
            if known
            else None,
            executions=len(costs) if known else None,
            macs=traffic.macs_of_call(method, operators, call) if call else None,
            cycles=summed(item.cycles for item in costs),
            inside=tuple(named(read, origin, within) for within in inside),
            module=names.module_of(read, origin),
        )
