# SPDX-License-Identifier: Apache-2.0
"""One-operator programs: the quantised library of ExecuTorch."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import executorch.kernels.quantized  # noqa: F401 - registers the out variants
import torch
from executorch.exir import EdgeCompileConfig, ExecutorchBackendConfig
from executorch.exir.passes import _quant_patterns_and_replacements  # noqa: F401
from torch import nn
from torch.ao.quantization.fx import _decomposed  # noqa: F401 - registers operators

from corpus.case import Case, Exported
from corpus.exporting import Apply, exported_module
from corpus.inputs import Recipe, channels_last, f32, made, real, values, whole

U8, S8, U16, S16, S32 = (
    torch.uint8,
    torch.int8,
    torch.uint16,
    torch.int16,
    torch.int32,
)
S64, F16, BF16, F32, F64 = (
    torch.int64,
    torch.float16,
    torch.bfloat16,
    torch.float32,
    torch.float64,
)
NAMES = {U8: "u8", S8: "s8", U16: "u16", S16: "s16", S32: "s32"}
NAMES |= {F16: "f16", BF16: "bf16", F32: "f32", F64: "f64", S64: "s64"}
INTEGERS = (U8, S8, U16, S16, S32)
Q = torch.ops.quantized_decomposed

# These three have no eager form: this is what the quantised graph means that
# ExecuTorch's fusion replaces by them.


@torch.library.impl("quantized_decomposed::add", "CompositeExplicitAutograd")
def _add(a: torch.Tensor, *parameters: Any) -> torch.Tensor:
    x = Q.dequantize_per_tensor(a, *parameters[:4], a.dtype)
    b = parameters[4]
    y = Q.dequantize_per_tensor(b, *parameters[5:9], b.dtype)
    return Q.quantize_per_tensor(x + y, *parameters[9:], a.dtype)


def _real_weight(weight, scales, zeros) -> torch.Tensor:
    groups = scales.shape[1] if scales.dim() == 2 else 1
    shape = (weight.shape[0], groups, weight.shape[1] // groups)
    centred = weight.reshape(shape).to(scales.dtype)
    if zeros is not None:
        centred = centred - zeros.reshape(-1, groups, 1)
    return (centred * scales.reshape(-1, groups, 1)).reshape(weight.shape)


@torch.library.impl("quantized_decomposed::mixed_mm", "CompositeExplicitAutograd")
def _mixed_mm(x, weight, scales, zeros) -> torch.Tensor:
    return torch.mm(x, _real_weight(weight, scales, zeros))


@torch.library.impl("quantized_decomposed::mixed_linear", "CompositeExplicitAutograd")
def _mixed_linear(x, weight, scales, zeros, dtype=None) -> torch.Tensor:
    product = torch.mm(x, _real_weight(weight, scales, zeros).t())
    return product.to(dtype or x.dtype)


def quantized_module(
    module: nn.Module, *samples: tuple[Any, ...], fuse: bool = False, **options: Any
) -> Exported:
    """Export without judging the graph: q and dq are no ATen operators."""
    return exported_module(
        module,
        *samples,
        edge=EdgeCompileConfig(_check_ir_validity=False),
        config=ExecutorchBackendConfig(do_quant_fusion_and_const_prop=fuse),
        **options,
    )


def quantized(
    name: str,
    function: Callable[..., Any],
    *recipes: Any,
    committed: bool = False,
    **options: Any,
) -> Case:
    """A case of one function, named op_<name>; bit-exact unless told otherwise."""
    tolerance = {"rtol": 0.0, "atol": 0.0} | options

    def build() -> Exported:
        return quantized_module(Apply(function), made(recipes), **tolerance)

    return Case(f"op_{name}", build, committed)


def limits(dtype: torch.dtype) -> tuple[int, int]:
    """The numbers of an integer dtype."""
    return torch.iinfo(dtype).min, torch.iinfo(dtype).max


def middle(dtype: torch.dtype) -> int:
    """A zero point that is none of 0 and the ends."""
    low, high = limits(dtype)
    return low + (high - low) // 2 + 3 if dtype != S32 else 12345


def spread(dtype: torch.dtype, *shape: int) -> Recipe:
    """Numbers of an integer dtype, all of its range."""
    low, high = limits(dtype)
    return lambda: torch.randint(low, high + 1, shape).to(dtype)


def scales(*shape: int, dtype: torch.dtype = F32) -> Recipe:
    """Positive numbers about 0.05."""
    return lambda: (torch.rand(shape) * 0.09 + 0.005).to(dtype)


# 1e9 and infinity saturate, halves go to even, NaN has no place.
SPECIAL = values(
    *(0.0, -0.0, 0.25, 0.75, 1.25, -0.25, -0.75, 1e9, -1e9, 3e38),
    *(float("inf"), float("-inf"), float("nan"), 1e-40, 63.5, -64.25),
)


def per_tensor() -> Iterator[Case]:
    for dtype in INTEGERS:
        low, high = limits(dtype)
        scale, zero, tag = 0.0371, middle(dtype), NAMES[dtype]

        def quantize(x, s=scale, z=zero, lo=low, hi=high, d=dtype):
            return Q.quantize_per_tensor(x, s, z, lo, hi, d)

        def dequantize(q, s=scale, z=zero, lo=low, hi=high, d=dtype):
            return Q.dequantize_per_tensor(q, s, z, lo, hi, d)

        def quantize_tensor(x, s, z, lo=low, hi=high, d=dtype):
            return Q.quantize_per_tensor.tensor(x, s, z, lo, hi, d)

        def dequantize_tensor(q, s, z, lo=low, hi=high, d=dtype):
            return Q.dequantize_per_tensor.tensor(q, s, z, lo, hi, d, out_dtype=F32)

        def halves(x, z=zero, lo=low, hi=high, d=dtype):
            return Q.quantize_per_tensor(x, 0.5, z, lo, hi, d)

        small = dtype == S8
        yield quantized(f"quantize_tensor_{tag}", quantize, f32(3, 37), committed=small)
        yield quantized(
            f"quantize_tensor_special_{tag}", halves, SPECIAL, committed=True
        )
        yield quantized(
            f"dequantize_tensor_{tag}",
            dequantize,
            spread(dtype, 5, 41),
            committed=small,
        )
        yield quantized(
            f"quantize_tensors_{tag}",
            quantize_tensor,
            f32(2, 3, 5),
            values(0.021, dtype=F64),
            values(zero),
            committed=small,
        )
        yield quantized(
            f"dequantize_tensors_{tag}",
            dequantize_tensor,
            spread(dtype, 2, 3, 5),
            values(0.021, dtype=F64),
            values(zero),
            committed=small,
        )
        for out in (F16, BF16, F64, F32):

            def dequantize_to(q, s=scale, z=zero, lo=low, hi=high, d=dtype, o=out):
                return Q.dequantize_per_tensor(q, s, z, lo, hi, d, out_dtype=o)

            yield quantized(
                f"dequantize_tensor_{tag}_{NAMES[out]}",
                dequantize_to,
                spread(dtype, 4, 9),
                committed=dtype == S16 and out == F16,
            )
        for source in (F16, BF16):
            yield quantized(
                f"quantize_tensor_{NAMES[source]}_{tag}",
                quantize,
                real(source, 3, 17),
                committed=small and source == F16,
            )


def many() -> torch.Tensor:
    """Four thousand numbers, half of them near halves of a scale of 0.02."""
    return torch.cat([torch.randn(2000), torch.arange(-1000, 1000) * 0.005])


def more_per_tensor() -> Iterator[Case]:
    def quantize(x):
        return Q.quantize_per_tensor(x, 0.0123, -7, -128, 127, S8)

    def narrow(x):
        return Q.quantize_per_tensor(x, 0.1, 0, -8, 7, S8)

    def far(x):
        return Q.quantize_per_tensor(x, 0.1, 5_000_000, 0, 255, U8)

    def pair(x):
        q = Q.quantize_per_tensor(x, 0.02, 3, -128, 127, S8)
        return Q.dequantize_per_tensor(q, 0.02, 3, -128, 127, S8)

    def zero_scale(x):
        return Q.quantize_per_tensor(x, 1e-45, 0, -128, 127, S8)

    yield quantized("quantize_tensor_0d", quantize, lambda: torch.tensor(1.3))
    yield quantized("quantize_tensor_empty", quantize, f32(0, 3))
    yield quantized("quantize_tensor_narrow", narrow, f32(33), committed=True)
    yield quantized("quantize_tensor_far", far, lambda: -5e5 + 40 * torch.rand(33))
    yield quantized("quantize_tensor_no_scale", zero_scale, SPECIAL)
    yield quantized("quantize_tensor_pair", pair, f32(4, 19))
    yield quantized("quantize_tensor_many", pair, many)
    yield quantized(
        "quantize_tensor_channels_last", pair, channels_last(f32(1, 3, 4, 5))
    )
    yield quantized(
        "quantize_tensors_f32",
        lambda x, s, z: Q.quantize_per_tensor.tensor(x, s, z, 0, 255, U8),
        f32(7, 5),
        values(0.03, dtype=F32),
        values(99, dtype=S32),
    )
    yield quantized(
        "dequantize_tensors_f32",
        lambda q, s, z: Q.dequantize_per_tensor.tensor(
            q, s, z, 0, 255, U8, out_dtype=F32
        ),
        spread(U8, 7, 5),
        values(0.03, dtype=F32),
        values(99, dtype=S32),
    )


def per_channel() -> Iterator[Case]:
    for dtype in INTEGERS:
        for scale_dtype in (F32, F64):
            low, high = limits(dtype)
            tag = f"{NAMES[dtype]}_{NAMES[scale_dtype]}"
            zeros = whole(3, low=0, high=90)

            def quantize(x, s, z, lo=low, hi=high, d=dtype):
                return Q.quantize_per_channel(x, s, z, 1, lo, hi, d)

            def dequantize(q, s, z, lo=low, hi=high, d=dtype):
                return Q.dequantize_per_channel(q, s, z, 1, lo, hi, d)

            small = dtype == S8
            yield quantized(
                f"quantize_channel_{tag}",
                quantize,
                f32(2, 3, 5),
                scales(3, dtype=scale_dtype),
                zeros,
                committed=small,
            )
            if dtype != U16:  # PyTorch does not promote it
                yield quantized(
                    f"dequantize_channel_{tag}",
                    dequantize,
                    spread(dtype, 2, 3, 5),
                    scales(3, dtype=scale_dtype),
                    zeros,
                    committed=small,
                )


def more_per_channel() -> Iterator[Case]:
    def dequantize(axis, **options):
        return lambda q, s, z: Q.dequantize_per_channel(
            q, s, z, axis, -128, 127, S8, **options
        )

    def quantize(axis):
        return lambda x, s, z: Q.quantize_per_channel(x, s, z, axis, -128, 127, S8)

    def symmetric(q, s):
        return Q.dequantize_per_channel(q, s, None, 0, -128, 127, S8)

    zeros = whole(4, low=-9, high=9)
    q4 = spread(S8, 2, 4, 3, 5)
    x4 = f32(2, 4, 3, 5)
    yield quantized("quantize_channel_last", quantize(-1), f32(3, 4), scales(4), zeros)
    yield quantized(
        "dequantize_channel_last", dequantize(-1), spread(S8, 3, 4), scales(4), zeros
    )
    yield quantized(
        "dequantize_channel_no_zero", symmetric, spread(S8, 4, 9), scales(4),
        committed=True,
    )  # fmt: skip
    yield quantized(
        "dequantize_channel_s32_zero",
        dequantize(0),
        spread(S8, 4, 9),
        scales(4),
        whole(4, dtype=S32),
    )
    yield quantized(
        "dequantize_channel_f32_zero",
        dequantize(0),
        spread(S8, 4, 9),
        scales(4),
        f32(4),
    )
    yield quantized(
        "quantize_channel_f32_zero", quantize(0), f32(4, 9), scales(4), f32(4)
    )
    yield quantized("quantize_channel_1d", quantize(0), f32(4), scales(4), zeros)
    yield quantized(
        "quantize_channel_f16", quantize(1), real(F16, 2, 4, 7), scales(4), zeros
    )
    yield quantized(
        "quantize_channel_bf16_f64",
        quantize(1),
        real(BF16, 2, 4, 7),
        scales(4, dtype=F64),
        zeros,
    )
    yield quantized(
        "quantize_channel_special",
        quantize(1),
        lambda: SPECIAL().reshape(4, 4),
        scales(4),
        zeros,
    )
    yield quantized(
        "quantize_channel_special_f64",
        quantize(1),
        lambda: SPECIAL().reshape(4, 4),
        scales(4, dtype=F64),
        zeros,
    )
    yield quantized(
        "quantize_channel_channels_last",
        quantize(1),
        channels_last(x4),
        scales(4),
        zeros,
    )
    yield quantized(
        "dequantize_channel_channels_last",
        dequantize(1),
        channels_last(q4),
        scales(4),
        zeros,
    )
    yield quantized("quantize_channel_empty", quantize(1), f32(0, 4), scales(4), zeros)
    for out in (F16, BF16, F64):
        yield quantized(
            f"dequantize_channel_to_{NAMES[out]}",
            dequantize(1, out_dtype=out),
            spread(S8, 2, 4, 5),
            scales(4),
            zeros,
        )


def per_token() -> Iterator[Case]:
    def choose(x):
        return Q.choose_qparams_per_token_asymmetric(x, S8)

    def dynamic(x):
        scale, zero = Q.choose_qparams_per_token_asymmetric(x, S8)
        q = Q.quantize_per_token(x, scale, zero, -128, 127, S8)
        return Q.dequantize_per_token(q, scale, zero, -128, 127, S8, F32), q

    for dtype in (F32, F16, BF16):
        tag = NAMES[dtype]
        yield quantized(
            f"choose_token_{tag}", choose, real(dtype, 3, 7), committed=dtype == F32
        )
        yield quantized(
            f"dynamic_token_{tag}",
            dynamic,
            real(dtype, 2, 3, 9),
            committed=dtype == F32,
        )
    yield quantized("choose_token_f64", choose, real(F64, 4, 5))
    yield quantized("choose_token_special", choose, lambda: SPECIAL().reshape(4, 4))
    yield quantized("choose_token_zero", choose, lambda: torch.zeros(2, 3))
    yield quantized("choose_token_one", choose, lambda: torch.rand(5, 1) + 1)
    yield quantized("choose_token_1d", choose, f32(9))
    yield quantized("choose_token_4d", choose, f32(2, 3, 4, 5))
    yield quantized(
        "choose_token_channels_last", choose, channels_last(f32(2, 3, 4, 5))
    )
    for dtype in INTEGERS:
        for scale_dtype in (F32, F64):
            low, high = limits(dtype)
            tag = f"{NAMES[dtype]}_{NAMES[scale_dtype]}"

            def quantize(x, s, z, lo=low, hi=high, d=dtype):
                return Q.quantize_per_token(x, s, z, lo, hi, d)

            def dequantize(q, s, z, lo=low, hi=high, d=dtype):
                return Q.dequantize_per_token(q, s, z, lo, hi, d, F32)

            recipes = scales(2, 3, 1, dtype=scale_dtype), whole(2, 3, 1)
            yield quantized(
                f"quantize_token_{tag}",
                quantize,
                f32(2, 3, 5),
                *recipes,
                committed=dtype == S8,
            )
            if dtype != U16:
                yield quantized(
                    f"dequantize_token_{tag}",
                    dequantize,
                    spread(dtype, 2, 3, 5),
                    *recipes,
                    committed=dtype == S8,
                )
    for out in (F16, BF16, F64):

        def dequantize_to(q, s, z, o=out):
            return Q.dequantize_per_token(q, s, z, -128, 127, S8, o)

        yield quantized(
            f"dequantize_token_to_{NAMES[out]}",
            dequantize_to,
            spread(S8, 4, 7),
            scales(4, 1, dtype=F64),
            whole(4, 1),
        )


def choosing() -> Iterator[Case]:
    def choose(low, high, dtype, eps=1.1920928955078125e-07):
        return lambda x: Q.choose_qparams.tensor(x, low, high, eps, dtype)

    def dynamic(x):
        scale, zero = Q.choose_qparams.tensor(x, -128, 127, 1e-5, S8)
        q = Q.quantize_per_tensor.tensor(x, scale, zero, -128, 127, S8)
        return Q.dequantize_per_tensor.tensor(
            q, scale, zero, -128, 127, S8, out_dtype=F32
        )

    for dtype in INTEGERS:
        yield quantized(
            f"choose_qparams_{NAMES[dtype]}",
            choose(*limits(dtype), dtype) if dtype != S32 else choose(-9999, 9999, S32),
            f32(5, 9),
            committed=dtype in (S8, U8),
        )
    for dtype in (F16, BF16):
        yield quantized(
            f"choose_qparams_{NAMES[dtype]}", choose(-128, 127, S8), real(dtype, 4, 9)
        )
    yield quantized(
        "choose_qparams_positive", choose(-128, 127, S8), lambda: torch.rand(9) + 4
    )
    yield quantized(
        "choose_qparams_negative", choose(0, 255, U8), lambda: -torch.rand(9)
    )
    yield quantized("choose_qparams_zero", choose(0, 255, U8), lambda: torch.zeros(5))
    yield quantized("choose_qparams_eps", choose(0, 255, U8, 0.25), f32(9))
    yield quantized(
        "choose_qparams_inf", choose(-128, 127, S8), values(1.0, float("inf"))
    )
    yield quantized("choose_qparams_nan", choose(-128, 127, S8), SPECIAL)
    yield quantized(
        "choose_qparams_infs",
        choose(0, 255, U8),
        values(1.0, float("inf"), float("-inf")),
    )
    yield quantized("choose_qparams_0d", choose(0, 255, U8), lambda: torch.tensor(-2.5))
    yield quantized("dynamic_tensor", dynamic, f32(3, 4, 5), committed=True)


def adding() -> Iterator[Case]:
    for dtype in INTEGERS:
        low, high = limits(dtype)
        zero = middle(dtype)

        def add(a, b, lo=low, hi=high, z=zero):
            first, second = (0.03, z, lo, hi), (0.05, z - 2, lo, hi)
            return Q.add(a, *first, b, *second, 0.07, z + 4, lo, hi)

        tag = NAMES[dtype]
        yield quantized(
            f"quantized_add_{tag}",
            add,
            spread(dtype, 5, 13),
            spread(dtype, 5, 13),
            committed=dtype in (U8, S8),
        )
        yield quantized(
            f"quantized_add_broadcast_{tag}", add, spread(dtype, 5, 1), spread(dtype, 4)
        )
    yield quantized(
        "quantized_add_empty",
        lambda a, b: Q.add(a, 0.1, 0, 0, 255, b, 0.1, 0, 0, 255, 0.1, 0, 0, 255),
        spread(U8, 0, 3),
        spread(U8, 0, 3),
    )
    yield quantized(
        "quantized_add_channels_last",
        lambda a, b: Q.add(a, 0.1, 1, 0, 255, b, 0.2, 2, 0, 255, 0.3, 3, 5, 250),
        channels_last(spread(U8, 1, 3, 4, 5)),
        channels_last(spread(U8, 1, 3, 4, 5)),
    )


def embeddings() -> Iterator[Case]:
    forms = {
        "byte": (8, -128, 127, Q.embedding_byte),
        "4bit": (4, -8, 7, Q.embedding_4bit),
        "2bit": (2, -2, 1, Q.embedding_2bit),
    }
    rows = whole(2, 3, low=0, high=6)
    for form, (bits, low, high, operator) in forms.items():
        width = 6 * bits // 2  # 24, 12, 6 bytes: 24 numbers
        for weight_dtype in (U8, S8) if bits == 8 else (U8,):
            weight = spread(weight_dtype, 6, width)
            # the exporter takes what 4 and 2 bits give for float32, always
            for dtype in (F32, F16, BF16) if bits == 8 else (F32,):
                for groups in (1, 4):
                    shape = (6,) if groups == 1 else (6, groups)

                    def plain(w, s, i, o=operator, lo=low, hi=high):
                        return o(w, s, None, lo, hi, i)

                    def shifted(w, s, z, i, o=operator, lo=low, hi=high):
                        return o(w, s, z, lo, hi, i)

                    tag = f"{form}_{NAMES[weight_dtype]}_{NAMES[dtype]}_g{groups}"
                    yield quantized(
                        f"embedding_{tag}",
                        plain,
                        weight,
                        scales(*shape, dtype=dtype),
                        rows,
                        committed=dtype == F32 and groups == 1,
                    )
                    yield quantized(
                        f"embedding_zero_{tag}",
                        shifted,
                        weight,
                        scales(*shape, dtype=dtype),
                        real(dtype, *shape),
                        rows,
                        committed=dtype == (F16 if bits == 8 else F32) and groups == 4,
                    )
            for dtype in (F32, F16, BF16):

                def typed(w, s, i, o=operator, lo=low, hi=high, d=dtype):
                    return o.dtype(w, s, None, lo, hi, i, dtype=d)

                yield quantized(
                    f"embedding_dtype_{form}_{NAMES[weight_dtype]}_{NAMES[dtype]}",
                    typed,
                    weight,
                    scales(6, 2, dtype=F16 if dtype == F32 else F32),
                    rows,
                    committed=dtype == F32,
                )
        yield quantized(
            f"embedding_{form}_odd",
            lambda w, s, i, o=operator, lo=low, hi=high: o(w, s, None, lo, hi, i),
            spread(U8, 3, 3),
            scales(3),
            values(2, 0, 1, 1, dtype=S32),
        )


def mixed() -> Iterator[Case]:
    for dtype in (F32, F16, BF16):
        near = {F32: 1e-5, F16: 2e-3, BF16: 2e-2}[dtype]
        tolerance = {"rtol": near, "atol": near}
        tag = NAMES[dtype]
        yield quantized(
            f"mixed_mm_{tag}",
            lambda x, w, s: Q.mixed_mm(x, w, s, None),
            real(dtype, 3, 21),
            spread(S8, 21, 35),
            lambda d=dtype: torch.rand(21).to(d) / 400,
            committed=dtype == F32,
            **tolerance,
        )
        yield quantized(
            f"mixed_mm_zero_{tag}",
            Q.mixed_mm,
            real(dtype, 1, 8),
            spread(S8, 8, 6),
            lambda d=dtype: torch.rand(8).to(d) / 400,
            real(dtype, 8),
            **tolerance,
        )
        yield quantized(
            f"mixed_linear_{tag}",
            lambda x, w, s: Q.mixed_linear(x, w, s, None),
            real(dtype, 3, 35),
            spread(S8, 4, 35),
            lambda d=dtype: torch.rand(4).to(d) / 400,
            committed=dtype == F32,
            **tolerance,
        )
        yield quantized(
            f"mixed_linear_groups_{tag}",
            Q.mixed_linear,
            real(dtype, 2, 40),
            spread(S8, 5, 40),
            lambda d=dtype: torch.rand(5, 2).to(d) / 400,
            real(dtype, 5, 2),
            **tolerance,
        )
        yield quantized(
            f"mixed_linear_to_f32_{tag}",
            lambda x, w, s: Q.mixed_linear(x, w, s, None, F32),
            real(dtype, 2, 40),
            spread(S8, 5, 40),
            lambda d=dtype: torch.rand(5, 2).to(d) / 400,
            **tolerance,
        )


CASES = [
    *per_tensor(),
    *more_per_tensor(),
    *per_channel(),
    *more_per_channel(),
    *per_token(),
    *choosing(),
    *adding(),
    *embeddings(),
    *mixed(),
]
