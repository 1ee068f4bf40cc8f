# SPDX-License-Identifier: Apache-2.0
"""A grid of calls, valid and not, becomes those that PyTorch refuses and those that it
takes; Ember's loader must answer the same.

    python tools/sweep_refusals.py [--write]

Writes tests/conformance/calls.yaml with --write, which a test replays without PyTorch.
Where an operator's form with outputs is generated from the functional one, PyTorch
takes no output of another dtype; Ember takes those that it could cast to, as
ExecuTorch does.
"""

from __future__ import annotations

import argparse
import itertools
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "sdk"), str(ROOT / "tests" / "shared")]

import one_call  # noqa: E402 - which lies beside the tests
from one_call import Shape  # noqa: E402

LIST = ROOT / "tests" / "conformance" / "calls.yaml"
HEAD = """# Calls that PyTorch refuses, and those it takes: tools/sweep_refusals.py.
"""
TYPES = {
    **{"u8": torch.uint8, "s8": torch.int8, "s16": torch.int16, "s32": torch.int32},
    **{"s64": torch.int64, "f16": torch.float16, "f32": torch.float32},
    **{"f64": torch.float64, "b1": torch.bool, "bf16": torch.bfloat16},
}
GENERATED = "Expected out tensor to have dtype"
# Generated ones that take no other dtype here, either: nothing would be cast.
STRICT = ("aten::fill.", "aten::isnan.", "aten::isinf.", "aten::copy.")
STRICT += ("aten::_softmax.", "aten::_log_softmax.", "aten::max.dim", "aten::min.dim")
# By way of float32, in which PyTorch makes them.
INFINITE = (
    "aten::scalar_tensor.out(100000, f16[])",
    "aten::scalar_tensor.out(1e6, f16[])",
)

# ---- the grid ------------------------------------------------------------------------

FLOAT = (
    "exp expm1 log log1p log2 log10 sin cos tan asin acos atan sinh cosh tanh asinh "
    "acosh atanh erf sigmoid sqrt rsqrt reciprocal"
)
SAME = "abs neg sign floor ceil trunc round relu"
TRUTH = "logical_not isnan isinf"
PAIRS = "add.out sub.out mul.out div.out pow.Tensor_Tensor_out remainder.Tensor_out"
PAIRS += " fmod.Tensor_out minimum.out maximum.out atan2.out floor_divide.out"
PAIRS += " eq.Tensor_out lt.Tensor_out logical_and.out bitwise_and.Tensor_out"
OPERANDS = (("s8", "s8"), ("f32", "f32"), ("b1", "b1"), ("s32", "f16"), ("u8", "s8"))
OUTS = ("f32", "s64", "s8", "b1")


def unary() -> Iterator[str]:
    for name in f"{FLOAT} {SAME} {TRUTH}".split():
        for x, y in itertools.product(("f32", "s32", "b1"), (*OUTS, "f16")):
            yield f"aten::{name}.out({x}[2,3], {y}[2,3])"
    for x, y in itertools.product(("f32", "f16", "s32"), ("f32", "f64", "s32")):
        yield f'aten::gelu.out({x}[2,3], "none", {y}[2,3])'
        yield f"aten::elu.out({x}[2,3], 1, 1, 1, {y}[2,3])"
        yield f"aten::silu.out({x}[2,3], {y}[2,3])"
        yield f"aten::leaky_relu.out({x}[2,3], 0.5, {y}[2,3])"
        yield f"aten::logit.out({x}[2,3], 0.1, {y}[2,3])"
        yield f"aten::glu.out({x}[2,4], 1, {y}[2,2])"
        yield f"aten::_softmax.out({x}[2,3], 1, false, {y}[2,3])"
        yield f"aten::_log_softmax.out({x}[2,3], 1, false, {y}[2,3])"
        yield f"aten::cumsum.out({x}[2,3], 1, none, {y}[2,3])"
    for how in ("none", "tanh", "foo", "", "tanhh"):
        yield f'aten::gelu.out(f32[2,3], "{how}", f32[2,3])'
        yield f'aten::gelu.out(f16[2,3], "{how}", f16[2,3])'


def binary() -> Iterator[str]:
    for name, (a, b), out in itertools.product(PAIRS.split(), OPERANDS, OUTS):
        alpha = ", 1" if name in ("add.out", "sub.out") else ""
        yield f"aten::{name}({a}[2,3], {b}[2,3]{alpha}, {out}[2,3])"
    for dtype, number in itertools.product(("s8", "f32", "b1"), ("2", "2.5")):
        for name in ("add", "sub", "rsub"):
            out = f"{'f32' if number == '2.5' or dtype == 'f32' else 's8'}[2,3]"
            yield f"aten::{name}.Scalar_out({dtype}[2,3], {number}, 1, {out})"
            yield f"aten::{name}.Scalar_out({dtype}[2,3], 1, {number}, {out})"
        for name in ("mul", "div"):
            yield f"aten::{name}.Scalar_out({dtype}[2,3], {number}, f32[2,3])"


# ---- scalars that a dtype cannot hold

NUMBERS = {
    "s8": ("127", "128", "-128", "-129", "300", "2.5", "1e19", "nan", "inf"),
    "u8": ("255", "256", "-1", "-255", "-256", "-1.0", "0.5"),
    "s32": ("2147483647", "2147483648", "-2147483648", "-2147483649", "3e9", "inf"),
    "s64": ("9223372036854775807", "1e19", "nan"),
    "f16": ("65504", "100000", "1e6", "inf", "nan", "-inf"),
    "f32": ("3.4e38", "3.41e38", "-3.41e38", "1e300", "inf", "-inf", "nan"),
    "f64": ("1e300", "5"),
    "b1": ("1", "300", "2.5", "-1"),
}
HELD = (
    "aten::full.out([2,3], {n}, {d}[2,3])",
    "aten::full_like.out({d}[2,3], {n}, none, {d}[2,3])",
    "aten::fill.Scalar_out({d}[2,3], {n}, {d}[2,3])",
    "aten::scalar_tensor.out({n}, {d}[])",
    "aten::constant_pad_nd.out({d}[2,3], [1,1], {n}, {d}[2,5])",
    "aten::masked_fill.Scalar_out({d}[2,3], b1[2,3], {n}, {d}[2,3])",
    "aten::scatter.value_out({d}[2,3], 0, s64[1,3], {n}, {d}[2,3])",
    "aten::add.out({d}[2,3], {d}[2,3], {n}, {d}[2,3])",
    "aten::hardtanh.out({d}[2,3], {n}, {n}, {d}[2,3])",
    "aten::clamp.out({d}[2,3], {n}, none, {d}[2,3])",
    "aten::clamp.out({d}[2,3], none, {n}, {d}[2,3])",
    "aten::leaky_relu.out({d}[2,3], {n}, {d}[2,3])",
    "aten::elu.out({d}[2,3], {n}, 1, 1, {d}[2,3])",
)


def scalars() -> Iterator[str]:
    for dtype, numbers in NUMBERS.items():
        for line, number in itertools.product(HELD, numbers):
            yield line.format(d=dtype, n=number)


# ---- dimensions, and parameters


def dimensions() -> Iterator[str]:
    for dims, kept in (("[1]", 1), ("[-2]", 1), ("[1,1]", 1), ("[0,-3]", 1)):
        shape = "[2,1,4]" if "1" in dims or "2" in dims else "[1,3,4]"
        del kept
        for name in ("sum.IntList_out", "mean.out"):
            yield f"aten::{name}(f32[2,3,4], {dims}, true, none, f32{shape})"
        for name in ("amax.out", "amin.out"):
            yield f"aten::{name}(f32[2,3,4], {dims}, true, f32{shape})"
        yield f"aten::any.dims_out(f32[2,3,4], {dims}, true, b1{shape})"
        yield f"aten::var.out(f32[2,3,4], {dims}, true, true, f32{shape})"
        yield f"aten::var.correction_out(f32[2,3,4], {dims}, 1, true, f32{shape})"
        yield f"aten::flip.out(f32[2,3,4], {dims}, f32[2,3,4])"
        yield f"aten::squeeze_copy.dims_out(f32[2,3,4], {dims}, f32[2,3,4])"
    yield "aten::permute_copy.out(f32[2,3,4], [0,1,2], f32[2,3,4])"
    yield "aten::permute_copy.out(f32[2,3,4], [0,1,1], f32[2,3,3])"
    yield "aten::any.dims_out(f32[2,3], [], false, b1[2,3])"
    yield "aten::any.dims_out(f32[2,3], none, false, b1[])"
    yield "aten::cat.out([], 0, f32[0])"
    for x, y in itertools.product(("f32", "s32"), ("f32", "s32", "f64")):
        yield f"aten::amax.out({x}[2,3], [1], false, {y}[2])"
        yield f"aten::amin.out({x}[2,3], [1], false, {y}[2])"
        yield f"aten::max.dim_max({x}[2,3], 1, false, {y}[2], s64[2])"
        yield f"aten::min.dim_min({x}[2,3], 1, false, {y}[2], s64[2])"
        yield f"aten::copy.out({x}[2,3], f32[2,3], false, {y}[2,3])"
        yield f"aten::fill.Scalar_out({x}[2,3], 1, {y}[2,3])"
        yield f"aten::mean.out({x}[2,3], [1], false, none, {y}[2])"
        yield f"aten::var.out({x}[2,3], [1], true, false, {y}[2])"
    for mask in ("b1", "u8", "s32"):
        yield f"aten::masked_fill.Scalar_out(f32[2,3], {mask}[2,3], 1, f32[2,3])"
    for shape in ("[]", "[1]"):
        yield f"aten::fill.Tensor_out(f32[2,3], f32{shape}, f32[2,3])"


def convolutions() -> Iterator[str]:
    parameters = itertools.product((1, 2), (1, 2), (0, 1, 2))
    for (stride, dilation, more), moved in itertools.product(parameters, (True, False)):
        size = (3 - 1) * stride + dilation * 2 + more + 1
        size = size if moved else (3 - dilation * 2 - 1) // stride + 1
        if size < 1:
            continue
        lists = f"[{stride}], [0], [{dilation}], {str(moved).lower()}, [{more}], 1"
        yield f"aten::convolution.out(f32[1,2,3], f32[2,2,3], none, {lists}, f32[1,2,{size}])"  # noqa: E501


FAMILIES = (unary, binary, scalars, dimensions, convolutions)

# ---- PyTorch -------------------------------------------------------------------------


def tensor(shape: Shape) -> torch.Tensor:
    dtype, sizes = shape
    return torch.ones(sizes, dtype=TYPES[dtype])


def torch_value(value: Any) -> Any:
    if isinstance(value, Shape):
        return tensor(value)
    return [torch_value(one) for one in value] if isinstance(value, list) else value


def is_taken(line: str) -> bool:
    """Whether PyTorch computes it into the outputs as they are."""
    op, arguments = one_call.parse(line)
    fields = one_call.fields(op)
    given = dict(zip([name for _, name in fields], arguments, strict=True))
    outs = {name: given[name] for kind, name in fields if "!" in kind}
    inputs = {name: value for name, value in given.items() if name not in outs}
    name, _, overload = op.removeprefix("aten::").partition(".")
    call = getattr(getattr(torch.ops.aten, name), overload)
    made = {name: tensor(shape) for name, shape in outs.items()}
    try:
        call(**{name: torch_value(value) for name, value in inputs.items()}, **made)
    except (RuntimeError, IndexError, ValueError) as error:
        if GENERATED not in str(error) or op.startswith(STRICT):
            return False
        return is_castable(str(error))
    return all(tuple(made[name].shape) == outs[name][1] for name in outs)


def is_castable(message: str) -> bool:
    """Whether the output that the message names could be cast to."""
    names = {"unsigned char": "uint8", "signed char": "int8", "long int": "int64"}
    names |= {
        "float": "float32",
        "double": "float64",
        "int": "int32",
        "short int": "int16",
    }
    names |= {"c10::Half": "float16", "bool": "bool", "c10::BFloat16": "bfloat16"}
    result, _, out = message.splitlines()[0].partition(", but got ")
    wanted = names[result.removeprefix(GENERATED).strip()]
    found = names[out.removesuffix(" instead")]
    return torch.can_cast(getattr(torch, wanted), getattr(torch, found))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help=f"write {LIST.name}")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    grid = dict.fromkeys(line for family in FAMILIES for line in family())
    lines = [line for line in grid if line not in INFINITE]
    taken = {line: is_taken(line) for line in lines}
    wrong = 0
    for line, why in zip(lines, one_call.refusals(lines), strict=True):
        if (why is None) is not taken[line]:
            wrong += 1
            print(f"{line}: PyTorch {'takes' if taken[line] else 'refuses'} it; {why}")
    print(f"{len(lines)} calls, {wrong} answers differ")
    if options.write:
        text = HEAD
        for title, answer in (("refused", False), ("taken", True)):
            text += f"{title}:\n"
            text += "".join(f"- '{one}'\n" for one in lines if taken[one] is answer)
        LIST.write_text(text, encoding="utf-8")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
