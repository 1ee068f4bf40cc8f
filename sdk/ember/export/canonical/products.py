"""Products with constants become linear layers, which take what surrounds them into
their weights: numbers, factors of channels and batch norms."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ember.export.canonical import affine
from ember.export.canonical.affine import ChannelScaling
from ember.export.canonical.editing import (
    call,
    calls,
    constant,
    hold,
    is_float,
    last,
    name,
    only_user,
    replace,
    shape,
)
from ember.export.graph import first, named, rest
from ember.export.packages import need

# ---- products of matrices ------------------------------------------------------------


_MATRICES = ("matmul.default", "mm.default", "addmm.default", "bmm.default")


def to_linear(module: Any) -> None:
    """x @ W, W @ x and addmm with constants become linear layers; other products of
    matrices products of batches."""
    forms = {"addmm": _of_addmm, "bmm": _of_batch}
    for node in calls(module, _MATRICES):
        if not is_float(node):
            continue
        kind = name(node).partition(".")[0]
        by = forms.get(kind, _of_product)(module, node)
        if by is not None:
            replace(module, node, by)


def _of_product(module: Any, node: Any) -> Any:
    left, right = node.args
    weights = constant(module, right)
    if weights is not None and weights.dim() == 2 and len(shape(left)) > 1:
        rows = hold(module, weights.t().contiguous(), node)
        return call(module, node, "linear.default", left, rows)
    weights = constant(module, left)
    if weights is not None and weights.dim() == 2 and len(shape(right)) > 1:
        turned = call(module, node, "transpose.int", right, -1, -2)
        rows = hold(module, weights.contiguous(), node)
        columns = call(module, node, "linear.default", turned, rows)
        return call(module, node, "transpose.int", columns, -1, -2)
    if len(shape(left)) == len(shape(right)) == 2:
        batches = [call(module, node, "unsqueeze.default", x, 0) for x in (left, right)]
        product = call(module, node, "bmm.default", *batches)
        return call(module, node, "squeeze.dim", product, 0)
    return _of_constants(module, node)


def _of_batch(module: Any, node: Any) -> Any:
    """A batch of one matrix times a constant."""
    left, right = node.args
    weights = constant(module, right)
    if weights is None or len(weights) != 1:
        return _of_constants(module, node)
    rows = hold(module, weights[0].t().contiguous(), node)
    return call(module, node, "linear.default", left, rows)


def _of_constants(module: Any, node: Any) -> Any:
    """A constant matrix for each batch, such as learned queries of attention, as
    filters of one group of channels each."""
    left, right = node.args
    values = constant(module, left)
    if values is not None:
        return _in_groups(module, node, values, right)
    values = constant(module, right)
    if values is None:
        return None
    turned = call(module, node, "transpose.int", left, -1, -2)
    product = _in_groups(module, node, values.transpose(-1, -2), turned)
    return product and call(module, node, "transpose.int", product, -1, -2)


def _in_groups(module: Any, node: Any, values: Any, x: Any) -> Any:
    *batches, rows, inner = values.shape
    *others, _, columns = shape(x)
    if batches != others:
        return None
    groups = need("torch").Size(batches).numel()
    image = call(module, node, "reshape.default", x, [1, groups * inner, 1, columns])
    filters = values.reshape(groups * rows, inner, 1, 1)
    weight = hold(module, last(filters), node)
    pairs = ([1, 1], [0, 0], [1, 1])
    product = call(module, node, "conv2d.default", image, weight, None, *pairs, groups)
    return call(module, node, "reshape.default", product, [*batches, rows, columns])


def _of_addmm(module: Any, node: Any) -> Any:
    given = named(node)
    weights, bias = constant(module, given["mat2"]), constant(module, given["self"])
    if weights is None or bias is None or bias.numel() != weights.shape[1]:
        return None
    rows = hold(module, (weights.t() * given["alpha"]).contiguous(), node)
    offset = hold(module, (bias * given["beta"]).reshape(-1), node)
    return call(module, node, "linear.default", given["mat1"], rows, offset)


# ---- what surrounds them -------------------------------------------------------------


_PRODUCTS = {"linear.default": -1, "conv2d.default": 1, "conv_transpose2d.input": 1}
_MOVES = (
    "view.default",
    "reshape.default",
    "permute.default",
    "transpose.int",
    "unflatten.int",
    "flatten.using_ints",
    "squeeze.dim",
    "squeeze.dims",
    "unsqueeze.default",
    "contiguous.default",
    "clone.default",
)


@dataclass(frozen=True)
class _Layer:
    """A product with constant weights."""

    node: Any
    weight: Any
    bias: Any  # None: zeros

    @property
    def axis(self) -> int:
        """The dimension of the channels of its result."""
        return _PRODUCTS[name(self.node)]

    def with_affine(self, module: Any, applied: ChannelScaling) -> None:
        """Computes x * factor + offset of its result itself."""
        weight = self.weight.double()
        channels = shape(self.node)[self.axis]
        bias = weight.new_zeros(channels) if self.bias is None else self.bias.double()
        factor = applied.factor.expand(channels)
        self.set(
            module,
            _rows_times(self.node, weight, factor),
            bias * factor + applied.offset,
        )

    def of_affine(self, module: Any, x: Any, applied: ChannelScaling) -> None:
        """Takes x instead of x * factor + offset, along its last dimension."""
        weight = self.weight.double()
        bias = (
            weight.new_zeros(len(weight)) if self.bias is None else self.bias.double()
        )
        moved = (weight * applied.offset).sum(1)
        self.set(module, weight * applied.factor, bias + moved)
        self.node.args = (x, *rest(self.node))

    def set(self, module: Any, weight: Any, bias: Any) -> None:
        wide = weight.to(self.weight.dtype)
        is_image = wide.dim() == 4
        rows = hold(module, last(wide) if is_image else wide.contiguous(), self.node)
        offset = hold(module, bias.to(self.weight.dtype), self.node)
        self.node.args = (first(self.node), rows, offset, *rest(self.node)[2:])


def _rows_times(node: Any, weight: Any, factor: Any) -> Any:
    """Weights with each output's multiplied by its factor."""
    if name(node) != "conv_transpose2d.input":
        return weight * factor.reshape(-1, *[1] * (weight.dim() - 1))
    groups = named(node)["groups"]
    parts = weight.unflatten(0, (groups, -1))
    by = factor.reshape(groups, 1, -1, *[1] * (weight.dim() - 2))
    return (parts * by).flatten(0, 1)


def _layers(module: Any) -> Iterator[_Layer]:
    for node in calls(module, tuple(_PRODUCTS)):
        layer = _layer(module, node)
        if layer is not None:
            yield layer


def _layer(module: Any, node: Any) -> _Layer | None:
    if name(node) not in _PRODUCTS or not is_float(node):
        return None
    given = named(node)
    weight, bias = constant(module, given["weight"]), constant(module, given["bias"])
    if weight is None or (given["bias"] is not None and bias is None):
        return None
    return _Layer(node, weight, bias)


def absorb(module: Any) -> None:
    """Takes numbers, factors of channels and batch norms into the products before them,
    or behind; those that are left become depthwise convolutions."""
    _absorb_behind(module)
    for node in list(module.graph.nodes):
        is_used = node.op == "call_function" and node.users and is_float(node)
        if is_used and (_ahead(module, node) or _depthwise(module, node)):
            _absorb_behind(module)


def _absorb_behind(module: Any) -> None:
    for node in calls(module, tuple(_PRODUCTS)):
        while (layer := _layer(module, node)) and _absorbed(module, layer):
            pass


def _absorbed(module: Any, layer: _Layer) -> bool:
    """Whether what follows a layer was taken into it."""
    before, after, is_moved = layer.node, only_user(layer.node), False
    while after is not None and name(after) in _MOVES:
        before, after, is_moved = after, only_user(after), True
    if after is None:
        return False
    axis = 0 if is_moved else layer.axis
    applied = affine.of(module, after, before, axis)
    if applied is None or (is_moved and not applied.is_scalar):
        return False
    layer.with_affine(module, applied)
    replace(module, after, before)
    return True


def _ahead(module: Any, node: Any) -> bool:
    """Whether a factor and an offset of the last dimension went into linear layers
    behind."""
    x = _varying(module, node)
    users = list(node.users)
    if x is None or not all(name(user) == "linear.default" for user in users):
        return False
    applied = affine.of(module, node, x, 1 if len(shape(x)) == 2 else -1)
    layers = [_layer(module, user) for user in users]
    if applied is None or applied.is_scalar or None in layers:
        return False
    for layer in layers:
        if layer is not None:
            layer.of_affine(module, x, applied)
    return True


def _varying(module: Any, node: Any) -> Any:
    """The one input of a node that is not a constant; None if there are more."""
    given = [x for x in node.all_input_nodes if constant(module, x) is None]
    return given[0] if len(given) == 1 else None


def _depthwise(module: Any, node: Any) -> bool:
    """Whether a factor and an offset for each channel became a convolution."""
    x = _varying(module, node)
    if x is None or len(shape(x)) not in (2, 4) or not is_float(x):
        return False
    applied = affine.of(module, node, x, 1)
    if applied is None or applied.is_scalar:
        return False
    channels = shape(x)[1]
    image = (
        x
        if len(shape(x)) == 4
        else call(module, node, "reshape.default", x, [*shape(x), 1, 1])
    )
    wide = applied.factor.expand(channels).float().reshape(-1, 1, 1, 1)
    weight = hold(module, last(wide), node)
    bias = hold(module, applied.offset.expand(channels).float(), node)
    pairs = ([1, 1], [0, 0], [1, 1])
    result = call(module, node, "conv2d.default", image, weight, bias, *pairs, channels)
    if image is not x:
        result = call(module, node, "reshape.default", result, list(shape(x)))
    replace(module, node, result)
    return True
