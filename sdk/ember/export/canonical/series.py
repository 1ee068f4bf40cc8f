"""1-D layers become layers of images of height 1, and so does what is between them.

A tensor (n, channels, length) becomes (n, channels, 1, length). Images are in
channels_last, for which the integer kernels are.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ember.export.canonical.editing import (
    call,
    constant,
    hold,
    is_float,
    last,
    name,
    replace,
    shape,
)
from ember.export.canonical.pointwise import POINTWISE
from ember.export.graph import first, named, rest
from ember.export.packages import need


def to_images(module: Any) -> None:
    for node in list(module.graph.nodes):
        if node.op == "call_function" and is_float(node):
            _step(module, node)


def _step(module: Any, node: Any) -> None:
    """Replaces a call by a squeezed one on images, if it is a 1-D layer, or if it is
    applied to what is one already."""
    kind = name(node).partition(".")[0]
    x = node.all_input_nodes[0] if node.all_input_nodes else None
    if x is None or len(shape(x)) != 3:
        return
    if kind in _LAYERS:
        replace(module, node, _flat(module, node, _LAYERS[kind](module, node)))
        return
    if not any(_image(given) is not None for given in node.all_input_nodes):
        return
    by = _between(module, node, kind)
    if by is not None:
        replace(module, node, by)


# ---- images --------------------------------------------------------------------------


def _image(node: Any) -> Any | None:
    """The image that a tensor of three dimensions was squeezed from."""
    if name(node) == "squeeze.dim" and rest(node) == (2,):
        return first(node) if len(shape(first(node))) == 4 else None
    return None


def _high(module: Any, node: Any, like: Any) -> Any:
    """A tensor of three dimensions as an image of height 1."""
    image = _image(node)
    if image is not None:
        return image
    value = constant(module, node)
    if value is not None:
        wide = value.reshape(*value.shape[:-1], 1, value.shape[-1])
        return hold(module, last(wide) if wide.dim() == 4 else wide, like)
    image = call(module, like, "unsqueeze.default", node, 2)
    form = need("torch").channels_last  # strides can leave it open
    return call(module, like, "clone.default", image, memory_format=form)


def _flat(module: Any, like: Any, image: Any) -> Any:
    return call(module, like, "squeeze.dim", image, 2)


# ---- layers --------------------------------------------------------------------------


def _weights(module: Any, node: Any, given: Any) -> Any:
    """(out, in, size) -> (out, in, 1, size)"""
    weight = constant(module, given)
    if weight is None:
        return call(module, node, "unsqueeze.default", given, 2)
    return hold(module, last(weight.unsqueeze(2)), node)


def _conv1d(module: Any, node: Any) -> Any:
    given = named(node)
    x, weight = _high(module, given["input"], node), given["weight"]
    return call(
        module,
        node,
        "conv2d.default",
        x,
        _weights(module, node, weight),
        given["bias"],
        _pair(given["stride"], 1),
        _pair(given["padding"], 0),
        _pair(given["dilation"], 1),
        given["groups"],
    )


def _conv_transpose1d(module: Any, node: Any) -> Any:
    given = named(node)
    return call(
        module,
        node,
        "conv_transpose2d.input",
        _high(module, given["input"], node),
        _weights(module, node, given["weight"]),
        given["bias"],
        _pair(given["stride"], 1),
        _pair(given["padding"], 0),
        _pair(given["output_padding"], 0),
        given["groups"],
        _pair(given["dilation"], 1),
    )


def _max_pool1d(module: Any, node: Any) -> Any:
    given = named(node)
    window = _pair(given["kernel_size"], 1)
    return call(
        module,
        node,
        "max_pool2d.default",
        _high(module, given["self"], node),
        window,
        _pair(given["stride"], 1) if given["stride"] else window,
        _pair(given["padding"], 0),
        _pair(given["dilation"], 1),
        given["ceil_mode"],
    )


def _avg_pool1d(module: Any, node: Any) -> Any:
    given = named(node)
    window = _pair(given["kernel_size"], 1)
    return call(
        module,
        node,
        "avg_pool2d.default",
        _high(module, given["self"], node),
        window,
        _pair(given["stride"], 1) if given["stride"] else window,
        _pair(given["padding"], 0),
        given["ceil_mode"],
        given["count_include_pad"],
    )


def _adaptive_avg_pool1d(module: Any, node: Any) -> Any:
    x, size = _high(module, first(node), node), named(node)["output_size"]
    return call(module, node, "adaptive_avg_pool2d.default", x, _pair(size, 1))


def _upsample(kind: str) -> Callable[[Any, Any], Any]:
    def image(module: Any, node: Any) -> Any:
        x, size = _high(module, first(node), node), shape(node)[-1]
        corners = (named(node)["align_corners"],) if kind == "bilinear" else ()
        return call(
            module, node, f"upsample_{kind}2d.vec", x, [1, size], *corners, None
        )

    return image


def _batch_norm(module: Any, node: Any) -> Any:
    x = _high(module, first(node), node)
    return call(module, node, name(node), x, *rest(node))


def _pair(value: Any, other: int) -> list[int]:
    """A number for the length, with that for the height."""
    along = value[0] if isinstance(value, list | tuple) else value
    return [other, int(along)]


_LAYERS: dict[str, Callable[[Any, Any], Any]] = {
    "conv1d": _conv1d,
    "conv_transpose1d": _conv_transpose1d,
    "max_pool1d": _max_pool1d,
    "avg_pool1d": _avg_pool1d,
    "adaptive_avg_pool1d": _adaptive_avg_pool1d,
    "upsample_nearest1d": _upsample("nearest"),
    "upsample_linear1d": _upsample("bilinear"),
    "batch_norm": _batch_norm,
}


# ---- what is between them ------------------------------------------------------------


_POINTWISE = POINTWISE | {
    "alias",
    "clone",
    "contiguous",
    "dropout",
    "group_norm",
    "instance_norm",
}
_ALONG = frozenset(
    ["cat", "slice", "narrow", "softmax", "log_softmax", "glu", "flip", "roll"]
)


def _between(module: Any, node: Any, kind: str) -> Any | None:
    """The call on images of height 1; None if it is none of images."""
    if kind in _SQUEEZED:
        by = _SQUEEZED[kind](module, node)
        return None if by is None else _flat(module, node, by)
    return _OTHERS[kind](module, node) if kind in _OTHERS else None


def _same(module: Any, node: Any) -> Any:
    """The same call on the image."""
    image = _high(module, first(node), node)
    return call(module, node, name(node), image, *rest(node), **node.kwargs)


def _padded(module: Any, node: Any) -> Any | None:
    """Padding of the length."""
    return _same(module, node) if len(rest(node)[0]) == 2 else None


def _pointwise(module: Any, node: Any) -> Any:
    def high(given: Any) -> Any:
        rank = len(shape(given))
        is_sequence = rank == 3 or (rank == 2 and constant(module, given) is not None)
        return _high(module, given, node) if is_sequence else given

    args, kwargs = need("torch").fx.map_arg((node.args, node.kwargs), high)
    return call(module, node, name(node), *args, **kwargs)


def _along(module: Any, node: Any) -> Any:
    args, kwargs = need("torch").fx.map_arg(
        (node.args, node.kwargs), lambda given: _high(module, given, node)
    )
    given = [each.name for each in node.target._schema.arguments]
    for key in ("dim", "dims"):
        if key in given:
            at = given.index(key)
            dims = named(node)[key]
            moved = (
                [_moved(d) for d in dims] if isinstance(dims, list) else _moved(dims)
            )
            args = (*args[:at], moved, *args[at + 1 :]) if at else args
    return call(module, node, name(node), *args, **kwargs)


def _moved(dim: int) -> int:
    """A dimension of a series in its image."""
    return {0: 0, 1: 1, 2: 3}[dim % 3]


def _flattened(module: Any, node: Any) -> Any | None:
    given = named(node)
    if (given["start_dim"] % 3, given["end_dim"] % 3) != (1, 2):
        return None
    return call(module, node, name(node), _image(first(node)), 1)


def _reduced(module: Any, node: Any) -> Any | None:
    """A reduction along the length, over height and length of the image."""
    given = named(node)
    dims = given.get("dim")
    dims = [dims] if isinstance(dims, int) else dims
    if not dims or [d % 3 for d in dims] != [2] or given.get("dtype") is not None:
        return None
    image = _image(first(node))
    pooled = call(module, node, name(node), image, [2, 3], True)
    return call(module, node, "reshape.default", pooled, list(shape(node)))


def _turned(module: Any, node: Any) -> Any | None:
    """(n, channels, length) -> (n, length, channels): the bytes as they are."""
    order = [0, 1, 2]
    if name(node) == "transpose.int":
        a, b = (d % 3 for d in rest(node))
        order[a], order[b] = order[b], order[a]
    else:
        order = [d % 3 for d in rest(node)[0]]
    if order != [0, 2, 1]:
        return None
    turned = call(module, node, "permute.default", _image(first(node)), [0, 2, 3, 1])
    return call(module, node, "reshape.default", turned, list(shape(node)))


_Rule = Callable[[Any, Any], Any]
_SQUEEZED: dict[str, _Rule] = {
    **dict.fromkeys(_POINTWISE, _pointwise),
    **dict.fromkeys(_ALONG, _along),
    **dict.fromkeys(("constant_pad_nd", "pad"), _padded),
}
_OTHERS: dict[str, _Rule] = {
    **dict.fromkeys(("view", "reshape", "_unsafe_view"), _same),
    **dict.fromkeys(("mean", "sum", "amax", "amin"), _reduced),
    **dict.fromkeys(("transpose", "permute"), _turned),
    "flatten": _flattened,
}
