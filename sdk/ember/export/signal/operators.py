"""The operators ember::*, as PyTorch computes them.

Complex numbers are pairs, of a last dimension of 2, as torch.view_as_real() has them.
Kernels get the roots of unity as an argument; PyTorch needs none.

ember::rfft(x, roots)              (.., n) -> (.., n / 2 + 1, 2)   torch.fft.rfft
ember::irfft(z, roots, n)          (.., n / 2 + 1, 2) -> (.., n)   n torch.fft.irfft
ember::cfft(z, roots, back)        (.., n, 2) -> (.., n, 2)        fft, or n ifft
ember::squared_magnitude(z)        (.., 2) -> (..)                 abs() ** 2
ember::band_mm(x, bands, weights)  (.., n) -> (.., m)              x @ matrix of bands

Those on images are in images.py.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from ember.export.packages import need
from ember.export.signal import images

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
    for name, arguments in {**_SCHEMAS, **images.SCHEMAS}.items():
        library.define(f"{name}({arguments}) -> Tensor")
        library.define(f"{name}.out({arguments}, *, Tensor(a!) out) -> Tensor(a!)")
        of_images = name in images.SCHEMAS
        compute = getattr(images, name) if of_images else globals()[f"_{name}"]
        kind = "CompositeExplicitAutograd"
        library.impl(name, compute, kind)
        library.impl(f"{name}.out", _writing(compute), kind)
    # the others compute with tensors that have a shape only, too
    library.impl("band_mm", _band_mm_shape, "Meta")
    library.impl("band_mm.out", _writing(_band_mm_shape), "Meta")
    _libraries.append(library)  # its operators go when it does
    return need("torch").ops.ember


_libraries: list[Any] = []


def _writing(compute: Callable[..., Any]) -> Callable[..., Any]:
    def write(*arguments: Any, out: Any) -> Any:
        return out.copy_(compute(*arguments))

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
