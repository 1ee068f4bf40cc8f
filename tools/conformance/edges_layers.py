# SPDX-License-Identifier: Apache-2.0
"""Edge cases of layers: products, convolutions, pools, norms, paddings."""

from __future__ import annotations

from collections.abc import Iterator

import torch
import torch.nn.functional as F  # noqa: N812 - its usual name
from corpus.case import Case
from corpus.inputs import channels_last, f32, positive, real, values, whole

from conformance.edges import (
    BF16,
    F16,
    F64,
    FLOATS,
    INF,
    INTEGERS,
    NAN,
    S8,
    S32,
    edge,
    in_order,
    shaped,
    special,
)
from conformance.tolerance import tag

aten = torch.ops.aten
SIZES = {"stride": 2, "padding": 1}


def _addmm() -> Iterator[Case]:
    for alpha, beta in ((1, 1), (2, 3), (0.5, -1.5), (0, 1), (1, 0), (0, 0), (-1, 2)):
        yield edge(
            f"addmm_{alpha}_{beta}",
            lambda c, a, b, x=alpha, y=beta: torch.addmm(c, a, b, alpha=x, beta=y),
            *(f32(3, 5), f32(3, 4), f32(4, 5)),
        )
        yield edge(
            f"baddbmm_{alpha}_{beta}",
            lambda c, a, b, x=alpha, y=beta: torch.baddbmm(c, a, b, alpha=x, beta=y),
            *(f32(2, 3, 5), f32(2, 3, 4), f32(2, 4, 5)),
        )
    nan = shaped((5,), (NAN, INF, 1, 2, 3))
    no_bias = lambda c, a, b: torch.addmm(c, a, b, beta=0)
    yield edge("addmm_beta_0_nan", no_bias, nan, f32(3, 4), f32(4, 5))
    no_bias = lambda c, a, b: torch.baddbmm(c, a, b, beta=0)
    yield edge("baddbmm_beta_0_nan", no_bias, nan, f32(2, 3, 4), f32(2, 4, 5))
    for shape in ((5,), (1,), (3, 1), (1, 5), (1, 1), ()):
        name = "x".join(map(str, shape)) or "0d"
        yield edge(f"addmm_bias_{name}", torch.addmm, f32(*shape), f32(3, 4), f32(4, 5))
    for dtype in (*INTEGERS, F16, BF16, F64):
        recipes = [whole(*s, low=0, high=9) for s in ((3, 5), (3, 4), (4, 5))]
        cast = [lambda r=r, d=dtype: r().to(d) for r in recipes]
        yield edge(f"addmm_{tag(dtype)}", torch.addmm, *cast)
        scaled = lambda c, a, b: torch.addmm(c, a, b, alpha=2, beta=3)
        yield edge(f"addmm_scaled_{tag(dtype)}", scaled, *cast)
        yield edge(f"mm_{tag(dtype)}", torch.mm, *cast[1:])
        batched = [lambda r=r, d=dtype: r().to(d)[None] for r in recipes[1:]]
        yield edge(f"bmm_{tag(dtype)}", torch.bmm, *batched)


def _products() -> Iterator[Case]:
    for m, k, n in ((1, 1, 1), (0, 3, 2), (3, 0, 2), (2, 3, 0), (1, 33, 2), (5, 2, 9)):
        size = f"{m}x{k}x{n}"
        yield edge(f"mm_{size}", torch.mm, f32(m, k), f32(k, n))
        yield edge(f"addmm_{size}", torch.addmm, f32(n), f32(m, k), f32(k, n))
        yield edge(f"bmm_{size}", torch.bmm, f32(2, m, k), f32(2, k, n))
        yield edge(f"linear_{size}", F.linear, f32(m, k), f32(n, k), f32(n))
        kept = (aten.linear.default,)
        yield edge(f"linear_kept_{size}", F.linear, f32(m, k), f32(n, k), keep=kept)
    kept = (aten.linear.default,)
    for dtype in FLOATS:
        weights = real(dtype, 3, 4), real(dtype, 3)
        yield edge(
            f"linear_{tag(dtype)}", F.linear, real(dtype, 2, 5, 4), *weights, keep=kept
        )
    yield edge("linear_1d", F.linear, f32(4), f32(3, 4), f32(3), keep=kept)
    yield edge("mm_nan", torch.mm, special(5, 2), special(2, 5))
    yield edge("mm_transposed", lambda a, b: a.t() @ b.t(), f32(4, 3), f32(5, 4))
    yield edge(
        "mm_order", torch.mm, in_order(f32(3, 4), 1, 0), in_order(f32(4, 2), 1, 0)
    )
    yield edge("matmul_batches", torch.matmul, f32(2, 1, 3, 4), f32(5, 4, 2))
    yield edge("matmul_vector", torch.matmul, f32(2, 3, 4), f32(4))
    yield edge("dot", torch.dot, f32(7), f32(7))
    yield edge("outer", torch.outer, f32(3), f32(4))
    yield edge(
        "einsum",
        lambda a, b: torch.einsum("bij,bjk->bik", a, b),
        f32(2, 3, 4),
        f32(2, 4, 3),
    )


def _convolutions() -> Iterator[Case]:
    x, w, b = f32(1, 4, 6, 5), f32(6, 4, 3, 3), f32(6)
    yield edge("conv2d_order_0213", F.conv2d, x, in_order(w, 0, 2, 1, 3), b)
    yield edge("conv2d_order_0231", F.conv2d, x, channels_last(w), b)
    yield edge("conv2d_order_3210", F.conv2d, x, in_order(w, 3, 2, 1, 0), b)
    yield edge("conv2d_order_input", F.conv2d, in_order(x, 0, 3, 1, 2), w, b)
    yield edge("conv2d_both_last", F.conv2d, channels_last(x), channels_last(w), b)
    yield edge("conv2d_channels_last", F.conv2d, channels_last(x), w, b)
    depthwise = lambda x, w: F.conv2d(x, w, groups=4, padding=1)
    yield edge("conv2d_depthwise_last", depthwise, channels_last(x), f32(4, 1, 3, 3))
    yield edge(
        "conv2d_depthwise_order", depthwise, x, in_order(f32(4, 1, 3, 3), 0, 2, 1, 3)
    )
    yield edge(
        "conv2d_same", lambda x, w: F.conv2d(x, w, padding="same"), x, f32(6, 4, 2, 4)
    )
    mixed = {"stride": (2, 1), "padding": (0, 2), "dilation": (1, 2)}
    yield edge("conv2d_mixed", lambda x, w, b: F.conv2d(x, w, b, **mixed), x, w, b)
    yield edge(
        "conv2d_pad_large",
        lambda x, w: F.conv2d(x, w, padding=4),
        f32(1, 1, 2, 2),
        f32(1, 1, 3, 3),
    )
    yield edge("conv2d_no_batch", F.conv2d, f32(4, 6, 5), w, b)
    yield edge("conv2d_batch_0", F.conv2d, f32(0, 4, 6, 5), w, b)
    yield edge("conv2d_nan", F.conv2d, special(1, 1, 5, 4), f32(2, 1, 2, 2))
    yield edge(
        "conv1d",
        lambda x, w, b: F.conv1d(x, w, b, **SIZES),
        f32(2, 3, 9),
        f32(4, 3, 3),
        f32(4),
    )
    grouped = lambda x, w: F.conv1d(x, w, groups=3, dilation=2)
    yield edge("conv1d_depthwise", grouped, f32(2, 3, 9), f32(6, 1, 3))
    volume = f32(1, 2, 4, 4, 3), f32(3, 2, 2, 3, 2)
    yield edge(
        "conv3d", lambda x, w: F.conv3d(x, w, padding=1, stride=(1, 2, 1)), *volume
    )
    for dtype in (F16, BF16, F64):
        recipes = real(dtype, 1, 2, 5, 5), real(dtype, 4, 1, 3, 3), real(dtype, 4)
        yield edge(
            f"conv2d_{tag(dtype)}",
            lambda x, w, b: F.conv2d(x, w, b, groups=2),
            *recipes,
        )
        recipes = real(dtype, 1, 2, 4, 4), real(dtype, 2, 3, 3, 3)
        yield edge(
            f"transposed_{tag(dtype)}",
            lambda x, w: F.conv_transpose2d(x, w, **SIZES),
            *recipes,
        )


def _transposed() -> Iterator[Case]:
    x, w, b = f32(1, 4, 3, 4), f32(4, 2, 3, 3), f32(2)
    forms = {
        "plain": {},
        "stride": {"stride": 2},
        "all": {"stride": (2, 3), "padding": 1, "output_padding": (1, 2)},
        "dilation": {"dilation": 2, "padding": 1},
        "crop": {"padding": 2},
    }
    for name, options in forms.items():
        yield edge(
            f"transposed_{name}",
            lambda x, w, b, o=options: F.conv_transpose2d(x, w, b, **o),
            x,
            w,
            b,
        )
    grouped = lambda x, w: F.conv_transpose2d(x, w, groups=2, stride=2)
    yield edge("transposed_groups", grouped, x, w)
    yield edge("transposed_last", F.conv_transpose2d, channels_last(x), w, b)
    yield edge(
        "transposed_1d",
        lambda x, w: F.conv_transpose1d(x, w, stride=3),
        f32(2, 3, 4),
        f32(3, 2, 4),
    )
    yield edge(
        "transposed_3d", F.conv_transpose3d, f32(1, 2, 2, 3, 2), f32(2, 1, 2, 2, 2)
    )


def _pools() -> Iterator[Case]:
    x = f32(1, 2, 7, 6)
    for ceil in (False, True):
        for inside in (False, True):
            for divisor in (None, 3):
                options = {
                    "ceil_mode": ceil,
                    "count_include_pad": inside,
                    "divisor_override": divisor,
                }
                yield edge(
                    f"avg_pool2d_{ceil:d}{inside:d}{divisor or 0}",
                    lambda x, o=options: F.avg_pool2d(x, (3, 2), (2, 3), (1, 1), **o),
                    x,
                )
                flat = {k: v for k, v in options.items() if k != "divisor_override"}
                yield edge(
                    f"avg_pool1d_{ceil:d}{inside:d}{divisor or 0}",
                    lambda x, o=flat: F.avg_pool1d(x, 3, 2, 1, **o),
                    f32(2, 3, 8),
                )
    for dtype in FLOATS:
        recipe = real(dtype, 1, 2, 5, 5)
        yield edge(f"avg_pool2d_{tag(dtype)}", lambda x: F.avg_pool2d(x, 2), recipe)
        yield edge(f"max_pool2d_{tag(dtype)}", lambda x: F.max_pool2d(x, 2), recipe)
        yield edge(
            f"adaptive_{tag(dtype)}", lambda x: F.adaptive_avg_pool2d(x, (3, 2)), recipe
        )
    dilated = lambda x: F.max_pool2d(x, 3, 1, 1, dilation=2)
    yield edge("max_pool2d_dilated", dilated, x)
    yield edge("max_pool2d_ceil", lambda x: F.max_pool2d(x, 3, 2, 1, ceil_mode=True), x)
    with_indices = lambda x: F.max_pool2d(x, (3, 2), 2, 1, return_indices=True)
    yield edge("max_pool2d_indices", with_indices, x)
    yield edge("max_pool2d_indices_nan", with_indices, special(1, 1, 6, 5))
    yield edge(
        "max_pool2d_indices_ties", with_indices, shaped((1, 1, 4, 4), [1.0] * 16)
    )
    yield edge("max_pool2d_indices_last", with_indices, channels_last(x))
    yield edge("max_pool2d_low", with_indices, shaped((1, 1, 4, 4), [-INF] * 16))
    for dtype in (S8, S32):
        yield edge(
            f"max_pool2d_{tag(dtype)}", with_indices, whole(1, 2, 5, 5, dtype=dtype)
        )
    yield edge("max_pool2d_no_batch", lambda x: F.max_pool2d(x, 2), f32(2, 5, 6))
    yield edge("max_pool1d", lambda x: F.max_pool1d(x, 3, 2, 1), f32(2, 3, 9))
    yield edge("avg_pool2d_last", lambda x: F.avg_pool2d(x, 3, 2, 1), channels_last(x))
    yield edge("avg_pool2d_nan", lambda x: F.avg_pool2d(x, 2), special(1, 1, 5, 4))
    for size in ((1, 1), (2, 3), (7, 6), (9, 4), (None, 2)):
        name = "x".join(map(str, size))
        yield edge(
            f"adaptive_avg_{name}", lambda x, s=size: F.adaptive_avg_pool2d(x, s), x
        )
    yield edge(
        "adaptive_avg_last", lambda x: F.adaptive_avg_pool2d(x, 2), channels_last(x)
    )
    yield edge("adaptive_avg_1d", lambda x: F.adaptive_avg_pool1d(x, 3), f32(2, 3, 7))
    yield edge("adaptive_max", lambda x: F.adaptive_max_pool2d(x, (2, 3)), x)


def _norms() -> Iterator[Case]:
    x = f32(2, 4, 3, 3)
    statistics = f32(4), positive(4)
    affine = f32(4), f32(4)
    yield edge("batch_norm", F.batch_norm, x, *statistics, *affine)
    yield edge("batch_norm_plain", F.batch_norm, x, *statistics)
    yield edge("batch_norm_last", F.batch_norm, channels_last(x), *statistics, *affine)
    yield edge("batch_norm_eps", lambda *a: F.batch_norm(*a, eps=0.1), x, *statistics)
    yield edge("batch_norm_2d", F.batch_norm, f32(3, 4), *statistics)
    yield edge("batch_norm_empty", F.batch_norm, f32(0, 4, 2), *statistics)
    yield edge("instance_norm", F.instance_norm, x)
    for groups in (1, 2, 4):
        function = lambda x, w, b, g=groups: F.group_norm(x, g, w, b)
        yield edge(f"group_norm_{groups}", function, x, *affine)
    yield edge("group_norm_plain", lambda x: F.group_norm(x, 2), x)
    yield edge("group_norm_2d", lambda x: F.group_norm(x, 2, eps=0.1), f32(3, 4))
    yield edge("group_norm_last", lambda x: F.group_norm(x, 2), channels_last(x))
    rows = f32(3, 4, 5)
    yield edge("layer_norm", lambda x: F.layer_norm(x, (5,)), rows)
    yield edge(
        "layer_norm_two",
        lambda x, w, b: F.layer_norm(x, (4, 5), w, b),
        rows,
        f32(4, 5),
        f32(4, 5),
    )
    yield edge("layer_norm_weight", lambda x, w: F.layer_norm(x, (5,), w), rows, f32(5))
    yield edge("layer_norm_one", lambda x: F.layer_norm(x, (1,)), f32(3, 1))
    yield edge(
        "layer_norm_same", lambda x: F.layer_norm(x, (3,)), shaped((2, 3), [1e4] * 6)
    )
    yield edge("layer_norm_empty", lambda x: F.layer_norm(x, (5,)), f32(0, 5))
    yield edge("layer_norm_nan", lambda x: F.layer_norm(x, (5,)), special(2, 5))
    yield edge(
        "layer_norm_large",
        lambda x: F.layer_norm(x, (4,)),
        shaped((1, 4), (1e4, 1e4 + 1, 1e4 + 2, 1e4 - 1)),
    )
    yield edge("rms_norm", lambda x, w: F.rms_norm(x, (5,), w), rows, f32(5))
    yield edge("normalize", lambda x: F.normalize(x, dim=1), rows)
    yield edge("local_response_norm", lambda x: F.local_response_norm(x, 2), x)
    for dtype in (F16, BF16, F64):
        recipes = real(dtype, 2, 4, 3), real(dtype, 4), real(dtype, 4)
        yield edge(
            f"group_norm_{tag(dtype)}",
            lambda x, w, b: F.group_norm(x, 2, w, b),
            *recipes,
        )
        yield edge(
            f"layer_norm_{tag(dtype)}", lambda x: F.layer_norm(x, (3,)), recipes[0]
        )
        positives = lambda d=dtype: torch.ones(4, dtype=d) * 0.5
        yield edge(
            f"batch_norm_{tag(dtype)}", F.batch_norm, recipes[0], recipes[1], positives
        )


def _paddings() -> Iterator[Case]:
    x = f32(2, 3, 4, 5)
    constant = {
        "last": (1, 2),
        "four": (1, 0, 2, 1),
        "negative": (-1, -2),
        "mixed": (-1, 2, 1, -1),
        "all": (1, 1, 0, 2, 1, 0, 0, 1),
        "gone": (-3, -2),
        "nothing": (0, 0),
    }
    for name, pad in constant.items():
        yield edge(f"constant_{name}", lambda x, p=pad: F.pad(x, p, value=1.5), x)
    yield edge("constant_inf", lambda x: F.pad(x, (1, 1), value=-INF), f32(3))
    yield edge("constant_last", lambda x: F.pad(x, (1, 1, 2, 0)), channels_last(x))
    for dtype in (*INTEGERS, torch.bool, F16, BF16, F64):
        recipe = lambda d=dtype: torch.arange(6).reshape(2, 3).to(d)
        yield edge(
            f"constant_{tag(dtype)}", lambda x: F.pad(x, (1, -1, 0, 1), value=1), recipe
        )
    for mode in ("reflect", "replicate", "circular"):
        for pad in ((1, 2), (2, 1, 1, 0), (1, 1, 2, 0, 1, 1)):
            shape = (1, 2, *(4,) * (len(pad) // 2))
            pad_it = lambda x, p=pad, m=mode: F.pad(x, p, mode=m)
            yield edge(f"{mode}_{len(pad) // 2}d", pad_it, f32(*shape))
            yield edge(f"{mode}_{len(pad) // 2}d_no_batch", pad_it, f32(*shape[1:]))
        yield edge(
            f"{mode}_f16", lambda x, m=mode: F.pad(x, (1, 2), mode=m), real(F16, 2, 4)
        )
        yield edge(
            f"{mode}_s64", lambda x, m=mode: F.pad(x, (1, 2), mode=m), whole(2, 4)
        )
    yield edge(
        "replicate_negative", lambda x: F.pad(x, (-1, 2), mode="replicate"), f32(2, 5)
    )
    yield edge(
        "reflect_negative", lambda x: F.pad(x, (2, -1), mode="reflect"), f32(2, 5)
    )


def _resizing() -> Iterator[Case]:
    x = f32(1, 2, 3, 4)
    for mode in ("nearest", "bilinear"):
        corners = (None,) if mode == "nearest" else (False, True)
        for corner in corners:
            options = {"mode": mode, "align_corners": corner}
            name = f"{mode}{'' if corner is None else f'_{corner:d}'}"
            yield edge(
                f"{name}_size", lambda x, o=options: F.interpolate(x, (5, 3), **o), x
            )
            yield edge(
                f"{name}_one", lambda x, o=options: F.interpolate(x, (1, 1), **o), x
            )
            scale = lambda x, o=options: F.interpolate(x, scale_factor=(1.7, 2.0), **o)
            yield edge(f"{name}_scale", scale, x)
            yield edge(f"{name}_last", scale, channels_last(x))
            yield edge(f"{name}_f16", scale, real(F16, 1, 1, 3, 3))
    yield edge(
        "nearest_u8",
        lambda x: F.interpolate(x, scale_factor=2),
        whole(1, 1, 2, 2, low=0, dtype=torch.uint8),
    )
    yield edge("nearest_1d", lambda x: F.interpolate(x, 7), f32(1, 2, 4))
    yield edge(
        "nearest_exact",
        lambda x: F.interpolate(x, 7, mode="nearest-exact"),
        f32(1, 2, 4),
    )
    yield edge("linear_1d", lambda x: F.interpolate(x, 7, mode="linear"), f32(1, 2, 4))
    yield edge(
        "pixel_shuffle",
        lambda x: F.pixel_shuffle(x, 2),
        f32(2, 8, 2, 3),
        keep=(aten.pixel_shuffle.default,),
    )
    yield edge(
        "pixel_unshuffle",
        lambda x: F.pixel_unshuffle(x, 2),
        f32(2, 2, 4, 6),
        keep=(aten.pixel_unshuffle.default,),
    )


def _embedding() -> Iterator[Case]:
    index = values(0, 3, 1, 1)
    yield edge("embedding", F.embedding, index, f32(4, 3))
    yield edge("embedding_s32", F.embedding, values(2, 0, dtype=S32), f32(4, 3))
    yield edge(
        "embedding_padding",
        lambda i, w: F.embedding(i, w, padding_idx=1),
        index,
        f32(4, 3),
    )
    yield edge("embedding_2d", F.embedding, whole(2, 3, low=0, high=4), real(F16, 4, 5))
    yield edge("embedding_0d", F.embedding, whole(low=0, high=4), real(BF16, 4, 5))
    yield edge("embedding_s8", F.embedding, index, whole(4, 3, dtype=S8))
    yield edge("embedding_empty", F.embedding, whole(0), f32(4, 3))
    yield edge("one_hot", lambda i: F.one_hot(i, 5), index)


GROUPS = {
    "edge_addmm": _addmm,
    "edge_products": _products,
    "edge_convolutions": _convolutions,
    "edge_transposed": _transposed,
    "edge_pools": _pools,
    "edge_norms": _norms,
    "edge_paddings": _paddings,
    "edge_resizing": _resizing,
    "edge_embedding": _embedding,
}
