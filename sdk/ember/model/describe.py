"""A program, bundle or tensor data -> plain dicts that describe the contents.

The dicts are what `ember inspect --json` writes; inspect_tables.py shows them.

Inputs and outputs of a method are described as an application sees them. Scales and
zero points of integers come from constant methods, with the names that
executorch.exir.passes.quantize_io_pass and `ember export --io int8` give them.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from ember import program as programs
from ember.errors import SdkError
from ember.files import xnnpack
from ember.files.tensor_data import TensorData
from ember.program import Double, Int, Method, Program, Tensor, names
from ember.program import bundle as bundles
from ember.program.bundle import Bundle

Facts = dict[str, Any]

# ---- programs ----------------------------------------------------------------------


def program(
    program: Program, methods: Iterable[Method] | None = None, *, values: bool = False
) -> Facts:
    """Everything about a program and its methods (all by default).

    Values and instructions are listed one by one only if `values` is set.
    """
    shown = program.methods if methods is None else methods
    layout = program.layout
    return {
        "kind": "program",
        "version": program.version,
        "bytes": layout.file_size,
        "flatbuffer_bytes": layout.flatbuffer_size,
        "extended_header": layout.has_header,
        "segment_alignment": layout.segment_alignment,
        "constant_alignment": layout.constant_alignment,
        "methods": [method(each, values=values) for each in shown],
        "constants": constants(program),
        "initial_states": _initial_states(program),
        "external_constants": _external(program),
        "segments": [
            {"offset": each.offset, "bytes": each.size, "use": each.use}
            for each in layout.segments
        ],
        "named_data": [
            {"key": each.key, "bytes": len(each.data)} for each in program.named_data
        ],
    }


def method(method: Method, *, values: bool = False) -> Facts:
    facts: Facts = {
        "name": method.name,
        "inputs": [_value(method, index) for index in method.inputs],
        "outputs": [_value(method, index) for index in method.outputs],
        "value_count": len(method.values),
        "value_kinds": _counts(type(value).__name__ for value in method.values),
        "instruction_count": len(method.instructions),
        "instruction_kinds": _counts(
            type(each).__name__ for each in method.instructions
        ),
        "operators": operators(method),
        "delegates": _delegates(method),
        "planned": _planned(method),
        "planned_bytes": method.planned_bytes,
    }
    if values:
        facts["values"] = [_value(method, index) for index in range(len(method.values))]
        facts["instructions"] = [
            _instruction(method, index) for index in range(len(method.instructions))
        ]
    return facts


def operators(method: Method) -> list[Facts]:
    """One entry per operator: its number of calls and the dtypes that they use."""
    calls: Counter[str] = Counter(dict.fromkeys(method.operator_names, 0))
    kinds: dict[str, dict[str, None]] = {name: {} for name in method.operator_names}
    for _, name, call in method.kernel_calls():
        calls[name] += 1
        kinds[name].update(dict.fromkeys(_dtypes(method, call.args)))
    return [
        {"name": name, "calls": calls[name], "dtypes": list(kinds[name])}
        for name in sorted(kinds)
    ]


def constants(program: Program) -> Facts:
    """The constants; those that no instruction uses are marked."""
    used = program.used_constants()
    owners = _owners(program)
    items = [
        {
            "index": index,
            "bytes": len(data),
            "used": index in used,
            **_tensor_facts(owners.get(index)),
        }
        for index, data in enumerate(program.constants)
        if index > 0
    ]
    unused = [item for item in items if not item["used"]]
    return {
        "count": len(items),
        "bytes": sum(item["bytes"] for item in items),
        "unused_count": len(unused),
        "unused_bytes": sum(item["bytes"] for item in unused),
        "inline": program.layout.inline_constants,
        "items": items,
    }


def _owners(program: Program) -> dict[int, Tensor]:
    """For each constant, the largest tensor that refers to it."""
    owners: dict[int, Tensor] = {}
    for each in program.methods:
        for _, tensor in each.tensors:
            known = owners.get(tensor.data_index)
            if tensor.is_constant and (known is None or known.nbytes < tensor.nbytes):
                owners[tensor.data_index] = tensor
    return owners


def _tensor_facts(tensor: Tensor | None) -> Facts:
    if tensor is None:
        return {"dtype": None, "shape": None, "dim_order": None, "name": None}
    return {
        "dtype": tensor.dtype.label,
        "shape": list(tensor.sizes),
        "dim_order": list(tensor.dim_order),
        "name": tensor.name,
    }


def _initial_states(program: Program) -> list[Facts]:
    return [
        {"segment": number, "index": index, "bytes": len(data)}
        for number, pieces in enumerate(program.mutable_data)
        for index, data in enumerate(pieces)
        if index > 0
    ]


def _external(program: Program) -> list[Facts]:
    tensors: dict[str | None, Tensor] = {}
    for each in program.methods:
        for _, tensor in each.tensors:
            if tensor.is_external:
                tensors.setdefault(tensor.name, tensor)
    return [
        {**_tensor_facts(tensor), "bytes": tensor.nbytes} for tensor in tensors.values()
    ]


def _delegates(method: Method) -> list[Facts]:
    calls: Counter[int] = Counter()
    first: dict[int, int] = {}  # the instruction that calls it first
    for number, call in enumerate(method.instructions):
        if isinstance(call, programs.DelegateCall):
            calls[call.delegate_index] += 1
            first.setdefault(call.delegate_index, number)
    return [
        {
            "index": index,
            "id": each.id,
            "bytes": len(each.data),
            "location": "inline" if each.inline else "segment",
            "calls": calls[index],
            "compile_specs": [
                {"key": spec.key, "bytes": len(spec.value)}
                for spec in each.compile_specs
            ],
        }
        | (
            {"nodes": _nodes(method, each, first.get(index))}
            if each.id == xnnpack.BACKEND
            else {}
        )
        for index, each in enumerate(method.delegates)
    ]


def _nodes(
    method: Method, delegate: programs.Delegate, call: int | None
) -> list[Facts]:
    """The nodes of an XNNPACK delegate; none when its payload is malformed."""
    try:
        graph = xnnpack.parse(delegate.data)
    except SdkError:
        return []
    return [
        {
            "kind": node.kind,
            "inputs": [value.text for value in node.inputs],
            "outputs": [value.text for value in node.outputs],
            "range": node.range,
            "module": None
            if call is None
            else names.module_of(method, call, place) or None,
        }
        for place, node in enumerate(graph.nodes)
    ]


def _planned(method: Method) -> list[Facts]:
    tensors: Counter[int] = Counter(
        tensor.allocation.memory_id
        for _, tensor in method.tensors
        if tensor.allocation is not None
    )
    return [
        {"id": index, "bytes": size, "tensors": tensors[index]}
        for index, size in enumerate(method.planned_sizes)
        if index > 0
    ]


def _counts(names: Iterable[str]) -> dict[str, int]:
    return dict(sorted(Counter(names).items()))


def _dtypes(method: Method, args: Iterable[int]) -> list[str]:
    """The distinct dtypes of the tensors in `args`, also those in lists, in order."""
    labels: dict[str, None] = {}
    for index in args:
        value = method.values[index]
        items: tuple[int, ...] = (index,)
        if isinstance(value, programs.TensorList | programs.OptionalTensorList):
            items = tuple(item for item in value.items if item >= 0)
        for item in items:
            tensor = method.values[item]
            if isinstance(tensor, Tensor):
                labels[tensor.dtype.label] = None
    return list(labels)


# ---- values ------------------------------------------------------------------------


def _value(method: Method, index: int) -> Facts:
    value = method.values[index]
    facts: Facts = {"value": index, "kind": type(value).__name__}
    if isinstance(value, Tensor):
        facts |= _tensor_facts(value)
        facts |= {
            "bytes": value.nbytes,
            "dynamism": value.dynamism,
            "role": value.role,
            "data_index": value.data_index,
            "memory_id": value.allocation.memory_id if value.allocation else None,
            "offset": value.allocation.offset if value.allocation else None,
        }
    elif not isinstance(value, programs.Null):
        facts["content"] = _content(method, value)
    return facts


def _content(method: Method, value: programs.Value) -> Any:
    match value:
        case programs.IntList():
            numbers = method.int_list(value)
            return list(value.items if numbers is None else numbers)
        case programs.Tensor() | programs.Null():
            return None
        case (
            programs.DoubleList(items)
            | programs.BoolList(items)
            | programs.TensorList(items)
            | programs.OptionalTensorList(items)
        ):
            return list(items)
        case _:
            return value.value


def _instruction(method: Method, index: int) -> Facts:
    each = method.instructions[index]
    facts: Facts = {"index": index, "kind": type(each).__name__}
    match each:
        case programs.KernelCall(operator, args):
            name = method.operator_names[operator]
            facts |= {"name": name, "args": list(args)}
        case programs.DelegateCall(delegate, args):
            facts |= {"name": method.delegates[delegate].id, "args": list(args)}
        case programs.MoveCall(source, target):
            facts |= {"args": [source, target]}
        case programs.JumpFalseCall(condition, target):
            facts |= {"args": [condition], "target": target}
        case programs.FreeCall(value):
            facts |= {"args": [value]}
    return facts | names.facts(method, index)


# ---- bundles and tensor data -------------------------------------------------------


def bundle(bundle: Bundle) -> Facts:
    """The tests of a bundle; its program is described by `program`."""
    return {
        "kind": "bundled program",
        "version": bundle.version,
        "suites": [
            {
                "method": suite.method,
                "cases": [
                    {
                        "inputs": [_bundled(value) for value in case.inputs],
                        "outputs": [_bundled(value) for value in case.outputs],
                    }
                    for case in suite.cases
                ],
            }
            for suite in bundle.suites
        ],
    }


def _bundled(value: bundles.Value) -> Facts:
    if isinstance(value, bundles.BundledTensor):
        return {
            "kind": "Tensor",
            "dtype": value.dtype.label,
            "shape": list(value.sizes),
            "dim_order": list(value.dim_order),
            "bytes": len(value.data),
        }
    return {"kind": type(value).__name__, "content": value.value}


def tensor_data(data: TensorData) -> Facts:
    return {
        "kind": "tensor data",
        "version": data.version,
        "bytes": data.file_size,
        "segment_alignment": data.segment_alignment,
        "entries": [
            {
                "key": each.key,
                "bytes": len(each.data),
                "dtype": each.tensor.dtype.label if each.tensor else None,
                "shape": list(each.tensor.sizes) if each.tensor else None,
                "dim_order": list(each.tensor.dim_order) if each.tensor else None,
            }
            for each in data.entries
        ],
    }


# ---- inputs and outputs --------------------------------------------------------------


_MOST = 1 << 31  # a zero point is an int of C


@dataclass(frozen=True)
class Edge:
    """An input or output that is a tensor."""

    kind: str  # input or output
    index: int
    tensor: Tensor
    scale: float | None = None  # number = (integer - zero_point) * scale
    zero_point: int | None = None

    @property
    def layout(self) -> str:
        """The order of the dimensions in memory, in words."""
        order = self.tensor.dim_order
        if order == tuple(range(len(order))):
            return "contiguous"
        return "channels last" if order == (0, 2, 3, 1) else f"dim order {[*order]}"

    def to_json(self) -> dict[str, Any]:
        return {
            "kind": self.kind,
            "index": self.index,
            "dtype": self.tensor.dtype.label,
            "shape": list(self.tensor.sizes),
            "dim_order": list(self.tensor.dim_order),
            "layout": self.layout,
            "scale": self.scale,
            "zero_point": self.zero_point,
        }

    def __str__(self) -> str:
        shape = ", ".join(map(str, self.tensor.sizes))
        text = f"{self.kind} {self.index}: {self.tensor.dtype.label}[{shape}]"
        if len(self.tensor.sizes) > 1:
            text += f", {self.layout}"
        if self.scale is not None:
            text += f", scale {self.scale:.9g}, zero point {self.zero_point}"
        return text


def of(program: Program, method: Method) -> tuple[Edge, ...]:
    """The inputs, then the outputs."""
    return (
        *_edges(program, method, "input", method.input_values),
        *_edges(program, method, "output", method.output_values),
    )


def _edges(
    program: Program, method: Method, kind: str, values: tuple[Any, ...]
) -> Iterator[Edge]:
    for index, tensor in enumerate(values):
        if not isinstance(tensor, Tensor):
            continue
        step: tuple[float | None, int | None] = (None, None)
        if not tensor.dtype.is_float:
            step = _step(program, method, f"{kind}{index}")
        yield Edge(kind, index, tensor, *step)


def _step(
    program: Program, method: Method, name: str
) -> tuple[float | None, int | None]:
    """Scale and zero point."""
    for pair in _names(program, method, name):
        scale, zero = (_constant(program, each) for each in pair)
        if not (isinstance(scale, float | int) and isinstance(zero, int)):
            continue
        if math.isfinite(scale) and abs(zero) < _MOST:
            return float(scale), zero
    return None, None


def _names(program: Program, method: Method, name: str) -> Iterator[tuple[str, str]]:
    """What the methods of a scale and a zero point may be called: after the method or,
    where there is one, without its name."""
    single = sum(not each.is_constant for each in program.methods) == 1
    for prefix in (f"{method.name}_", *([""] if single else [])):
        yield f"{prefix}{name}_scale", f"{prefix}{name}_zp"


def steps(program: Program) -> frozenset[str]:
    """The constant methods that tell scales and zero points, which of() has."""
    return frozenset(
        told
        for method in program.methods
        for edge in of(program, method)
        if edge.scale is not None
        for names in _names(program, method, f"{edge.kind}{edge.index}")
        for told in names
        if _constant(program, told) is not None
    )


def _constant(program: Program, name: str) -> float | int | None:
    method = program.method(name)
    if method is None or not method.is_constant or len(method.outputs) != 1:
        return None
    (value,) = method.output_values
    return value.value if isinstance(value, Double | Int) else None
