"""cortex_m::quantized_activation: the table of a function of one int8.

cortex_m::quantized_activation(input, lut)  -> y

    input  int8
    lut    (256) int8: the results for -128 to 127
    y      as input
"""

from __future__ import annotations

import functools
from typing import Any

from ember.export.packages import need


def of(results: Any, scale: float, zero_point: int) -> Any:
    """The table of 256 results; what is infinite or undefined takes the nearest end."""
    torch = need("torch")
    whole = (results / scale).round() + zero_point
    whole = torch.nan_to_num(whole, nan=zero_point, posinf=127, neginf=-128)
    return whole.clamp(-128, 127).to(torch.int8)


@functools.cache
def operator() -> Any:
    """The operator, which ExecuTorch 1.4 lacks."""
    torch = need("torch")
    need("executorch.backends.cortex_m.ops.operators")
    if not hasattr(torch.ops.cortex_m, "quantized_activation"):
        _define()
    return torch.ops.cortex_m.quantized_activation.default


def _define() -> None:
    library = need("torch").library.Library("cortex_m", "FRAGMENT")
    name = "quantized_activation"
    library.define(f"{name}(Tensor input, Tensor lut) -> Tensor")
    library.define(f"{name}.out(Tensor input, Tensor lut, *, Tensor(a!) out) -> Tensor(a!)")
    kind = "CompositeExplicitAutograd"
    library.impl(name, _looked_up, kind)
    library.impl(f"{name}.out", lambda x, lut, *, out: out.copy_(_looked_up(x, lut)), kind)
    _libraries.append(library)  # keeps its operators alive


_libraries: list[Any] = []


def _looked_up(x: Any, lut: Any) -> Any:
    return lut[x.long() + 128]
