# SPDX-License-Identifier: Apache-2.0
"""A float model and samples -> what plain quantisation after training would compute.

Weights have a scale for each output channel, the results of layers a range from the
least to the largest number in the samples; all arithmetic stays float.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Sequence
from typing import Any

import torch

# operator: its weights' argument, and the dimension of the output channels
_PRODUCTS = {
    "conv1d": (1, 0),
    "conv2d": (1, 0),
    "linear": (1, 0),
    "conv_transpose1d": (1, 1),
    "conv_transpose2d": (1, 1),
    "addmm": (2, 1),
    "matmul": (1, -1),
}
_FUSED = {
    "batch_norm",
    "_native_batch_norm_legit_no_training",
    "relu",
    "relu_",
    "relu6",
    "hardtanh",
    "hardtanh_",
    "clamp",
}
_BEFORE = {*_PRODUCTS, "batch_norm", "add"}
_MOVE_NAMES = """
    view reshape permute transpose flatten unflatten squeeze unsqueeze slice select
    chunk split split_with_sizes contiguous clone expand expand_as pad dropout alias
    copy_ getitem max_pool1d max_pool2d to pixel_shuffle numpy_T mT detach
    amax adaptive_max_pool1d adaptive_max_pool2d constant_pad_nd
"""
_MOVES = frozenset(_MOVE_NAMES.split())
_HIDDEN = -1e3  # a mask


def _name(node: Any) -> str:
    return getattr(node.target, "__name__", str(node.target)).partition(".")[0]


class Simulated(torch.fx.Interpreter):  # type: ignore[misc]
    """A graph that first observes ranges, then rounds."""

    def __init__(self, model: torch.nn.Module, sample: tuple[Any, ...]) -> None:
        program = torch.export.export(model, sample, strict=False)
        aten = torch.ops.aten
        recurrent = torch._decomp.get_decompositions([aten.lstm.input, aten.gru.input])
        if any(n.target in recurrent for n in program.graph.nodes):
            program = program.run_decompositions(recurrent)
        super().__init__(copy.deepcopy(program.module(check_guards=False)))
        self.ranges: dict[str, tuple[float, float]] = {}
        self.rounds = False
        self.varying: set[Any] = set()
        nodes = self.module.graph.nodes
        states = {
            n.args[0] for n in nodes if n.op == "call_function" and "copy_" in _name(n)
        }
        states = {n.target for n in states}
        for node in nodes:
            is_given = node.op == "placeholder" or (
                node.op == "get_attr" and node.target in states
            )
            if is_given or self.varying & set(node.all_input_nodes):
                self.varying.add(node)

    def run_node(self, n: Any) -> Any:
        if n.op == "call_function" and n in self.varying:
            args, kwargs = self.fetch_args_kwargs_from_env(n)
            if _name(n) == "scaled_dot_product_attention":
                value = self.attention(n.name, *args, **kwargs)
            elif _name(n) == "view":  # strides can be others than in the export
                value = args[0].reshape(args[1])
            else:
                value = n.target(*self.weighted(n, args), **kwargs)
        else:
            value = super().run_node(n)
        return self.held(n.name, value) if self.is_result(n) else value

    def is_result(self, n: Any) -> bool:
        """Whether a node's numbers are those of a whole layer."""
        if n.op == "placeholder":
            return True
        if n.op != "call_function" or n not in self.varying or _name(n) in _MOVES:
            return False
        users = list(n.users)
        is_fused = len(users) == 1 and _name(users[0]) in _FUSED
        return not (is_fused and _name(n) in _BEFORE)

    def weighted(self, n: Any, args: Sequence[Any]) -> list[Any]:
        """Arguments with rounded weights."""
        given = list(args)
        at, dim = _PRODUCTS.get(_name(n), (0, 0))
        if at and _name(n) == "matmul" and n.args[1] in self.varying:
            at, dim = 0, -2
        if not self.rounds or _name(n) not in _PRODUCTS or n.args[at] in self.varying:
            return given
        weight, dim = given[at], dim % given[at].dim()
        groups = given[6] if _name(n).startswith("conv_tr") and len(given) > 6 else 1
        parts = weight.unflatten(0, (groups, -1)) if groups > 1 else weight[None]
        others = [d for d in range(1, parts.dim()) if d != dim + 1]
        scale = parts.abs().amax(others, keepdim=True).clamp(min=1e-9) / 127
        given[at] = ((parts / scale).round() * scale).reshape(weight.shape)
        return given

    def attention(
        self,
        name: str,
        q: Any,
        k: Any,
        v: Any,
        mask: Any = None,
        dropout: float = 0.0,
        causal: bool = False,
        scale: Any = None,
        **_: Any,
    ) -> Any:
        scores = q @ k.mT * (q.shape[-1] ** -0.5 if scale is None else scale)
        scores = self.held(f"{name} scores", scores)
        if causal:
            mask = torch.ones(scores.shape[-2:], dtype=torch.bool).tril()
        if mask is not None and mask.dtype == torch.bool:
            mask = torch.zeros(mask.shape).masked_fill(~mask, -math.inf)
        scores = scores if mask is None else scores + mask
        return self.held(f"{name} weights", scores.softmax(-1)) @ v

    def held(self, name: str, value: Any) -> Any:
        """A result as its range has it."""
        if not isinstance(value, torch.Tensor) or not value.is_floating_point():
            return value
        if not self.rounds:
            low, high = self.ranges.get(name, (0.0, 0.0))
            self.ranges[name] = (
                min(low, float(value.min())),
                max(high, float(value.max())),
            )
            return value
        low, high = self.ranges[name]
        if low < _HIDDEN or low == high:
            return value
        scale = (high - low) / 255
        zero = round(-low / scale)
        return ((value / scale).round().clamp(-zero, 255 - zero)) * scale


def outputs(
    model: Any, samples: Sequence[Any], given: Sequence[Any]
) -> list[list[Any]]:
    """Of each call in a row, after calibration by samples."""
    flat = torch.utils._pytree.tree_leaves
    simulated = Simulated(model, samples[0])
    states = {key: b.clone() for key, b in simulated.module.named_buffers()}
    with torch.no_grad():
        for sample in samples:
            simulated.run(*sample)
        for key, value in simulated.module.named_buffers():
            value.copy_(states[key])
        simulated.rounds = True
        return [flat(simulated.run(*sample)) for sample in given]


def ratio_db(exact: Sequence[Sequence[Any]], given: Sequence[Sequence[Any]]) -> float:
    """Signal to noise in dB of the worst output, over all calls."""
    worst = math.inf
    for right, got in zip(
        zip(*exact, strict=True), zip(*given, strict=True), strict=True
    ):
        a, b = (
            torch.stack([torch.as_tensor(x).double() for x in xs])
            for xs in (right, got)
        )
        noise = float(((a - b) ** 2).sum())
        signal = float((a**2).sum())
        worst = min(worst, 10 * math.log10(signal / noise) if noise else 99.0)
    return worst
