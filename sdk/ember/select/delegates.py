"""The loader's report on a delegate becomes its needs: kernels, scratch, weights.

Sizes are in bytes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

# ember_xnn_refusal_t of backends/xnnpack/graph/graph.h.
_REFUSALS = {
    1: "groups are not supported",
    2: "the board's vectors are too short to be faster",
    4: "it supports only 3 x 3 windows with one output per channel",
    8: "too few channels",
    16: "its weights are not constant",
    32: "with these scales, sums would not be exact",
    64: "rounding sums to float16 is slower there",
}


@dataclass(frozen=True)
class PackedWeights:
    """Weights in the layout of the kernel that reads them."""

    name: str  # under which the backend looks for them in a program
    data: bytes
    scales: bool  # they hold their scales, too


@dataclass(frozen=True)
class NodeKernel:
    """The kernel that runs a node of a delegate's graph."""

    kernel: str
    variant: str  # pf32_gemm, ...; empty where there is no such name
    packed: PackedWeights | None = None  # what it would rather have than its weights
    refused: tuple[str, ...] = ()  # why kernels that were tried before did not take it
    row: bool = False  # a product of one row
    others: tuple[str, ...] = ()  # that run it on lesser cores, of firmware that asks

    def to_json(self) -> dict[str, Any]:
        return {"kernel": self.kernel, "variant": self.variant}


@dataclass(frozen=True)
class DelegateNeeds:
    nodes: tuple[NodeKernel, ...]
    values: int  # scratch for what lives between nodes
    bound: int  # the most of it that is alive at once
    work: int  # scratch of the node that takes most beside it

    def to_json(self) -> dict[str, int]:
        return {"values": self.values, "bound": self.bound, "work": self.work}


def needs(facts: Mapping[str, Any], packed: bytes) -> DelegateNeeds:
    """Of a delegate in the loader's answer; `packed` is what it put into a file."""
    return DelegateNeeds(
        nodes=tuple(_node(node, packed) for node in facts["nodes"]),
        **{name: facts[name] for name in ("values", "bound", "work")},
    )


def _node(facts: Mapping[str, Any], packed: bytes) -> NodeKernel:
    weights = facts.get("packed")
    return NodeKernel(
        facts["kernel"],
        facts["variant"],
        weights
        and PackedWeights(
            weights["name"],
            packed[weights["offset"] : weights["offset"] + weights["size"]],
            bool(weights["scales"]),
        ),
        tuple(text for bit, text in _REFUSALS.items() if facts["refusals"] & bit),
        bool(facts["row"]),
    )
