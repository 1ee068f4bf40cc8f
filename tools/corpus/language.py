# SPDX-License-Identifier: Apache-2.0
"""Operators of ExecuTorch's exporter of language models, and a small decoder that it
exported. They need what `executorch.extension.llm` needs beside PyTorch."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import torch
from executorch.exir import ExecutorchBackendConfig
from executorch.exir.passes.init_mutable_pass import InitializedMutableBufferPass
from torch import Tensor, nn

from corpus.case import Case, Exported
from corpus.exporting import eager_runs, exported_module, program_files

SIZES = {"dim": 16, "n_layers": 1, "n_heads": 4, "n_kv_heads": 2, "vocab_size": 48}
CONTEXT = 16  # tokens


def llama(name: str) -> Callable[..., Any]:
    """An operator, which is registered when it is first called."""

    def function(*arguments: Any) -> Any:
        from executorch.extension.llm.custom_ops import custom_ops  # noqa: F401

        return getattr(torch.ops.llama, name)(*arguments)

    return function


# ---- caches --------------------------------------------------------------------------


class Cached(nn.Module):
    """Writes rows into a buffer from a position on, and gives the buffer."""

    def __init__(self, dtype: torch.dtype, batches: int) -> None:
        super().__init__()
        self.register_buffer("cache", torch.zeros(batches, 6, 2, 3, dtype=dtype))

    def forward(self, value: Tensor, position: Tensor) -> Tensor:
        start = position.item()
        torch._check(start >= 0)
        torch._check(start <= 4)
        llama("update_cache")(value, self.cache, start)
        return self.cache + 0


def cached(dtype: torch.dtype, batches: int) -> Exported:
    def sample(position: int) -> tuple[Tensor, Tensor]:
        value = torch.randint(-9, 9, (batches, 2, 2, 3)).to(dtype)
        return value, torch.tensor(position)

    zeros = [InitializedMutableBufferPass(["cache"])]
    config = ExecutorchBackendConfig(passes=zeros)
    samples = map(sample, (0, 2, 4, 1))
    return exported_module(Cached(dtype, batches), *samples, config=config)


# ---- a decoder -----------------------------------------------------------------------


def decoder() -> Exported:
    """ExecuTorch's own Llama, with random weights: a prompt, then token by token."""
    from executorch.examples.models.llama.export_llama_lib import (
        _export_llama,
        _prepare_for_llama_export,
    )
    from executorch.extension.llm.export.config import llm_config

    config = llm_config.LlmConfig()
    config.model.use_kv_cache = config.model.use_sdpa_with_kv_cache = True
    config.model.dtype_override = llm_config.DtypeOverride.fp32
    config.export.max_seq_length = config.export.max_context_length = CONTEXT
    with tempfile.TemporaryDirectory() as folder:
        params = Path(folder) / "params.json"
        sizes = {**SIZES, "norm_eps": 1e-5, "multiple_of": 16, "rope_theta": 1e4}
        params.write_text(json.dumps(sizes), encoding="utf-8")
        config.base.params, config.export.output_dir = str(params), folder
        torch.manual_seed(0)
        module = _prepare_for_llama_export(config).model
        torch.manual_seed(0)
        manager = _export_llama(config).export_program
    prompt = torch.tensor([[7, 21, 3, 40, 11]])
    samples = [(prompt, {"input_pos": torch.tensor([0])})]
    for position, token in enumerate((5, 42, 9), prompt.shape[1]):
        at = torch.tensor([position])
        samples.append((torch.tensor([[token]]), {"input_pos": at}))
    return Exported(program_files(manager), eager_runs(module, samples))


def words() -> Iterator[Case]:
    for tag, dtype in (("f32", torch.float32), ("s8", torch.int8)):
        yield Case(f"op_update_cache_{tag}", partial(cached, dtype, 2))
    yield Case("model_llama_small", decoder)


CASES = list(words())
