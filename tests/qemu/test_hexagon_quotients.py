"""Quotients with Hexagon's vectors: those of all pairs of int8, and of many of int16,
are NumPy's, bit by bit."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from quotients import Quotient
from vector_packets import outcomes, packets, with_and_without

from ember import boards, cases

pytestmark = [pytest.mark.qemu, pytest.mark.slow]

# Scales with which many quotients are in the middle between two integers, or beside it,
# are beyond int8, or 0, are among them.
_SCALES = (64.0, 1.0, -0.5, 33.3, 1 / 3, 1.2345e-3, 3e4, 3.4e38, 1e-40)
_COUNT = 20_000  # of int16
_SHORT = (*range(1, 18), 63, 64, 65, 127, 128, 129, 200)


def all_pairs(folder: Path, random: np.random.Generator) -> None:
    a, b = np.mgrid[-128:128, -128:128].astype(np.int8).reshape(2, -1)
    for number, scale in enumerate(_SCALES):
        zeros = [int(zero) for zero in random.integers(-128, 128, 3)]
        first = (zeros[0], zeros[1], zeros[2])
        Quotient(a, b, first if number else (0, 0, 0), scale).write(
            folder / f"{number}"
        )


def many_pairs(folder: Path, random: np.random.Generator) -> None:
    limits = (-32768, 32768, (2, _COUNT))
    for number, scale in enumerate(_SCALES):
        a, b = random.integers(*limits).astype(np.int16)
        if number % 2:
            b //= 100
        zeros = random.integers(-32768, 32768, 3) // (1 + 99 * (number % 2))
        first = (int(zeros[0]), int(zeros[1]), int(zeros[2]))
        Quotient(a, b, first, 100 * min(scale, 1e36)).write(folder / f"wide_{number}")


@pytest.fixture(scope="module")
def pairs(tmp_path_factory: pytest.TempPathFactory) -> list[cases.Found]:
    folder = tmp_path_factory.mktemp("pairs")
    random = np.random.default_rng(1)
    all_pairs(folder, random)
    many_pairs(folder, random)
    return cases.find([folder])


@pytest.mark.parametrize("board", ["host", "host-hvx", "hexagon-v68"])
def test_quotients_are_those_of_numpy(pairs: list[cases.Found], board: str) -> None:
    assert len(outcomes(pairs, boards.load(board))) == 2 * len(_SCALES)


def test_vectors_take_no_more_packets(tmp_path: Path) -> None:
    random = np.random.default_rng(2)
    for count in _SHORT:
        for dtype in (np.int8, np.int16):
            limits = np.iinfo(dtype)
            a, b = random.integers(limits.min, limits.max, (2, count), dtype)
            case = Quotient(a, b, (3, -5, 7), limits.max / 5)
            case.write(tmp_path / f"{dtype.__name__}_{count}")
    vectors, portable = with_and_without(cases.find([tmp_path]))
    for name, each in vectors.items():
        assert packets(each) <= packets(portable[name]), name
    assert packets(vectors["int8_200"]) * 15 < packets(portable["int8_200"])
