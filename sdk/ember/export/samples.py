"""What calibrates quantisation: `--calibrate DATA` becomes inputs of calls."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ember.errors import SdkError
from ember.export.packages import need
from ember.export.source import Sample
from ember.files import arrays

_FORMS = (
    "give a .npy with samples along the first axis, a .npz with such an array for"
    " each input, or a folder of them"
)


def read(path: Path, example: Sample) -> tuple[Sample, ...]:
    """The samples in `path`, each with shapes and dtypes of `example`."""
    if path.is_dir():
        files = sorted([*path.glob("*.npy"), *path.glob("*.npz")])
        if not files:
            raise SdkError(f"{path} has no .npy or .npz file", hint=_FORMS)
        return tuple(sample for file in files for sample in _of_file(file, example))
    return tuple(_of_file(path, example))


def _of_file(path: Path, example: Sample) -> Iterator[Sample]:
    given = arrays.read_all(path)
    if len(given) != len(example):
        raise SdkError(
            f"{path} has {len(given)} arrays, but the model takes {len(example)}"
            " inputs",
            hint=_FORMS,
        )
    columns = [
        _tensors(path, number, array, tensor)
        for number, (array, tensor) in enumerate(zip(given, example, strict=True))
    ]
    counts = [len(column) for column in columns]
    if len(set(counts)) != 1:
        said = ", ".join(map(str, counts))
        raise SdkError(f"{path}: the inputs have different numbers of samples: {said}")
    yield from zip(*columns, strict=True)


def _tensors(path: Path, number: int, array: NDArray[Any], like: Any) -> Sequence[Any]:
    """One sample, or many of them, whose batch of one may be left out."""
    torch = need("torch")
    if not isinstance(like, torch.Tensor):
        raise SdkError(f"input {number} is not a tensor: it cannot come from {path}")
    shape = tuple(like.shape)
    if array.shape == shape:
        parts = [array]
    elif array.ndim > 0 and shape in (array.shape[1:], (1, *array.shape[1:])):
        parts = [part.reshape(shape) for part in array]
    else:
        raise SdkError(
            f"{path}: input {number} has the shape {list(array.shape)}, but the model"
            f" takes {list(shape)}",
            hint=_FORMS,
        )
    return [torch.from_numpy(np.ascontiguousarray(p)).to(like.dtype) for p in parts]
