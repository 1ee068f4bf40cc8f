# SPDX-License-Identifier: Apache-2.0
"""Calls of the cadence dialect at random shapes become cases for `ember test`.

Like sweep_cortex_m.py. What they must give, bit by bit, is what the dialect's portable
C++ gives: ORACLE is a library that registers backends/cadence/generic/operators of
ExecuTorch as the CPU kernels of torch.ops.cadence. The project does not ship it;
docs/cadence.md says how it is built.

    python tools/sweep_cadence.py FOLDER --oracle LIBRARY [-k TEXT]
"""

from __future__ import annotations

import random
import sys
import typing
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import torch
import typing_extensions
from sweep_kernels import Sweep, main

typing.override = typing_extensions.override  # type: ignore[attr-defined]  # 3.11 has none

import executorch.backends.cadence.aot.ops_registrations  # noqa: E402, F401 - the dialect

COUNT = 500
S8, U8, S16, S32, F32 = (
    torch.int8,
    torch.uint8,
    torch.int16,
    torch.int32,
    torch.float32,
)
BYTES = (S8, U8)
CHANNELS = (1, 2, 3, 4, 5, 7, 8, 9, 12, 15, 16, 17, 24, 31, 32, 33)
INNER = (*CHANNELS, 64, 65, 96, 130, 160, 255)
LAYOUTS = {"nchw": False, "nhwc": True, "ncl": False, "nlc": True}


def pick(*items: Any) -> Any:
    return random.choice(items)


def ends(dtype: torch.dtype) -> tuple[int, int]:
    info = torch.iinfo(dtype)
    return info.min, info.max


def whole(dtype: torch.dtype, *shape: int) -> torch.Tensor:
    """Random elements of a dtype, now and then its extremes alone."""
    low, high = ends(dtype)
    if random.random() < 0.1:
        return torch.tensor([low, high])[torch.randint(0, 2, shape)].to(dtype)
    return torch.randint(low, high + 1, shape, dtype=torch.int64).to(dtype)


def zero(dtype: torch.dtype) -> int:
    """A zero point: often at an end of the range, or 0."""
    low, high = ends(dtype)
    return int(pick(low, high, max(low, 0), random.randint(low, high)))


def number(value: float, dtype: torch.dtype) -> torch.Tensor:
    return torch.tensor([value], dtype=dtype)


def scale() -> float:
    return float(pick(1.0, 0.5, 2**-7, 10 ** random.uniform(-4, 1)))


def multiplier(products: int) -> tuple[int, int]:
    """A multiplier and a shift: mostly such that outputs fill int8, or extremes."""
    if random.random() < 0.1:
        return pick(0, 1, 2**31 - 1, 2**30), pick(0, 31, -31, -8)
    shift = -(products.bit_length() // 2 + random.randint(3, 6))
    return random.randint(1 << 30, (1 << 31) - 1), shift


def call(
    name: str,
    arguments: Sequence[Any],
    shape: Sequence[int],
    dtype: torch.dtype,
    constants: Sequence[int] = (),
) -> Sweep:
    """A call of cadence::NAME whose output has a shape."""
    packet, overload = name.split(".")
    operator = getattr(getattr(torch.ops.cadence, packet), overload)
    held = [at for at in constants if arguments[at] is not None]

    def results() -> torch.Tensor:
        out = torch.zeros(tuple(shape), dtype=dtype)
        found: torch.Tensor = operator(*arguments, out=out)
        return found

    return Sweep(f"cadence::{name}", list(arguments), results, (), held, exact=True)


# ---- element by element --------------------------------------------------------------

SUFFIXES = {
    "_asym8s": S8,
    "_asym8u": U8,
    "_asym16s": S16,
    "_asym16u": torch.uint16,
    "_asym32s": S32,
}


def shape() -> list[int]:
    return list(pick((), (0,), (1,), (7,), (2, 3), (300,), (1, 4, 5), (3, 0, 2)))


def quantizing() -> Sweep:
    suffix = pick("", *SUFFIXES)
    dtype = SUFFIXES.get(suffix) or pick(*SUFFIXES.values())
    size = shape()
    x = torch.randn(size) * pick(1, 100, 1e6)
    if random.random() < 0.3:  # halves
        x = torch.randint(-300, 300, size).float() / 2
    if random.random() < 0.2:
        x[torch.rand(size) < 0.2] = torch.nan
    given = [*pick(ends(dtype), (-5, 100)), dtype]
    by = pick(scale(), 1.0)
    return call(
        f"quantize_per_tensor{suffix}.out", [x, by, zero(dtype), *given], size, dtype
    )


def dequantizing() -> Sweep:
    suffix = pick("", *SUFFIXES)
    dtype = SUFFIXES.get(suffix) or pick(*SUFFIXES.values())
    size = shape()
    given = [scale(), zero(dtype), *pick(ends(dtype), (-5, 100)), dtype]
    name = f"dequantize_per_tensor{suffix}.out"
    return call(name, [whole(dtype, *size), *given], size, F32)


def requantizing() -> Sweep:
    size, of, to = shape(), pick(S8, U8, S16), pick(S8, U8, S16)
    numbers = [scale(), zero(of), scale(), zero(to)]
    if random.random() < 0.5:
        return call(
            "requantize.per_tensor_out", [whole(of, *size), *numbers, to], size, to
        )
    given = [number(n, t) for n, t in zip(numbers, (F32, S32, F32, S32), strict=True)]
    return call(
        "requantize.out", [whole(of, *size), *given, to], size, to, (1, 2, 3, 4)
    )


def relu() -> Sweep:
    name, dtypes = pick(
        ("quantized_relu.out", BYTES),
        ("quantized_relu.per_tensor_out", BYTES),
        ("quantized_relu_asym8s_asym8s.per_tensor_out", (S8,)),
        ("quantized_relu_asym8u_asym8u.per_tensor_out", (U8,)),
    )
    size, dtype = shape(), pick(*dtypes)
    by, shift = pick(
        (random.randint(1 << 30, 2**31 - 1), pick(0, 1, -1, 2)), multiplier(1)
    )
    x = whole(dtype, *size)
    if name.endswith("per_tensor_out"):
        return call(name, [x, zero(dtype), zero(dtype), by, shift], size, dtype)
    given = [
        number(zero(dtype), dtype),
        zero(dtype),
        number(by, S32),
        number(shift, S32),
    ]
    return call(name, [x, *given], size, dtype, (1, 3, 4))


BROADCASTS = (
    ((4, 5), (4, 5)),
    ((3, 1, 5), (2, 1)),
    ((7,), ()),
    ((1,), (300,)),
    ((2, 3, 4), (3, 4)),
    ((0, 3), (1, 3)),
)


def binary(kind: str) -> Sweep:
    forms = ["out", "per_tensor_out", "Scalar"]
    if kind == "add":
        forms += ["_asym8sxasym8s_asym8s.per_tensor_out"]
        forms += ["_asym8uxasym8u_asym8u.per_tensor_out"]
    form = pick(*forms)
    dtype = S8 if "8s" in form else U8 if "8u" in form else pick(*BYTES)
    left, right = pick(*BROADCASTS)
    a, b = whole(dtype, *left), whole(dtype, *right)
    last = [scale(), zero(dtype)]
    if form == "Scalar":
        held = [number(scale(), F32), number(zero(dtype), S32)]
        name = f"quantized_{kind}_Scalar.out"
        return call(name, [a, *held, pick(2, -1.5, 0.25), *last], left, dtype, (1, 2))
    size = torch.broadcast_shapes(left, right)
    numbers = [[scale(), zero(dtype)] for _ in "ab"]
    if form != "out":
        name = f"quantized_{kind}{'' if form[0] == '_' else '.'}{form}"
        return call(name, [a, *numbers[0], b, *numbers[1], *last], size, dtype)
    held = [[number(n[0], F32), number(n[1], S32)] for n in numbers]
    given = [a, *held[0], b, *held[1], *last]
    return call(f"quantized_{kind}.out", given, size, dtype, (1, 2, 4, 5))


# ---- products ------------------------------------------------------------------------


def dtypes_of(name: str) -> tuple[torch.dtype, torch.dtype]:
    """Of the input and of the weights."""
    if "8s" in name:
        return S8, S8
    if "8u" in name:
        return U8, U8
    return pick((S8, S8), (S8, S8), (U8, U8), (S16, S8))


LINEARS = [
    f"quantized_{kind}{form}"
    for kind in ("linear", "fully_connected")
    for form in (
        ".out",
        ".per_tensor_out",
        "_asym8sxasym8s_asym8s.per_tensor_out",
        "_asym8uxasym8u_asym8u.per_tensor_out",
    )
]


def linear() -> Sweep:
    name = pick(*LINEARS)
    of, to = dtypes_of(name)
    if "fully" in name and of == S16:
        of = to = S8
    inner, columns = pick(*INNER), pick(*INNER)
    rows = pick((1,), (1,), (3,), (2, 3), (), (0,))
    x, w = whole(of, *rows, inner), whole(to, columns, inner)
    bias = torch.randint(-9000, 9000, (columns,), dtype=S32)
    w_zero = pick(0, 0, zero(to))
    last = [zero(of), None]
    if name.endswith("per_tensor_out"):
        given = [x, w, bias, zero(of), w_zero, *multiplier(inner), *last]
        return call(name, given, [*rows, columns], of, (1, 2))
    scales = [multiplier(inner) for _ in range(pick(1, columns))]
    by, shifts = (torch.tensor(one, dtype=S32) for one in zip(*scales, strict=True))
    given = [x, w, bias, zero(of), number(w_zero, S32), by, shifts, *last]
    return call(name, given, [*rows, columns], of, (1, 2, 4, 5, 6))


def matmul() -> Sweep:
    name = pick(
        "quantized_matmul.out",
        "quantized_matmul_asym8sxasym8s_asym8s.out",
        "quantized_matmul_asym8uxasym8u_asym8u.out",
    )
    of, to = dtypes_of(name)
    batches = pick((), (1,), (2,), (2, 3))
    rows, inner, columns = pick(1, 2, 3, 5, 8), pick(*INNER), pick(*CHANNELS)
    turned = pick(True, False)
    a = whole(of, *batches, rows, inner)
    b = whole(to, *batches, *((columns, inner) if turned else (inner, columns)))
    given = [a, zero(of), b, zero(to), None, *multiplier(inner), zero(of), turned]
    return call(name, given, [*batches, rows, columns], of, pick((), (2,)))


# ---- windows -------------------------------------------------------------------------

FORMS = ("out", "per_tensor_out")
CONVOLUTIONS = [
    *(f"quantized_conv2d_{at}.{form}" for at in ("nchw", "nhwc") for form in FORMS),
    *(f"quantized_conv1d_{at}.{form}" for at in ("ncl", "nlc") for form in FORMS),
    *(
        f"quantized_conv2d_{at}{kind}_asym8{x}xsym8{x}_asym8{x}.per_tensor_out"
        for at in ("nchw", "nhwc")
        for kind in ("", "_dilated", "_depthwise")
        for x in "su"
    ),
    "quantized_depthwise_conv1d_ncl.per_tensor_out",
    "quantized_depthwise_conv1d_nlc.per_tensor_out",
    "quantized_conv2d_depthwise_nhwc.out",
]
OFFSET = {"quantized_conv2d_nhwc.per_tensor_out", "quantized_conv1d_nlc.per_tensor_out"}


def window(dims: int, dilated: bool = True) -> dict[str, list[int]]:
    """Kernel and steps of a window."""
    kernel = [pick(1, 1, 2, 3, 3, 3, 5) for _ in range(dims)]
    return {
        "kernel": kernel,
        "stride": [pick(1, 1, 2, 3) for _ in kernel],
        "padding": [min(size - 1, pick(0, 0, 1, 2)) for size in kernel],
        "dilation": [pick(1, 1, 2) if dilated else 1 for _ in kernel],
    }


def sizes_for(at: dict[str, list[int]]) -> tuple[list[int], list[int]]:
    """Sizes of an image that the window fits, and of what it gives."""
    reaches = [
        (k - 1) * d + 1 for k, d in zip(at["kernel"], at["dilation"], strict=True)
    ]
    sides = [
        max(reach - 2 * pad, 1) + random.randint(0, 6)
        for reach, pad in zip(reaches, at["padding"], strict=True)
    ]
    outs = [
        (side + 2 * pad - reach) // step + 1
        for side, pad, reach, step in zip(
            sides, at["padding"], reaches, at["stride"], strict=True
        )
    ]
    return sides, outs


def laid(last: bool, outer: int, channels: int, space: list[int]) -> list[int]:
    return [outer, *space, channels] if last else [outer, channels, *space]


def convolution() -> Sweep:
    name = pick(*CONVOLUTIONS)
    dims = 1 if "conv1d" in name else 2
    last = any(at in name for at in ("nhwc", "nlc"))
    depthwise = "depthwise" in name or random.random() < 0.15
    of, to = dtypes_of(name)
    if of == S16 and (dims == 1 or "depthwise" in name):
        of = to = S8
    at = window(dims)
    sides, outs = sizes_for(at)
    depth, each = (
        (1, pick(1, 1, 2)) if depthwise else (pick(*CHANNELS), pick(*CHANNELS))
    )
    groups = pick(*CHANNELS) if depthwise else pick(1, 1, 1, 2, 3)
    filters, batches = groups * each, pick(1, 1, 2)
    x = whole(of, *laid(last, batches, groups * depth, sides))
    w = whole(to, *laid(last, filters, depth, at["kernel"]))
    squeezed = "depthwise" in name and last and dims == 2
    if squeezed or (depthwise and last and dims == 2 and random.random() < 0.5):
        w = whole(to, *at["kernel"], filters)
    large = 2**24 if random.random() < 0.1 else 9000
    bias = torch.randint(-large, large, (filters,), dtype=S32)
    taps = depth * at["kernel"][0] * at["kernel"][-1]
    numbers = [
        2.0 ** -(taps.bit_length() // 2 + 6) * random.uniform(0.5, 2),
        pick(0.5, 1.0, 0.8),
    ]
    if dims == 1 and random.random() < 0.5:  # as conv2d gives them
        at = {key: [1 if key != "padding" else 0, *value] for key, value in at.items()}
    lists = [at["stride"], at["padding"], at["dilation"], groups, zero(of)]
    w_zero = pick(0, 0, zero(S8)) if to == S8 else zero(S8)
    if to == U8:
        w_zero = pick(0, 127, random.randint(0, 127))
    last_ones: list[Any] = [numbers[1], zero(of)]
    shape = laid(last, batches, filters, outs)
    if name.endswith("per_tensor_out") or "depthwise_nhwc.out" in name:
        given = [x, w, bias, *lists, w_zero, numbers[0], *last_ones, 1 << 30, -3]
        given += [None] if name in OFFSET else []
        return call(name, given, shape, of, (1, 2))
    held = [number(w_zero, S32), number(numbers[0], F32)]
    unused = [number(1 << 30, S32), number(-3, S32)]
    given = [x, w, bias, *lists, *held, *last_ones, *unused]
    return call(name, given, shape, of, (1, 2, 8, 9, 12, 13))


def packing() -> Sweep:
    """A convolution whose weights the SDK packs, for one core or another."""
    at, last, depthwise = window(2, dilated=False), pick(True, False), pick(0, 0, 1)
    at["stride"] = [pick(1, 1, 2)] * 2
    sides, outs = sizes_for(at)
    sides, outs = sizes_for(at) if min(outs) < 2 else (sides, outs)  # mostly more
    depth = 1 if depthwise else pick(*CHANNELS)
    filters = 4 * random.randint(1, 12)
    groups = filters if depthwise else 1
    batches = pick(1, 1, 2)
    x = whole(S8, *laid(last, batches, groups * depth, sides))
    w = whole(S8, *laid(last, filters, depth, at["kernel"]))
    kind = ""
    if depthwise and last:
        w, kind = whole(S8, *at["kernel"], filters), "_depthwise_asym8sxsym8s_asym8s"
    bias = torch.randint(-9000, 9000, (filters,), dtype=S32)
    taps = depth * at["kernel"][0] * at["kernel"][-1]
    scales = [2.0 ** -(taps.bit_length() // 2 + 6) * random.uniform(0.5, 2), scale()]
    scales[0] *= scales[1]
    lists = [at["stride"], at["padding"], at["dilation"], groups, zero(S8), 0]
    given = [x, w, bias, *lists, *scales, zero(S8), 1 << 30, -3]
    name = f"quantized_conv2d_{'nhwc' if last else 'nchw'}{kind}.per_tensor_out"
    given += [None] if name in OFFSET else []
    return call(name, given, laid(last, batches, filters, outs), S8, (1, 2))


def transposed() -> Sweep:
    at, last = window(2), pick(True, False)
    sides = [random.randint(1, 6) + 2 * pad for pad in at["padding"]]
    more = [
        random.randint(0, max(s, d) - 1)
        for s, d in zip(at["stride"], at["dilation"], strict=True)
    ]
    outs = [
        (side - 1) * step - 2 * pad + (k - 1) * apart + extra + 1
        for side, step, pad, k, apart, extra in zip(
            sides,
            at["stride"],
            at["padding"],
            at["kernel"],
            at["dilation"],
            more,
            strict=True,
        )
    ]
    groups, depth, each = pick(1, 1, 2), pick(1, 2, 3, 8), pick(1, 2, 3, 8)
    filters, batches = groups * each, pick(1, 2)
    x = whole(U8, *laid(last, batches, groups * depth, sides))
    w = whole(U8, *laid(last, each, groups * depth, at["kernel"]))
    bias = torch.randint(-9000, 9000, (filters,), dtype=S32)
    scales = torch.rand(pick(1, filters)) * 0.01
    lists = [at["stride"], at["padding"], at["dilation"], more, groups]
    unused = [number(1 << 30, S32), number(-3, S32)]
    numbers = [zero(U8), number(zero(U8), S32), scales, 0.7, zero(U8), *unused, last]
    given = [x, w, bias, *lists, *numbers]
    shape = laid(last, batches, filters, outs)
    return call(
        "quantized_transposed_conv.out", given, shape, U8, (1, 2, 9, 10, 13, 14)
    )


def largest() -> Sweep:
    name = pick("quantized_max_pool2d_nchw", "quantized_max_pool2d_nhwc")
    dtype, last, at = pick(*BYTES), name.endswith("nhwc"), window(2)
    at["padding"] = [
        min(k // 2, p) for k, p in zip(at["kernel"], at["padding"], strict=True)
    ]
    sides, outs = sizes_for(at)
    batches, channels = pick(1, 2), pick(*CHANNELS)
    lists = [at["kernel"], at["stride"], at["padding"], at["dilation"], False]
    x = whole(dtype, *laid(last, batches, channels, sides))
    return call(f"{name}.out", [x, *lists], laid(last, batches, channels, outs), dtype)


# ---- the rest ------------------------------------------------------------------------


def softmax() -> Sweep:
    dtype, size = pick(S8, U8, S16), list(pick((4,), (3, 7), (2, 3, 16), (1, 40)))
    x, masked = whole(dtype, *size), pick(0, 0, 1)
    mask = torch.zeros(pick(0, 1), dtype=U8)
    at = torch.tensor([pick(-1, 0, 2, 50)], dtype=pick(S16, torch.int64))
    numbers = [pick(0.1, 0.02, 1.0), zero(dtype), pick(1 / 256, 1 / 128), zero(dtype)]
    first = [x, mask, pick(-1, len(size) - 1), masked, at]
    if random.random() < 0.5:
        return call("quantized_softmax.per_tensor_out", [*first, *numbers], size, dtype)
    kinds = (F32, torch.int64, F32, torch.int64)
    held = [number(n, t) for n, t in zip(numbers, kinds, strict=True)]
    return call("quantized_softmax.out", [*first, *held], size, dtype, (5, 6, 7, 8))


def layer_norm() -> Sweep:
    dtype, length = pick(*BYTES), pick(1, 2, 7, 16, 33, 200)
    size = [*pick((), (1,), (5,), (2, 3)), length]
    weight, bias = torch.randn(length), torch.randn(length)
    first = [whole(dtype, *size)]
    last = [[length], weight, bias, 1e-5, pick(0.02, 0.05), zero(dtype)]
    by, at = scale(), zero(dtype)
    if random.random() < 0.5:
        given = [*first, by, at, *last]
        return call("quantized_layer_norm.per_tensor_out", given, size, dtype, (4, 5))
    given = [*first, number(by, F32), number(at, torch.int64), *last]
    return call("quantized_layer_norm.out", given, size, dtype, (1, 2, 4, 5))


def real(dtype: torch.dtype, *shape: int) -> torch.Tensor:
    return torch.randn(shape) if dtype == F32 else whole(dtype, *shape)


def row() -> Sweep:
    name = pick("im2row.out", "im2row.per_tensor_out", "transposed_im2row.out")
    dtype = pick(F32, U8) if name[0] == "t" else pick(F32, U8, S8)
    at, last = window(2), pick(True, False)
    sides, outs = sizes_for(at)
    more = [0, 0]
    if name[0] == "t":
        more = [
            random.randint(0, max(s, d) - 1)
            for s, d in zip(at["stride"], at["dilation"], strict=True)
        ]
        sides = [random.randint(1, 5) + 2 * pad for pad in at["padding"]]
        outs = lengths(at, sides, more)
    batches, channels = pick(1, 2), pick(1, 2, 3, 5, 8)
    zeros = [0 if dtype == F32 else zero(dtype) for _ in range(pick(1, batches))]
    held = torch.tensor(zeros, dtype=S32)
    x = real(dtype, *laid(last, batches, channels, sides))
    lists = [at["kernel"], at["dilation"], at["padding"], at["stride"]]
    lists += [more] if name[0] == "t" else []
    given = [x, *lists, zeros[0] if "per" in name else held, last]
    taps = at["kernel"][0] * at["kernel"][1] * channels
    constants = () if "per" in name else (len(given) - 2,)
    return call(name, given, [batches, outs[0] * outs[1], taps], dtype, constants)


def lengths(at: dict[str, list[int]], sides: list[int], more: list[int]) -> list[int]:
    """What a transposed window gives."""
    return [
        (side - 1) * step - 2 * pad + (k - 1) * apart + extra + 1
        for side, step, pad, k, apart, extra in zip(
            sides,
            at["stride"],
            at["padding"],
            at["kernel"],
            at["dilation"],
            more,
            strict=True,
        )
    ]


def average() -> Sweep:
    dtype, at = pick(F32, U8), window(2, dilated=False)
    at["padding"] = [
        min(k // 2, p) for k, p in zip(at["kernel"], at["padding"], strict=True)
    ]
    sides, outs = sizes_for(at)
    x = real(dtype, *laid(False, pick(1, 2), pick(1, 3, 8), sides))
    held = number(zero(U8), S32) if dtype == U8 else None
    last = [False, pick(True, False), pick(None, None, 3), held, False]
    given = [x, at["kernel"], at["stride"], at["padding"], *last]
    constants = (7,) if held is not None else ()
    return call("avg_pool2d.out", given, [*x.shape[:2], *outs], dtype, constants)


def embedding() -> Sweep:
    dtype, rows, columns = pick(*BYTES), pick(1, 5, 20), pick(2, 4, 6)
    groups = pick(1, 1, 2)
    size = (rows, groups) if groups > 1 else pick((rows,), (rows, 1))
    zeros = pick(None, whole(dtype, *size))
    indices = torch.randint(0, rows, pick((3,), (2, 2), ()), dtype=torch.int64)
    given = [whole(dtype, rows, columns), torch.rand(size), zeros, indices, False]
    shape = [*indices.shape, columns]
    return call("quantized_embedding_byte.out", given, shape, F32, (0, 1, 2))


def where() -> Sweep:
    size = shape()
    condition = torch.rand(size) > 0.5
    given = [condition, pick(1.5, 0.1, -3.0), pick(0.0, 1e30)]
    return call("where_Scalar.out", given, size, F32)


def rope() -> Sweep:
    tokens, heads, pairs = pick(1, 3, 8), pick(1, 2, 4), pick(1, 3, 8)
    name, size = pick(
        ("rope", [1, tokens, heads, pairs, 2]),
        ("rope", [1, tokens, heads, 2 * pairs]),
        ("rope_rotate_stacked_halves", [1, tokens, heads, 2 * pairs]),
    )
    at = torch.randint(0, tokens, (tokens,), dtype=pick(S32, torch.int64))
    angles = torch.randn(tokens, pairs)
    given = [torch.randn(size), angles.sin(), angles.cos(), pick(None, at)]
    return call(f"{name}.out", given, size, F32)


def mask_bits() -> Sweep:
    size = list(pick((8,), (3, 16), (2, 2, 24)))
    mask = pick(torch.randn(size), torch.rand(size) > 0.5)
    shape = [*size[:-1], size[-1] // 8]
    return call("sdpa_bitwise_mask_gen.out", [mask, pick(0.0, -0.3)], shape, U8)


def boxes() -> Sweep:
    count = pick(1, 2, 5)
    corners = torch.rand(count, 2) * 20
    rois = torch.cat(
        [torch.zeros(count, 1), corners, corners + torch.rand(count, 2) * 30], 1
    )
    numbers = [pick(1, 3, 7), pick(1, 5, 7), pick(1, 2), pick(True, False)]
    return call("roi_align_box_processor.out", [rois, *numbers], [count, 80], U8)


def singular() -> Sweep:
    size = pick((3, 3), (4, 3, 3))
    a = torch.randn(size)
    shapes = (size, size[:-1], size)

    def results() -> list[torch.Tensor]:
        outs = [torch.zeros(one) for one in shapes]
        operator = torch.ops.cadence.linalg_svd.out
        return list(operator(a, False, True, None, U=outs[0], S=outs[1], Vh=outs[2]))

    return Sweep("cadence::linalg_svd.out", [a, False, True, None], results)


def float_convolution() -> Sweep:
    dims = pick(1, 2, 3)
    at = window(dims)
    sides, outs = sizes_for(at)
    groups, depth, each = pick(1, 1, 2), pick(1, 3, 8), pick(1, 3, 8)
    filters, batches = groups * each, pick(1, 2)
    x = torch.randn(laid(False, batches, groups * depth, sides))
    w = torch.randn(laid(False, filters, depth, at["kernel"]))
    lists = [at["stride"], at["padding"], at["dilation"], groups]
    given = [x, w, torch.randn(filters), *lists]
    shape = laid(False, batches, filters, outs)
    made = call(f"conv{dims}d.out", given, shape, F32, (1, 2))
    return replace(made, exact=False)


def float_transposed() -> Sweep:
    at, last = window(2), pick(True, False)
    sides = [random.randint(1, 5) + 2 * pad for pad in at["padding"]]
    more = [
        random.randint(0, max(s, d) - 1)
        for s, d in zip(at["stride"], at["dilation"], strict=True)
    ]
    groups, depth, each = pick(1, 1, 2), pick(1, 3, 8), pick(1, 3, 8)
    filters, batches = groups * each, pick(1, 2)
    x = torch.randn(laid(last, batches, groups * depth, sides))
    w = torch.randn(laid(last, each, groups * depth, at["kernel"]))
    lists = [at["stride"], at["padding"], at["dilation"], more, groups, last]
    shape = laid(last, batches, filters, lengths(at, sides, more))
    given = [x, w, torch.randn(filters), *lists]
    return call("transposed_convolution.out", given, shape, F32, (1, 2))


def float_linear() -> Sweep:
    inner, columns = pick(*INNER), pick(*CHANNELS)
    size = [*pick((1,), (3,), (2, 3)), inner]
    bias = pick(None, torch.randn(columns))
    given = [torch.randn(size), torch.randn(columns, inner), bias]
    made = call("fully_connected.out", given, [*size[:-1], columns], F32, (1,))
    return replace(made, exact=False)


def float_softmax() -> Sweep:
    size = list(pick((4,), (3, 7), (2, 3, 16)))
    dim = pick(-1, 0, len(size) - 1)
    made = call("_softmax_f32_f32.out", [torch.randn(size), dim, None], size, F32)
    return replace(made, exact=False)


def int8_weights() -> Sweep:
    kind = pick("linear", "conv", "gru")
    inner, outer = pick(4, 8, 12), pick(4, 8, 20)
    scales = (0.02, 0.05)
    if kind == "gru":
        x, h = torch.randn(1, 1, inner), torch.randn(1, 1, outer)
        w_x, w_h = whole(S8, 3 * outer, inner), whole(S8, 3 * outer, outer)
        b_x, b_h = whole(S8, 3 * outer), whole(S8, 3 * outer)
        given = [x, h, w_x, scales[0], w_h, scales[0], b_x, scales[1], b_h]
        return Sweep(
            "cadence::quantized_w8a32_gru.out",
            given,
            lambda: gru(*given),
            (),
            (2, 4, 6, 8),
        )
    bias = whole(S8, outer)
    if kind == "conv":
        x, w = torch.randn(pick(1, 2), pick(3, 7), inner), whole(S8, 3, outer, inner)
        given = [x, w, scales[0], bias, scales[1]]
        reference = torch.ops.cadence.quantized_w8a32_conv.default
        return Sweep(
            "cadence::quantized_w8a32_conv.out",
            given,
            lambda: reference(*given),
            (),
            (1, 3),
        )
    x, w = torch.randn(*pick((1,), (2, 1)), inner), whole(S8, outer, inner)
    given = [x, w, scales[0], bias, scales[1]]
    weights, added = w.float() * scales[0], bias.float() * scales[1]
    return Sweep(
        "cadence::quantized_w8a32_linear.out",
        given,
        lambda: torch.nn.functional.linear(x, weights, added),
        (),
        (1, 3),
    )


def gru(*given: Any) -> torch.Tensor:
    x, h, w_x, a, w_h, b, b_x, c, b_h = given
    linear = torch.nn.functional.linear
    of_x = linear(x, w_x * a, b_x * c).chunk(3, -1)
    of_h = linear(h, w_h * b, b_h * c).chunk(3, -1)
    reset, update = ((of_x[i] + of_h[i]).sigmoid() for i in (0, 1))
    fresh = (of_x[2] + reset * of_h[2]).tanh()
    new = (1 - update) * fresh + update * h
    return torch.stack([new, new])


def copy() -> Sweep:
    name = pick("idma_load", "idma_store", "idma_copy", "idma_wait")
    dtype = pick(S8, U8, S16, S32, F32)
    x = torch.randn(shape()) if dtype == F32 else whole(dtype, *shape())
    numbers = [0] if name == "idma_wait" else [0, 0]
    return Sweep(f"cadence::{name}.out", [x, *numbers], x.clone, exact=True)


ONES: dict[str, Callable[[], Sweep]] = {
    "quantizings": quantizing,
    "dequantizings": dequantizing,
    "requantizings": requantizing,
    "relus": relu,
    "additions": partial(binary, "add"),
    "products": partial(binary, "mul"),
    "linears": linear,
    "matmuls": matmul,
    "convolutions": convolution,
    "largests": largest,
    "transposes": transposed,
    "copies": copy,
    "softmaxes": softmax,
    "layer_norms": layer_norm,
    "rows": row,
    "averages": average,
    "embeddings": embedding,
    "wheres": where,
    "ropes": rope,
    "masks": mask_bits,
    "rois": boxes,
    "decompositions": singular,
    "floatconvolutions": float_convolution,
    "floattransposes": float_transposed,
    "floatlinears": float_linear,
    "floatsoftmaxes": float_softmax,
    "weights": int8_weights,
    "packings": packing,
}


def family(name: str, seed: int) -> Callable[[], Iterator[Sweep]]:
    """500 calls, the same every time."""

    def many() -> Iterator[Sweep]:
        random.seed(seed)
        return (ONES[name]() for _ in range(COUNT))

    many.__name__ = name
    return many


FAMILIES = [family(name, seed) for seed, name in enumerate(ONES, 1)]


def load_oracle() -> None:
    """The library of --oracle, which is taken off the command line."""
    at = sys.argv.index("--oracle")
    torch.ops.load_library(sys.argv[at + 1])
    del sys.argv[at : at + 2]


if __name__ == "__main__":
    load_oracle()
    sys.exit(main(FAMILIES))
