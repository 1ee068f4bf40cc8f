"""Operators with several forms get the one that integer kernels take."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ember.export.canonical.editing import (
    call,
    calls,
    constant,
    hold,
    inline,
    is_float,
    name,
    replace,
    shape,
)
from ember.export.graph import first, item, named, rest
from ember.export.packages import need


def plain(module: Any) -> None:
    """Norms, paddings, gates and reductions, in the forms that other passes know."""
    for change, names in (
        (_batch_norm, ("_native_batch_norm_legit_no_training.default",)),
        (_same_padding, ("conv1d.padding", "conv2d.padding")),
        (_glu, ("glu.default",)),
        (_turned, ("mT.default", "adjoint.default")),
        (_adaptive_max, ("adaptive_max_pool1d.default",)),
        (inline, ("einsum.default",)),
    ):
        for node in calls(module, names):
            change(module, node)


def images(module: Any) -> None:
    """Layers of images, and reductions, which become pools of images."""
    for change, names in (
        (_fixed, ("adaptive_avg_pool2d.default", "adaptive_max_pool2d.default")),
        (_reduced, tuple(_REDUCTIONS)),
        (_floored, ("max_pool2d.default", "avg_pool2d.default")),
        (_transposed, ("conv_transpose2d.input",)),
        (_softmax, ("softmax.int", "_softmax.default")),
        (_broadcast, tuple(_PAIRS)),
    ):
        for node in calls(module, names):
            if is_float(node.all_input_nodes[0]):
                change(module, node)


# ---- forms ---------------------------------------------------------------------------


def _batch_norm(module: Any, node: Any) -> None:
    """The form with one result."""
    users = list(node.users)
    if any(item(user) and user.users for user in users):
        return
    *given, momentum, eps = node.args
    by = call(module, node, "batch_norm.default", *given, False, momentum, eps, False)
    for user in users:
        replace(module, user, by)
    module.graph.erase_node(node)


def _same_padding(module: Any, node: Any) -> None:
    """Padding in numbers instead of a word."""
    given = named(node)
    kernel = shape(given["weight"])[2:]
    steps = list(given["dilation"]) * (len(kernel) // len(given["dilation"]))
    is_same = given["padding"] == "same"
    each = [
        step * (size - 1) if is_same else 0
        for step, size in zip(steps, kernel, strict=True)
    ]
    x, padding = given["input"], [total // 2 for total in each]
    if any(total % 2 for total in each):
        pads = [n for total in each[::-1] for n in (total // 2, -(-total // 2))]
        x = call(module, node, "constant_pad_nd.default", x, pads)
        padding = [0] * len(each)
    target = name(node).replace("padding", "default")
    others = (given["stride"], padding, given["dilation"], given["groups"])
    by = call(module, node, target, x, given["weight"], given["bias"], *others)
    replace(module, node, by)


def _glu(module: Any, node: Any) -> None:
    x, dim = first(node), named(node)["dim"]
    half = shape(node)[dim]
    parts = [
        call(module, node, "slice.Tensor", x, dim, start, start + half)
        for start in (0, half)
    ]
    gate = call(module, node, "sigmoid.default", parts[1])
    replace(module, node, call(module, node, "mul.Tensor", parts[0], gate))


# ---- pools ---------------------------------------------------------------------------


def _fixed(module: Any, node: Any) -> None:
    """An adaptive pool of equal windows as a plain one."""
    x, sizes = first(node), named(node)["output_size"]
    given = shape(x)[-2:]
    pairs = list(zip(given, sizes, strict=True))
    if len(shape(x)) != 4 or any(n % size for n, size in pairs):
        return
    window = [n // size for n, size in pairs]
    if name(node).startswith("adaptive_avg"):
        replace(module, node, _pool(module, node, "avg", x, window))
        return
    users = list(node.users)
    if any(item(user) and user.users for user in users):
        return
    pool = _pool(module, node, "max", x, window)
    for user in users:
        replace(module, user, pool)
    module.graph.erase_node(node)


def _turned(module: Any, node: Any) -> None:
    replace(module, node, call(module, node, "transpose.int", first(node), -1, -2))


def _adaptive_max(module: Any, node: Any) -> None:
    """An adaptive pool of a series, of equal windows, as a plain one."""
    x, users = first(node), list(node.users)
    (size,) = named(node)["output_size"]
    length = shape(x)[-1]
    if length % size or any(item(user) and user.users for user in users):
        return
    window = [length // size]
    pool = call(module, node, "max_pool1d.default", x, window, window)
    for user in users:
        replace(module, user, pool)
    module.graph.erase_node(node)


def _pool(module: Any, like: Any, kind: str, x: Any, window: Sequence[int]) -> Any:
    return call(module, like, f"{kind}_pool2d.default", x, list(window), list(window))


_REDUCTIONS = {"mean.dim": "avg", "sum.dim_IntList": "avg", "amax.default": "max"}


def _reduced(module: Any, node: Any) -> None:
    """A reduction of some dimensions as a pool, and a factor for a sum."""
    given, x = named(node), first(node)
    sizes = shape(x)
    dims = sorted(dim % len(sizes) for dim in given["dim"] or range(len(sizes)))
    if given.get("dtype") is not None or not is_float(x) or 0 in dims:
        return
    image = _image(module, node, x, dims)
    if image is None:
        return
    high, wide = shape(image)[2:]
    window = {(1, 2): (high, wide), (2,): (1, wide)}.get(tuple(dims), (high, 1))
    if len(sizes) == 4:
        window = (high if 2 in dims else 1, wide if 3 in dims else 1)
    kind = _REDUCTIONS[name(node)]
    result = _pool(module, node, kind, image, window)
    if shape(result) != shape(node):
        result = call(module, node, "reshape.default", result, list(shape(node)))
    if name(node).startswith("sum"):
        result = call(module, node, "mul.Tensor", result, window[0] * window[1])
    replace(module, node, result)


def _image(module: Any, node: Any, x: Any, dims: list[int]) -> Any | None:
    """A tensor as an image whose height and width are reduced: of (n, rows, columns)
    the columns are channels if they stay."""
    sizes = shape(x)
    if len(sizes) == 4:
        return x if set(dims) <= {2, 3} else None
    if len(sizes) == 3 and dims == [1]:
        high = call(module, node, "unsqueeze.default", x, 2)
        return call(module, node, "permute.default", high, [0, 3, 1, 2])
    if len(sizes) in (2, 3):
        rows = [1, *sizes] if len(sizes) == 2 else list(sizes)
        if len(sizes) == 2 and dims != [1]:
            return None
        return call(module, node, "reshape.default", x, [rows[0], 1, *rows[1:]])
    return None


def _floored(module: Any, node: Any) -> None:
    """A pool whose last windows may be cut as one of whole windows."""
    given = dict(named(node))
    if not given["ceil_mode"]:
        return
    x, over = first(node), _overhang(node, given)
    if any(over):
        if name(node) != "max_pool2d.default":
            return
        x = _extended(module, node, x, over)
    names = [each.name for each in node.target._schema.arguments]
    given |= {"self": x, "ceil_mode": False}
    by = call(module, node, name(node), *(given[key] for key in names))
    replace(module, node, by)


def _overhang(node: Any, given: Any) -> list[int]:
    """Rows and columns by which the last windows exceed the image."""
    sizes, outputs = shape(first(node))[2:], shape(node)[2:]
    steps = given["stride"] or given["kernel_size"]
    spread = given.get("dilation", [1, 1])
    fields = (given["kernel_size"], steps, given["padding"], spread, sizes, outputs)
    twice = [list(each) * (2 // len(each)) for each in fields]
    return [
        max(0, (out - 1) * step + gap * (window - 1) + 1 - size - 2 * pad)
        for window, step, pad, gap, size, out in zip(*twice, strict=True)
    ]


_POSITIVE = ("relu", "relu6", "sigmoid", "hardsigmoid", "softplus", "softmax")


def _extended(module: Any, node: Any, x: Any, over: Sequence[int]) -> Any:
    """An image with more rows and columns, which change no maximum: zeros behind what
    has nothing negative, else the last ones once more."""
    if name(x).partition(".")[0] in _POSITIVE:
        pads = [0, over[1], 0, over[0]]
        return call(module, node, "constant_pad_nd.default", x, pads)
    for dim, count in zip((2, 3), over, strict=True):
        size = shape(x)[dim]
        edge = call(module, node, "slice.Tensor", x, dim, size - 1, size)
        if count:
            x = call(module, node, "cat.default", [x, *[edge] * count], dim)
    return x


# ---- transposed convolutions ---------------------------------------------------------


_GROUPS = 8  # convolutions that one of groups may become


def _transposed(module: Any, node: Any) -> None:
    """Groups as a convolution each, and padding of the output as a slice."""
    given = named(node)
    weight, bias = constant(module, given["weight"]), constant(module, given["bias"])
    groups, pads = given["groups"], _two(given["padding"])
    more = _two(given["output_padding"])
    is_plain = groups == 1 and not any(more)
    fits = all(extra <= pad for extra, pad in zip(more, pads, strict=True))
    if is_plain or weight is None or groups > _GROUPS or not fits:
        return
    pads = [pad - extra for extra, pad in zip(more, pads, strict=True)]
    x, parts = given["input"], []
    rows, outputs = shape(x)[1] // groups, shape(node)[1] // groups
    for group in range(groups):
        part = x
        if groups > 1:
            ends = (group * rows, (group + 1) * rows)
            part = call(module, node, "slice.Tensor", x, 1, *ends)
        ours = hold(module, _rows(weight, group * rows, rows), node)
        of_bias = slice(group * outputs, (group + 1) * outputs)
        held = None if bias is None else hold(module, bias[of_bias].clone(), node)
        parts.append(
            call(
                module,
                node,
                name(node),
                *(part, ours, held, _two(given["stride"]), pads, [0, 0], 1),
                _two(given["dilation"]),
            )
        )
    result = parts[0] if groups == 1 else call(module, node, "cat.default", parts, 1)
    for dim, extra in zip((2, 3), more, strict=True):
        if extra:
            size = shape(result)[dim]
            result = call(module, node, "slice.Tensor", result, dim, extra, size)
    replace(module, node, result)


def _rows(weight: Any, start: int, count: int) -> Any:
    return weight[start : start + count].contiguous(
        memory_format=need("torch").channels_last
    )


def _two(value: Any) -> list[int]:
    values = [value] if isinstance(value, int) else list(value)
    return values * (2 // len(values))


# ---- dimensions ----------------------------------------------------------------------


def _softmax(module: Any, node: Any) -> None:
    """A softmax along another dimension than the last, between two permutations."""
    x, rank = first(node), len(shape(node))
    dim = rest(node)[0] % rank
    if dim == rank - 1:
        return
    order = [each for each in range(rank) if each != dim] + [dim]
    back = [order.index(each) for each in range(rank)]
    turned = call(module, node, "permute.default", x, order)
    result = call(module, node, "softmax.int", turned, -1)
    replace(module, node, call(module, node, "permute.default", result, back))


_PAIRS = ("add.Tensor", "sub.Tensor", "mul.Tensor", "div.Tensor")
_MANY = 1 << 16  # elements of a constant that is written out


def _broadcast(module: Any, node: Any) -> None:
    """Both inputs in the shape of the result, where kernels do not broadcast."""
    sizes = shape(node)
    for x in node.args[:2]:
        is_tensor = isinstance(x, need("torch").fx.Node) and is_float(x)
        if not is_tensor or shape(x) == sizes or _is_taken(module, node, x):
            continue
        value = constant(module, x)
        if value is None:
            rows = [1] * (len(sizes) - len(shape(x))) + list(shape(x))
            whole = call(module, node, "reshape.default", x, rows)
            whole = call(module, node, "expand.default", whole, list(sizes))
        elif need("torch").Size(sizes).numel() <= _MANY:
            whole = hold(module, value.expand(sizes).contiguous(), node)
        else:
            continue
        node.replace_input_with(x, whole)


def _is_taken(module: Any, node: Any, x: Any) -> bool:
    """Whether an input is a number, or one for each channel of an image."""
    sizes, given = shape(node), shape(x)
    if need("torch").Size(given).numel() == 1:
        return constant(module, x) is not None
    channels = len(sizes) == len(given) == 4 and given[1] == sizes[1]
    is_pixel = channels and given[2:] == (1, 1) and given[0] in (1, sizes[0])
    return is_pixel and sizes[0] == 1 and name(node) in ("add.Tensor", "mul.Tensor")
