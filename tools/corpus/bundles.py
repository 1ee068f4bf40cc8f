# SPDX-License-Identifier: Apache-2.0
"""Bundled programs (.bpte): the program together with its inputs and outputs."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import torch
from executorch.devtools import BundledProgram
from executorch.devtools.bundled_program.config import MethodTestCase, MethodTestSuite
from executorch.devtools.bundled_program.serialize import (
    serialize_from_bundled_program_to_flatbuffer,
)
from torch import nn
from torch.export import export

from corpus.case import Case, Exported
from corpus.exporting import eager_runs, lowered
from corpus.inputs import channels_last, f32, made, whole
from corpus.modules import Apply
from corpus.networks import lenet, mlp
from ember.export import cases, flows
from ember.export.calibration import Calibration
from ember.export.flows import Backend, Quantize
from ember.export.source import Source


def bundled(module: nn.Module, *samples: tuple[Any, ...]) -> Exported:
    """Export a module and bundle every sample with eager PyTorch's outputs."""
    module.eval()
    runs = eager_runs(module, samples)
    manager = lowered(export(copy.deepcopy(module), samples[0]))
    tests = [
        MethodTestCase(inputs=list(run.inputs), expected_outputs=list(run.outputs))
        for run in runs
    ]
    bundle = BundledProgram(manager, [MethodTestSuite("forward", tests)])
    content = serialize_from_bundled_program_to_flatbuffer(bundle)
    return Exported({"model.bpte": bytes(content)})


def by_flow(
    model: nn.Module,
    samples: Sequence[tuple[Any, ...]],
    quantize: Quantize | None = None,
) -> Exported:
    """The same by a flow of `ember export`, each call after the one before it: portable
    operators, or int8 for Cortex-M."""
    backend: Backend = "cortex_m" if quantize else "portable"
    source = Source(Path(__file__), model.eval(), samples[0], tuple(samples))
    lowering = flows.lower(
        source, backend, quantize, "cortex-m55", Calibration(samples)
    )
    outputs = lowering.outputs([lowering.prepare(sample) for sample in samples])
    return Exported({"model.bpte": cases.bundled(lowering, samples, outputs)})


def bundle(
    name: str, factory: Callable[[], nn.Module], *samples: tuple[Any, ...]
) -> Case:
    """A case named bundle_<name>."""
    return Case(
        f"bundle_{name}",
        lambda: bundled(factory(), *(made(sample) for sample in samples)),
    )


def both(x: torch.Tensor, n: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """A float and an integer output."""
    return torch.tanh(x), n * 3


CASES = [
    bundle("mlp", lambda: mlp(6, 5, 3), (f32(1, 6),), (f32(1, 6),)),
    bundle("lenet", lambda: lenet(2), (f32(1, 1, 28, 28),)),
    bundle(  # whose dim order has two names: in the program, and in the bundle
        "one_channel",
        lambda: nn.Conv2d(1, 2, 3).to(memory_format=torch.channels_last),
        (channels_last(f32(1, 1, 8, 6)),),
    ),
    bundle("two_outputs", lambda: Apply(both), (f32(2, 3), whole(4))),
]
