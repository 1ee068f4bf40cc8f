"""Products with parameters become linear layers, which take in factors and norms."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ember.export.canonical.editing import (
    aten,
    call,
    constant,
    hold,
    is_call,
    only_user,
    replace,
    shape,
)
from ember.export.graph import first, named, rest
from ember.export.packages import need

# ---- products with a parameter -------------------------------------------------------


def to_linear(module: Any) -> None:
    """x @ parameter, parameter @ x, and addmm(bias, x, parameter)."""
    ops = aten()
    for node in list(module.graph.nodes):
        if is_call(node, ops.matmul.default, ops.mm.default):
            _product(module, node)
        elif is_call(node, ops.addmm.default):
            _sum_of_product(module, node)


def _product(module: Any, node: Any) -> None:
    ops = aten()
    left, right = node.args
    weights = constant(module, right)
    if weights is not None and weights.dim() == 2 and len(shape(left)) >= 2:
        held = hold(module, node, f"{right.target}_rows", weights.t().contiguous())
        replace(node, ops.linear.default, (left, held))
        return
    weights = constant(module, left)
    if weights is not None and weights.dim() == 2 and len(shape(right)) >= 2:
        turned = call(node, ops.transpose.int, (right, -2, -1))
        product = call(node, ops.linear.default, (turned, left))
        replace(node, ops.transpose.int, (product, -2, -1))


def _sum_of_product(module: Any, node: Any) -> None:
    given = named(node)
    weights, bias = constant(module, given["mat2"]), constant(module, given["self"])
    plain = given["beta"] == given["alpha"] == 1
    if weights is None or bias is None or bias.dim() != 1 or not plain:
        return
    name = f"{given['mat2'].target}_rows"
    held = hold(module, node, name, weights.t().contiguous())
    replace(node, aten().linear.default, (given["mat1"], held, given["self"]))


# ---- what follows a product and acts on each channel ---------------------------------


@dataclass(frozen=True)
class Affine:
    """x * factor + shift, with numbers or tensors of a number for each channel."""

    factor: Any
    shift: Any

    @property
    def is_number(self) -> bool:
        """Whether it multiplies everything by one number."""
        return self.factor.numel() == 1 and not bool(self.shift.any())


def absorb(module: Any) -> None:
    """Multiplies and shifts the weights of products by what follows them."""
    for node in list(module.graph.nodes):
        x, affine = _affine(module, node)
        if affine is None:
            continue
        product = _product_before(x, affine)
        if product is not None and _take_in(module, product, affine):
            node.replace_all_uses_with(x)
            module.graph.erase_node(node)
        elif is_call(node, aten().batch_norm.default) and len(shape(x)) == 4:
            _as_depthwise(module, node, affine)


def _affine(module: Any, node: Any) -> tuple[Any, Affine | None]:
    """What a node is applied to, and what it does to each channel if only that."""
    torch, ops = need("torch"), aten()
    if is_call(node, ops.batch_norm.default):
        return first(node), _of_norm(module, named(node))
    if not is_call(
        node, ops.mul.Tensor, ops.div.Tensor, ops.add.Tensor, ops.sub.Tensor
    ):
        return None, None
    left, right = node.args
    x, other = (left, right) if _is_tensor(module, left) else (right, left)
    if not _is_tensor(module, x) or _is_tensor(module, other):
        return None, None
    numbers = _numbers(module, other, x)
    alpha = node.kwargs.get("alpha", 1)
    if numbers is None or shape(x) != shape(node):
        return None, None
    one, zero = torch.ones(()), torch.zeros(())
    if is_call(node, ops.mul.Tensor):
        return x, Affine(numbers, zero)
    if is_call(node, ops.div.Tensor):
        return (x, Affine(1 / numbers, zero)) if x is left else (None, None)
    if is_call(node, ops.add.Tensor):
        scaled = alpha == 1 or x is left
        return (x, Affine(one, numbers * alpha)) if scaled else (None, None)
    if x is left:
        return x, Affine(one, -numbers * alpha)
    return (x, Affine(-one, numbers)) if alpha == 1 else (None, None)


def _is_tensor(module: Any, value: Any) -> bool:
    """Whether an argument is computed at run time."""
    return hasattr(value, "op") and constant(module, value) is None


def _numbers(module: Any, value: Any, x: Any) -> Any | None:
    """A constant as one number, or as one for each channel of x."""
    torch = need("torch")
    if isinstance(value, bool | int | float):
        return torch.tensor(float(value))
    tensor = constant(module, value)
    if tensor is None or not tensor.is_floating_point():
        return None
    if tensor.numel() == 1:
        return tensor.reshape(())
    axis = _channel_axis(x)
    sizes = [1] * (len(shape(x)) - tensor.dim()) + list(tensor.shape)
    others = [size for at, size in enumerate(sizes) if at != axis]
    plain = len(sizes) == len(shape(x)) and all(size == 1 for size in others)
    return tensor.reshape(-1) if plain else None


def _channel_axis(x: Any) -> int:
    """Of a product's filters; the last dimension of what is not known to be a
    convolution."""
    return 1 if is_call(x, *_convolutions()) else len(shape(x)) - 1


def _of_norm(module: Any, given: Any) -> Affine | None:
    torch = need("torch")
    tensors = [
        None if given[name] is None else constant(module, given[name])
        for name in ("weight", "bias", "running_mean", "running_var")
    ]
    weight, bias, mean, variance = tensors
    if given["training"] or mean is None or variance is None:
        return None
    factor = torch.rsqrt(variance + given["eps"])
    if weight is not None:
        factor = factor * weight
    shift = -mean * factor
    return Affine(factor, shift if bias is None else shift + bias)


def _convolutions() -> tuple[Any, ...]:
    ops = aten()
    return (
        ops.conv1d.default,
        ops.conv2d.default,
        ops.conv_transpose1d.default,
        ops.conv_transpose2d.input,
    )


def _product_before(x: Any, affine: Affine) -> Any | None:
    """The product whose result x is, or from which x only moves numbers."""
    ops = aten()
    moves = (
        *(ops.view.default, ops.reshape.default, ops.flatten.using_ints),
        *(ops.unflatten.int, ops.transpose.int, ops.permute.default),
        *(ops.unsqueeze.default, ops.squeeze.dim, ops.squeeze.dims),
        *(ops.contiguous.default, ops.clone.default, ops.expand.default),
        *(ops.matmul.default, ops.bmm.default),
    )
    while only_user(x):
        if is_call(x, ops.linear.default, *_convolutions()):
            return x
        if not affine.is_number or not is_call(x, *moves):
            return None
        x = first(x)
    return None


def _take_in(module: Any, product: Any, affine: Affine) -> bool:
    torch, given = need("torch"), named(product)
    weights = constant(module, given["weight"])
    bias = None if given["bias"] is None else constant(module, given["bias"])
    if weights is None or (bias is None) != (given["bias"] is None):
        return False
    transposed = "transpose" in str(product.target)
    groups = given.get("groups", 1)
    filters = weights.shape[1] * groups if transposed else weights.shape[0]
    factor = affine.factor.expand(filters)
    if transposed:
        rows = factor.reshape(groups, 1, -1)
        split = weights.reshape(groups, -1, *weights.shape[1:])
        sizes = [*rows.shape, *[1] * (weights.dim() - 2)]
        scaled = (split * rows.reshape(sizes)).reshape(weights.shape)
    else:
        scaled = weights * factor.reshape(-1, *[1] * (weights.dim() - 1))
    shifted = torch.zeros(filters) if bias is None else bias * factor
    shifted = shifted + affine.shift
    held = hold(module, product, given["weight"].target, scaled)
    arguments = [first(product), held, *rest(product)[1:]]
    if bias is not None or bool(shifted.any()):
        name = f"{given['weight'].target}_bias"
        named_bias = name if bias is None else given["bias"].target
        arguments[2:3] = [hold(module, product, named_bias, shifted)]
    product.args = tuple(arguments)
    return True


def _as_depthwise(module: Any, node: Any, affine: Affine) -> None:
    """A norm without a product before it is a depthwise convolution of 1 x 1."""
    channels, name = shape(node)[1], named(node)["running_mean"].target
    weights = affine.factor.reshape(channels, 1, 1, 1)
    held = hold(module, node, f"{name}_weight", weights)
    bias = hold(module, node, f"{name}_bias", affine.shift)
    arguments = (first(node), held, bias, [1, 1], [0, 0], [1, 1], channels)
    replace(node, aten().conv2d.default, arguments)
