"""Cases, boards and bad lines that these tests share."""

import dataclasses
import json
from pathlib import Path

import numpy as np
import pytest
from faults import FaultyWire

from ember import boards, cases, emulator, program
from ember.hil import emulated, line

pytest_plugins = ["pytester"]

CASES = Path(__file__).parents[1] / "cases"
SOME = ("bundle_mlp", "int8_ds_cnn_small_m4", "op_linear", "special_dynamic_batch")
ROWS, COLUMNS = 300, 256  # of 300 kB of weights


def board(name):
    """The board; the test is skipped where its emulator is not."""
    found = boards.load(name)
    if not emulator.available(found):
        pytest.skip(f"{found.runner.binary} is not installed")
    return found


@pytest.fixture(scope="session")
def some_cases():
    return cases.find([CASES / name for name in SOME])


@pytest.fixture(scope="session")
def large_case(tmp_path_factory):
    """A case with a program of 300 kB: a matrix product."""
    folder = tmp_path_factory.mktemp("large") / "large"
    folder.mkdir()
    random = np.random.default_rng(0)
    weights = random.standard_normal((ROWS, COLUMNS), np.float32)
    x = random.standard_normal((1, COLUMNS), np.float32)
    (folder / "model.pte").write_bytes(_larger("op_linear_no_bias", weights))
    np.save(folder / "x.npy", x)
    np.save(folder / "y.npy", x @ weights.T)
    runs = [{"inputs": ["x.npy"], "outputs": ["y.npy"]}]
    (folder / "case.json").write_text(json.dumps({"atol": 1e-4, "runs": runs}))
    return folder


def _larger(name, weights):
    """The program of a case, a product of (1, 7) and (5, 7), with other weights."""
    small = program.read(CASES / name / "model.pte")
    sizes = {
        (5, 7): (ROWS, COLUMNS),
        (1, 7): (1, COLUMNS),
        (7, 5): (COLUMNS, ROWS),
        (1, 5): (1, ROWS),
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


class FaultyEmulator:
    """An emulator's line that loses, flips and adds bytes; an ember.hil.line.Line."""

    needs_firmware = True
    options = "--transport uart"

    def __init__(self, rate=0.0, burst_every=0):
        self.rate = rate
        self.burst_every = burst_every
        self.wire = None

    def run(self, board, firmware, stream, limit_s):
        with emulated.started(board, firmware) as running:
            self.wire = FaultyWire(running.wire, self.rate, 5, self.burst_every)
            return line.talk(self.wire, stream, limit_s)
