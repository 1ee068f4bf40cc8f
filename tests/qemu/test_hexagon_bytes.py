"""float32 to int8 and uint8, and back, with Hexagon's vectors, as NumPy does it."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from ember import boards, cases, program
from ember.files.tensors import DType
from ember.program import types
from ember.run import testing
from ember.toolchain import emulator

pytestmark = [pytest.mark.qemu, pytest.mark.slow]

_SCALE = 0.03
_COUNTS = (5, 33, 128, 1000)
# Datatype, zero point, and range.
_FORMS = (
    (DType.INT8, -7, -128, 127),
    (DType.INT8, 5, -100, 90),
    (DType.UINT8, 131, 0, 255),
    (DType.UINT8, 20, 0, 200),
)


def numbers(count: int) -> np.ndarray:
    x = np.random.default_rng(count).normal(0, 3, count).astype(np.float32)
    x[: min(count, 5)] = [np.nan, np.inf, -np.inf, -0.0, 1e-40][: min(count, 5)]
    return x


def quantised(
    x: np.ndarray, dtype: DType, zero: int, low: int, high: int
) -> np.ndarray:
    """As the operator has it: times the reciprocal, halves to even; NaN becomes 0."""
    inverse = np.float32(1.0) / np.float32(_SCALE)
    with np.errstate(invalid="ignore", over="ignore"):
        rounded = np.rint(x * inverse).astype(np.float64) + zero
    whole = np.where(np.isnan(x), 0, np.clip(rounded, low, high))
    return whole.astype(dtype.numpy)


def dequantised(x: np.ndarray, zero: int) -> np.ndarray:
    return ((x.astype(np.int32) - zero).astype(np.float32)) * np.float32(_SCALE)


def write(
    folder: Path,
    name: str,
    x: tuple[DType, np.ndarray],
    y: tuple[DType, np.ndarray],
    arguments: list[types.Value],
) -> None:
    """A case of one call, whose input and output stand around `arguments`."""
    folder.mkdir()
    np.save(folder / "x.npy", x[1])
    np.save(folder / "y.npy", y[1])
    run = {"method": "forward", "inputs": ["x.npy"], "outputs": ["y.npy"]}
    (folder / "case.json").write_text(json.dumps({"rtol": 0, "atol": 0, "runs": [run]}))
    room = 4 * len(x[1]) + 128
    tensors = [
        types.Tensor(dtype, (len(array),), (0,), 0, types.Allocation(1, at))
        for (dtype, array), at in ((x, 0), (y, room - room % 16))
    ]
    last = 1 + len(arguments)
    call = (0, *range(1, last), last, last)
    method = types.Method(
        name="forward",
        values=(tensors[0], *arguments, tensors[1]),
        inputs=(0,),
        outputs=(last,),
        chains=(types.Chain((types.KernelCall(0, call),)),),
        operators=(types.Operator(f"quantized_decomposed::{name}", "out"),),
        planned_sizes=(0, 2 * room),
    )
    (folder / "model.pte").write_bytes(program.write(types.Program(methods=(method,))))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folders = tmp_path_factory.mktemp("bytes")
    for number, (dtype, zero, low, high) in enumerate(_FORMS):
        ends = [types.Int(item) for item in (zero, low, high, dtype.value)]
        shared: list[types.Value] = [types.Double(_SCALE), *ends]
        for count in _COUNTS:
            x = numbers(count)
            y = quantised(x, dtype, zero, low, high)
            title = f"{number}_{count}"
            given, taken = (DType.FLOAT32, x), (dtype, y)
            write(folders / f"to_{title}", "quantize_per_tensor", given, taken, shared)
            back = (DType.FLOAT32, dequantised(y, zero))
            name = "dequantize_per_tensor"
            write(folders / f"from_{title}", name, taken, back, [*shared, types.Null()])
    return folders


@pytest.mark.parametrize("board", ["host", "host-hvx", "hexagon-v68"])
def test_bytes_are_those_of_numpy(folder: Path, board: str) -> None:
    loaded = boards.load(board)
    if not emulator.available(loaded):
        pytest.skip(f"{loaded.runner.binary} is not installed")
    results = testing.test(cases.find([folder]), [loaded], jobs=1)
    assert len(results) == 2 * len(_FORMS) * len(_COUNTS)
    wrong = [
        f"{each.name}: {each.message}" for each in results if each.status != "passed"
    ]
    assert wrong == []
