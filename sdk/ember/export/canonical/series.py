"""Layers of series (n, c, l) become layers of images (n, c, 1, l).

Between two of them, what acts on each number, joins, splits, pads or averages is
rewritten too, so that an image stays one.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from ember.export.canonical.editing import aten, call, constant, is_call, shape
from ember.export.graph import first, item, named, rest
from ember.export.packages import need

_SERIES = 3  # dimensions
_WIDTH = 3  # the dimension of an image that is the length of a series


def to_images(module: Any) -> None:
    rewriting = _Rewriting(module)
    for node in list(module.graph.nodes):
        if node.op == "call_function":
            rewriting.see(node)
    rewriting.finish()


class _Rewriting:
    """The images of a graph's series so far."""

    def __init__(self, module: Any) -> None:
        self.module = module
        self.images: dict[Any, Any] = {}  # of a series, or of a list of them
        self.rewritten: list[Any] = []  # those that came from images themselves
        self.layers = _layers()
        self.moves = _moves()

    def see(self, node: Any) -> None:
        image = None
        if node.target in self.layers and self.is_series(first(node)):
            image = self.layers[node.target](self, node)
        elif any(each in self.images for each in node.all_input_nodes):
            image = self._rewritten(node)
        if image is not None:
            self.images[node] = image
            self.rewritten.append(node)

    def finish(self) -> None:
        """Gives readers that still want a series one."""
        for node in self.rewritten:
            image = self.images[node]
            if isinstance(node.meta.get("val"), list | tuple):
                continue
            if not self.is_series(node):
                node.replace_all_uses_with(image)
                continue
            with image.graph.inserting_after(image):
                series = image.graph.call_function(aten().squeeze.dim, (image, 2))
            series.meta = dict(node.meta)
            node.replace_all_uses_with(series)

    def image(self, series: Any) -> Any:
        """The image of a series, which starts as a view in channels_last."""
        torch = need("torch")
        if series not in self.images:
            with series.graph.inserting_before(series.next):
                image = series.graph.call_function(
                    aten().unsqueeze.default, (series, 2)
                )
            value = _unsqueezed(series)
            if constant(self.module, series) is None:
                with image.graph.inserting_after(image):
                    view, image = image, image.graph.call_function(
                        aten().clone.default,
                        (image,),
                        {"memory_format": torch.channels_last},
                    )
                view.meta = {**series.meta, "val": value}
            image.meta = {**series.meta, "val": value}
            self.images[series] = image
        return self.images[series]

    def weights(self, node: Any) -> Any:
        """Filters (.., k) as (.., 1, k)."""
        image = call(node, aten().unsqueeze.default, (node_weight(node), 2))
        image.meta["val"] = _unsqueezed(node_weight(node))
        return image

    def is_series(self, node: Any) -> bool:
        return len(shape(node)) == _SERIES

    def _rewritten(self, node: Any) -> Any | None:
        torch = need("torch")
        if is_call(node, operator.getitem):
            return call(node, operator.getitem, (self.images[first(node)], item(node)))
        if node.target in self.moves:
            return self.moves[node.target](self, node)
        pointwise = torch.Tag.pointwise in getattr(node.target, "tags", ())
        if not pointwise and node.target not in _alike():
            return None
        if not self.is_series(node):
            return None
        if any(len(shape(each)) == _SERIES - 1 for each in node.all_input_nodes):
            return None
        arguments, words = torch.fx.map_arg(
            (node.args, node.kwargs),
            lambda each: self.image(each) if self.is_series(each) else each,
        )
        if words.get("memory_format") is not None:  # of a copy
            words = {**words, "memory_format": torch.channels_last}
        return call(node, node.target, arguments, words)


def node_weight(node: Any) -> Any:
    return named(node)["weight"]


def _unsqueezed(node: Any) -> Any:
    return node.meta["val"].unsqueeze(2)


def _alike() -> tuple[Any, ...]:
    """Operators of images as they are of series: of each number, or of channels."""
    ops = aten()
    return (
        *(ops.dropout.default, ops.clone.default, ops.contiguous.default),
        *(ops.prelu.default, ops.feature_dropout.default),
    )


# ---- layers --------------------------------------------------------------------------


Layer = Callable[[_Rewriting, Any], Any]


def _layers() -> dict[Any, Layer]:
    ops = aten()
    return {
        ops.conv1d.default: _convolution,
        ops.conv1d.padding: _named_padding,
        ops.conv_transpose1d.default: _transposed,
        ops.max_pool1d.default: _max_pool,
        ops.avg_pool1d.default: _avg_pool,
        ops.adaptive_avg_pool1d.default: _adaptive,
        ops.adaptive_max_pool1d.default: _adaptive,
        ops.upsample_nearest1d.vec: _upsample,
        ops.upsample_linear1d.vec: _upsample,
        ops.batch_norm.default: _norm,
        ops.instance_norm.default: _norm,
        ops.group_norm.default: _norm,
    }


def _pair(numbers: Any, beside: int) -> list[int]:
    """Numbers of a window of length l as those of (1, l)."""
    length = numbers if isinstance(numbers, int) else numbers[0]
    return [beside, int(length)]


def _convolution(rewriting: _Rewriting, node: Any) -> Any:
    given = named(node)
    image = rewriting.image(first(node))
    padding = _pair(given["padding"], 0)
    return _image_convolution(rewriting, node, image, padding)


def _image_convolution(
    rewriting: _Rewriting, node: Any, image: Any, padding: list[int]
) -> Any:
    given = named(node)
    windows = (_pair(given["stride"], 1), padding, _pair(given["dilation"], 1))
    layer = (image, rewriting.weights(node), given["bias"])
    return call(node, aten().conv2d.default, (*layer, *windows, given["groups"]))


def _named_padding(rewriting: _Rewriting, node: Any) -> Any:
    """Padding "same" or "valid"; one element more behind than before if it is odd."""
    given, image = named(node), rewriting.image(first(node))
    dilation = _pair(given["dilation"], 1)[1]
    whole = dilation * (shape(given["weight"])[-1] - 1)
    whole = whole if given["padding"] == "same" else 0
    if whole % 2:
        ends = [whole // 2, whole - whole // 2]
        image = call(node, aten().constant_pad_nd.default, (image, ends))
        whole = 0
    return _image_convolution(rewriting, node, image, [0, whole // 2])


def _transposed(rewriting: _Rewriting, node: Any) -> Any:
    given = named(node)
    layer = (rewriting.image(first(node)), rewriting.weights(node), given["bias"])
    numbers = (
        _pair(given["stride"], 1),
        _pair(given["padding"], 0),
        _pair(given["output_padding"], 0),
        given["groups"],
        _pair(given["dilation"], 1),
    )
    return call(node, aten().conv_transpose2d.input, (*layer, *numbers))


def _max_pool(rewriting: _Rewriting, node: Any) -> Any:
    given = named(node)
    numbers = (
        _pair(given["kernel_size"], 1),
        _pair(given["stride"] or given["kernel_size"], 1),
        _pair(given["padding"], 0),
        _pair(given["dilation"], 1),
        given["ceil_mode"],
    )
    image = rewriting.image(first(node))
    return call(node, aten().max_pool2d.default, (image, *numbers))


def _avg_pool(rewriting: _Rewriting, node: Any) -> Any:
    given = named(node)
    numbers = (
        _pair(given["kernel_size"], 1),
        _pair(given["stride"] or given["kernel_size"], 1),
        _pair(given["padding"], 0),
        given["ceil_mode"],
        given["count_include_pad"],
    )
    image = rewriting.image(first(node))
    return call(node, aten().avg_pool2d.default, (image, *numbers))


def _adaptive(rewriting: _Rewriting, node: Any) -> Any:
    ops = aten()
    of_images = {
        ops.adaptive_avg_pool1d.default: ops.adaptive_avg_pool2d.default,
        ops.adaptive_max_pool1d.default: ops.adaptive_max_pool2d.default,
    }
    size = _pair(named(node)["output_size"], 1)
    image = rewriting.image(first(node))
    return call(node, of_images[node.target], (image, size))


def _upsample(rewriting: _Rewriting, node: Any) -> Any:
    ops, given = aten(), named(node)
    size, scales = given["output_size"], given["scale_factors"]
    size = None if size is None else [1, *size]
    scales = None if scales is None else [1.0, *scales]
    image = rewriting.image(given["input"])
    if node.target is ops.upsample_nearest1d.vec:
        return call(node, ops.upsample_nearest2d.vec, (image, size, scales))
    arguments = (image, size, given["align_corners"], scales)
    return call(node, ops.upsample_bilinear2d.vec, arguments)


def _norm(rewriting: _Rewriting, node: Any) -> Any:
    image = rewriting.image(first(node))
    return call(node, node.target, (image, *rest(node)), node.kwargs)


# ---- what moves numbers along a dimension --------------------------------------------


def _moves() -> dict[Any, Layer]:
    ops = aten()
    along = (
        *(ops.split.Tensor, ops.split_with_sizes.default, ops.chunk.default),
        *(ops.slice.Tensor, ops.cat.default, ops.roll.default, ops.flip.default),
    )
    return {
        **dict.fromkeys(along, _along),
        ops.constant_pad_nd.default: _padded,
        ops.pad.default: _padded,
        ops.mean.dim: _mean,
    }


def _dimension(dim: int) -> int:
    """Of an image, for that of a series."""
    return (0, 1, _WIDTH)[dim % _SERIES]


def _along(rewriting: _Rewriting, node: Any) -> Any | None:
    """An operator along `dim` or `dims` of a series, or of several of one shape."""
    torch = need("torch")
    if not all(rewriting.is_series(each) for each in node.all_input_nodes):
        return None
    given = dict(named(node))
    for key in ("dim", "dims"):
        if key in given:
            dims = given[key]
            given[key] = (
                _dimension(dims)
                if isinstance(dims, int)
                else [_dimension(dim) for dim in dims]
            )
    order = [argument.name for argument in node.target._schema.arguments]
    arguments = torch.fx.map_arg(
        tuple(given[name] for name in order), rewriting.image
    )
    return call(node, node.target, arguments)


def _padded(rewriting: _Rewriting, node: Any) -> Any | None:
    pad = list(named(node)["pad"])
    ends = [*pad[:2], 0, 0, *pad[2:]] if len(pad) > 2 else pad
    image = rewriting.image(first(node))
    return call(node, node.target, (image, ends, *rest(node)[1:]), node.kwargs)


def _mean(rewriting: _Rewriting, node: Any) -> Any | None:
    given = named(node)
    if [dim % _SERIES for dim in given["dim"] or ()] != [2] or given["dtype"]:
        return None
    image = rewriting.image(first(node))
    return call(node, node.target, (image, [2, 3], given["keepdim"]))
