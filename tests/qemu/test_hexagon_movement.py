"""What only moves data, with Hexagon's vectors: the same bytes in fewer packets."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from vector_packets import outcomes, packets, slower, with_and_without

from ember import boards, cases, program
from ember.files.tensors import DType
from ember.program import types

pytestmark = [pytest.mark.qemu, pytest.mark.slow, pytest.mark.broad]

_DTYPES = (DType.INT8, DType.INT16, DType.FLOAT32, DType.INT64)
_PERMUTED = (
    ((2, 3), (1, 0)),
    ((16, 128), (1, 0)),
    ((17, 130), (1, 0)),
    ((1, 3, 20, 21), (0, 2, 3, 1)),
    ((2, 9, 7, 40), (0, 3, 1, 2)),
    ((4, 6, 5, 8), (2, 0, 3, 1)),
)


@dataclass(frozen=True)
class Permutation:
    dtype: DType
    sizes: tuple[int, ...]
    order: tuple[int, ...]

    @property
    def title(self) -> str:
        shape = "_".join("x".join(map(str, each)) for each in (self.sizes, self.order))
        return f"permute_{self.dtype.label}_{shape}"

    def write(self, folder: Path) -> None:
        """A case of NumPy's bytes."""
        folder.mkdir()
        random = np.random.default_rng(len(self.title))
        x = random.integers(-128, 128, self.sizes).astype(self.dtype.numpy)
        y = np.ascontiguousarray(x.transpose(self.order))
        np.save(folder / "x.npy", x)
        np.save(folder / "y.npy", y)
        run = {"method": "forward", "inputs": ["x.npy"], "outputs": ["y.npy"]}
        (folder / "case.json").write_text(
            json.dumps({"rtol": 0, "atol": 0, "runs": [run]})
        )
        (folder / "model.pte").write_bytes(self._program(y.shape))

    def _program(self, out: tuple[int, ...]) -> bytes:
        bytes_of = math.prod(self.sizes) * self.dtype.itemsize
        numbers = [types.Int(item) for item in self.order]
        behind = 2 + len(numbers)
        values: tuple[types.Value, ...] = (
            self._tensor(self.sizes, 0),
            self._tensor(out, -(-bytes_of // 16) * 16),
            *numbers,
            types.IntList(tuple(range(2, behind))),
        )
        method = types.Method(
            name="forward",
            values=values,
            inputs=(0,),
            outputs=(1,),
            chains=(types.Chain((types.KernelCall(0, (0, behind, 1, 1)),)),),
            operators=(types.Operator("aten::permute_copy", "out"),),
            planned_sizes=(0, 2 * (-(-bytes_of // 16) * 16)),
        )
        return program.write(types.Program(methods=(method,)))

    def _tensor(self, sizes: tuple[int, ...], at: int) -> types.Tensor:
        place = types.Allocation(1, at)
        return types.Tensor(self.dtype, sizes, tuple(range(len(sizes))), 0, place)


MOVES = [
    Permutation(dtype, sizes, order) for dtype in _DTYPES for sizes, order in _PERMUTED
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    moves = tmp_path_factory.mktemp("moves")
    for move in MOVES:
        move.write(moves / move.title)
    return moves


def test_a_model_of_vectors_moves_the_same_bytes(folder: Path) -> None:
    listed = cases.find([folder])
    assert len(outcomes(listed, boards.load("host-hvx"))) == len(MOVES)


def test_vectors_move_the_same_bytes_in_no_more_packets(folder: Path) -> None:
    vectors, portable = with_and_without(cases.find([folder]))
    assert slower(vectors, portable, lambda _, before: before) == []
    large = Permutation(DType.INT8, (16, 128), (1, 0)).title
    assert packets(vectors[large]) * 3 < packets(portable[large])
