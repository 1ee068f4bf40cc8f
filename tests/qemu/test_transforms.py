"""Transforms by Helium have the bits of portable C."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from committed import array_of
from committed_cases import path_of

from ember import boards, cases
from ember.cases import one_call
from ember.export.operators import roots
from ember.run import testing

OUT = "*, Tensor(a!) out) -> Tensor(a!)"
M55 = "mps3-an547"
pytestmark = pytest.mark.qemu


def bits(path: Path, board: str) -> list[bytes]:
    """The outputs of all calls, of all cases at `path`, on a board."""
    return [
        array_of(output).tobytes()
        for place in cases.find([path])
        for call in testing.outputs(cases.read(place), boards.load(board))[0]
        for output in call
    ]


@pytest.mark.parametrize("board", ["host-mve", M55])
@pytest.mark.parametrize(
    "n", [1, 2, 4, 6, 8, 10, 12, 16, 20, 32, 36, 64, 96, 128, 240, 256, 480, 512]
)
def test_rows_of_all_lengths_have_the_same_bits(
    n: int, board: str, tmp_path: Path
) -> None:
    random = np.random.default_rng(n)
    x = random.standard_normal((2, n)).astype(np.float32)
    x[1, ::3] = 0
    result = np.fft.rfft(x).astype(np.complex64).view(np.float32)
    result = result.reshape(2, n // 2 + 1, 2)
    arguments = [x, roots.of_real(n)]
    schema = f"(Tensor x, Tensor roots, {OUT}"
    one_call.write(tmp_path / "a", "ember::rfft.out", schema, arguments, [result])
    assert bits(tmp_path, board) == bits(tmp_path, "host")


@pytest.mark.parametrize("board", ["host-mve", M55])
@pytest.mark.parametrize("n", [0, 1, 3, 4, 7, 257])
def test_magnitudes_have_the_same_bits(n: int, board: str, tmp_path: Path) -> None:
    z = np.random.default_rng(n).standard_normal((n, 2)).astype(np.float32)
    result = (z.astype(np.float64) ** 2).sum(-1).astype(np.float32)
    schema = f"(Tensor z, {OUT}"
    one_call.write(
        tmp_path / "a", "ember::squared_magnitude.out", schema, [z], [result]
    )
    assert bits(tmp_path, board) == bits(tmp_path, "host")


def test_a_front_end_has_the_same_bits() -> None:
    path = path_of("bundle_log_mel_stream")
    assert bits(path, "host-mve") == bits(path, "host")
