# SPDX-License-Identifier: Apache-2.0
"""Small networks quantised by PT2E and torchao, all of it run by portable kernels."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn

from corpus.case import Case, Exported
from corpus.modules import Net
from corpus.networks import mlp
from corpus.operators import quantized_module


def small_cnn() -> nn.Module:
    """Convolutions, a residual addition and a classifier."""

    def forward(m: Any, x: torch.Tensor) -> torch.Tensor:
        y = torch.relu(m.first(x))
        y = y + torch.relu(m.deep(y))
        return m.last(y.mean((2, 3)))

    return Net(
        forward,
        first=nn.Conv2d(2, 6, 3, padding=1),
        deep=nn.Conv2d(6, 6, 3, padding=1, groups=6),
        last=nn.Linear(6, 4),
    )


def small_mlp() -> nn.Module:
    return mlp(12, 16, 5)


def small_text() -> nn.Module:
    return nn.Sequential(nn.Embedding(10, 64), nn.Linear(64, 3))


def pt2e(model: nn.Module, sample: tuple[Any, ...], **config: Any) -> nn.Module:
    """Quantise as for XNNPACK; nothing is lowered."""
    from executorch.backends.xnnpack.quantizer import xnnpack_quantizer
    from torchao.quantization.pt2e import allow_exported_model_train_eval
    from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e

    chosen = xnnpack_quantizer.get_symmetric_quantization_config(**config)
    quantizer = xnnpack_quantizer.XNNPACKQuantizer().set_global(chosen)
    graph = torch.export.export(model.eval(), sample, strict=True)
    prepared = prepare_pt2e(graph.module(check_guards=False), quantizer)
    for _ in range(4):
        prepared(*(torch.randn_like(x) for x in sample))
    return allow_exported_model_train_eval(convert_pt2e(prepared))


def network(name: str, factory: Any, shape: tuple[int, ...], **config: Any) -> Case:
    """A quantised network, named model_<name>_small."""

    def build() -> Exported:
        sample = (torch.randn(shape),)
        graph = pt2e(factory(), sample, **config)
        # a sum that ends in another last bit can round to the next integer
        return quantized_module(graph, sample, rtol=1e-4, atol=2e-2)

    return Case(f"model_{name}_small", build)


def text(bits: int, groups: int | None, symmetric: bool) -> Case:
    """nn.Embedding with weights quantised by torchao, fused by ExecuTorch."""

    def build() -> Exported:
        from torchao.quantization.granularity import PerAxis, PerGroup
        from torchao.quantization.quant_api import (
            IntxWeightOnlyConfig,
            MappingType,
            quantize_,
        )

        model = small_text().eval()
        mapping = MappingType.SYMMETRIC if symmetric else MappingType.ASYMMETRIC
        config = IntxWeightOnlyConfig(
            weight_dtype=getattr(torch, f"int{bits}"),
            granularity=PerGroup(groups) if groups else PerAxis(0),
            mapping_type=mapping,
        )
        quantize_(model, config, lambda m, _: isinstance(m, nn.Embedding))
        return quantized_module(model, (torch.tensor([1, 9, 0]),), fuse=True)

    return Case(f"model_text_{bits}bit_small", build)


CASES = [
    network("cnn_int8", small_cnn, (1, 2, 8, 8), is_per_channel=True),
    network("cnn_int8_tensor", small_cnn, (1, 2, 8, 8), is_per_channel=False),
    network("mlp_int8", small_mlp, (3, 12), is_per_channel=True),
    network(
        "mlp_int8_dynamic", small_mlp, (3, 12), is_per_channel=True, is_dynamic=True
    ),
    text(8, 32, True),
    text(4, None, False),
    text(2, 32, True),
]
