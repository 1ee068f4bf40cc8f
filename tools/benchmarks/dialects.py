# SPDX-License-Identifier: Apache-2.0
"""What layers of Cadence's dialect take beside those of cortex_m, whose products they
share: instructions of an execution, packets on Hexagon.

Every program runs on the host first, and boards must give its bits. They run it as
a build packs it for them: after all passes, with weights in the order of their kernels.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import case_tables
import numpy as np

from benchmarks import cadence_layers, hvx_layers, markdown
from benchmarks.hvx_layers import Convolution, Layer, Linear
from ember import boards, cases, program
from ember import model as models
from ember.boards import Board
from ember.errors import SdkError
from ember.files.tensors import DType
from ember.firmware import jobs
from ember.firmware.pipeline import Pipeline
from ember.run import testing

BOARDS = ("mps2-an386", "mps3-an547", "qemu-a64", "qemu-a64-sme", "hexagon-v68")
LAYERS: tuple[Layer, ...] = (
    Convolution(16, 16, 16, 16),
    Convolution(64, 64, 8, 8),
    Convolution(64, 64, 8, 8, kernel=1),
    Convolution(3, 16, 20, 20),
    Convolution(16, 32, 16, 16, stride=2),
    Convolution(20, 24, 9, 11, dilation=2),
    Convolution(32, 32, 12, 12, depthwise=True),
    Convolution(24, 24, 12, 12, stride=2, depthwise=True),
    Convolution(24, 36, 12, 12, groups=3),
    Linear(1, 256, 128),
    Linear(1, 100, 200),
    Linear(16, 64, 64),
)
# One after the other, as in a network.
CHAIN = (
    Convolution(3, 16, 20, 20),
    Convolution(16, 16, 20, 20, depthwise=True),
    Convolution(16, 32, 20, 20, kernel=1),
    Convolution(32, 32, 20, 20, stride=2),
)
CHAIN_TITLE = "four convolutions, one after the other"
_SEED = 11
TITLE = "## Cost beside cortex_m"


@dataclass(frozen=True)
class Cost:
    """A layer on a board."""

    layer: str
    board: str
    cortex_m: int
    last: int  # of the dialect, channels innermost; of a linear layer the only one
    first: int | None  # channels first

    @property
    def ratios(self) -> tuple[float, float | None]:
        """Of both layouts, channels innermost before channels first."""
        first = None if self.first is None else self.first / self.cortex_m
        return self.last / self.cortex_m, first


def measure(folder: Path, names: Iterable[str] = BOARDS) -> list[Cost]:
    programs = dict(_programs(folder))
    counts: dict[tuple[str, str], int] = {}
    for board in map(boards.load, names):
        packed = [
            cases.Found(name, _packed(path, board)) for name, path in programs.items()
        ]
        for outcome in testing.test(packed, [board], jobs=1):
            if outcome.status != "passed":
                raise SdkError(f"{outcome.name} on {outcome.board}: {outcome.message}")
            counts[outcome.name, outcome.board] = outcome.instructions or 0
    return [
        Cost(
            title,
            board,
            counts[f"{title} cortex_m", board],
            counts[f"{title} last", board],
            counts.get((f"{title} first", board)),
        )
        for title in (*(layer.title for layer in LAYERS), CHAIN_TITLE)
        for board in names
    ]


def _programs(folder: Path) -> Iterable[tuple[str, Path]]:
    contents = {layer.title: _contents(layer) for layer in LAYERS}
    contents[CHAIN_TITLE] = {
        "cortex_m": hvx_layers.chained(CHAIN),
        "last": cadence_layers.chained(CHAIN, last=True),
        "first": cadence_layers.chained(CHAIN, last=False),
    }
    for title, forms in contents.items():
        for form, content in forms.items():
            name = f"{title} {form}"
            yield name, _case(folder / re.sub(r"\W+", "_", name), content)


def _contents(layer: Layer) -> dict[str, bytes]:
    forms = {
        "cortex_m": hvx_layers.written(layer),
        "last": cadence_layers.written(layer, last=True),
    }
    if isinstance(layer, Convolution):
        forms["first"] = cadence_layers.written(layer, last=False)
    return forms


def _packed(case: Path, board: Board) -> Path:
    """The case with its program as a build for a board packs it."""
    job = jobs.make([models.read(case)], board, jobs.Options(), None)
    (chosen,) = Pipeline(job).chosen
    folder = case.with_name(f"{case.name}_{board.name}")
    shutil.copytree(case, folder)
    (folder / cases.MODEL).write_bytes(chosen.model.content)
    return folder


def _case(folder: Path, content: bytes) -> Path:
    """Boards must give what the host gives."""
    model = program.parse(content)
    sizes = model.methods[0].input_tensors[0].sizes
    given = np.random.default_rng(_SEED).integers(-128, 128, sizes, np.int8)
    run = cases.Run("forward", (cases.CaseTensor(DType.INT8, given),), ())
    case = case_tables.of_program(folder.name, model, [run], rtol=0, atol=0)
    ((output, *_),), _ = testing.outputs(case, boards.load("host"))
    assert isinstance(output, cases.CaseTensor)
    whole = replace(case, runs=(replace(run, outputs=(output,)),))
    return case_tables.folder_of(whole, folder)


# ---- the table of the page -----------------------------------------------------------


def table(costs: Sequence[Cost]) -> str:
    """A row for each layer, a column for each board."""
    names = list(dict.fromkeys(cost.board for cost in costs))
    rows: dict[str, list[str]] = {}
    for cost in costs:
        last, first = cost.ratios
        text = f"{last:.2f}" + ("" if first is None else f" / {first:.2f}")
        rows.setdefault(cost.layer, []).append(text)
    head = ["Layer", *(f"`{name}`" for name in names)]
    return markdown.table(head, [[layer, *rows[layer]] for layer in rows], left=1)
