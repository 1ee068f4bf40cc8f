"""Calls that multiply and add constants become a factor and an offset of channels."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ember.export.canonical.editing import constant, name, shape
from ember.export.graph import first, named
from ember.export.packages import need

_NUMBERS = ("mul", "div", "add", "sub", "rsub", "neg")


@dataclass(frozen=True)
class ChannelScaling:
    """x * factor + offset; each has no dimension, or that of the channels."""

    factor: Any
    offset: Any

    @property
    def is_scalar(self) -> bool:
        return bool(self.factor.dim() == self.offset.dim() == 0)


def of(module: Any, node: Any, x: Any, axis: int) -> ChannelScaling | None:
    """What a node computes of x, whose channels are the dimension `axis`; None if that
    is more than a factor and an offset of constants."""
    if name(node) == "batch_norm.default":
        is_of_x = first(node) is x and axis % len(shape(x)) == 1
        return _of_batch_norm(module, named(node)) if is_of_x else None
    if name(node).partition(".")[0] not in _NUMBERS or shape(node) != shape(x):
        return None
    return _of_arithmetic(module, node, x, axis % len(shape(x)))


def _of_batch_norm(module: Any, given: Mapping[str, Any]) -> ChannelScaling | None:
    torch = need("torch")
    if given.get("training"):
        return None
    mean, var = (
        constant(module, given[key]) for key in ("running_mean", "running_var")
    )
    if mean is None or var is None:
        return None
    weight, bias = (constant(module, given[key]) for key in ("weight", "bias"))
    factor = torch.rsqrt(var.double() + given["eps"])
    factor = factor if weight is None else factor * weight
    offset = -mean * factor
    offset = offset if bias is None else offset + bias
    return ChannelScaling(factor, offset)


def _of_arithmetic(module: Any, node: Any, x: Any, axis: int) -> ChannelScaling | None:
    torch = need("torch")
    kind = name(node).partition(".")[0]
    unit = torch.ones((), dtype=torch.float64)
    if kind == "neg":
        return ChannelScaling(-unit, 0 * unit)
    given = named(node)
    left, right, alpha = given["self"], given["other"], given.get("alpha", 1)
    if kind == "rsub":  # other - alpha * self
        kind, left, right = "sub", right, left
    is_left = left is x
    value = _along(module, right if is_left else left, len(shape(x)), axis)
    if is_left == (right is x) or given.get("rounding_mode") or value is None:
        return None
    if kind == "div":
        return ChannelScaling(1 / value, 0 * unit) if is_left and value.all() else None
    if kind == "mul":
        return ChannelScaling(value, 0 * unit)
    sign = alpha if kind == "add" else -alpha
    return (
        ChannelScaling(unit, value * sign)
        if is_left
        else ChannelScaling(unit * sign, value)
    )


def _along(module: Any, given: Any, rank: int, axis: int) -> Any:
    """A constant as one number, or as a number for each channel; None if it is more."""
    torch = need("torch")
    if isinstance(given, bool):
        return None
    if isinstance(given, int | float):
        return torch.tensor(float(given), dtype=torch.float64)
    value = constant(module, given)
    if value is None or not value.is_floating_point():
        return None
    if value.numel() == 1:
        return value.double().reshape(())
    sizes = [1] * (rank - value.dim()) + list(value.shape)
    if len(sizes) != rank or sizes[axis] != value.numel():
        return None
    return value.double().reshape(-1)
