# SPDX-License-Identifier: Apache-2.0
"""PyTorch modules -> programs lowered to XNNPACK, with the pip package's outputs.

Expected outputs are those of XNNPACK itself, which executorch's wheel runs on the
host: sums of products must have its bits, so PyTorch's would be too far.
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
from corpus.exporting import eager_runs, program_files
from corpus.quantized_networks import pt2e

# How the weights of a module's layers are made; "float" leaves them.
FORMS = ("float", "static", "static_tensor", "dynamic", "int4", "int4_32", "int4_128")


def quantised(module: nn.Module, sample: tuple[Any, ...], form: str) -> nn.Module:
    """The module in one of FORMS."""
    if form == "float":
        return module
    if form.startswith("int4_"):
        return in_groups(module, int(form.partition("_")[2]))
    options: dict[str, Any] = {"is_per_channel": form != "static_tensor"}
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
    partition: dict[str, Any] | None = None,
    **config: Any,
) -> dict[str, bytes]:
    """The files of a program whose layers XNNPACK runs."""
    graph = quantised(module.eval(), sample, form)
    return lowered_graph(graph, sample, form, dynamic, partition, **config)


def lowered_graph(
    graph: nn.Module,
    sample: tuple[Any, ...],
    form: str,
    dynamic: Any = None,
    partition: dict[str, Any] | None = None,
    **config: Any,
) -> dict[str, bytes]:
    """The same of a module that is quantised already."""
    program = export(graph, copy.deepcopy(sample), dynamic_shapes=dynamic)
    edge = to_edge_transform_and_lower(
        program, partitioner=partitioners(form, **(partition or {}))
    )
    return program_files(edge.to_executorch(ExecutorchBackendConfig(**config)))


def partitioners(
    form: str, precisions: Sequence[str] = (), **options: Any
) -> list[Any]:
    """Those that ExecuTorch's documentation gives for a form; `options` and the names
    of `precisions` are the settings of XnnpackPartitioner."""
    from executorch.backends.xnnpack.partition.config.xnnpack_config import (
        ConfigPrecisionType,
    )
    from executorch.backends.xnnpack.partition.xnnpack_partitioner import (
        XnnpackDynamicallyQuantizedPartitioner,
        XnnpackPartitioner,
    )

    if precisions:
        options["config_precisions"] = [
            ConfigPrecisionType[precision] for precision in precisions
        ]
    chosen = [XnnpackPartitioner(**options)]
    if not precisions and (form == "dynamic" or form.startswith("int4")):
        chosen.insert(0, XnnpackDynamicallyQuantizedPartitioner())
    return chosen


@contextmanager
def quiet() -> Iterator[None]:
    """The runtime describes the host on standard error."""
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
    eager: bool = False,
    **config: Any,
) -> Exported:
    """Lower a module by its first sample; every sample is a run. Outputs are those of
    PyTorch when `eager`, else of executorch's own runtime."""
    graph = quantised(module.eval(), samples[0], form)
    files = lowered_graph(graph, samples[0], form, dynamic, **config)
    runs = eager_runs(graph, samples) if eager else reference(files, samples)
    return Exported(files, runs, rtol, atol)
