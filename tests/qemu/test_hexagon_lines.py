"""What quantises, dequantises or looks for scales with Hexagon's vectors: NumPy's bits,
in no more packets than portable C."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from quantised_lines import (
    Affine,
    Chosen,
    Dequantised,
    Embedding,
    Quantised,
    Sum,
    near_ties,
    special,
)
from vector_packets import outcomes, packets, slower, with_and_without

from ember import boards, cases
from ember.files.tensors import DType

pytestmark = [pytest.mark.qemu, pytest.mark.slow, pytest.mark.broad]

_COUNTS = (1, 3, 4, 7, 8, 9, 31, 32, 33, 128, 131, 700)
_LINES = 4
_TABLE = 2  # packets for one candidate more


def quantised(folder: Path, count: int, random: np.random.Generator) -> None:
    x = special(random.normal(0, 3, (_LINES, count)).astype(np.float32))
    ties = near_ties(random, _LINES, count)
    ones = np.ones(_LINES)
    scales = 2.0 ** random.uniform(-20, 5, _LINES)
    for kind in (np.float32, np.float64):
        for token in (False, True):
            title = f"{count}_{np.dtype(kind).name}_{'token' if token else 'channel'}"
            for dtype, least in ((DType.INT8, -128), (DType.UINT8, 0)):
                zero = random.integers(least, least + 256, _LINES)
                near = Quantised(ties, ones.astype(kind), zero, token, dtype)
                near.write(folder / f"ties_{title}_{dtype.label}")
                spread = x * scales[:, None].astype(np.float32)
                some = Quantised(spread, scales.astype(kind), zero, token, dtype)
                some.write(folder / f"to_{title}_{dtype.label}")


def read_back(folder: Path, count: int, random: np.random.Generator) -> None:
    scale = random.uniform(0.01, 0.1, _LINES).astype(np.float32)
    x = random.integers(-128, 128, (_LINES, count)).astype(np.int8)
    zero = random.integers(-128, 128, _LINES)
    Dequantised(x, scale.astype(np.float64), zero).write(folder / f"from_{count}")
    Dequantised(x.view(np.uint8), scale, zero + 128).write(folder / f"bytes_{count}")
    rows = np.array([1, 3, 0, 3])
    for bits in (8, 4, 2):
        codes = random.integers(0, 1 << bits, (_LINES, 4 * count)).astype(np.uint8)
        whole = random.integers(0, 2, (_LINES, 1)).astype(np.float32)
        factors = scale[:, None]
        table = Embedding(codes, factors, whole, rows, bits)
        table.write(folder / f"embedding_{bits}_{count}")


def chosen(folder: Path, count: int, random: np.random.Generator) -> None:
    x = random.normal(0, 3, (_LINES, count)).astype(np.float32)
    Chosen(x, False).write(folder / f"choose_token_{count}")
    Chosen(x, True).write(folder / f"choose_tensor_{count}")
    x[1, -1] = np.nan
    Chosen(x, False).write(folder / f"choose_nan_{count}")


def sums(folder: Path, count: int, random: np.random.Generator) -> None:
    a, b = random.integers(-128, 128, (2, _LINES, count)).astype(np.int8)
    for exponents in range(-12, 13, 6):
        of_a, of_b = (
            Affine(2.0 ** random.uniform(-8, 8), int(random.integers(-128, 128)))
            for _ in range(2)
        )
        to = Affine(2.0 ** (exponents + random.uniform(0, 2)), 3)
        Sum(a, b, of_a, of_b, to).write(folder / f"add_{count}_{exponents}")
    unsigned = [Affine(0.02 * n, 100 + n, DType.UINT8) for n in range(1, 4)]
    case = Sum(a.view(np.uint8), b.view(np.uint8), *unsigned)
    case.write(folder / f"add_{count}_uint8")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    lines = tmp_path_factory.mktemp("lines")
    for count in _COUNTS:
        random = np.random.default_rng(count)
        for write in (quantised, read_back, chosen, sums):
            write(lines, count, random)
    return lines


def cases_of(folder: Path) -> list[cases.Found]:
    listed = cases.find([folder])
    assert len(listed) > 20 * len(_COUNTS)
    return listed


@pytest.mark.parametrize("board", ["host", "host-hvx"])
def test_a_model_of_vectors_has_the_same_bits(folder: Path, board: str) -> None:
    outcomes(cases_of(folder), boards.load(board))


def test_vectors_have_the_same_bits_in_no_more_packets(folder: Path) -> None:
    vectors, portable = with_and_without(cases_of(folder))
    assert slower(vectors, portable, lambda _, before: before + _TABLE) == []
    for name in ("to_700_float32_token_int8", "to_700_float64_token_int8"):
        before, after = (packets(each[name]) for each in (portable, vectors))
        assert after * 9 < before
