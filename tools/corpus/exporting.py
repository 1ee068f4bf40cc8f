# SPDX-License-Identifier: Apache-2.0
"""PyTorch modules -> ExecuTorch programs with the outputs of eager PyTorch."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from executorch.exir import (
    EdgeCompileConfig,
    ExecutorchBackendConfig,
    ExecutorchProgramManager,
    to_edge,
)
from executorch.exir.passes.constant_prop_pass import constant_prop_pass
from torch.export import export
from torch.utils import _pytree as pytree

from corpus.case import Case, Exported, Run
from corpus.inputs import made
from corpus.modules import Apply


def eager_runs(
    module: torch.nn.Module, samples: Sequence[tuple[Any, ...]]
) -> list[Run]:
    """Run the samples in order on a copy of the module, state included."""
    copied = copy.deepcopy(module)
    return [eager_run("forward", copied, sample) for sample in samples]


def eager_run(
    method: str, function: Callable[..., Any], sample: tuple[Any, ...]
) -> Run:
    """Run once; the values in the result are flat copies."""
    inputs = copy.deepcopy(sample)
    outputs = function(*sample)
    return Run(method, _flat(inputs), _flat(outputs))


def _flat(tree: Any) -> list[Any]:
    leaves = pytree.tree_flatten(tree)[0]
    return [x.clone() if isinstance(x, torch.Tensor) else x for x in leaves]


def lowered(
    programs: torch.export.ExportedProgram | Mapping[str, torch.export.ExportedProgram],
    config: ExecutorchBackendConfig | None = None,
    edge: EdgeCompileConfig | None = None,
    fold: bool = False,
) -> ExecutorchProgramManager:
    """Take exported programs to ExecuTorch."""
    compiled = to_edge(programs, compile_config=edge or EdgeCompileConfig())
    if fold:  # there is no public way to pass a program through a pass here
        for name, program in compiled._edge_programs.items():
            compiled._edge_programs[name] = constant_prop_pass(program)
    return compiled.to_executorch(config or ExecutorchBackendConfig())


def program_files(manager: ExecutorchProgramManager) -> dict[str, bytes]:
    """Return model.pte and every .ptd of a lowered program."""
    files = {"model.pte": bytes(manager.buffer)}
    for name, content in manager._tensor_data.items():
        files[f"{name}.ptd"] = bytes(content)
    return files


def exported_module(
    module: torch.nn.Module,
    *samples: tuple[Any, ...],
    dynamic: Any = None,
    config: ExecutorchBackendConfig | None = None,
    edge: EdgeCompileConfig | None = None,
    fold: bool = False,
    rtol: float | None = None,
    atol: float | None = None,
) -> Exported:
    """Export a module by its first sample and run every sample in eager PyTorch.

    With `fold`, what depends on constants only is computed by the exporter.
    """
    module.eval()
    runs = eager_runs(module, samples)
    program = export(module, copy.deepcopy(samples[0]), dynamic_shapes=dynamic)
    files = program_files(lowered(program, config, edge, fold))
    tolerance = {"rtol": rtol, "atol": atol}
    given = {k: v for k, v in tolerance.items() if v is not None}
    return Exported(files, runs, **given)


def op(name: str, function: Callable[..., Any], *recipes: Any, **options: Any) -> Case:
    """A case of one function, named op_<name>."""
    return layer(name, lambda: Apply(function), *recipes, **options)


def layer(
    name: str, factory: Callable[[], torch.nn.Module], *recipes: Any, **options: Any
) -> Case:
    """A case of one module, named op_<name>; made after the seed is set."""
    committed = options.pop("committed", True)

    def build() -> Exported:
        return exported_module(factory(), made(recipes), **options)

    return Case(f"op_{name}", build, committed)
