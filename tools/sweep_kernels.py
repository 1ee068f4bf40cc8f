# SPDX-License-Identifier: Apache-2.0
"""Operators x dtypes x shapes x dim orders become one-call cases for `ember test`.

The programs are written directly, without an exporter, so that combinations occur
which no exported model has; PyTorch computes what they must give.

    python tools/sweep_kernels.py FOLDER [-k TEXT]
"""

from __future__ import annotations

import argparse
import itertools
import math
import sys
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parents[1] / "sdk"))

from corpus.case import Exported, Run, write_case

from ember import kernels, program
from ember.files.tensors import DType

F32, F64, F16, BF16 = torch.float32, torch.float64, torch.float16, torch.bfloat16
U8, B1 = torch.uint8, torch.bool
FLOATS = (F32, F64, F16, BF16)
INTEGERS = (torch.int8, U8, torch.int16, torch.int32, torch.int64)
NUMERIC = (*FLOATS, *INTEGERS)
ALL = (*NUMERIC, B1)
# ExecuTorch's number and Ember's name of a dtype.
DTYPES = {
    F32: (6, "f32"),
    F64: (7, "f64"),
    F16: (5, "f16"),
    BF16: (15, "bf16"),
    torch.int8: (1, "s8"),
    U8: (0, "u8"),
    torch.int16: (2, "s16"),
    torch.int32: (3, "s32"),
    torch.int64: (4, "s64"),
    torch.uint16: (27, "u16"),
    B1: (11, "b1"),
}


@dataclass(frozen=True)
class Sweep:
    """One call: the operator with its overload, and its arguments without outs."""

    op: str
    arguments: Sequence[Any]
    # What PyTorch gives; None: the functional operator on the same arguments.
    results: Callable[[], Any] | None = None
    # Arguments that the call writes too; `results` ends with what they become.
    written: Sequence[int] = ()
    # Arguments that the program holds; the other tensors are inputs.
    constants: Sequence[int] = ()
    exact: bool = False  # floats, too
    bounded: bool = False  # the outputs' shapes are known when it runs

    def inputs(self) -> dict[int, torch.Tensor]:
        """The tensors that a run is given, by their place among the arguments."""
        return {
            index: value
            for index, value in enumerate(self.arguments)
            if isinstance(value, torch.Tensor) and index not in self.constants
        }

    def outputs(self) -> list[torch.Tensor]:
        found = self.results() if self.results else self._functional()
        return list(found) if isinstance(found, (list, tuple)) else [found]

    def _functional(self) -> Any:
        name, _, overload = self.op.removeprefix("aten::").partition(".")
        packet = getattr(torch.ops.aten, name)
        fields = getattr(packet, overload)._schema.arguments
        named = zip(fields, self.arguments, strict=False)
        return packet(**{field.name: value for field, value in named})


# ---- the program of one call ---------------------------------------------------------


def dim_order(tensor: torch.Tensor) -> tuple[int, ...]:
    strides = tensor.stride()
    return tuple(sorted(range(tensor.dim()), key=lambda d: (-strides[d], d)))


class Writer:
    """Collects values; tensors are planned one behind the other."""

    def __init__(self) -> None:
        self.values: list[Any] = []
        self.constants = [b""]
        self.at = 0

    def add(self, value: Any) -> int:
        self.values.append(value)
        return len(self.values) - 1

    def tensor(self, tensor: torch.Tensor, dynamism: str = "static") -> int:
        place = program.Allocation(1, self.at)
        size = max(tensor.numel() * tensor.element_size(), 1)
        self.at += -(-size // 16) * 16
        return self.add(
            program.Tensor(
                dtype=DType(DTYPES[tensor.dtype][0]),
                sizes=tuple(tensor.shape),
                dim_order=dim_order(tensor),
                allocation=place,
                dynamism=dynamism,
            )
        )

    def constant(self, tensor: torch.Tensor) -> int:
        self.constants.append(tensor.contiguous().numpy().tobytes())
        return self.add(
            program.Tensor(
                dtype=DType(DTYPES[tensor.dtype][0]),
                sizes=tuple(tensor.shape),
                dim_order=tuple(range(tensor.dim())),
                data_index=len(self.constants) - 1,
            )
        )

    def argument(self, value: Any) -> int:
        if isinstance(value, torch.Tensor):
            return self.tensor(value)
        if isinstance(value, (list, tuple)):
            if any(isinstance(item, torch.Tensor) for item in value):
                found = [-1 if one is None else self.constant(one) for one in value]
                return self.add(program.OptionalTensorList(tuple(found)))
            if value and isinstance(value[0], bool):
                return self.add(program.BoolList(tuple(value)))
            items = tuple(self.add(program.Int(item)) for item in value)
            return self.add(program.IntList(items))
        if value is None:
            return self.add(program.Null())
        value = DTYPES[value][0] if isinstance(value, torch.dtype) else value
        kinds = {
            bool: program.Bool,
            int: program.Int,
            float: program.Double,
            str: program.String,
        }
        return self.add(kinds[type(value)](value))


def program_of(sweep: Sweep, results: Sequence[torch.Tensor]) -> bytes:
    writer = Writer()
    arguments = [
        writer.constant(value) if index in sweep.constants else writer.argument(value)
        for index, value in enumerate(sweep.arguments)
    ]
    written = [arguments[index] for index in sweep.written]
    dynamism = "bounded" if sweep.bounded else "static"
    news = results[: len(results) - len(written)]
    outs = [writer.tensor(one, dynamism) for one in news]
    returned = (
        outs[0] if len(outs) == 1 else writer.add(program.TensorList(tuple(outs)))
    )
    name, _, overload = sweep.op.partition(".")
    call = program.KernelCall(0, (*arguments, *outs, returned))
    method = program.Method(
        name="forward",
        values=tuple(writer.values),
        inputs=tuple(arguments[index] for index in sweep.inputs()),
        outputs=(*outs, *written),
        chains=(program.Chain((call,), (), (), None),),
        operators=(program.Operator(name, overload),),
        delegates=(),
        planned_sizes=(0, max(writer.at, 16)),
        planned_devices=(),
        containers=None,
    )
    whole = program.Program(
        methods=(method,),
        constants=tuple(writer.constants),
        mutable_data=(),
        named_data=(),
        version=0,
    )
    return program.write(whole)


def case_of(sweep: Sweep) -> Exported:
    results = sweep.outputs()
    inputs = list(sweep.inputs().values())
    # PyTorch rounds half floats between the steps of an operator, Ember at its end.
    half = any(value.dtype in (F16, BF16) for value in (*results, *inputs))
    exact = sweep.exact or not any(value.is_floating_point() for value in results)
    return Exported(
        {"model.pte": program_of(sweep, results)},
        [Run("forward", inputs, results)],
        rtol=0 if exact else 3e-2 if half else 1e-4,
        atol=0 if exact else 1e-2 if half else 1e-5,
    )


# ---- inputs --------------------------------------------------------------------------


def made(dtype: torch.dtype, *shape: int, low: float = -4, high: float = 4) -> Any:
    if dtype == B1:
        return torch.rand(shape) > 0.5
    if dtype in INTEGERS:
        least = 0 if dtype == U8 else int(low)
        return torch.randint(least, int(high) + 1, shape).to(dtype)
    return (torch.rand(shape, dtype=F64) * (high - low) + low).to(dtype)


def nonzero(x: torch.Tensor) -> torch.Tensor:
    return torch.where(x == 0, torch.ones_like(x), x)


def special(dtype: torch.dtype) -> torch.Tensor:
    numbers = [math.nan, math.inf, -math.inf, 0.0, -0.0, 1, -1, 2.5, 0.5, 1e30, 1e-30]
    return torch.tensor(numbers, dtype=dtype)


def permuted(dtype: torch.dtype) -> torch.Tensor:
    return made(dtype, 2, 3, 4, 5).to(memory_format=torch.channels_last)


# ---- element by element --------------------------------------------------------------

UNARY_FLOAT = (
    "exp expm1 log log1p log2 log10 sin cos tan asin acos atan sinh cosh tanh asinh "
    "acosh atanh erf sigmoid sqrt rsqrt reciprocal isnan isinf logical_not"
)
UNARY_SAME = "floor ceil trunc round relu neg abs sign"


def unary() -> Iterator[Sweep]:
    for name in f"{UNARY_FLOAT} {UNARY_SAME}".split():
        for dtype in NUMERIC if name in UNARY_SAME.split() else ALL:
            for x in (made(dtype, 37), made(dtype), permuted(dtype)):
                yield Sweep(f"aten::{name}.out", [x])
        for dtype in FLOATS:
            yield Sweep(f"aten::{name}.out", [special(dtype)])
    for dtype in (*INTEGERS, B1):
        yield Sweep("aten::bitwise_not.out", [made(dtype, 37)])


# Operators of two tensors -> their dtypes, and whether the second may be zero.
BINARY = {
    "mul.out div.out minimum.out maximum.out atan2.out": (NUMERIC, True),
    "logical_and.out logical_or.out logical_xor.out eq.Tensor_out": (ALL, True),
    "ne.Tensor_out lt.Tensor_out le.Tensor_out gt.Tensor_out": (ALL, True),
    "ge.Tensor_out": (ALL, True),
    "bitwise_and.Tensor_out bitwise_or.Tensor_out": ((*INTEGERS, B1), True),
    "bitwise_xor.Tensor_out": ((*INTEGERS, B1), True),
    "remainder.Tensor_out fmod.Tensor_out floor_divide.out": (NUMERIC, False),
}
SHAPES = (
    ((3, 5), (3, 5)),
    ((2, 3, 5), (5,)),
    ((2, 3, 5), (3, 1)),
    ((2, 3, 4, 5), (1, 3, 1, 1)),
    ((4, 5), ()),
    ((5,), (2, 3, 5)),
    ((4, 1), (1, 5)),
    ((2, 1, 5), (2, 3, 5)),
    ((1, 1), (1,)),
    ((0, 3), (3,)),
)


def pairs(dtypes: Sequence[torch.dtype]) -> Iterator[tuple[Any, Any]]:
    for dtype, (left, right) in itertools.product(dtypes, SHAPES):
        yield made(dtype, *left), made(dtype, *right)
    for other in dtypes:
        yield made(dtypes[0], 4, 5), made(other, 5)
        yield made(other, 5), made(dtypes[-1])
    yield permuted(dtypes[0]), made(dtypes[0], 2, 3, 4, 5)
    for dtype in set(dtypes) & set(FLOATS):
        yield special(dtype).reshape(-1, 1), special(dtype)


def binary() -> Iterator[Sweep]:
    for names, (dtypes, any_divisor) in BINARY.items():
        for name in names.split():
            for a, b in pairs(dtypes):
                half = {a.dtype, b.dtype} & {F16, BF16}
                if name.startswith("floor_divide") and half and a.dim() == 2:
                    continue  # PyTorch's float16 quotients round to the next integer
                yield Sweep(f"aten::{name}", [a, b if any_divisor else nonzero(b)])
    for a, b in pairs(NUMERIC):
        yield Sweep("aten::add.out", [a, b, 3])
        yield Sweep("aten::sub.out", [a, b, 1])
        yield Sweep("aten::sub.out", [a, b, 2])


def scalars() -> Iterator[Sweep]:
    for dtype, number in itertools.product(NUMERIC, (3, 2.5)):
        a = made(dtype, 3, 7)
        for name in ("add", "sub", "rsub"):
            yield Sweep(f"aten::{name}.Scalar_out", [a, number, 2])
        for name in ("mul", "div", "eq", "ne", "lt", "ge", "remainder", "fmod"):
            yield Sweep(f"aten::{name}.Scalar_out", [a, number])
        yield Sweep("aten::pow.Tensor_Scalar_out", [nonzero(a.abs()), number])
        if dtype != U8:  # which wraps in PyTorch, and not here
            yield Sweep("aten::pow.Scalar_out", [number, a.abs()])
    for dtype in NUMERIC:
        a, b = made(dtype, 3, 7), nonzero(made(dtype, 3, 7))
        for mode in (None, "trunc", "floor"):
            yield Sweep("aten::div.out_mode", [a, b, mode])
            yield Sweep("aten::div.Scalar_mode_out", [a, 3, mode])
        yield Sweep("aten::pow.Tensor_Tensor_out", [a, made(dtype, 7).abs()])
        yield Sweep("aten::pow.Tensor_Scalar_out", [a, 2])
    for dtype in INTEGERS:  # numbers that do not fit are cut to the tensor's dtype
        for name, number in itertools.product(("eq", "lt", "ge"), (300, 200, -3)):
            yield Sweep(f"aten::{name}.Scalar_out", [made(dtype, 300, high=90), number])
    for dtype in FLOATS:
        a, b = special(dtype).reshape(-1, 1), special(dtype)
        yield Sweep("aten::pow.Tensor_Tensor_out", [a, b])


def activations() -> Iterator[Sweep]:
    for dtype in FLOATS:
        for x in (made(dtype, 36), permuted(dtype), special(dtype)):
            yield Sweep("aten::leaky_relu.out", [x, 0.1])
            yield Sweep("aten::elu.out", [x, 0.5, 2, 1])
            yield Sweep("aten::logit.out", [x, 0.2])
            yield Sweep("aten::logit.out", [x, None])
            yield Sweep("aten::hardtanh.out", [x, -1, 2.5])
        for x in (made(dtype, 36), permuted(dtype)):
            yield Sweep("aten::gelu.out", [x, "none"])
            yield Sweep("aten::gelu.out", [x, "tanh"])
            yield Sweep("aten::glu.out", [x, 0])
    for dtype in NUMERIC:
        x, low, high = made(dtype, 4, 7), made(dtype, 7), made(dtype, 4, 1)
        for bounds in ((1, 2), (None, 2), (1, None), (0.5, 2.5)):
            yield Sweep("aten::clamp.out", [x, *bounds])
        yield Sweep("aten::clamp.Tensor_out", [x, low, high])
        yield Sweep("aten::clamp.Tensor_out", [x, None, high])


def choices() -> Iterator[Sweep]:
    for dtype in ALL:
        mask, a, b = made(B1, 3, 1), made(dtype, 3, 5), made(dtype, 5)
        two = torch.tensor(2).to(dtype)
        yield Sweep("aten::where.self_out", [mask, a, b])
        yield Sweep("aten::where.self_out", [made(B1, 3, 5), a, made(dtype, 3, 5)])
        yield Sweep("aten::masked_fill.Scalar_out", [a, mask, 1])
        yield Sweep("aten::fill.Scalar_out", [a, 1])
        yield Sweep("aten::fill.Tensor_out", [a, two])
        yield Sweep("aten::full_like.out", [a, 1, None])
        yield Sweep("aten::full.out", [[2, 3], 1], lambda a=a: a[:2, :3] | True if a.dtype == B1 else a[:2, :3] * 0 + 1)  # fmt: skip  # noqa: E501
        yield Sweep("aten::zeros.out", [[2, 3]], lambda d=dtype: torch.zeros(2, 3, dtype=d))  # fmt: skip  # noqa: E501
        yield Sweep("aten::ones.out", [[5]], lambda d=dtype: torch.ones(5, dtype=d))
        yield Sweep("aten::scalar_tensor.out", [2], lambda two=two: two)
        for to in ALL:
            x = made(dtype, 3, 6)
            yield Sweep("aten::_to_copy.out", [x, False, None], lambda x=x, to=to: x.to(to))  # fmt: skip  # noqa: E501
    for dtype in NUMERIC:
        yield Sweep("aten::arange.out", [7], lambda d=dtype: torch.arange(7, dtype=d))
        yield Sweep("aten::arange.start_out", [1, 20, 3], lambda d=dtype: torch.arange(1, 20, 3, dtype=d))  # fmt: skip  # noqa: E501
    yield Sweep("aten::arange.start_out", [5.0, 1.0, -0.5])


# ---- reductions and normalisations ---------------------------------------------------


def first(x: torch.Tensor, dim: int, which: str, keep: bool) -> torch.Tensor:
    """The first index of the extreme; PyTorch does not promise which one it gives."""
    best = getattr(torch, f"a{which}")(x, dim, True)
    before = (x == best).to(torch.int64).cumsum(dim).eq(0)
    return before.sum(dim, keepdim=keep)


def sums() -> Iterator[Sweep]:
    every = itertools.product(ALL, ([-1], [0], [0, 2], []), (False, True))
    for dtype, dims, keep in every:
        x = made(dtype, 3, 17, 5)
        yield Sweep("aten::sum.IntList_out", [x, dims, keep, None])
        yield Sweep("aten::sum.IntList_out", [x, dims or None, keep, None])
        yield Sweep("aten::amax.out", [x, dims, keep])
        yield Sweep("aten::amin.out", [x, dims, keep])
        yield Sweep("aten::any.dims_out", [x, dims or None, keep])
        if dtype in FLOATS:
            yield Sweep("aten::mean.out", [x, dims, keep, None])
            yield Sweep("aten::var.out", [x, dims, True, keep])
            yield Sweep("aten::var.correction_out", [x, dims, 0, keep])
            yield Sweep("aten::var_mean.correction_out", [x, dims, 2, keep])
    for dtype in FLOATS:
        empty, numbers = made(dtype, 2, 0, 3), special(dtype)
        yield Sweep("aten::sum.IntList_out", [empty, [1], False, None])
        yield Sweep("aten::mean.out", [empty, [1], False, None])
        yield Sweep("aten::mean.dtype_out", [made(dtype, 5, 7), None])
        yield Sweep("aten::amax.out", [numbers, [0], False])
        yield Sweep("aten::argmin.out", [numbers, 0, False])
        yield Sweep("aten::sum.IntList_out", [numbers, [0], False, None])
        yield Sweep("aten::sum.IntList_out", [numbers[1:2].repeat(3), [0], False, None])


def lines() -> Iterator[Sweep]:
    for dtype, dim in itertools.product(ALL, (0, -2, 2)):
        x, p = made(dtype, 3, 17, 5), permuted(dtype)
        few = made(dtype, 3, 3, 3, low=-2, high=2)
        yield Sweep("aten::any.out", [x, dim, False])
        yield Sweep("aten::all.out", [x, dim, False])
        yield Sweep("aten::prod.int_out", [few, dim, False, None])
        yield Sweep("aten::cumsum.out", [x, dim, None])
        if dtype in FLOATS:
            for a in (x, p):
                yield Sweep("aten::_softmax.out", [a, dim, False])
                yield Sweep("aten::_log_softmax.out", [a, dim, False])
        if dtype == B1:
            continue
        for n in ("max", "min"):
            yield Sweep(
                f"aten::{n}.dim_{n}",
                [x, dim, True],
                lambda x=x, d=dim, n=n: [
                    getattr(torch, f"a{n}")(x, d, True),
                    first(x, d, n, True),
                ],
            )
            yield Sweep(
                f"aten::arg{n}.out",
                [x, dim, False],
                lambda x=x, d=dim, n=n: first(x, d, n, False),
            )
    for dtype in ALL:
        x, p = made(dtype, 3, 17, 5), permuted(dtype)
        yield Sweep("aten::sum.IntList_out", [p, [1, 3], True, None])
        yield Sweep("aten::any.all_out", [x])
        yield Sweep("aten::all.all_out", [x])
        if dtype != B1:
            yield Sweep("aten::max.unary_out", [p])
            yield Sweep("aten::min.unary_out", [p])
            flat = p.reshape(-1)
            yield Sweep(
                "aten::argmax.out",
                [p, None, False],
                lambda x=flat: first(x, 0, "max", False),
            )


def legit(x: Any, weight: Any, bias: Any, mean: Any, var: Any, *rest: Any) -> Any:
    """Batch norm with running statistics, which come last."""
    mean, var = mean.clone(), var.clone()
    functional = torch.ops.aten._native_batch_norm_legit
    return [*functional(x, weight, bias, mean, var, *rest), mean, var]


def norms() -> Iterator[Sweep]:
    for dtype in FLOATS:
        image = made(dtype, 2, 4, 3, 5)
        images = (image, image.to(memory_format=torch.channels_last), made(dtype, 6, 4))
        w, b, mean = made(dtype, 4), made(dtype, 4), made(dtype, 4)
        for x, (weight, bias) in itertools.product(images, ((w, b), (None, None))):
            arguments = [x, weight, bias, mean, made(dtype, 4, low=0.5), 0.1, 1e-5]
            functional = torch.ops.aten._native_batch_norm_legit_no_training
            yield Sweep(
                "aten::_native_batch_norm_legit_no_training.out",
                arguments,
                lambda f=functional, a=arguments: [f(*a)[0], a[3][:0], a[3][:0]],
            )
            yield Sweep(
                "aten::_native_batch_norm_legit.no_stats_out",
                [x, weight, bias, True, 0.1, 1e-5],
            )
            for training in (False, True):
                given = [*arguments[:5], training, 0.3, 1e-5]
                yield Sweep(
                    "aten::_native_batch_norm_legit.out",
                    given,
                    lambda g=given: legit(*g),
                    written=(3, 4),
                )
            if dtype in (F32, F64):
                for given in ([mean, arguments[4]], [None, None]):
                    yield Sweep(
                        "aten::native_batch_norm.out",
                        [x, weight, bias, *given, True, 0.3, 1e-5],
                        lambda a=[x, weight, bias], g=given: torch.native_batch_norm(
                            *a,
                            *(n if n is None else n.clone() for n in g),
                            True,
                            0.3,
                            1e-5,
                        ),
                    )
        x = made(dtype, 2, 6, 4)
        for weight, bias in ((w, b), (w, None), (None, None)):
            yield Sweep("aten::native_layer_norm.out", [x, [4], weight, bias, 1e-5])
        yield Sweep("aten::native_layer_norm.out", [x, [6, 4], None, None, 1e-5])
        for groups in (1, 2, 6):
            vectors = [made(dtype, 6), made(dtype, 6)]
            sizes = [2, 6, 4, groups, 1e-5]
            yield Sweep("aten::native_group_norm.out", [x, *vectors, *sizes])


FAMILIES = (unary, binary, scalars, activations, choices, sums, lines, norms)


def name_of(sweep: Sweep, index: int) -> str:
    tensors = [value for value in sweep.arguments if isinstance(value, torch.Tensor)]
    op = sweep.op.split("::")[1].replace(".", "_")
    dtypes = "_".join(DTYPES[tensor.dtype][1] for tensor in tensors)
    return f"{op}_{dtypes}_{index}"


def main(families: Sequence[Callable[[], Iterator[Sweep]]]) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("-k", default="", help="only names with this text")
    options = parser.parse_args()
    torch.set_num_threads(1)
    known = kernels.load().operators
    count = 0
    for family in families:
        torch.manual_seed(zlib.crc32(family.__name__.encode()))
        for index, sweep in enumerate(family()):
            name = f"{family.__name__}_{name_of(sweep, index)}"
            if options.k not in name or sweep.op not in known:
                continue
            try:
                case = case_of(sweep)
            except (RuntimeError, TypeError) as error:
                print(f"PyTorch refuses {name}: {str(error).splitlines()[0]}")
                continue
            write_case(case, options.folder / family.__name__ / name)
            count += 1
    print(f"{count} cases in {options.folder}")
    return 0


if __name__ == "__main__":
    sys.exit(main(FAMILIES))
