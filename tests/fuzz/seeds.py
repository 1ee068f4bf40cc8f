"""Programs to mutate: committed cases, the toys of the unit tests, and one-operator
programs made from the schemas in kernels.yaml."""

from __future__ import annotations

import random
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import maker
import one_call
import payloads
import programs as toys
import programs_data

from ember import program
from ember.errors import SdkError
from ember.files.tensors import DType
from ember.program import (
    Bool,
    BoolList,
    Double,
    DoubleList,
    Int,
    IntList,
    Null,
    OptionalTensorList,
    Program,
    String,
    TensorList,
    Value,
    bundle,
)

ROOT = Path(__file__).parents[2]

MOST_BYTES = 10_000
PROGRAM, DATA, BUNDLE = 0, 1, 2
NONE = 0xFFFFFFFF


@dataclass
class Seed:
    name: str
    data: bytes
    kind: int = PROGRAM
    companion: int = NONE  # index of the seed that a .pte or .ptd needs beside it


def collect(variants: int, cases: Sequence[Path] = ()) -> list[Seed]:
    """All seeds; `variants` programs for each operator of kernels.yaml, and those in
    folders of `cases`."""
    seeds = list(_toys())
    for folder in (ROOT / "tests/cases", ROOT / "tests/unit/python/data", *cases):
        seeds += _files(folder, len(seeds))
    seeds += _old_payloads()
    seeds += _calls()
    seeds += _operators(variants)
    return seeds


# For kernels that random arguments seldom fit, and the exporter writes no call of.
CALLS = (
    "aten::_adaptive_avg_pool2d_backward.out(f32[1,2,2,2], f32[1,2,5,6], f32[1,2,5,6])",
    "aten::_native_batch_norm_legit.out(f32[2,3,4], f32[3], f32[3], f32[3], f32[3],"
    " true, 0.1, 1e-5, f32[2,3,4], f32[3], f32[3])",
    "aten::baddbmm.out(f16[2,3,5], f16[2,3,7], f16[2,7,5], 1, 1, f16[2,3,5])",
    "aten::empty.out([2,3], none, f32[2,3])",
    "aten::index_put_(f32[5,3], [s64[2]], f32[2,3], false)",
    "aten::index_put_(f32[5,3], [b1[5,3]], f32[1], false)",
    "aten::index_put_(f32[5,3], [b1[5],s64[5]], f32[1], false)",
    "aten::minimum.out(f32[3,5], f32[3,5], f32[3,5])",
    "aten::relu.out(f16[3,21], f16[3,21])",
    "aten::rsub.Scalar_out(f32[3,5], 2.5, 1, f32[3,5])",
    "aten::sub.Scalar_out(f32[3,5], 2.5, 1, f32[3,5])",
)


def _calls() -> Iterator[Seed]:
    for line in CALLS:
        yield Seed(line, program.write(one_call.program_of([line])))


def _old_payloads() -> Iterator[Seed]:
    for form, case in (*payloads.FORMS, *payloads.OTHERS):
        data = form(case)
        if len(data) <= MOST_BYTES:
            yield Seed(f"xnnpack_{case} {form.__name__}", data)


def real_count(seeds: list[Seed]) -> int:
    """Programs that the exporter wrote."""
    return sum(seed.kind == PROGRAM and "/" in seed.name for seed in seeds)


def _toys() -> Iterator[Seed]:
    external = program.write(programs_data.external())
    yield Seed("external.pte", external, companion=1)
    yield Seed("external.ptd", programs_data.external_data(), DATA, companion=0)
    for name, build in toys.PROGRAMS.items():
        yield Seed(f"{name}.pte", program.write(build()))
    yield Seed(
        "inline.pte", program.write(programs_data.constants(), inline_constants=True)
    )


_KINDS = {".pte": PROGRAM, ".ptd": DATA, ".bpte": BUNDLE}


def _files(folder: Path, first: int) -> list[Seed]:
    """Small programs with their .ptd, and bundles; `first`: index of the first."""
    collected: list[Seed] = []
    names: dict[Path, int] = {}
    for path in sorted(folder.rglob("*.*t[de]*")):
        if path.suffix not in _KINDS:
            continue
        data = path.read_bytes()
        inside = path.is_relative_to(ROOT)
        name = path.relative_to(ROOT) if inside else path
        seeds = [Seed(str(name), data, _KINDS[path.suffix])]
        if path.suffix == ".bpte":
            seeds.append(Seed(f"{name} program", bundle.parse(data).program))
        for seed in seeds:
            if len(seed.data) <= MOST_BYTES:
                names[path] = len(collected)
                collected.append(seed)
    for path, index in names.items():
        pattern = f"{path.stem}*.ptd" if path.parent == folder else "*.ptd"
        beside = next(iter(sorted(path.parent.glob(pattern))), None)
        if path.suffix != ".ptd" and beside in names:
            collected[index].companion = first + names[beside]
            collected[names[beside]].companion = first + index
    return collected


# ---- one operator ------------------------------------------------------------------

_DTYPES = (
    *(DType.FLOAT32,) * 8,
    *(DType.INT64,) * 3,
    *(DType.INT32, DType.INT8, DType.UINT8, DType.INT16, DType.BOOL),
    *(DType.FLOAT64, DType.FLOAT16, DType.BFLOAT16),
)
_WORDS = ("none", "mean", "sum", "tanh", "floor", "trunc", "linear", "reflect")


def _operators(variants: int) -> Iterator[Seed]:
    from ember import kernels

    try:
        listed = kernels.load()
    except (SdkError, OSError):
        return
    for name, operator in listed.operators.items():
        for number in range(variants):
            maker = _Call(random.Random(f"{name} {number}"))
            try:
                content = maker.program(name, operator.schema)
                yield Seed(f"{name} #{number}", program.write(content))
            except (SdkError, KeyError, ValueError) as error:
                print(f"no seed for {name}: {error}", file=sys.stderr)


class _Call:
    """One call of an operator with arguments that its schema allows."""

    def __init__(self, chance: random.Random) -> None:
        self.chance = chance
        self.maker = maker.Maker()
        self.dtype = chance.choice(_DTYPES)
        rank = chance.choice((0, 1, 1, 2, 2, 3, 4, 4, 5))
        self.shape = tuple(chance.choice((1, 1, 2, 3, 4, 6)) for _ in range(rank))

    def program(self, name: str, schema: str) -> Program:
        inside = schema[schema.index("(") + 1 : schema.rindex(") ->")]
        args = [self._argument(parameter) for parameter in _split(inside)]
        outs = [index for index, is_out in args if is_out]
        self.maker.give(*outs[:3])
        given = [index for index, _ in args]
        last = outs[0] if len(outs) == 1 else given[-1]
        if len(outs) > 1:
            last = self.maker.value(TensorList(tuple(outs)))
        elif not outs:
            last = self.maker.value(self._scalar("int"))
            self.maker.give(last)
        self.maker.operators.append(program.Operator(*_parts(name)))
        self.maker.add(program.KernelCall(0, (*given, last)))
        return self.maker.program(constants=(b"", bytes(range(256)) * 8))

    def _argument(self, text: str) -> tuple[int, bool]:
        match = re.match(r"([A-Za-z]+)(\([a-z!]+\))?(\[\d*\])?(\?)?", text.strip())
        if match is None:
            raise ValueError(text)
        base, alias, many, optional = match.groups()
        if optional and self.chance.random() < 0.4:
            return self.maker.value(Null()), False
        is_out = alias is not None and "!" in alias
        if base == "Tensor":
            return self._tensors(is_out, many is not None, "?" in text), is_out
        if many is not None:
            return self._list(base), False
        return self.maker.value(self._scalar(base)), False

    def _tensors(self, is_out: bool, many: bool, optional: bool) -> int:
        if not many:
            return self._tensor(is_out)
        count = self.chance.randint(1, 3)
        items = [self._tensor(is_out) for _ in range(count)]
        if optional:
            items.append(-1)
            return self.maker.value(OptionalTensorList(tuple(items)))
        return self.maker.value(TensorList(tuple(items)))

    def _tensor(self, is_out: bool) -> int:
        chance = self.chance
        shape = list(self.shape)
        dtype = self.dtype
        if chance.random() < 0.3 and shape:
            at = chance.randrange(len(shape))
            shape[at] = chance.choice((0, 1, 1, 2, 5))
        if chance.random() < 0.2:
            shape = shape[chance.randint(0, len(shape)) :]
        if chance.random() < 0.25:
            dtype = chance.choice((DType.INT64, DType.BOOL, chance.choice(_DTYPES)))
        order = list(range(len(shape)))
        if len(shape) == 4 and chance.random() < 0.3:
            order = [0, 2, 3, 1]
        dynamic = chance.random() < 0.3
        if is_out:
            if dynamic:  # room for what the operator may compute
                shape = [max(2 * size, 4) for size in shape]
            return self.maker.tensor(*shape, dtype=dtype, dynamic=dynamic, order=order)
        style = chance.random()
        if style < 0.2:
            return self.maker.tensor(
                *shape, dtype=dtype, memory=None, data=1, order=order
            )
        memory = None if style < 0.4 else 1
        return self.maker.input(
            *shape, dtype=dtype, memory=memory, dynamic=dynamic, order=order
        )

    def _scalar(self, base: str) -> Value:
        chance = self.chance
        small = chance.choice((0, 0, 1, 1, 1, 2, 2, 3, -1, -1, -2, 4, 7))
        if base in ("int", "SymInt", "ScalarType", "MemoryFormat", "Layout", "Device"):
            return Int(small)
        if base == "bool":
            return Bool(chance.random() < 0.5)
        if base == "float":
            return Double(chance.choice((0.0, 1.0, 0.5, 1e-5, -1.0, 2.0)))
        if base == "Scalar":
            return chance.choice(
                (Int(small), Double(0.5 * small), Bool(small > 0), Double(1.0))
            )
        if base == "str":
            return String(chance.choice(_WORDS))
        return Null()

    def _list(self, base: str) -> int:
        count = self.chance.choice((0, 1, 1, 2, 2, len(self.shape), len(self.shape)))
        if base in ("int", "SymInt"):
            items = [self.maker.value(self._scalar(base)) for _ in range(count)]
            return self.maker.value(IntList(tuple(items)))
        if base == "bool":
            flags = tuple(self.chance.random() < 0.5 for _ in range(count))
            return self.maker.value(BoolList(flags))
        numbers = tuple(self.chance.choice((0.5, 1.0, 2.0)) for _ in range(count))
        return self.maker.value(DoubleList(numbers))


def _parts(name: str) -> tuple[str, str]:
    base, _, overload = name.partition(".")
    return base, overload


def _split(text: str) -> list[str]:
    """Arguments of a schema: commas inside brackets do not count."""
    parts, depth, start = [], 0, 0
    for at, letter in enumerate(text):
        depth += {"(": 1, "[": 1, ")": -1, "]": -1}.get(letter, 0)
        if letter == "," and depth == 0:
            parts.append(text[start:at])
            start = at + 1
    parts.append(text[start:])
    return [part for part in parts if part.strip() not in ("", "*")]
