"""quantized_decomposed::dequantize_per_channel.out and _per_token.out of lines that
vectors take; running this file writes the cases again.

NumPy computes what is expected. Of two cases a scale, or a zero point, is out of the
range of vectors.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from ember import program
from ember.files.tensors import DType
from ember.program import types

_INT8 = (types.Int(-128), types.Int(127), types.Int(DType.INT8.value))


def write(
    name: str, sizes: tuple[int, ...], axis: int | None, special: dict[str, float]
) -> None:
    """`axis`: that of the channels; None: each line along the last dimension is a
    token. `special`: a scale or a zero point of the second line."""
    random = np.random.default_rng(len(name))
    lines = (sizes[axis],) if axis is not None else (*sizes[:-1], 1)
    along = tuple(n if axis is None or d == axis else 1 for d, n in enumerate(sizes))
    shape = lines if axis is None else along
    x = random.integers(-128, 128, sizes, np.int8)
    scale = random.uniform(0.001, 0.1, lines).astype(np.float32)
    zero = random.integers(-128, 128, lines, np.int64)
    scale.reshape(-1)[1] = special.get("scale", scale.reshape(-1)[1])
    zero.reshape(-1)[1] = special.get("zero", zero.reshape(-1)[1])
    whole = x.astype(np.int64) - zero.reshape(shape)
    y = whole.astype(np.float32) * scale.reshape(shape)
    folder = Path() / name
    folder.mkdir(exist_ok=True)
    given = (("x.npy", x), ("scale.npy", scale), ("zero.npy", zero))
    for file, array in (*given, ("y.npy", y)):
        np.save(folder / file, array)
    run = {"method": "forward", "inputs": [n for n, _ in given], "outputs": ["y.npy"]}
    case = {"rtol": 0.0, "atol": 0.0, "runs": [run]}
    (folder / "case.json").write_text(json.dumps(case, indent=1) + "\n")
    content = _program([array for _, array in given], y, axis)
    (folder / "model.pte").write_bytes(content)


def _program(given: list[np.ndarray], y: np.ndarray, axis: int | None) -> bytes:
    end = 0
    values: list[types.Value] = []
    for array in (*given, y):
        place = types.Allocation(1, end)
        end += -(-array.nbytes // 16) * 16
        order = tuple(range(array.ndim))
        dtype = next(each for each in DType if each.numpy == array.dtype)
        values.append(types.Tensor(dtype, array.shape, order, 0, place))
    numbers: tuple[types.Value, ...] = _INT8
    if axis is not None:
        numbers = (types.Int(axis), *_INT8, types.Null())
    else:
        numbers = (*_INT8, types.Int(DType.FLOAT32.value))
    kind = "token" if axis is None else "channel"
    behind = tuple(range(len(values), len(values) + len(numbers)))
    method = types.Method(
        name="forward",
        values=(*values, *numbers),
        inputs=(0, 1, 2),
        outputs=(3,),
        chains=(types.Chain((types.KernelCall(0, (0, 1, 2, *behind, 3, 3)),)),),
        operators=(
            types.Operator(f"quantized_decomposed::dequantize_per_{kind}", "out"),
        ),
        planned_sizes=(0, end),
    )
    return program.write(types.Program(methods=(method,)))


write("channel_first", (5, 3, 13), 0, {})
write("channel_inner", (3, 4, 130), 1, {})
write("channel_zero", (3, 40), 0, {"zero": 3000})
write("channel_scale", (3, 40), 0, {"scale": 1e-40})
write("token", (2, 3, 65), None, {})
write("token_scale", (3, 128), None, {"scale": float("nan")})
