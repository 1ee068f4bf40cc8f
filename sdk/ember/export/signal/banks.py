"""A constant matrix becomes the ranges of its columns that are not zero."""

from __future__ import annotations

from typing import Any

import numpy as np

from ember.export.packages import need
from ember.export.signal import operators
from ember.files.tensors import Array

_DENSE = 0.5  # of a matrix: with more in its ranges it stays one


def ranges(matrix: Array) -> tuple[Array, Array]:
    """First rows and lengths, (columns, 2) int32, and the numbers of all ranges."""
    bands, numbers = [], []
    for column in matrix.T:
        rows = np.flatnonzero(column)
        first, past = (rows[0], rows[-1] + 1) if len(rows) else (0, 0)
        bands.append((first, past - first))
        numbers.append(column[first:past])
    return np.array(bands, np.int32), np.concatenate(numbers)


def of(matrix: Array) -> tuple[Array, Array] | None:
    """The ranges; None where most of the matrix lies in one."""
    bands, numbers = ranges(matrix)
    return None if numbers.size > _DENSE * matrix.size else (bands, numbers)


def fold(module: Any) -> None:
    """Let products of a graph by such constants from the right take their ranges."""
    torch = need("torch")
    products = (torch.ops.aten.mm.default, torch.ops.aten.matmul.default)
    for node in list(module.graph.nodes):
        if node.target not in products or node.args[1].op != "get_attr":
            continue
        matrix = node.args[1]
        if set(matrix.users) != {node} or matrix.meta["val"].dim() != 2:
            continue
        owner, name = _place(module, matrix.target)
        value = getattr(owner, name).detach()
        bank = of(value.numpy()) if value.dtype == torch.float32 else None
        if bank is not None:
            _replace(module, node, bank)
            delattr(owner, name)
    module.recompile()


def _replace(module: Any, node: Any, bank: tuple[Array, Array]) -> None:
    torch = need("torch")
    rows, matrix = node.args
    with module.graph.inserting_before(node):
        parts = []
        for what, array in zip(("bands", "weights"), bank, strict=True):
            name = f"{what}_of_{matrix.target.replace('.', '_')}"
            module.register_buffer(name, torch.from_numpy(array))
            parts.append(module.graph.get_attr(name))
        product = operators.defined().band_mm.default
        banded = module.graph.call_function(product, (rows, *parts))
    banded.meta = dict(node.meta)
    node.replace_all_uses_with(banded)
    module.graph.erase_node(node)
    module.graph.erase_node(matrix)


def _place(module: Any, name: str) -> tuple[Any, str]:
    """The module that holds an attribute, and its name there."""
    *path, last = name.split(".")
    for part in path:
        module = getattr(module, part)
    return module, last
