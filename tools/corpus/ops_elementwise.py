# SPDX-License-Identifier: Apache-2.0
"""One-operator programs: element by element, comparisons, where, dtypes and casts."""

from __future__ import annotations

from functools import partial

import torch
import torch.nn.functional as F  # noqa: N812 - its usual name

from corpus.exporting import op
from corpus.inputs import bools, f32, positive, real, unit, values, whole

S8, S16, S32, U8 = torch.int8, torch.int16, torch.int32, torch.uint8
F16, BF16, F64 = torch.float16, torch.bfloat16, torch.float64

# Name -> function of one float32 tensor of any value.
UNARY = {
    "abs": torch.abs,
    "atan": torch.atan,
    "ceil": torch.ceil,
    "cos": torch.cos,
    "elu": F.elu,
    "erf": torch.erf,
    "exp": torch.exp,
    "expm1": torch.expm1,
    "floor": torch.floor,
    "gelu": F.gelu,
    "gelu_tanh": lambda x: F.gelu(x, approximate="tanh"),
    "hardsigmoid": F.hardsigmoid,
    "hardswish": F.hardswish,
    "hardtanh": F.hardtanh,
    "leaky_relu": lambda x: F.leaky_relu(x, 0.1),
    "mish": F.mish,
    "neg": torch.neg,
    "relu": torch.relu,
    "relu6": F.relu6,
    "round": torch.round,
    "sigmoid": torch.sigmoid,
    "sign": torch.sign,
    "silu": F.silu,
    "sin": torch.sin,
    "softplus": F.softplus,
    "square": torch.square,
    "tan": torch.tan,
    "tanh": torch.tanh,
    "trunc": torch.trunc,
}
# The same for tensors in (0.1, 1.1) and in (-1, 1).
UNARY_POSITIVE = {
    "log": torch.log,
    "log10": torch.log10,
    "log1p": torch.log1p,
    "log2": torch.log2,
    "reciprocal": torch.reciprocal,
    "rsqrt": torch.rsqrt,
    "sqrt": torch.sqrt,
    "acosh": lambda x: torch.acosh(x + 1),
}
UNARY_UNIT = {
    "acos": torch.acos,
    "asin": torch.asin,
    "asinh": torch.asinh,
    "atanh": torch.atanh,
    "cosh": torch.cosh,
    "sinh": torch.sinh,
}
# Name -> function of two float32 tensors, given as (2, 3, 4) and (3, 1).
BINARY = {
    "add": torch.add,
    "add_alpha": lambda x, y: torch.add(x, y, alpha=2),
    "atan2": torch.atan2,
    "div": torch.div,
    "div_floor": lambda x, y: torch.div(x, y, rounding_mode="floor"),
    "div_trunc": lambda x, y: torch.div(x, y, rounding_mode="trunc"),
    "eq": torch.eq,
    "fmod": torch.fmod,
    "ge": torch.ge,
    "gt": torch.gt,
    "le": torch.le,
    "lt": torch.lt,
    "maximum": torch.maximum,
    "minimum": torch.minimum,
    "mul": torch.mul,
    "ne": torch.ne,
    "remainder": torch.remainder,
    "rsub": torch.rsub,
    "sub": torch.sub,
    "where": lambda x, y: torch.where(x > y, x, y),
}
SCALAR = {
    "add_scalar": lambda x: x + 1.5,
    "div_scalar": lambda x: x / 3,
    "eq_scalar": lambda x: x == 0.0,
    "fmod_scalar": lambda x: torch.fmod(x, 0.7),
    "ge_scalar": lambda x: x >= 0.5,
    "gt_scalar": lambda x: x > 0.5,
    "le_scalar": lambda x: x <= 0.5,
    "lt_scalar": lambda x: x < 0.5,
    "mul_scalar": lambda x: x * 2.5,
    "ne_scalar": lambda x: x != 0.5,
    "pow_scalar": lambda x: x**3,
    "remainder_scalar": lambda x: torch.remainder(x, 0.7),
    "rsub_scalar": lambda x: 1.0 - x,
    "sub_scalar": lambda x: x - 0.25,
}
INTEGER = {
    "add": torch.add,
    "bitwise_and": torch.bitwise_and,
    "bitwise_or": torch.bitwise_or,
    "bitwise_xor": torch.bitwise_xor,
    "eq": torch.eq,
    "floor_divide": lambda x, y: x // (y.abs() + 1),
    "lt": torch.lt,
    "maximum": torch.maximum,
    "mul": torch.mul,
    "remainder": lambda x, y: torch.remainder(x, y.abs() + 1),
    "sub": torch.sub,
    "true_divide": lambda x, y: x / (y.abs() + 1),
}
SPECIAL = (float("nan"), float("inf"), float("-inf"), -0.0, 0.0, 1e-40, 3e38, 2.5)


def _unary():
    tables = ((UNARY, f32), (UNARY_POSITIVE, positive), (UNARY_UNIT, unit))
    for table, recipe in tables:
        for name, function in table.items():
            yield op(name, function, recipe(2, 3, 5))


def _binary():
    for name, function in BINARY.items():
        yield op(name, function, f32(2, 3, 4), f32(3, 1))
    for name, function in SCALAR.items():
        yield op(name, function, f32(3, 7))
    for name, function in INTEGER.items():
        yield op(f"{name}_s32", function, whole(4, 5, dtype=S32), whole(5, dtype=S32))


def _special_values():
    for name in ("relu", "exp", "tanh", "sigmoid", "sign", "round"):
        yield op(f"{name}_special", UNARY[name], values(*SPECIAL))
    for name in ("maximum", "div", "eq", "lt", "remainder"):
        other = values(*reversed(SPECIAL))
        yield op(f"{name}_special", BINARY[name], values(*SPECIAL), other)
    yield op("clamp_special", lambda x: x.clamp(-1.0, 2.0), values(*SPECIAL))
    yield op("isnan", torch.isnan, values(*SPECIAL))
    yield op("isinf", torch.isinf, values(*SPECIAL))
    yield op("argmax_nan", lambda x: x.argmax(), values(1.0, float("nan"), 5.0))
    yield op("amax_nan", lambda x: x.amax(), values(1.0, float("nan"), 5.0))


def _dtypes():
    for dtype, tag in ((S8, "s8"), (U8, "u8"), (S16, "s16"), (torch.int64, "s64")):
        low = 0 if dtype == U8 else -100
        recipe = whole(3, 5, low=low, high=100, dtype=dtype)
        yield op(f"add_{tag}", torch.add, recipe, recipe)
        yield op(f"mul_{tag}", torch.mul, recipe, recipe)
        yield op(f"clamp_{tag}", lambda x: x.clamp(3, 50), recipe)
        yield op(f"to_f32_{tag}", lambda x: x.to(torch.float32), recipe)
    for dtype, tag in ((F16, "f16"), (BF16, "bf16"), (F64, "f64")):
        recipe = real(dtype, 3, 4)
        loose = {"rtol": 1e-2, "atol": 1e-2} if dtype != F64 else {}
        yield op(f"add_{tag}", torch.add, recipe, recipe, **loose)
        yield op(f"mul_{tag}", torch.mul, recipe, recipe, **loose)
        yield op(f"tanh_{tag}", torch.tanh, recipe, **loose)
        yield op(f"mean_{tag}", lambda x: x.mean(1), recipe, **loose)
        yield op(f"softmax_{tag}", lambda x: x.softmax(1), recipe, **loose)
        yield op(f"mm_{tag}", torch.mm, recipe, real(dtype, 4, 5), **loose)
        yield op(f"to_f32_{tag}", lambda x: x.to(torch.float32), recipe, **loose)
        yield op(f"to_{tag}", lambda x, t=dtype: x.to(t), f32(3, 4), **loose)
    for name in ("gelu", "gelu_tanh", "silu"):
        loose = {"rtol": 2e-3, "atol": 2e-3}
        yield op(f"{name}_f16", UNARY[name], real(F16, 3, 7), **loose)


def _casts_and_promotion():
    yield op("to_s32_f32", lambda x: (x * 10).to(S32), f32(3, 4))
    yield op("to_u8_f32", lambda x: (x.abs() * 10).to(U8), f32(3, 4))
    yield op("to_bool_f32", lambda x: (x.round()).to(torch.bool), f32(3, 4))
    yield op("promote_s32_f32", torch.add, whole(3, dtype=S32), f32(2, 3))
    yield op("promote_bool_s64", torch.mul, bools(4), whole(4))
    yield op("promote_u8_s8", torch.add, whole(4, low=0, dtype=U8), whole(4, dtype=S8))
    yield op("promote_s32_half_scalar", lambda x: x * 0.5, whole(3, dtype=S32))
    yield op("promote_0d", torch.add, whole(dtype=S32), f32(3))
    yield op("sum_s32_to_s64", lambda x: x.sum(), whole(3, 3, dtype=S32))


def _logic():
    minus = {"alpha": -1}  # true
    yield op("add_b1_alpha", partial(torch.add, **minus), bools(3, 4), bools(4))
    yield op("logical_and", torch.logical_and, bools(3, 4), bools(4))
    yield op("logical_or", torch.logical_or, bools(3, 4), bools(4))
    yield op("logical_xor", torch.logical_xor, bools(3, 4), bools(3, 1))
    yield op("logical_not", torch.logical_not, bools(3, 4))
    yield op("logical_not_f32", torch.logical_not, values(0.0, -0.0, 2.0))
    yield op("bitwise_not_b1", torch.bitwise_not, bools(5))
    yield op("bitwise_not_s32", torch.bitwise_not, whole(5, dtype=S32))
    yield op("where_broadcast", torch.where, bools(4, 1), f32(3), f32(4, 3))
    yield op("where_s64", torch.where, bools(4), whole(4), whole(4))
    yield op("masked_fill", lambda x, m: x.masked_fill(m, -1.0), f32(3, 4), bools(3, 4))
    yield op("clamp", lambda x: x.clamp(-0.5, 0.5), f32(3, 4))
    yield op("clamp_min", lambda x: x.clamp(min=0.2), f32(3, 4))
    yield op("clamp_max_s32", lambda x: x.clamp(max=3), whole(6, dtype=S32))
    yield op("clamp_tensor", torch.clamp, f32(3, 4), f32(4), positive(4))
    yield op("pow_tensor", torch.pow, positive(3, 4), f32(4))
    yield op("glu", lambda x: F.glu(x, 1), f32(2, 6))
    yield op("prelu", F.prelu, f32(2, 3, 4), positive(3))
    yield op("logit", lambda x: torch.logit(x, 1e-3), positive(5))


CASES = [
    *_unary(),
    *_binary(),
    *_special_values(),
    *_dtypes(),
    *_casts_and_promotion(),
    *_logic(),
]
