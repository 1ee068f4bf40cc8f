# SPDX-License-Identifier: Apache-2.0
"""PyTorch modules -> programs lowered to XNNPACK, with the pip package's outputs.

Expected outputs are those of XNNPACK itself, which executorch's wheel runs on this
computer: sums of products must have its bits, so PyTorch's would be too far.
"""

from __future__ import annotations

import copy
import os
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch
from executorch.exir import ExecutorchBackendConfig, to_edge_transform_and_lower
from torch import nn
from torch.export import export

from corpus.case import Exported, Run
from corpus.exporting import program_files
from corpus.quantized_networks import pt2e

# How the weights of a module's layers are made; "float" leaves them.
FORMS = ("float", "static", "static_tensor", "dynamic", "int4", "int4_32", "int4_128")


def quantised(module: nn.Module, sample: tuple[Any, ...], form: str) -> nn.Module:
    """The module in one of FORMS."""
    if form == "float":
        return module
    if form.startswith("int4_"):
        return in_groups(module, int(form.partition("_")[2]))
    options = {"is_per_channel": form != "static_tensor"}
    options["is_dynamic"] = not form.startswith("static")
    if form == "int4":
        options |= {"weight_qmin": -8, "weight_qmax": 7}
    return pt2e(module, sample, **options)


def in_groups(module: nn.Module, size: int) -> nn.Module:
    """Linear layers with int4 weights; `size` elements share a scale."""
    from torchao.quantization.granularity import PerGroup
    from torchao.quantization.quant_api import (
        Int8DynamicActivationIntxWeightConfig,
        quantize_,
    )

    module = copy.deepcopy(module)
    config = Int8DynamicActivationIntxWeightConfig(
        weight_dtype=torch.int4, weight_granularity=PerGroup(size)
    )
    quantize_(module, config)
    return module


def lowered(
    module: nn.Module,
    sample: tuple[Any, ...],
    form: str = "float",
    dynamic: Any = None,
    **config: Any,
) -> dict[str, bytes]:
    """The files of a program whose layers XNNPACK runs."""
    from executorch.backends.xnnpack.partition.xnnpack_partitioner import (
        XnnpackDynamicallyQuantizedPartitioner,
        XnnpackPartitioner,
    )

    partitioners = [XnnpackPartitioner()]
    if form == "dynamic" or form.startswith("int4"):
        partitioners.insert(0, XnnpackDynamicallyQuantizedPartitioner())
    graph = quantised(module.eval(), sample, form)
    program = export(graph, copy.deepcopy(sample), dynamic_shapes=dynamic)
    edge = to_edge_transform_and_lower(program, partitioner=partitioners)
    return program_files(edge.to_executorch(ExecutorchBackendConfig(**config)))


@contextmanager
def quiet() -> Iterator[None]:
    """The runtime tells about this computer on standard error."""
    kept = os.dup(2)
    with Path(os.devnull).open("w", encoding="utf-8") as nowhere:
        os.dup2(nowhere.fileno(), 2)
        try:
            yield
        finally:
            os.dup2(kept, 2)
            os.close(kept)


def reference(files: dict[str, bytes], samples: Sequence[tuple[Any, ...]]) -> list[Run]:
    """What executorch's own runtime puts out."""
    from executorch.extension.pybindings import portable_lib

    with tempfile.TemporaryDirectory() as folder, quiet():
        path = Path(folder) / "model.pte"
        path.write_bytes(files["model.pte"])
        module = portable_lib._load_for_executorch(str(path))
        return [
            Run("forward", list(sample), [y.clone() for y in module.forward(sample)])
            for sample in samples
        ]


def exported(
    module: nn.Module,
    *samples: tuple[Any, ...],
    form: str = "float",
    dynamic: Any = None,
    rtol: float = 0.0,
    atol: float = 0.0,
    **config: Any,
) -> Exported:
    """Lower a module by its first sample; every sample is a run."""
    files = lowered(module, samples[0], form, dynamic, **config)
    return Exported(files, reference(files, samples), rtol, atol)
