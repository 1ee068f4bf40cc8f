"""A method's inputs and outputs become what an application must know about them.

Scales and zero points of integers come from constant methods, with the names that
executorch.exir.passes.quantize_io_pass and `ember export --io int8` give them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ember.program import Double, Int, Method, Program, Tensor


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
    for names in _names(program, method, name):
        scale, zero = (_constant(program, each) for each in names)
        if isinstance(scale, float | int) and isinstance(zero, int):
            return float(scale), zero
    return None, None


def _names(program: Program, method: Method, name: str) -> Iterator[tuple[str, str]]:
    """What the methods of a scale and a zero point may be called: after the method or,
    where there is one, without its name."""
    alone = sum(not each.is_constant for each in program.methods) == 1
    for prefix in (f"{method.name}_", *([""] if alone else [])):
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
