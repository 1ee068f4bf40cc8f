# SPDX-License-Identifier: Apache-2.0
"""What whole firmware of models costs: flash, RAM, instructions, by board."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from committed_cases import path_of

from benchmarks.core import BOARDS
from ember import paths
from ember.cases import inputs
from ember.errors import SdkError
from ember.firmware import Built, Options, build
from ember.run import run

MODELS = (
    "model_mlp_small",
    "model_autoencoder_small",
    "model_lenet_small",
    "model_ds_cnn_small",
    "model_resnet8_small",
    "model_encoder_small",
    "model_lstm_small",
)
# Exported on demand by tools/export_corpus.py: the models of MLPerf Tiny, whole.
WHOLE_MODELS = ("mlp", "mlp_folded", "resnet8", "ds_cnn", "mobilenet_v1")


@dataclass(frozen=True)
class ModelCost:
    name: str
    core: str  # a key of BOARDS
    calls: int
    program: int  # bytes, as everything up to `stack`
    code: int  # with constants and .data
    arena: int  # values and node states
    planned: int  # tensors, and the scratch of kernels
    stack: int
    load: int  # instructions
    execute: int
    macs: int


def measure(folder: Path) -> list[ModelCost]:
    """Builds and runs every model on every board; `folder` takes what is built."""
    cases = [path_of(name) for name in MODELS]
    return [_cost(case, core, folder / core) for case in cases for core in BOARDS]


def measure_whole(folder: Path) -> list[ModelCost]:
    """The same of the whole models, which are exported first where they lack."""
    cases = [exported(f"model_{name}") for name in WHOLE_MODELS]
    return [_cost(case, core, folder / core) for case in cases for core in BOARDS]


def exported(name: str) -> Path:
    """A case of the corpus, exported where it lacks."""
    case = paths.cache() / "corpus" / name
    if not (case / "model.pte").is_file():
        tool = paths.root() / "tools" / "export_corpus.py"
        words = [sys.executable, str(tool), "--out", str(case.parent)]
        done = subprocess.run(
            [*words, "-k", f"^{name}$"], check=False, capture_output=True
        )
        if done.returncode != 0:
            raise SdkError(f"cannot export {name}: see {tool.name} -k {name}")
    return case


def executed(
    case: Path,
    board: str,
    out: Path,
    options: Options | None = None,
    *,
    cycles: bool = False,
) -> tuple[Built, run.RunLog]:
    """A case as firmware, and its first run."""
    built = build(case, board, options=options or Options(), out=out)
    given = inputs.of_case(case)
    method = built.methods[0]
    laid_out = inputs.lay_out(method, given.given) if given else inputs.zeros(method)
    return built, run.run(built, laid_out, cycles=cycles)


def _cost(case: Path, core: str, folder: Path) -> ModelCost:
    built = build(case, BOARDS[core], out=folder / case.name)
    log = run.run(built, inputs.zeros(built.methods[0]), trace=False)
    size = built.sizes["size"]
    method_arena = built.sizes["method_arena"]
    return ModelCost(
        name=case.name.removeprefix("model_").removesuffix("_small"),
        core=core,
        calls=sum(len(chain.instructions) for chain in built.methods[0].chains),
        program=size["model"],
        code=size["code"] + size["rodata"] + size["data"],
        arena=method_arena,
        planned=size["arena"] - method_arena,
        stack=log.stack_used or 0,
        load=log.load or 0,
        execute=log.execute or 0,
        macs=sum(node.macs or 0 for node in log.nodes),
    )
