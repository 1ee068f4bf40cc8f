# SPDX-License-Identifier: Apache-2.0
"""The cache of thousands of cases -> a compact subset with some of every operator."""

from __future__ import annotations

import re
import shutil
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from corpus import statistics

from conformance import making, operators
from ember import cases
from ember.files.tensors import DType
from ember.program import Tensor, Value, bundle

EACH = 6  # cases of an operator
LARGEST = 3000  # bytes of a case
# What found a fault once is kept, and what other runtimes are known to get wrong.
ALWAYS = re.compile(
    r"edge_(addmm/addmm_|quotients/.*signs_s(8|32)|softmax/.*_(low|large)_"
    r"|paddings/constant_(negative|mixed)|convolutions/conv2d_order)"
)
LOOSE = (DType.FLOAT16, DType.BFLOAT16)
Form = tuple[str, str]  # an operator, and the kinds of its arguments


@dataclass(frozen=True)
class Candidate:
    name: str  # unit/case
    path: Path
    calls: tuple[Form, ...]
    size: int

    @property
    def forms(self) -> frozenset[Form]:
        return frozenset(self.calls)


def candidates(out: Path) -> list[Candidate]:
    """Return the small cases of the cache, plainest first."""
    found = []
    for name, outcome in making.outcomes(out).items():
        path = out / name
        if outcome != making.DONE or not (path / "model.pte").exists():
            continue
        calls = tuple(
            statistics.calls(operators.stored((path / "model.pte").read_bytes()))
        )
        size = sum(file.stat().st_size for file in path.iterdir())
        if size <= LARGEST:
            found.append(Candidate(name, path, calls, size))
    return sorted(found, key=lambda one: (len(one.calls), one.size, one.name))


def chosen(found: Sequence[Candidate]) -> list[Candidate]:
    """Take unlike calls of every operator first, then any, until each has enough."""
    taken = {one.name: one for one in found if ALWAYS.match(one.name)}
    counts = Counter(op for one in taken.values() for op, _ in one.forms)
    seen = {form for one in taken.values() for form in one.forms}
    for unlike in (True, False):
        for one in found:
            wanted = {form for form in one.forms if counts[form[0]] < EACH}
            if one.name in taken or not (wanted - seen if unlike else wanted):
                continue
            taken[one.name] = one
            counts.update({op for op, _ in one.forms})
            seen |= one.forms
    return [taken[name] for name in sorted(taken)]


def write(out: Path, into: Path) -> list[str]:
    """Replace the folder `into` by the subset; return the names taken."""
    shutil.rmtree(into, ignore_errors=True)
    taken = chosen(candidates(out))
    for one in taken:
        compact(one.name, one.path, into)
    return [one.name for one in taken]


def compact(name: str, path: Path, into: Path) -> None:
    """Write a case: a bundled program where that can say it all, a folder elsewhere."""
    case = cases.read(cases.Found(name, path))
    target = into / name
    target.parent.mkdir(parents=True, exist_ok=True)
    values = [value for run in case.runs for value in (*run.inputs, *run.outputs)]
    if all(_fits_bundle(value) for value in values):
        target.with_suffix(".bpte").write_bytes(_bundled(case))
    else:
        shutil.copytree(path, target)


def _fits_bundle(value: cases.Value) -> bool:
    """Tensors whose tolerance is the default; a bundle cannot name another."""
    return isinstance(value, cases.CaseTensor) and value.dtype not in LOOSE


def _bundled(case: cases.Case) -> bytes:
    (method,) = case.program.methods
    suite = bundle.Suite(
        method.name,
        tuple(
            bundle.BundledCase(
                tuple(_laid_out(method.input_values, run.inputs)),
                tuple(_laid_out(method.output_values, run.outputs)),
            )
            for run in case.runs
        ),
    )
    return bundle.write(bundle.Bundle(case.content, (suite,)))


def _laid_out(
    declared: Sequence[Value], given: Sequence[cases.Value]
) -> Iterator[bundle.BundledTensor]:
    """The tensors in the memory order that the program declares."""
    for value, one in zip(declared, given, strict=True):
        assert isinstance(value, Tensor)
        assert isinstance(one, cases.CaseTensor)
        yield bundle.BundledTensor.of(one.array, one.dtype, value.dim_order)
