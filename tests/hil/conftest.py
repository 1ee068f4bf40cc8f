"""Cases and simulated boards that these tests share."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator
from pathlib import Path

import committed
import numpy as np
import numpy.typing as npt
import pytest
from committed_cases import path_of
from simulator import Simulate, Simulation

from ember import cases, program
from ember.flash import probes

SOME = ("bundle_mlp", "int8_ds_cnn_small_m4", "op_linear", "special_dynamic_batch")
COLUMNS = 256  # of weights: 1 kB a row


@pytest.fixture(scope="session")
def some_cases() -> list[cases.Found]:
    return cases.find([path_of(name) for name in SOME])


@pytest.fixture(scope="session")
def large_case(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A case with a program of 300 kB."""
    return product(tmp_path_factory.mktemp("large") / "large", 300)


@pytest.fixture(scope="session")
def middling_case(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A case with a program of 60 kB."""
    return product(tmp_path_factory.mktemp("middling") / "middling", 60)


@pytest.fixture
def simulate(tmp_path: Path) -> Iterator[Simulate]:
    """Starts simulations, and ends them."""
    started: list[Simulation] = []

    def start(
        kind: str,
        *options: str,
        content: bytes = b"",
        cut: int | None = None,
        machine: str = "mps2-an386",
    ) -> Simulation:
        if probes.PROGRAMS[kind].find() is None:
            pytest.skip(f"needs {kind}: {probes.PROGRAMS[kind].install}")
        folder = tmp_path / str(len(started))
        folder.mkdir()
        started.append(Simulation(folder, kind, options, content, cut, machine))
        return started[-1]

    yield start
    for simulation in started:
        simulation.close()


def product(folder: Path, rows: int) -> Path:
    """A case in `folder`: a product with a matrix of so many rows."""
    folder.mkdir()
    random = np.random.default_rng(0)
    weights = random.standard_normal((rows, COLUMNS), np.float32)
    x = random.standard_normal((1, COLUMNS), np.float32)
    (folder / "model.pte").write_bytes(_larger("op_linear_no_bias", weights))
    np.save(folder / "x.npy", x)
    np.save(folder / "y.npy", x @ weights.T)
    runs = [{"inputs": ["x.npy"], "outputs": ["y.npy"]}]
    (folder / "case.json").write_text(json.dumps({"atol": 1e-4, "runs": runs}))
    return folder


def _larger(name: str, weights: npt.NDArray[np.float32]) -> bytes:
    """The program of a case, a product of (1, 7) and (5, 7), with other weights."""
    rows = len(weights)
    small = committed.program_of(name)
    sizes: dict[tuple[int, ...], tuple[int, ...]] = {
        (5, 7): (rows, COLUMNS),
        (1, 7): (1, COLUMNS),
        (7, 5): (COLUMNS, rows),
        (1, 5): (1, rows),
    }
    planned = 0
    values = list(small.methods[0].values)
    for index, value in enumerate(values):
        if isinstance(value, program.Tensor):
            larger = dataclasses.replace(value, sizes=sizes[value.sizes])
            if value.allocation is not None:
                place = dataclasses.replace(value.allocation, offset=planned)
                larger = dataclasses.replace(larger, allocation=place)
                planned += larger.nbytes
            values[index] = larger
    method = dataclasses.replace(
        small.methods[0], values=tuple(values), planned_sizes=(0, planned)
    )
    constants = (b"", weights.tobytes())
    return program.write(
        dataclasses.replace(small, methods=(method,), constants=constants)
    )
