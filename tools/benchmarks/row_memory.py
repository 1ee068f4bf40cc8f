# SPDX-License-Identifier: Apache-2.0
"""What models need in RAM with whole tensors, row by row, and fed, for docs/memory.md.

Bytes are those of planned memory with the scratch of kernels; instructions, of a run.
Models are exported where they lack, or made with random weights.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from benchmarks import markdown, models
from ember import boards, model, paths
from ember.cases import inputs
from ember.firmware import Options, build, jobs
from ember.firmware.pipeline import Pipeline
from ember.model import Model
from ember.run import run

CORES = {"m4": "mps2-an386", "m55": "mps3-an547"}
Mode = Literal["off", "smallest", "fed"]
Made = Callable[[str], Model]  # of a core


@dataclass(frozen=True)
class Table:
    head: tuple[str, ...]
    modes: tuple[Mode, ...]
    rows: Sequence[tuple[str, Made]]
    timed: bool  # whether its last column says how many instructions more


@dataclass(frozen=True)
class Cost:
    """A model on a board."""

    model: str
    type: str
    core: str
    mode: str
    bytes: int
    instructions: int | None


def tables() -> list[Table]:
    # Their programs are the tests', which need no PyTorch.
    sys.path.insert(0, str(paths.root() / "tests" / "shared"))
    import row_networks

    def floats(name: str) -> Made:
        return lambda _: model.read(models.exported(f"model_{name}"))

    def int8(name: str) -> Made:
        return lambda core: model.read(models.exported(f"int8_{name}_{core}"))

    v1, v2 = row_networks.mobilenet_v1, row_networks.mobilenet_v2
    inception = row_networks.inception_like
    u_net = "U-Net, 64 x 64, 8 to 32 channels"
    blocks = "three blocks of Inception, 64 x 64"
    small = [
        ("ResNet8", int8("resnet8")),
        ("DS-CNN", int8("ds_cnn")),
        ("MobileNetV1 0.25, 96 x 96", lambda _: v1(0.25, 96)),
        ("MobileNetV2 0.35, 96 x 96", lambda _: v2(0.35, 96)),
        (u_net, lambda _: row_networks.u_net_like(64, 8, 16, 32)),
        (blocks, lambda _: inception(64)),
        (f"{blocks}, float32 input", lambda _: inception(64, floats=True)),
    ]
    wide = [
        ("ResNet8", floats("resnet8")),
        ("MobileNetV1 0.25, 96 x 96", floats("mobilenet_v1")),
        (u_net, floats("unet_64")),
    ]
    fed = [*small[2:4], ("MobileNetV2 1.0, 224 x 224", lambda _: v2(1.0, 224))]
    columns = ("whole tensors", "`--rows smallest`", "instructions")
    what = "bytes with scratch, M4 / M55"
    return [
        Table((f"int8, {what}", *columns), ("off", "smallest"), small, timed=True),
        Table((f"float32, {what}", *columns), ("off", "smallest"), wide, timed=True),
        Table(
            (f"int8 by rows, {what}", "`smallest`", "`fed`"),
            ("smallest", "fed"),
            fed,
            timed=False,
        ),
    ]


def measure(folder: Path, every: Sequence[Table], pattern: str = "") -> list[Cost]:
    """Of the models with `pattern` in their names."""
    return [
        _cost(folder, table, title, models(core), core, mode)
        for table in every
        for title, models in table.rows
        if pattern in title
        for core in CORES
        for mode in table.modes
    ]


def _cost(
    folder: Path, table: Table, title: str, program: Model, core: str, mode: Mode
) -> Cost:
    board = boards.load(CORES[core])
    options = Options(rows=mode)
    (chosen,) = Pipeline(jobs.make([program], board, options, None)).chosen
    planned = sum(method.planned_bytes for method in chosen.model.program.methods)
    took = planned + chosen.selection.scratch
    kind = table.head[0].partition(",")[0]
    count = _instructions(folder, program, core, options) if table.timed else None
    return Cost(title, kind, core, mode, took, count)


def _instructions(
    folder: Path, program: Model, core: str, options: Options
) -> int | None:
    path = folder / "model.pte"
    path.write_bytes(program.content)
    built = build(path, CORES[core], options=options, out=folder / "firmware")
    return run.run(built, inputs.zeros(built.methods[0]), trace=False).execute


# ---- the page ------------------------------------------------------------------------


def updated(page: str, every: Sequence[Table], costs: Sequence[Cost]) -> str:
    """The page with these tables in place of those of the same first column."""
    tables = {f"| {x.head[0]} |": _markdown(x, costs) for x in every}
    return markdown.updated(page, tables)


def _markdown(table: Table, costs: Sequence[Cost]) -> str:
    kind = table.head[0].partition(",")[0]
    rows = []
    for title, _ in table.rows:
        of_kind = [c for c in costs if (c.model, c.type) == (title, kind)]
        by_mode = [[c for c in of_kind if c.mode == mode] for mode in table.modes]
        cells = [_joined(f"{c.bytes:,}" for c in each) for each in by_mode]
        more = [
            f"{100 * (b.instructions / a.instructions - 1):+.0f} %".replace("+", "+ ")
            for a, b in zip(*by_mode, strict=True)
            if a.instructions and b.instructions
        ]
        rows.append([title, *cells, *([_joined(more)] if table.timed else [])])
    return markdown.table(table.head, rows, len(table.head))


def _joined(cells: Iterable[str]) -> str:
    """Of M4 and M55."""
    return " / ".join(cells)
