# SPDX-License-Identifier: Apache-2.0
"""Edge cases, element by element: signs, ends of the range, rounding, promotion."""

from __future__ import annotations

from collections.abc import Iterator

import torch
import torch.nn.functional as F  # noqa: N812 - its usual name
from corpus.case import Case
from corpus.inputs import bools, channels_last, f32, real, values, whole

from conformance.edges import (
    B1,
    BF16,
    F16,
    F32,
    F64,
    FLOATS,
    INF,
    INTEGERS,
    NAN,
    S8,
    S16,
    S32,
    S64,
    SPECIAL,
    U8,
    each,
    edge,
    special,
)
from conformance.tolerance import tag

LARGE = (
    -200.0,
    -30.0,
    -10.0,
    -5.5,
    -1.0,
    -1e-3,
    0.0,
    1e-3,
    0.7,
    5.5,
    10.0,
    30.0,
    200.0,
)
SIGNED = (7, -7, 7, -7, 6, -6, 0, 1, -1, 5)
BY = (5, 5, -5, -5, 3, -3, 4, -2, 2, -5)
HALVES = (0.5, 1.5, 2.5, -0.5, -1.5, -2.5, 0.49999997, 8388609.0, -0.0, 1e10)
SIGNED_FLOATS = (7.5, -7.5, 7.5, -7.5, 0.0, -0.0, 5.0, INF, -INF, NAN, 3.0, -3.0, 1e10)
BY_FLOATS = (2.0, 2.0, -2.0, -2.0, 3.0, 3.0, 0.0, 2.0, 3.0, 1.0, INF, INF, 0.3)
WRITING = {
    "gelu": F.gelu,
    "gelu_tanh": lambda x: F.gelu(x, approximate="tanh"),
    "silu": F.silu,
    "mish": F.mish,
    "softplus": F.softplus,
    "sigmoid": torch.sigmoid,
    "logsigmoid": F.logsigmoid,
    "hardswish": F.hardswish,
    "hardsigmoid": F.hardsigmoid,
    "tanh": torch.tanh,
    "elu": F.elu,
    "elu_alpha": lambda x: F.elu(x, 0.3),
    "celu": lambda x: F.celu(x, 0.7),
    "selu": F.selu,
    "erf": torch.erf,
    "expm1": torch.expm1,
    "exp": torch.exp,
    "sinh": torch.sinh,
    "cosh": torch.cosh,
    "asinh": torch.asinh,
    "atan": torch.atan,
    "sin": torch.sin,
    "cos": torch.cos,
    "tan": torch.tan,
    "leaky_relu": lambda x: F.leaky_relu(x, 0.2),
    "hardtanh": lambda x: F.hardtanh(x, -2.0, 3.0),
    "relu6": F.relu6,
    "sign": torch.sign,
    "frac": torch.frac,
}
QUOTIENTS = {
    "remainder": torch.remainder,
    "fmod": torch.fmod,
    "floor_divide": torch.floor_divide,
    "div_floor": lambda x, y: torch.div(x, y, rounding_mode="floor"),
    "div_trunc": lambda x, y: torch.div(x, y, rounding_mode="trunc"),
    "div": torch.div,
}
SCALARS = {
    "remainder_3": lambda x: torch.remainder(x, 3),
    "remainder_m3": lambda x: torch.remainder(x, -3),
    "fmod_3": lambda x: torch.fmod(x, 3),
    "fmod_m3": lambda x: torch.fmod(x, -3),
    "floordiv_3": lambda x: x // 3,
    "floordiv_m3": lambda x: x // -3,
    "div_trunc_m3": lambda x: torch.div(x, -3, rounding_mode="trunc"),
    "remainder_f": lambda x: torch.remainder(x, 2.5),
    "rsub_7": lambda x: 7 - x,
    "rdiv_7": lambda x: 7 / x,
    "rpow_2": lambda x: torch.pow(2.0, x),
    "pow_3": lambda x: x**3,
    "pow_0": lambda x: x**0,
    "pow_m2f": lambda x: x**-2.0,
    "pow_half": lambda x: x**0.5,
    "pow_mhalf": lambda x: x**-0.5,
    "add_f": lambda x: x + 1.5,
    "add_i": lambda x: x + 1,
    "add_alpha": lambda x: torch.add(x, 3, alpha=2),
    "sub_alpha": lambda x: torch.sub(x, 3, alpha=2),
    "mul_f": lambda x: x * 0.5,
    "mul_true": lambda x: x * True,
    "clamp_crossed": lambda x: x.clamp(3, -2),
    "clamp_min": lambda x: x.clamp(min=1),
    "clamp_max": lambda x: x.clamp(max=-1),
    "eq_f": lambda x: x == 2.5,
    "lt_f": lambda x: x < 0.5,
    "ge_i": lambda x: x >= -1,
}


def _activations() -> Iterator[Case]:
    for name, function in WRITING.items():
        yield from each(f"{name}_large", FLOATS, function, LARGE)
        if name != "gelu":  # of infinity: PyTorch's answer depends on the place
            yield edge(f"{name}_special", function, special(2, 5))
        yield edge(f"{name}_empty", function, f32(2, 0, 3))


def _quotients() -> Iterator[Case]:
    for name, function in QUOTIENTS.items():
        signed = (S8, S16, S32, S64)
        yield from each(f"{name}_signs", signed, function, SIGNED, BY)
        yield from each(
            f"{name}_unsigned", (U8,), function, (250, 7, 0, 9), (3, 8, 5, 2)
        )
        floats = (F32, F16, BF16, F64)
        pairs = SIGNED_FLOATS, BY_FLOATS
        if name == "fmod" or "div" in name:
            pairs = SIGNED_FLOATS[:-1], BY_FLOATS[:-1]  # 1e10 / 0.3 has no exact end
        yield from each(f"{name}_signs", floats, function, *pairs)
        mixed = values(*SIGNED, dtype=S32), values(*map(float, BY))
        yield edge(f"{name}_s32_f32", function, *mixed)
        mixed = values(*SIGNED, dtype=S8), values(*BY, dtype=S64)
        yield edge(f"{name}_s8_s64", function, *mixed)


def _scalars() -> Iterator[Case]:
    for name, function in SCALARS.items():
        yield from each(name, (S8, S32, S64), function, SIGNED[:-4])
        yield from each(name, (F32, F16, F64), function, SIGNED_FLOATS)
        yield from each(name, (U8,), function, (250, 7, 0, 9, 128))
        yield from each(name, (B1,), function, (True, False, True))


def _rounding() -> Iterator[Case]:
    functions = {
        "round": torch.round,
        "round_2": lambda x: torch.round(x, decimals=2),
        "round_m1": lambda x: torch.round(x, decimals=-1),
        "trunc": torch.trunc,
        "ceil": torch.ceil,
        "floor": torch.floor,
    }
    for name, function in functions.items():
        yield from each(name, (F32, F64), function, HALVES)
        yield from each(name, (F16, BF16), function, HALVES[:6])
        yield from each(name, (S32, U8), function, (1, 2, 15, 25, 4))
    numbers = (2.675, -1.005, 123.456, 15.0, 25.0, 1e-3)
    yield edge("round_decimals", lambda x: torch.round(x, decimals=1), values(*numbers))


def _overflow() -> Iterator[Case]:
    ends = {
        S8: (127, -128),
        U8: (255, 1),
        S16: (32767, -32768),
        S32: (2**31 - 1, -(2**31)),
    }
    ends[S64] = (2**63 - 1, -(2**63))
    functions = {
        "add": torch.add,
        "sub": torch.sub,
        "mul": torch.mul,
        "add_alpha": lambda x, y: torch.add(x, y, alpha=3),
        "maximum": torch.maximum,
        "minimum": torch.minimum,
    }
    for dtype, (high, low) in ends.items():
        pair = (high, low, high, low, 3, 100), (high, low, 1, 2, low, 100)
        for name, function in functions.items():
            yield from each(f"{name}_wraps", (dtype,), function, *pair)
        for name, unary in {"neg": torch.neg, "square": torch.square}.items():
            yield from each(f"{name}_wraps", (dtype,), unary, (high, low, 1))
        if dtype != U8:
            yield from each("abs_wraps", (dtype,), torch.abs, (high, low, -1))
            yield from each("sign_ends", (dtype,), torch.sign, (high, low, 0))


def _powers() -> Iterator[Case]:
    yield from each(
        "pow", INTEGERS, torch.pow, (2, 3, 0, 5, 1, 7), (7, 2, 0, 3, 100, 1)
    )
    base, exponent = (-2, 1, -1, -1, 3), (3, 9, 5, 4, 2)
    yield from each("pow_negative_base", (S8, S32, S64), torch.pow, base, exponent)
    base, exponent = (1, -1, -1, 1), (-1, -1, -2, -5)
    yield from each("pow_negative", (S32, S64), torch.pow, base, exponent)
    base = (0.0, -0.0, -2.0, -2.0, INF, -INF, NAN, 1.0, 0.0, 4.0, -8.0)
    exponent = (0.0, -1.0, 3.0, 0.5, -1.0, 3.0, 0.0, NAN, -2.0, -0.5, 1 / 3)
    yield from each("pow_special", (F32, F64), torch.pow, base, exponent)
    yield edge(
        "pow_s32_f32", torch.pow, values(1, 2, 3, dtype=S32), values(0.5, -1.0, 2)
    )
    yield edge("pow_int_half", lambda x: x**0.5, values(1, 4, 9, dtype=S64))


def _bits() -> Iterator[Case]:
    pairs = (1, 3, -8, 127, -1, 64), (0, 2, 1, 6, 3, 1)
    for name in ("bitwise_left_shift", "bitwise_right_shift"):
        function = getattr(torch, name)
        yield from each(name, (S8, S16, S32, S64), function, *pairs)
        yield from each(name, (U8,), function, (1, 200, 255), (7, 1, 3))
        yield edge(f"{name}_scalar", lambda x, f=function: f(x, 2), values(1, -7, 9))
        far = values(1, -1, 5, dtype=S32), values(40, 33, 32, dtype=S32)
        yield edge(f"{name}_far", function, *far)
        off = values(1, -1, 5, dtype=S32), values(-1, -3, -40, dtype=S32)
        yield edge(f"{name}_negative", function, *off)
    for name in ("bitwise_and", "bitwise_or", "bitwise_xor"):
        function = getattr(torch, name)
        yield from each(name, (*INTEGERS,), function, (1, 6, 127), (3, 5, 64))
        yield edge(f"{name}_b1", function, bools(3, 4), bools(4))
        yield edge(f"{name}_s8_b1", function, whole(6, dtype=S8), bools(6))
        yield edge(f"{name}_scalar", lambda x, f=function: f(x, 6), whole(6, dtype=S16))
    yield from each("bitwise_not", (*INTEGERS, B1), torch.bitwise_not, (0, 1, 100))


def _comparisons() -> Iterator[Case]:
    for name in ("eq", "ne", "lt", "le", "gt", "ge"):
        function = getattr(torch, name)
        for dtype in FLOATS:
            yield edge(
                f"{name}_special_{tag(dtype)}",
                function,
                special(10, dtype=dtype),
                special(2, 1, dtype=dtype),
            )
        yield edge(f"{name}_s64_f32", function, whole(5), f32(5))
        yield edge(
            f"{name}_u8_s8", function, values(255, 1, dtype=U8), values(-1, 1, dtype=S8)
        )
        big = values(2**53 + 1, 2**62, -(2**63))
        yield edge(f"{name}_s64_big", function, big, values(2**53, 2**62, -(2**63)))
        yield edge(f"{name}_big_scalar", lambda x, f=function: f(x, 2**53), big)
        yield edge(f"{name}_b1", function, bools(6), bools(6))
        yield edge(
            f"{name}_u8_minus1",
            lambda x, f=function: f(x, -1),
            values(255, 0, dtype=U8),
        )
    for name in ("maximum", "minimum", "fmax", "fmin"):
        function = getattr(torch, name)
        for dtype in FLOATS:
            pair = special(10, dtype=dtype), special(5, 1, dtype=dtype)
            yield edge(f"{name}_special_{tag(dtype)}", function, *pair)
        yield edge(f"{name}_b1", function, bools(6), bools(6))
        yield edge(f"{name}_s16_f16", function, whole(6, dtype=S16), real(F16, 6))
    for name in ("logical_and", "logical_or", "logical_xor"):
        function = getattr(torch, name)
        yield edge(f"{name}_special", function, special(10), special(2, 1))
        yield edge(
            f"{name}_s8_f64", function, whole(5, low=-1, high=2, dtype=S8), real(F64, 5)
        )
    for name in ("isnan", "isinf", "isfinite", "logical_not", "signbit"):
        function = getattr(torch, name)
        yield from each(f"{name}_special", FLOATS, function, SPECIAL)
        yield from each(name, (S32, U8, B1), function, (0, 1, 5))


def _clamps() -> Iterator[Case]:
    functions = {
        "clamp": lambda x: x.clamp(-1.0, 2.0),
        "clamp_nan": lambda x: x.clamp(NAN, 2.0),
        "clamp_inf": lambda x: x.clamp(-INF, 0.5),
        "clamp_crossed": lambda x: x.clamp(2.0, -2.0),
        "clamp_min_nan": lambda x: x.clamp(min=NAN),
    }
    for name, function in functions.items():
        for dtype in FLOATS:
            yield edge(
                f"{name}_{tag(dtype)}_special", function, special(10, dtype=dtype)
            )
    bounds = values(-1.0, NAN, 2.0, -5.0, 0.0), values(1.0, 1.0, -2.0, NAN, INF)
    yield edge("clamp_tensor_special", torch.clamp, special(2, 5), *bounds)
    yield edge(
        "clamp_tensor_min", lambda x, y: torch.clamp(x, min=y), f32(3, 4), f32(4)
    )
    yield edge(
        "clamp_tensor_max", lambda x, y: torch.clamp(x, max=y), f32(3, 4), f32(3, 1)
    )
    mixed = (
        whole(4, dtype=S32),
        values(0.5, -1.5, 3.0, 1.0),
        values(2, 2, 2, 2, dtype=S64),
    )
    yield edge("clamp_tensor_mixed", torch.clamp, *mixed)
    yield edge("clamp_int_by_float", lambda x: x.clamp(-1.5, 2.5), whole(8, dtype=S32))
    yield edge("clamp_u8_negative", lambda x: x.clamp(-5, 7), values(3, 200, dtype=U8))


def _where() -> Iterator[Case]:
    yield edge("where_s32_f32", torch.where, bools(4), whole(4, dtype=S32), f32(4))
    yield edge("where_f16_f32", torch.where, bools(4, 1), real(F16, 3), f32(1))
    yield edge(
        "where_u8_s8",
        torch.where,
        bools(4),
        whole(4, low=0, dtype=U8),
        whole(4, dtype=S8),
    )
    yield edge("where_b1", torch.where, bools(2, 3), bools(3), bools(2, 1))
    yield edge(
        "where_scalar", lambda c, x: torch.where(c, x, 0.0), bools(5), special(5)
    )
    yield edge(
        "where_int_scalar",
        lambda c, x: torch.where(c, x, 7),
        bools(5),
        whole(5, dtype=S8),
    )
    yield edge("where_0d", torch.where, bools(), f32(3), f32(3))
    yield edge("where_bf16_f64", torch.where, bools(3), real(BF16, 3), real(F64, 3))
    yield edge("where_empty", torch.where, bools(0, 3), f32(3), f32(1, 3))
    for dtype in (*FLOATS, *INTEGERS, B1):
        recipe = lambda d=dtype: torch.arange(6).reshape(2, 3).to(d)
        fill = lambda x, m: x.masked_fill(m, 1)
        yield edge(f"masked_fill_{tag(dtype)}", fill, recipe, bools(3))
    yield edge(
        "masked_fill_wider", lambda x, m: x.masked_fill(m, -INF), f32(3), bools(2, 3)
    )
    fill = lambda x, m, v: x.masked_fill(m, v)
    yield edge("masked_fill_tensor", fill, f32(2, 3), bools(2, 1), f32())


def _promotion() -> Iterator[Case]:
    dtypes = (B1, U8, S8, S16, S32, S64, F16, BF16, F32, F64)
    sample = lambda d: lambda: torch.tensor([0, 1, 1, 3]).to(d)
    functions = {"add": torch.add, "mul": torch.mul, "div": torch.div}
    for i, a in enumerate(dtypes):
        for b in dtypes[i + 1 :]:
            yield edge(f"add_{tag(a)}_{tag(b)}", torch.add, sample(a), sample(b))
        for name, function in functions.items():
            ones = lambda d: lambda: torch.tensor([2, 1, 1, 3]).to(d)
            yield edge(f"{name}_{tag(a)}_{tag(a)}", function, sample(a), ones(a))
    yield edge("add_0d_s64_s8", torch.add, whole(), whole(3, dtype=S8))
    yield edge("add_0d_f64_f32", torch.add, real(F64), f32(3))
    yield edge("add_0d_f32_s32", torch.add, f32(), whole(3, dtype=S32))
    yield edge("mul_0d_f64_f16", torch.mul, real(F64), real(F16, 3))
    yield edge("add_0d_0d", torch.add, real(F64), f32())
    yield edge("div_0d_s64_f16", torch.div, values(3, 4), real(F16))
    yield edge(
        "sub_0d_first", torch.sub, whole(dtype=S64), whole(2, 2, dtype=U8, low=0)
    )


def _layouts() -> Iterator[Case]:
    x = channels_last(f32(1, 3, 2, 4))
    yield edge("add_channels_last_0d", lambda x: x + torch.tensor(2.0), x)
    yield edge("mul_channels_last_0d", lambda x, y: x * y, x, f32())
    yield edge("add_channels_last_row", torch.add, x, f32(3, 1, 1))
    yield edge("add_channels_last_plain", torch.add, x, f32(1, 3, 2, 4))
    yield edge("where_channels_last", lambda x: torch.where(x > 0, x, x * 2), x)
    yield edge("clamp_channels_last", lambda x: x.clamp(0, 1), x)
    yield edge("sum_channels_last", lambda x: x.sum((2, 3)), x)
    yield edge("softmax_channels_last", lambda x: x.softmax(1), x)
    yield edge("cat_channels_last_1", lambda x: torch.cat([x, x], 1), x)
    yield edge(
        "cat_channels_last_3", lambda x, y: torch.cat([x, y], 3), x, f32(1, 3, 2, 1)
    )
    yield edge("gelu_channels_last", F.gelu, x)
    yield edge("permute_channels_last", lambda x: x.permute(0, 2, 3, 1), x)
    yield edge("view_channels_last", lambda x: x.reshape(3, 8), x)
    yield edge("full_like_channels_last", lambda x: torch.full_like(x, 2), x)
    yield edge(
        "to_channels_last",
        lambda x: x.to(memory_format=torch.channels_last),
        f32(1, 3, 2, 4),
    )
    yield edge("to_contiguous", lambda x: x.contiguous(), x)
    yield edge(
        "to_channels_last_f16",
        lambda x: x.to(F16, memory_format=torch.contiguous_format),
        x,
    )


def _casts() -> Iterator[Case]:
    dtypes = (B1, U8, S8, S16, S32, S64, F16, BF16, F32, F64)
    for a in dtypes:
        for b in dtypes:
            if a != b:
                recipe = lambda d=a: torch.tensor([0, 1, 0, 100, 3]).to(d)
                name = f"to_{tag(a)}_{tag(b)}"
                yield edge(name, lambda x, d=b: x.to(d), recipe)
    narrow = (3.99, -3.99, 0.5, -0.5, 127.0, 100.6)
    for b in (S8, S16, S32, S64):
        yield from each(
            f"truncated_to_{tag(b)}", FLOATS, lambda x, d=b: x.to(d), narrow
        )
    wide = (300, -129, 65535, 2**31 + 5)
    for b in (S8, U8, S16, S32):
        yield edge(f"wrapped_to_{tag(b)}", lambda x, d=b: x.to(d), values(*wide))
    yield edge("to_b1_special", lambda x: x.to(B1), special(10))
    rounded = (1.0009765, 1.0004883, 65519.0, 65520.0, 1e-8, 6e-8, -1e-45, 3.4e38)
    for b in (F16, BF16):
        yield edge(f"rounded_to_{tag(b)}", lambda x, d=b: x.to(d), values(*rounded))
    yield edge(
        "rounded_f64_to_f32",
        lambda x: x.to(F32),
        values(1 + 2**-24, 1e300, 1e-320, dtype=F64),
    )
    yield edge(
        "rounded_f64_to_f16",
        lambda x: x.to(F16),
        values(1 + 2**-11, 1 + 3 * 2**-11, dtype=F64),
    )
    yield edge(
        "rounded_s64_to_f32",
        lambda x: x.to(F32),
        values(2**24 + 1, 2**62 + 1, -(2**53) - 1),
    )


GROUPS = {
    "edge_activations": _activations,
    "edge_quotients": _quotients,
    "edge_scalars": _scalars,
    "edge_rounding": _rounding,
    "edge_overflow": _overflow,
    "edge_powers": _powers,
    "edge_bits": _bits,
    "edge_comparisons": _comparisons,
    "edge_clamps": _clamps,
    "edge_where": _where,
    "edge_promotion": _promotion,
    "edge_layouts": _layouts,
    "edge_casts": _casts,
}
