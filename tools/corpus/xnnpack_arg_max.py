# SPDX-License-Identifier: Apache-2.0
"""ArgMaxPooling2d, which XNNPACK's partitioner has a visitor for and no configuration:
lowered by one written here, with the type of its places that the runtime expects."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import torch
from executorch.exir import to_edge_transform_and_lower
from torch import nn

from corpus.case import Case, Exported
from corpus.exporting import program_files
from corpus.xnnpack import reference


class Largest(nn.Module):
    """The largest of a direction of images, and where it is."""

    def __init__(self, dim: int) -> None:
        super().__init__()
        self.dim = dim

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        largest, place = torch.max(x, self.dim, keepdim=True)
        return largest, place


@contextmanager
def places_are_int32() -> Iterator[None]:
    """The visitor calls the places float32, which XNNPACK refuses."""
    from executorch.backends.xnnpack.operators.node_visitor import NodeVisitor
    from executorch.backends.xnnpack.serialization.xnnpack_graph_schema import (
        XNNDatatype,
    )

    kept = NodeVisitor.get_serialized_dtype

    def datatype(self: Any, params: Any, node: Any, *more: Any, **named: Any) -> Any:
        value = node.meta.get("val")
        if isinstance(value, torch.Tensor) and value.dtype == torch.int64:
            return XNNDatatype.xnn_datatype_int32
        return kept(self, params, node, *more, **named)

    NodeVisitor.get_serialized_dtype = datatype
    try:
        yield
    finally:
        NodeVisitor.get_serialized_dtype = kept


def partitioner() -> Any:
    from executorch.backends.xnnpack.partition.config import generic_node_configs
    from executorch.backends.xnnpack.partition.config.xnnpack_config import (
        ConfigPrecisionType,
    )
    from executorch.backends.xnnpack.partition.xnnpack_partitioner import (
        XnnpackPartitioner,
    )

    class ArgMaxConfig(generic_node_configs.GenericNodePartitionerConfig):
        target_name = "max.dim"

        def supported_precision_types(self) -> list[Any]:
            return [ConfigPrecisionType.FP32]

        def check_constraints(self, node: Any, ep: Any) -> bool:
            return True

        def get_node_and_deps(self, node: Any, ep: Any) -> list[Any]:
            return [node, *node.users]

    return XnnpackPartitioner(configs=[ArgMaxConfig])


def built(dim: int) -> Exported:
    # Numbers of which some are equal: the first counts.
    images = torch.randint(-9, 9, (2, 2, 5, 4, 6)).float()
    samples = [(image.to(memory_format=torch.channels_last),) for image in images]
    exported = torch.export.export(Largest(dim).eval(), samples[0])
    with places_are_int32():
        edge = to_edge_transform_and_lower(exported, partitioner=[partitioner()])
        files = program_files(edge.to_executorch())
    return Exported(files, reference(files, samples), 0.0, 0.0)


CASES = [Case(f"xnnpack_arg_max_{dim}", partial(built, dim)) for dim in (2, 3)]
