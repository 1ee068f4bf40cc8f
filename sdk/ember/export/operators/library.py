"""Schemas and functions become the operators ember::*, as PyTorch computes them.

Complex numbers are pairs, of a last dimension of 2, as torch.view_as_real() has them.
Kernels get the roots of unity as an argument; PyTorch needs none.

ember::rfft(x, roots)              (.., n) -> (.., n / 2 + 1, 2)   torch.fft.rfft
ember::irfft(z, roots, n)          (.., n / 2 + 1, 2) -> (.., n)   n torch.fft.irfft
ember::cfft(z, roots, back)        (.., n, 2) -> (.., n, 2)        fft, or n ifft
ember::squared_magnitude(z)        (.., 2) -> (..)                 abs() ** 2
ember::band_mm(x, bands, weights)  (.., n) -> (.., m)              x @ matrix of bands

Those of front ends are in front_ends.py; layers with weights of int4 in int4.py, with
activations of int16 in int16.py; recurrent layers in recurrent.py; normalisation and
PReLU of int8 in norms.py.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from ember.export.graph import recurrent_layers
from ember.export.operators import (
    front_ends,
    int4,
    int16,
    norms,
    recurrent,
    tables,
)
from ember.export.packages import need

_SCHEMAS = {
    "rfft": "Tensor x, Tensor roots",
    "irfft": "Tensor z, Tensor roots, int n",
    "cfft": "Tensor z, Tensor roots, bool back",
    "squared_magnitude": "Tensor z",
    "band_mm": "Tensor x, Tensor bands, Tensor weights",
}


@functools.cache
def defined() -> Any:
    """torch.ops.ember, with all operators and their forms that write to `out`."""
    library = need("torch").library.Library("ember", "DEF")
    for name, arguments in _SCHEMAS.items():
        _define(library, name, arguments, globals()[f"_{name}"])
    for module in (front_ends, int4, int16, norms, recurrent, tables):
        for name, arguments in module.SCHEMAS.items():
            _define(library, name, arguments, getattr(module, name))
    # The others also compute with tensors that have only a shape.
    shapes: dict[str, Callable[..., Any]] = {
        "band_mm": _band_mm_shape,
        **front_ends.SHAPES,
        **int4.SHAPES,
        **int16.SHAPES,
        **norms.SHAPES,
        **recurrent.SHAPES,
        **tables.SHAPES,
    }
    for kind, arguments in recurrent_layers.FLOATS.items():
        _define(library, f"float_{kind}", arguments, getattr(recurrent_layers, kind))
    _define(library, "float_svdf", recurrent.SVDF, recurrent.svdf)
    library.define(f"svdf({recurrent.SVDF}) -> (Tensor, Tensor)")
    library.impl("svdf", recurrent.svdf, "CompositeImplicitAutograd")  # has a gradient
    for name, shape in shapes.items():
        library.impl(name, shape, "Meta")
        library.impl(f"{name}.out", _writing(shape), "Meta")
    _libraries.append(library)  # keeps its operators alive
    return need("torch").ops.ember


_libraries: list[Any] = []
# Results of an operator; others have one.
_RESULTS = {
    **front_ends.RESULTS,
    **recurrent.RESULTS,
    **recurrent_layers.RESULTS,
}


def _define(
    library: Any, name: str, arguments: str, compute: Callable[..., Any]
) -> None:
    count = _RESULTS.get(name, 1)
    names = ["out"] if count == 1 else [f"out{index}" for index in range(count)]
    types = [f"Tensor({chr(ord('a') + index)}!)" for index in range(count)]
    outs = ", ".join(map(" ".join, zip(types, names, strict=True)))
    plain, writes = ", ".join(["Tensor"] * count), ", ".join(types)
    if count > 1:
        plain, writes = f"({plain})", f"({writes})"
    library.define(f"{name}({arguments}) -> {plain}")
    library.define(f"{name}.out({arguments}, *, {outs}) -> {writes}")
    kind = "CompositeExplicitAutograd"
    library.impl(name, compute, kind)
    library.impl(f"{name}.out", _writing(compute), kind)


def _writing(compute: Callable[..., Any]) -> Callable[..., Any]:
    def write(*arguments: Any, **outs: Any) -> Any:
        given = compute(*arguments)
        if "out" in outs:
            return outs["out"].copy_(given)
        pairs = zip(sorted(outs), given, strict=True)
        return tuple(outs[name].copy_(value) for name, value in pairs)

    return write


def _rfft(x: Any, roots: Any) -> Any:
    torch = need("torch")
    return torch.view_as_real(torch.fft.rfft(x)).contiguous()


def _irfft(z: Any, roots: Any, n: int) -> Any:
    torch = need("torch")
    whole = torch.view_as_complex(z.contiguous())
    return torch.fft.irfft(whole, n, norm="forward")


def _cfft(z: Any, roots: Any, back: bool) -> Any:
    torch = need("torch")
    whole = torch.view_as_complex(z.contiguous())
    transform = torch.fft.ifft if back else torch.fft.fft
    return torch.view_as_real(transform(whole, norm="forward" if back else "backward"))


def _squared_magnitude(z: Any) -> Any:
    return z.square().sum(-1)


def _band_mm(x: Any, bands: Any, weights: Any) -> Any:
    torch = need("torch")
    matrix, at = torch.zeros(x.shape[-1], len(bands)), 0
    for column, (first, length) in enumerate(bands.tolist()):
        matrix[first : first + length, column] = weights[at : at + length]
        at += length
    return x @ matrix


def _band_mm_shape(x: Any, bands: Any, weights: Any) -> Any:
    return x.new_empty([*x.shape[:-1], bands.shape[0]])
