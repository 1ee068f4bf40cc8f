# SPDX-License-Identifier: Apache-2.0
"""What whole firmware of small models costs: flash, RAM, instructions, by board."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from benchmarks.core import BOARDS
from ember import build, inputs, paths, run

MODELS = (
    "model_mlp_small",
    "model_autoencoder_small",
    "model_lenet_small",
    "model_ds_cnn_small",
    "model_resnet8_small",
    "model_encoder_small",
    "model_lstm_small",
)


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


def measure(folder: Path) -> list[ModelCost]:
    """Builds and runs every model on every board; `folder` takes what is built."""
    return [_cost(name, core, folder / core) for name in MODELS for core in BOARDS]


def _cost(name: str, core: str, folder: Path) -> ModelCost:
    case = paths.root() / "tests" / "cases" / name
    built = build.build(case, BOARDS[core], out=folder / name)
    log = run.run(built, inputs.zeros(built.methods[0]), trace=False)
    size = built.sizes["size"]
    method_arena = built.sizes["method_arena"]
    return ModelCost(
        name=name.removeprefix("model_").removesuffix("_small"),
        core=core,
        calls=sum(len(chain.instructions) for chain in built.methods[0].chains),
        program=size["model"],
        code=size["code"] + size["rodata"] + size["data"],
        arena=method_arena,
        planned=size["arena"] - method_arena,
        stack=log.stack_used or 0,
        load=log.load or 0,
        execute=log.execute or 0,
    )
