# SPDX-License-Identifier: Apache-2.0
"""What int8 models of the Cortex-M flow cost: instructions, code, RAM, load, by core.

The small ones are committed and have a baseline, with the instructions of each
operator, so that what got worse names the kernel. The whole ones are exported.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from committed_cases import path_of

from benchmarks import models
from ember.firmware import Options, build
from ember.run import profile

# Board of each core, and the target that its programs are exported for.
CORES = {
    "m3": ("mps2-an385", "m0"),
    "m4": ("mps2-an386", "m4"),
    "m7": ("mps2-an500", "m4"),
    "m33": ("mps2-an505", "m4"),
    "m55": ("mps3-an547", "m55"),
}
WHOLE = (
    *("resnet8", "ds_cnn", "mobilenet_v1", "autoencoder"),
    *("mobilenet_v2", "lstm", "gru"),
)
SMALL = ("resnet8", "ds_cnn", "mobilenet", "autoencoder", "lstm", "gru")
CHECKED = ("m4", "m55")
LIMIT = 1.02
SLACK = 64  # instructions of an operator that may come and go
_BASELINE = Path(__file__).with_name("int8.json")
_FIGURES = ("execute", "load", "code", "ram", "prepared")


@dataclass(frozen=True)
class Cost:
    name: str
    core: str
    macs: int
    execute: int  # instructions
    load: int | None
    code: int  # bytes, with constants and .data
    program: int
    ram: int  # .data, .bss, tensors, states, scratch, the stack that was used
    prepared: int  # bytes of code of the same firmware with --prepared
    prepared_program: int
    kernels: Mapping[str, int]  # instructions by operator and its kernels


def measure_whole(folder: Path, cores: Iterable[str] = CORES) -> list[Cost]:
    """Every whole model on every core; exports what lacks."""
    return [
        _cost(models.exported(f"int8_{name}_{CORES[core][1]}"), name, core, folder)
        for name in WHOLE
        for core in cores
    ]


def measure_small(folder: Path) -> list[Cost]:
    """The committed models on the cores that are checked."""
    return [
        _cost(path_of(f"int8_{name}_small_{core}"), name, core, folder)
        for name in SMALL
        for core in CHECKED
    ]


def _cost(case: Path, name: str, core: str, folder: Path) -> Cost:
    board, out = CORES[core][0], folder / f"{name}_{core}"
    built, log = models.executed(case, board, out)
    measured = profile.of_run(log)
    prepared = out.with_name(f"{out.name}_prepared")
    twin = build(case, board, out=prepared, options=Options(prepared=True))
    size, smaller = built.sizes["size"], twin.sizes["size"]
    return Cost(
        name=name,
        core=core,
        macs=sum(row.macs for row in measured.operators),
        execute=measured.execute,
        load=measured.load,
        code=_code(size),
        program=size["model"],
        ram=size["data"] + size["bss"] + size["arena"] + (log.stack_used or 0),
        prepared=_code(smaller),
        prepared_program=smaller["model"],
        kernels={title(row): row.instructions for row in measured.operators},
    )


def _code(size: Mapping[str, int]) -> int:
    return size["code"] + size["rodata"] + size["data"]


def title(row: profile.Row) -> str:
    return f"{row.name}: {', '.join(row.kernels)}"


# ---- the baseline --------------------------------------------------------------------


def write_baseline(costs: Iterable[Cost]) -> None:
    rows = [asdict(cost) for cost in costs]
    _BASELINE.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")


def baseline() -> list[Cost]:
    rows = json.loads(_BASELINE.read_text(encoding="utf-8"))
    return [Cost(**row) for row in rows]


def worse(costs: Iterable[Cost], before: Iterable[Cost]) -> list[str]:
    """A sentence for each figure that is more than 2 % above the baseline."""
    old = {(cost.name, cost.core): cost for cost in before}
    known = [(cost, old.get((cost.name, cost.core))) for cost in costs]
    return [word for now, was in known if was is not None for word in _worse(now, was)]


def _worse(now: Cost, before: Cost) -> list[str]:
    """What got worse in a model; of its instructions, because of which kernels."""
    sentences = []
    where = f"int8 {now.name} on {now.core.upper()}"
    for figure in _FIGURES:
        old, new = getattr(before, figure), getattr(now, figure)
        if new > old * LIMIT:
            sentence = f"{where}: {figure} is {new:,}, was {old:,}"
            reasons = slower(now.kernels, before.kernels) if figure == "execute" else []
            sentences.append("; ".join([sentence, *reasons]))
    if not any("execute" in sentence for sentence in sentences):
        sentences += [
            f"{where}: {sentence}" for sentence in slower(now.kernels, before.kernels)
        ]
    return sentences


def slower(now: Mapping[str, int], before: Mapping[str, int]) -> list[str]:
    """The kernels that take more than 2 % more, or that are new for their operator."""
    operators = {name.split(": ")[0]: count for name, count in before.items()}
    sentences = []
    for name, new in now.items():
        old = operators.get(name.split(": ")[0])
        if old is not None and new > old * LIMIT + SLACK:
            sentences.append(f"{name} takes {new:,}, was {old:,}")
    return sentences
