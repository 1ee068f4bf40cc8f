"""Fourier transforms, and squares of magnitudes, called once each; running this file
writes the cases again. Lengths have each kind of pass, odd and even numbers of them."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ember.cases import one_call
from ember.export.operators import roots
from ember.files.tensors import Array

HERE = Path()
OUT = "*, Tensor(a!) out) -> Tensor(a!)"
random = np.random.default_rng(1)


def pairs(numbers: Array) -> Array:
    return np.stack([numbers.real, numbers.imag], axis=-1).astype(np.float32)


def write(
    name: str,
    op: str,
    schema: str,
    arguments: Sequence[Any],
    result: Array,
    size: int,
) -> None:
    one_call.write(
        HERE / f"{name}_{size}",
        f"ember::{op}.out",
        f"({schema}, {OUT}",
        arguments,
        [result],
        rtol=1e-5,
        atol=1e-6 * size**0.5,
    )


for n in (1, 2, 7, 15, 18, 77, 400, 512):
    x = random.standard_normal((3, n), dtype=np.float32)
    z = x + 1j * random.standard_normal((3, n), dtype=np.float32)
    half, whole = np.fft.rfft(x), np.fft.fft(z)
    real, table = roots.of_real(n), roots.of_complex(n)
    write("rfft", "rfft", "Tensor x, Tensor roots", [x, real], pairs(half), n)
    arguments = [pairs(half / n), real, n]
    write("irfft", "irfft", "Tensor z, Tensor roots, int n", arguments, x, n)
    schema = "Tensor z, Tensor roots, bool back"
    write("cfft", "cfft", schema, [pairs(z), table, False], pairs(whole), n)
    arguments = [pairs(whole / n), table, True]
    write("cfft_back", "cfft", schema, arguments, pairs(z), n)

z = random.standard_normal((2, 3, 5, 2), dtype=np.float32)
square = (z.astype(np.float64) ** 2).sum(axis=-1).astype(np.float32)
write("squared", "squared_magnitude", "Tensor z", [z], square, 30)
