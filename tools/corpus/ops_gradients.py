# SPDX-License-Identifier: Apache-2.0
"""One-operator programs of gradients, and of what else the exporter takes apart."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

import torch
import torch.nn.functional as F  # noqa: N812 - its usual name
from executorch.exir import EdgeCompileConfig
from torch import Tensor, nn

from corpus.case import Case
from corpus.exporting import layer, op
from corpus.inputs import f32, positive, real, values, whole
from corpus.ops_more import FLOATS, A, more, tolerance


def pooled_gradient(x: Tensor, g: Tensor, kernel: int, stride: int, pad: int) -> Tensor:
    sizes = ([kernel] * 2, [stride] * 2, [pad] * 2)
    _, indices = A.max_pool2d_with_indices(x, *sizes)
    return A.max_pool2d_with_indices_backward(g, x, *sizes, [1, 1], False, indices)


def pool_gradients() -> Iterator[Case]:
    x = f32(2, 3, 7, 8)
    spread = A._adaptive_avg_pool2d_backward
    yield op("adaptive_avg_pool2d_backward", spread, f32(2, 3, 3, 4), x)
    for size in ((1, 1), (7, 8), (5, 9), (2, 3)):
        tag = "x".join(map(str, size))
        yield more(f"adaptive_avg_pool2d_backward_{tag}", spread, f32(2, 3, *size), x)
    yield more("adaptive_avg_pool2d_backward_3d", spread, f32(3, 3, 4), f32(3, 7, 8))
    cases = product((2, 3), (1, 2), (0, 1), (False, True))
    for i, (kernel, stride, pad, ceil) in enumerate(cases):
        probe = torch.empty(2, 3, 7, 8)
        shape = F.avg_pool2d(probe, kernel, stride, pad, ceil).shape
        yield op(
            "avg_pool2d_backward" + (f"_{i}" if i else ""),
            lambda g, x, k=kernel, s=stride, p=pad, c=ceil: A.avg_pool2d_backward(
                g, x, [k, k], [s, s], [p, p], c, p == 0, None
            ),
            f32(*shape),
            x,
            committed=i == 0,
        )
        shape = F.max_pool2d(probe, kernel, stride, pad).shape
        yield op(
            "max_pool2d_backward" + (f"_{i}" if i else ""),
            lambda x, g, k=kernel, s=stride, p=pad: pooled_gradient(x, g, k, s, p),
            x,
            f32(*shape),
            committed=i == 0,
        )
    for tag, dtype in FLOATS.items():
        given, grad = real(dtype, 1, 2, 4, 4), real(dtype, 1, 2, 2, 2)
        rough = tolerance(dtype)
        yield more(f"adaptive_avg_pool2d_backward_{tag}", spread, grad, given, **rough)
        yield more(
            f"max_pool2d_backward_{tag}",
            lambda x, g: pooled_gradient(x, g, 2, 2, 0),
            given,
            grad,
            **rough,
        )


# ---- convolutions --------------------------------------------------------------------


def convolution_gradients(
    name: str, channels: int, filters: int, *sizes: int, **options: Any
) -> Case:
    """The three gradients of a convolution with windows of 3."""
    dims = len(sizes)
    groups = options.pop("groups", 1)
    turned = options.pop("transposed", False)
    stride, pad, dilation, more_out = (
        [options.pop(key, usual)] * dims
        for key, usual in (("s", 1), ("p", 0), ("d", 1), ("o", 0))
    )
    mask = options.pop("mask", [True] * 3)
    dtype = options.pop("dtype", torch.float32)
    rest = (stride, pad, dilation, turned, more_out, groups)
    first, second = (channels, filters) if turned else (filters, channels)
    weight = (first, second // groups, *[3] * dims)
    x, w = torch.empty(2, channels, *sizes), torch.empty(weight)
    shape = A.convolution(x, w, None, *rest).shape

    def gradients(g: Tensor, x: Tensor, w: Tensor) -> tuple[Tensor, ...]:
        found = A.convolution_backward(g, x, w, [filters], *rest, mask)
        return tuple(one for one, wanted in zip(found, mask, strict=True) if wanted)

    recipes = (real(dtype, *s) for s in (shape, x.shape, w.shape))
    return op(f"convolution_backward{name}", gradients, *recipes, **options)


def convolutions() -> Iterator[Case]:
    case, later = convolution_gradients, {"committed": False}
    yield case("", 2, 3, 5, 6)
    yield case("_transposed", 4, 6, 4, 3, s=2, p=1, o=1, groups=2, transposed=True)
    yield case("_stride", 2, 3, 7, 6, s=2, p=1, **later)
    yield case("_groups", 4, 6, 5, 5, groups=2, d=2, p=2, **later)
    yield case("_depthwise", 4, 4, 5, 5, groups=4, p=1, **later)
    yield case("_1d", 2, 3, 9, s=2, **later)
    yield case("_3d", 2, 3, 4, 5, 4, p=1, **later)
    yield case("_input", 2, 3, 5, 5, mask=[True, False, False], **later)
    yield case("_weight", 2, 3, 5, 5, mask=[False, True, False], **later)
    yield case("_bias", 2, 3, 5, 5, mask=[False, False, True], **later)
    yield case("_transposed_1d", 3, 2, 4, s=2, transposed=True, **later)
    yield case("_f64", 2, 3, 5, 5, dtype=torch.float64, **later)


def volumes() -> Iterator[Case]:
    x = f32(1, 4, 4, 5, 4)
    yield layer("conv3d", lambda: nn.Conv3d(4, 2, 3), x)
    yield layer("conv_transpose3d", lambda: nn.ConvTranspose3d(4, 2, 3), x)
    kinds = {"conv3d": nn.Conv3d, "conv_transpose3d": nn.ConvTranspose3d}
    options: dict[str, dict[str, Any]] = {
        "stride": {"stride": 2, "padding": 1},
        "groups": {"groups": 2, "bias": False},
        "dilated": {"dilation": 2, "padding": (2, 2, 2)},
        "oblong": {"stride": (1, 2, 1), "padding": (0, 1, 0)},
    }
    for (name, kind), (tag, given) in product(kinds.items(), options.items()):
        yield layer(
            f"{name}_{tag}",
            lambda k=kind, g=given: k(4, 2, 3, **g),
            x,
            committed=False,
        )
    for stride, pad in product((1, 2, 3), (0, 1)):
        sizes = {"stride": stride, "padding": pad, "output_padding": stride - 1}
        for name, kind, shape in (
            ("1d", nn.ConvTranspose1d, (2, 4, 7)),
            ("2d", nn.ConvTranspose2d, (2, 4, 4, 5)),
        ):
            yield layer(
                f"conv_transpose{name}_s{stride}_p{pad}",
                lambda k=kind, s=sizes: k(4, 6, 3, groups=2, **s),
                f32(*shape),
                committed=False,
            )


# ---- what the exporter takes apart ---------------------------------------------------


# Core operators that the exporter takes apart unless it is told to keep them.
KEPT = EdgeCompileConfig(
    preserve_ops=[
        A.col2im.default,
        A.embedding_dense_backward.default,
        A.native_layer_norm_backward.default,
        A.native_group_norm_backward.default,
    ]
)


def kept(
    name: str, function: Any, *recipes: Any, committed: bool = True
) -> Iterator[Case]:
    """The operator itself, and what it is taken apart into."""
    yield op(name, function, *recipes, edge=KEPT, committed=committed)
    yield more(f"{name}_apart", function, *recipes)


def folds() -> Iterator[Case]:
    for i, (kernel, pad, stride, dilation, windows) in enumerate(
        (
            ((2, 2), 0, 1, 1, 30),
            ((2, 3), 1, 2, 1, 16),
            ((3, 3), 1, (2, 1), 1, 21),
            ((2, 2), 1, 1, 2, 42),
        )
    ):
        function = lambda x, k=kernel, p=pad, s=stride, d=dilation: F.fold(  # noqa: E731
            x, (6, 7), k, d, p, s
        )
        channels = 3 * kernel[0] * kernel[1]
        tag = f"col2im_{i}" if i else "col2im"
        yield from kept(tag, function, f32(2, channels, windows), committed=i == 0)
    yield from kept(
        "col2im_2d", lambda x: F.fold(x, (4, 5), 2), f32(8, 12), committed=False
    )


def embeddings() -> Iterator[Case]:
    for scaled, padding in product((False, True), (-1, 2)):
        first = scaled and padding == 2
        yield from kept(
            f"embedding_dense_backward_{int(scaled)}_{padding % 9}",
            lambda g, i, s=scaled, p=padding: A.embedding_dense_backward(g, i, 7, p, s),
            f32(2, 5, 3),
            lambda: torch.tensor([[1, 2, 2, 3, 1], [6, 0, 2, 2, 1]]),
            committed=first,
        )
    yield from kept(
        "embedding_dense_backward_s32",
        lambda g, i: A.embedding_dense_backward(g, i, 7, -1, False),
        f32(5, 3),
        values(1, 2, 2, 3, 1, dtype=torch.int32),
        committed=False,
    )


def norms() -> Iterator[Case]:
    def layered(*x: Tensor) -> tuple[Tensor, ...]:
        return A.native_layer_norm_backward(*x[:2], [4, 5], *x[2:], [True] * 3)

    given = (f32(3, 4, 5), f32(3, 4, 5), f32(3, 1, 1), positive(3, 1, 1))
    yield from kept("native_layer_norm_backward", layered, *given, f32(4, 5), f32(4, 5))
    for groups in (1, 2, 3):

        def grouped(*x: Tensor, g: int = groups) -> tuple[Tensor, ...]:
            return A.native_group_norm_backward(*x, 2, 6, 5, g, [True] * 3)

        name = "native_group_norm_backward"
        yield from kept(
            name if groups == 2 else f"{name}_{groups}",
            grouped,
            f32(2, 6, 5),
            f32(2, 6, 5),
            f32(2, groups),
            positive(2, groups),
            f32(6),
            committed=groups == 2,
        )


def decomposed() -> Iterator[Case]:
    """Operators that are not in the program in the end, but must work."""
    yield more("im2col", lambda x: F.unfold(x, 2, padding=1), f32(1, 2, 4, 5))
    x = f32(1, 2, 4, 5, 3)
    for mode in ("nearest", "nearest-exact", "trilinear"):
        tag = mode.replace("-", "_")
        yield more(
            f"upsample3d_{tag}",
            lambda x, m=mode: F.interpolate(x, (5, 4, 7), mode=m),
            x,
        )
    for mode in ("nearest", "linear"):
        yield more(
            f"upsample1d_{mode}",
            lambda x, m=mode: F.interpolate(x, 11, mode=m),
            f32(2, 3, 7),
        )
    for align in (False, True):
        yield more(
            f"upsample_bicubic2d_{int(align)}",
            lambda x, a=align: F.interpolate(
                x, (7, 3), mode="bicubic", align_corners=a
            ),
            f32(1, 2, 5, 6),
        )
    yield more(
        "empty_strided",
        lambda x: x + torch.empty_strided((3, 4), (4, 1)).fill_(1),
        f32(3, 4),
    )
    yield more("isin", torch.isin, whole(3, 4, low=0, high=9), values(1, 3, 5))
    yield more(
        "index_add",
        lambda x, i, s: x.index_add(0, i, s),
        f32(4, 3),
        values(1, 1),
        f32(2, 3),
    )
    yield more("linspace", lambda x: x + torch.linspace(-1, 2, 7), f32(7))


CASES = [
    *pool_gradients(),
    *convolutions(),
    *volumes(),
    *folds(),
    *embeddings(),
    *norms(),
    *decomposed(),
]
