"""The table of a function of one int8, as PyTorch computes it.

ember::table(input, lut)  -> y

    input  int8
    lut    (256) int8: the results for -128 to 127
    y      as input

Programs have cortex_m::quantized_activation instead, which is the same; but between two
passes of ExecuTorch's flow its input can have another dtype for a while.
"""

from __future__ import annotations

import functools
from typing import Any

from ember.export.packages import need

SCHEMAS = {"table": "Tensor input, Tensor lut"}


def table(x: Any, lut: Any) -> Any:
    return lut[x.long() + 128]


def table_shape(x: Any, lut: Any) -> Any:
    return need("torch").empty_like(x, dtype=lut.dtype)


SHAPES = {"table": table_shape}


def of(results: Any, scale: float, zero_point: int) -> Any:
    """The table of 256 results; what is infinite or undefined takes the nearest end."""
    torch = need("torch")
    whole = (results / scale).round() + zero_point
    whole = torch.nan_to_num(whole, nan=zero_point, posinf=127, neginf=-128)
    return whole.clamp(-128, 127).to(torch.int8)


@functools.cache
def activation() -> Any:
    """cortex_m::quantized_activation of the edge dialect."""
    need("executorch.backends.cortex_m.ops.operators")
    if not hasattr(need("torch").ops.cortex_m, "quantized_activation"):
        _define()
    edge = need("executorch.exir.dialects._ops").ops.edge
    return edge.cortex_m.quantized_activation.default


def _define() -> None:
    """Defines the operator, which ExecuTorch 1.4 lacks."""
    library = need("torch").library.Library("cortex_m", "FRAGMENT")
    name, arguments = "quantized_activation", SCHEMAS["table"]
    library.define(f"{name}({arguments}) -> Tensor")
    library.define(f"{name}.out({arguments}, *, Tensor(a!) out) -> Tensor(a!)")
    for kind, compute in {
        "CompositeExplicitAutograd": table,
        "Meta": table_shape,
    }.items():
        library.impl(name, compute, kind)
        library.impl(f"{name}.out", _writing(compute), kind)
    _libraries.append(library)  # keeps its operators alive


_libraries: list[Any] = []


def _writing(compute: Any) -> Any:
    return lambda x, lut, *, out: out.copy_(compute(x, lut))
