# SPDX-License-Identifier: Apache-2.0
"""Operators that the exporter turns into several calls, or that tests name."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import executorch.kernels.quantized  # noqa: F401 - registers the out variants
import torch
import torch.nn.functional as F  # noqa: N812 - its usual name
from executorch.exir import EdgeCompileConfig, ExecutorchBackendConfig
from executorch.exir.passes import _quant_patterns_and_replacements  # noqa: F401
from torch import Tensor, nn
from torch.ao.quantization.fx import _decomposed  # noqa: F401 - registers operators

from corpus.case import Case, Exported
from corpus.exporting import exported_module, layer, op
from corpus.inputs import bools, channels_last, f32, made, positive, real, values, whole
from corpus.modules import Apply

A, Q = torch.ops.aten, torch.ops.quantized_decomposed
S8, S16, S32, S64, U8 = torch.int8, torch.int16, torch.int32, torch.int64, torch.uint8
F16, BF16, F64 = torch.float16, torch.bfloat16, torch.float64
# Operators that are not in the core set: the exporter's check would refuse them.
LOOSE = EdgeCompileConfig(_check_ir_validity=False)
ANY: dict[str, Any] = {"edge": LOOSE}
ROUGH = {"rtol": 1e-2, "atol": 1e-2}

# ---- element by element --------------------------------------------------------------

UNARY = {
    "abs": torch.abs,
    "hardsigmoid": F.hardsigmoid,
    "hardswish": F.hardswish,
    "leaky_relu": lambda x: F.leaky_relu(x, 0.1),
    "mish": F.mish,
    "neg": torch.neg,
    "silu": F.silu,
    "softplus": F.softplus,
}
BINARY = {
    "add": torch.add,
    "rsub": torch.rsub,
    "sub": torch.sub,
    "where": lambda x, y: torch.where(x > y, x, y),
}
INTEGER = {
    "add": torch.add,
    "floor_divide": lambda x, y: x // (y.abs() + 1),
    "remainder": lambda x, y: torch.remainder(x, y.abs() + 1),
    "true_divide": lambda x, y: x / (y.abs() + 1),
}


def elementwise() -> Iterator[Case]:
    for name, function in UNARY.items():
        yield op(name, function, f32(2, 3, 5))
    yield op("acosh", lambda x: torch.acosh(x + 1), positive(2, 3, 5))
    for name, function in BINARY.items():
        yield op(name, function, f32(2, 3, 4), f32(3, 1))
    yield op("div_scalar", lambda x: x / 3, f32(3, 7))
    for name, function in INTEGER.items():
        yield op(f"{name}_s32", function, whole(4, 5, dtype=S32), whole(5, dtype=S32))
    short = whole(3, 5, low=-100, high=100, dtype=S16)
    yield op("add_s16", torch.add, short, short)
    yield op("add_bf16", torch.add, real(BF16, 3, 4), real(BF16, 3, 4), **ROUGH)
    yield op("mm_f64", torch.mm, real(F64, 3, 4), real(F64, 4, 5))
    yield op("silu_f16", F.silu, real(F16, 3, 7), rtol=2e-3, atol=2e-3)
    yield op("to_s32_f32", lambda x: (x * 10).to(S32), f32(3, 4))
    yield op("to_u8_f32", lambda x: (x.abs() * 10).to(U8), f32(3, 4))
    yield op("to_bool_f32", lambda x: x.round().to(torch.bool), f32(3, 4))
    yield op("promote_s32_f32", torch.add, whole(3, dtype=S32), f32(2, 3))
    yield op("promote_bool_s64", torch.mul, bools(4), whole(4))
    yield op("promote_u8_s8", torch.add, whole(4, low=0, dtype=U8), whole(4, dtype=S8))
    yield op("promote_s32_half_scalar", lambda x: x * 0.5, whole(3, dtype=S32))
    yield op("promote_0d", torch.add, whole(dtype=S32), f32(3))
    yield op("masked_fill", lambda x, m: x.masked_fill(m, -1.0), f32(3, 4), bools(3, 4))
    yield op("glu", lambda x: F.glu(x, 1), f32(2, 6))
    yield op("prelu", F.prelu, f32(2, 3, 4), positive(3))
    yield op("logit", lambda x: torch.logit(x, 1e-3), positive(5))


REDUCTIONS = [
    op("max_dim", lambda x: tuple(x.max(1)), f32(2, 5)),
    op("any_dim", lambda x: (x > 1).any(1), f32(3, 4)),
    op("all", lambda x: (x > -2).all(), f32(3, 4)),
    op("all_dim", lambda x: x.all(0), bools(2, 4)),
    op("var", lambda x: x.var(1), f32(3, 6)),
    op("std", lambda x: x.std(1), f32(3, 6)),
    op("norm", lambda x: torch.linalg.vector_norm(x, dim=1), f32(3, 6)),
    op("logsumexp", lambda x: x.logsumexp(1), f32(3, 5)),
    op("count_nonzero", lambda x: (x > 0).sum(1), f32(3, 5)),
]

# ---- layers --------------------------------------------------------------------------


def conv2d(name: str, channels: int, outputs: int, kernel: int, **options: Any) -> Case:
    """nn.Conv2d on two images of 9 x 8."""
    return layer(
        f"conv2d_{name}",
        lambda: nn.Conv2d(channels, outputs, kernel, **options),
        f32(2, channels, 9, 8),
    )


words = partial(whole, low=0, high=11)
Q2 = f32(1, 2, 4, 6)
KEYS = f32(1, 2, 5, 6)
LAYERS = [
    conv2d("same_even", 2, 3, 4, padding="same"),
    conv2d("reflect", 2, 3, 3, padding=1, padding_mode="reflect"),
    conv2d("depthwise_stride", 4, 4, 3, groups=4, stride=2, bias=False),
    op("conv2d_unbatched", F.conv2d, f32(2, 5, 5), f32(3, 2, 3, 3)),
    op("max_pool1d", lambda x: F.max_pool1d(x, 3, 2, 1), f32(1, 3, 11)),
    op("avg_pool1d", lambda x: F.avg_pool1d(x, 3, 2), f32(1, 3, 11)),
    op("adaptive_avg_pool1d", lambda x: F.adaptive_avg_pool1d(x, 4), f32(1, 3, 10)),
    op("adaptive_max_pool1d", lambda x: F.adaptive_max_pool1d(x, 3), f32(2, 7), **ANY),
    layer("layer_norm", lambda: nn.LayerNorm(7), f32(2, 3, 7)),
    layer("instance_norm", lambda: nn.InstanceNorm2d(3, affine=True), f32(2, 3, 4, 4)),
    layer("rms_norm", lambda: nn.RMSNorm(6), f32(2, 3, 6)),
    op("normalize", lambda x: F.normalize(x, dim=1), f32(3, 5)),
    op("cosine_similarity", F.cosine_similarity, f32(3, 5), f32(3, 5)),
    layer("linear", lambda: nn.Linear(7, 5), f32(3, 7)),
    layer("linear_no_bias", lambda: nn.Linear(7, 5, bias=False), f32(1, 7)),
    layer("linear_3d", lambda: nn.Linear(7, 5), f32(2, 3, 7)),
    layer("linear_1d", lambda: nn.Linear(7, 5), f32(7)),
    op("mm", torch.mm, f32(3, 5), f32(5, 4)),
    op("matmul_broadcast", torch.matmul, f32(2, 1, 3, 4), f32(3, 4, 2)),
    op("matmul_vector", torch.matmul, f32(3, 4), f32(4)),
    op("dot", torch.dot, f32(6), f32(6)),
    op(
        "addmm",
        partial(torch.addmm, beta=0.5, alpha=2),
        f32(3, 4),
        f32(3, 5),
        f32(5, 4),
    ),
    op("baddbmm", torch.baddbmm, f32(2, 3, 4), f32(2, 3, 5), f32(2, 5, 4)),
    op("einsum", partial(torch.einsum, "bij,bkj->bik"), f32(2, 3, 4), f32(2, 5, 4)),
    op("attention", F.scaled_dot_product_attention, Q2, KEYS, KEYS),
    op(
        "attention_causal",
        lambda q: F.scaled_dot_product_attention(q, q, q, is_causal=True),
        Q2,
    ),
    layer("embedding", partial(nn.Embedding, 11, 5), words(2, 3)),
    layer("embedding_s32", partial(nn.Embedding, 11, 5), words(4, dtype=S32)),
]

# ---- movement ------------------------------------------------------------------------

PHOTO, IMAGE = channels_last(f32(2, 3, 4, 5)), f32(1, 3, 4, 5)
MOVEMENT = [
    op("view", lambda x: x.view(6, 4) + 1, f32(2, 3, 4)),
    op("reshape_permuted", lambda x: x.permute(2, 0, 1).reshape(4, 6), f32(2, 3, 4)),
    op("repeat_interleave", lambda x: x.repeat_interleave(2, 1), f32(2, 3)),
    op("unbind", lambda x: x.unbind(1), f32(2, 3)),
    op("roll", lambda x: x.roll(1, 1), f32(2, 5)),
    op("pixel_shuffle", lambda x: F.pixel_shuffle(x, 2), f32(1, 8, 2, 3)),
    op("pixel_unshuffle", lambda x: F.pixel_unshuffle(x, 2), f32(1, 2, 4, 6)),
    op("tril", lambda x: x.tril(1), f32(4, 5)),
    op("triu", lambda x: x.triu(-1), f32(2, 4, 4)),
    op("alias_identity", lambda x: x, f32(2, 3)),
    op("mean_channels_last", lambda x: x.mean((2, 3)), PHOTO),
    op("cat_channels_last", lambda x: torch.cat([x, x], 1), channels_last(IMAGE)),
    op("cat", lambda x, y: torch.cat([x, y], 1), f32(2, 3), f32(2, 2)),
    op("cat_empty", lambda x, y: torch.cat([x, y]), f32(0), f32(3)),
    op("stack", lambda x, y: torch.stack([x, y], 1), f32(2, 3), f32(2, 3)),
    op("chunk", lambda x: x.chunk(3), f32(7, 2)),
    op("index", lambda x, i: x[i], f32(5, 3), whole(4, low=-5, high=5)),
    op("index_select", lambda x, i: x.index_select(1, i), f32(2, 5), values(4, 0, 2)),
    op("gather", lambda x, i: x.gather(1, i), f32(3, 5), whole(3, 2, low=0, high=5)),
    op("take_along_dim", lambda x: x.gather(1, x.argmax(1, keepdim=True)), f32(3, 5)),
    op(
        "index_put",
        lambda x, i, y: x.index_put((i,), y),
        *(f32(5, 2), values(3, 0), f32(2, 2)),
    ),
    op("select_scatter", lambda x, y: x.select_scatter(y, 0, 1), f32(3, 4), f32(4)),
    op("masked_select_where", lambda x: torch.where(x > 0, x, 0.0), f32(3, 4)),
    op("one_hot", lambda i: F.one_hot(i, 5), values(0, 4, 2)),
    op("arange", lambda x: x + torch.arange(5), f32(2, 5)),
    op("arange_step", lambda x: x + torch.arange(1.0, 2.0, 0.25), f32(4)),
    op("full", lambda x: x + torch.full((2, 3), 1.5), f32(2, 3)),
    op("zeros_ones", lambda x: x * torch.ones(3) + torch.zeros(3), f32(3)),
    op("scalar_tensor", lambda x: x + torch.scalar_tensor(3), f32(3)),
    op("eye", lambda x: x + torch.eye(3), f32(3, 3)),
]


def pooled_gradient(x: Tensor, g: Tensor) -> Any:
    sizes = ([2, 2], [1, 1], [0, 0])
    _, indices = A.max_pool2d_with_indices(x, *sizes)
    return A.max_pool2d_with_indices_backward(g, x, *sizes, [1, 1], False, indices)


def windows() -> Iterator[Case]:
    for mode, short in (("reflect", (1, 2)), ("replicate", (2, 1))):
        long = (1, 1, 2, 0) if mode == "reflect" else (1, 1, 0, 2)
        for name, pad, shape in (("", short, (5,)), ("_2d", long, (4, 5))):
            function = lambda x, p=pad, m=mode: F.pad(x, p, mode=m)  # noqa: E731
            yield op(f"pad_{mode}{name}", function, f32(1, 2, *shape))
    yield op("max_pool2d_backward", pooled_gradient, f32(2, 3, 7, 8), f32(2, 3, 6, 7))
    table, indices = f32(7, 3), whole(9, low=0, high=7)
    offsets = values(0, 2, 2, 5)
    bag = lambda w, i, o: A._embedding_bag(w, i, o, False, 0)[0]  # noqa: E731
    yield op("embedding_bag_sum", bag, table, indices, offsets)
    mean = lambda i, o, w: F.embedding_bag(i, w, o)  # noqa: E731
    yield op("embedding_bag", mean, indices, offsets, table, edge=LOOSE)


# ---- random numbers: properties, as each runtime has its own -------------------------

COUNT = 2000


def near(x: Tensor, wanted: float, within: float) -> Tensor:
    return (x - wanted).abs() < within


def even(_: Tensor) -> tuple[Tensor, ...]:
    x = torch.rand(COUNT, dtype=torch.float32)
    y = torch.rand(50, 40, dtype=torch.float32).reshape(-1)
    real = x.to(torch.float32)
    return (
        ((x >= 0) & (x < 1)).all(),
        near(real.mean(), 0.5, 0.05),
        near(real.var(), 1 / 12, 0.01),
        near((x.to(torch.float32) * y.to(torch.float32)).mean(), 0.25, 0.03),
        (x.amin() < 0.02) & (x.amax() > 0.98),
        (x != y).any(),
    )


def normal(_: Tensor) -> tuple[Tensor, ...]:
    x = torch.randn(COUNT, dtype=torch.float32).to(torch.float32)
    y = torch.randn(COUNT, dtype=torch.float32).to(torch.float32)
    return (
        ~x.isnan().any(),
        near(x.mean(), 0.0, 0.1),
        near(x.var(), 1.0, 0.15),
        near((x.abs() < 1).to(torch.float32).mean(), 0.6827, 0.05),
        near((x * y).mean(), 0.0, 0.1),
        (x.amax() > 2.5) & (x.amin() < -2.5),
    )


def alike(x: Tensor) -> tuple[Tensor, ...]:
    even, normal = torch.rand_like(x), torch.randn_like(x)
    return (
        near(even.mean(), 0.5, 0.05),
        near(even.var(), 1 / 12, 0.01),
        near(normal.mean(), 0.0, 0.1),
        near(normal.var(), 1.0, 0.15),
    )


def dropped(x: Tensor) -> tuple[Tensor, ...]:
    y, mask = A.native_dropout(x, 0.25, True)
    want = torch.where(mask, x / (1 - 0.25), torch.zeros_like(x))
    return (
        (y - want).abs().amax() < 0.02,
        near(mask.to(torch.float32).mean(), 1 - 0.25, 0.05),
        torch.tensor(mask.dtype == torch.bool),
    )


def shuffled(x: Tensor) -> tuple[Tensor, ...]:
    count = 500
    order = torch.randperm(count, dtype=S64)
    once = torch.zeros(count).scatter_add(0, order.to(S64), torch.ones(count))
    fixed = (order.to(S64) == torch.arange(count)).to(torch.float32).sum()
    return (once == 1).all(), fixed < 12, x


RANDOM = [
    op("rand", even, f32(1)),
    op("randn", normal, f32(1)),
    op("rand_like", alike, f32(50, 40), edge=LOOSE),
    op("native_dropout", dropped, f32(2000)),
    op("randperm", shuffled, f32(1)),
]

# ---- quantised -----------------------------------------------------------------------


def quantized_module(
    module: nn.Module, *samples: tuple[Any, ...], fuse: bool = False, **options: Any
) -> Exported:
    """Export without judging the graph: q and dq are no ATen operators."""
    fusing = ExecutorchBackendConfig(do_quant_fusion_and_const_prop=fuse)
    return exported_module(module, *samples, edge=LOOSE, config=fusing, **options)


def quantized(name: str, function: Callable[..., Any], *recipes: Any) -> Case:
    """A case of one function, named op_<name>; bit-exact."""

    def build() -> Exported:
        return quantized_module(Apply(function), made(recipes), rtol=0.0, atol=0.0)

    return Case(f"op_{name}", build)


def spread(dtype: torch.dtype, *shape: int) -> Callable[[], Tensor]:
    """Numbers of an integer dtype, all of its range."""
    ends = torch.iinfo(dtype)
    return lambda: torch.randint(ends.min, ends.max + 1, shape).to(dtype)


def scales(*shape: int) -> Callable[[], Tensor]:
    """Positive numbers about 0.05."""
    return lambda: torch.rand(shape) * 0.09 + 0.005


def dynamic_token(x: Tensor) -> tuple[Tensor, ...]:
    scale, zero = Q.choose_qparams_per_token_asymmetric(x, S8)
    q = Q.quantize_per_token(x, scale, zero, -128, 127, S8)
    return Q.dequantize_per_token(q, scale, zero, -128, 127, S8, torch.float32), q


def dynamic_tensor(x: Tensor) -> Any:
    scale, zero = Q.choose_qparams.tensor(x, -128, 127, 1e-5, S8)
    q = Q.quantize_per_tensor.tensor(x, scale, zero, -128, 127, S8)
    per_tensor = Q.dequantize_per_tensor.tensor
    return per_tensor(q, scale, zero, -128, 127, S8, out_dtype=torch.float32)


def quantised() -> Iterator[Case]:
    per_channel = Q.dequantize_per_channel
    yield quantized(
        "dequantize_channel_s8_f32",
        lambda q, s, z: per_channel(q, s, z, 1, -128, 127, S8),
        *(spread(S8, 2, 3, 5), scales(3), whole(3, low=0, high=90)),
    )
    yield quantized("dynamic_token_f32", dynamic_token, f32(2, 3, 9))
    yield quantized("dynamic_tensor", dynamic_tensor, f32(3, 4, 5))
    rows = whole(2, 3, low=0, high=6)
    for form, operator, dtype, width, low, high in (
        ("byte_s8", Q.embedding_byte, S8, 24, -128, 127),
        ("4bit_u8", Q.embedding_4bit, U8, 12, -8, 7),
        ("2bit_u8", Q.embedding_2bit, U8, 6, -2, 1),
    ):
        function = lambda w, s, i, o=operator, a=low, b=high: o(w, s, None, a, b, i)  # noqa: E731
        weight = spread(dtype, 6, width)
        yield quantized(f"embedding_{form}_f32_g1", function, weight, scales(6), rows)


CASES = [
    *elementwise(),
    *REDUCTIONS,
    *LAYERS,
    *MOVEMENT,
    *windows(),
    *RANDOM,
    *quantised(),
]
