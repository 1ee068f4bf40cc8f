"""Programs and inputs become results, computed on the host by the kernels of devices.

The runner is that of `ember test`, built for the host that kernels are chosen on, so
nothing is compiled that choosing kernels does not need.
"""

from __future__ import annotations

import functools
import itertools
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import numpy as np

from ember import cases, kernels, program
from ember.boards import Board
from ember.cases import Case, Run, batch, inputs
from ember.cases.inputs import TensorValue
from ember.errors import SdkError
from ember.files.tensors import DType
from ember.kernels import KernelList
from ember.model import Model
from ember.plan import traffic
from ember.program import Method, Program
from ember.select.rules import Rules
from ember.toolchain import emulator

Scenario = Sequence[Run]  # one after the other on loaded methods
FirmwareOf = Callable[[Board, Rules], Path]  # that runs cases, with all kernels
Verdict = Literal["same", "different", "unknown"]
# Of outputs after a pass that rounds: so much of the largest finite magnitude in each.
ROUNDING = 1e-4
_TIMEOUT_S = 120.0
_RUNS = 3
_MOST_MACS = 100_000_000  # of a method that runs more than once
_SMALL = 16  # bits from which integers may be indices


@dataclass(frozen=True)
class Executable:
    """A program that is run, and its file."""

    program: Program
    content: bytes

    @staticmethod
    def of(executed: Program) -> Executable:
        return Executable(executed, program.content(executed))


@dataclass(frozen=True)
class Computer:
    """Where programs run, all with the same .ptd files."""

    board: Board
    known: KernelList
    firmware_of: FirmwareOf
    data: tuple[bytes, ...] = ()
    # Bytes of scratch of calls on the board that a program is for, as far as they
    # are known: by method and index in the program as it was read.
    scratch: Mapping[str, Mapping[int, int]] = field(default_factory=dict)
    # The same where a call's rows have the columns beside the image.
    sided: Mapping[str, Mapping[int, int]] = field(default_factory=dict)

    @functools.cached_property
    def firmware(self) -> Path:
        folders = tuple(library.path for library in self.known.libraries)
        return self.firmware_of(self.board, Rules(folders=folders))

    def records(
        self, pairs: Sequence[tuple[Executable, Scenario]]
    ) -> Iterator[list[bytes]]:
        """What the runner reads, in pieces."""
        for index, (subject, runs) in enumerate(pairs):
            yield batch.parts(self._case(subject, runs), index)

    def run(
        self, pairs: Sequence[tuple[Executable, Scenario]]
    ) -> list[batch.Result | None]:
        """The result of each program; None where the runner did not reach it."""
        with tempfile.TemporaryDirectory(prefix="ember-passes-") as temporary:
            folder = Path(temporary)
            records = itertools.chain.from_iterable(self.records(pairs))
            with (folder / "cases.bin").open("wb") as cases_file:
                cases_file.writelines(batch.pieces(records))
            results = folder / "results.bin"
            results.touch()
            emulator.run(
                self.board,
                self.firmware,
                ["cases.bin", "results.bin"],
                cwd=folder,
                timeout_s=_TIMEOUT_S,
                count=False,
                progress=lambda: results.stat().st_size,
            )
            results_before_end = batch.answer(results.read_bytes()).results
        return [
            *results_before_end,
            *(None for _ in range(len(pairs) - len(results_before_end))),
        ]

    def _case(self, subject: Executable, runs: Scenario) -> Case:
        return Case(
            name="passes",
            path=Path(),
            content=subject.content,
            bundled=False,
            program=subject.program,
            data=self.data,
            runs=tuple(runs),
            rtol=0,
            atol=0,
        )


def compare(
    here: Computer,
    old: Executable,
    new: Executable,
    scenarios: Sequence[Scenario],
    rounding: float = 0.0,
) -> Verdict:
    """Whether two programs give the same bits in all scenarios, but for `rounding` of
    floats, as ROUNDING."""
    pairs = [(subject, runs) for subject in (old, new) for runs in scenarios]
    results = here.run(pairs)
    ran = False
    for before, after in zip(
        results[: len(scenarios)], results[len(scenarios) :], strict=True
    ):
        if before is None or before.stage < batch.INPUTS:
            return "unknown"
        same = after is not None and (
            _facts(before) == _facts(after)
            or (rounding > 0 and _near(before, after, rounding))
        )
        if not same:
            return "different"
        ran = ran or before.status == batch.OK
    return "same" if ran else "unknown"


def _facts(result: batch.Result) -> object:
    return result.status, result.stage, result.which, result.outputs


def _near(before: batch.Result, after: batch.Result, rounding: float) -> bool:
    """Whether results differ only by rounding."""
    ends = [(result.status, result.stage, result.which) for result in (before, after)]
    pairs = [
        pair
        for runs in zip(before.outputs, after.outputs, strict=False)
        for pair in zip(runs[0].values, runs[1].values, strict=False)
    ]
    return (
        ends[0] == ends[1]
        and len(before.outputs) == len(after.outputs)
        and all(was == now or _is_near(was, now, rounding) for was, now in pairs)
    )


def _is_near(was: object, now: object, rounding: float) -> bool:
    if not isinstance(was, TensorValue) or not isinstance(now, TensorValue):
        return False
    if (was.dtype, was.sizes) != (now.dtype, now.sizes):
        return False
    if was.dtype is not DType.FLOAT32:
        return False
    old, new = (np.frombuffer(value.data, np.float32) for value in (was, now))
    most = np.abs(old[np.isfinite(old)]).max(initial=0.0)
    return np.allclose(new, old, rtol=0.0, atol=rounding * most, equal_nan=True)


# ---- inputs ------------------------------------------------------------------------


def scenarios(model: Model) -> list[Scenario]:
    """Runs to compare by: random inputs, zeros, and those that come with the model."""
    methods = model.program.methods
    numbers = np.random.default_rng(20)
    drawn = [
        Run(method.name, tuple(_random(method, numbers)), ())
        for method in methods
        for _ in range(_RUNS if _macs(method) < _MOST_MACS else 1)
    ]
    zeros = [
        Run(method.name, tuple(_zero(value) for value in method.input_values), ())
        for method in methods
    ]
    own_inputs = _own(model)
    return [tuple(drawn), tuple(zeros), *([own_inputs] if own_inputs else [])]


def _macs(method: Method) -> int:
    known = kernels.load()
    calls = method.kernel_calls()
    return sum(traffic.macs_of_call(method, known, call) or 0 for _, _, call in calls)


def _own(model: Model) -> tuple[Run, ...]:
    try:
        if not inputs.is_case(model.path):
            return ()
        case = cases.Found(model.name, model.path)
        runs = cases.read(case, model.program).runs
    except SdkError:  # a broken case says nothing about its model
        return ()
    return tuple(Run(run.method, run.inputs, ()) for run in runs)


def _zero(value: program.Value) -> cases.Value:
    if isinstance(value, program.Tensor):
        return cases.CaseTensor(value.dtype, np.zeros(value.sizes, value.dtype.numpy))
    return _scalar(value)


def _random(method: Method, numbers: np.random.Generator) -> Iterator[cases.Value]:
    for value in method.input_values:
        if isinstance(value, program.Tensor):
            array = random(value.dtype, value.sizes, numbers)
            yield cases.CaseTensor(value.dtype, array)
        else:
            yield _scalar(value)


def _scalar(value: program.Value) -> cases.Value:
    scalars = program.Int | program.Bool | program.Double | program.String
    return value.value if isinstance(value, scalars) else None


def random(
    dtype: DType, sizes: Sequence[int], numbers: np.random.Generator
) -> np.ndarray:
    """Floats around zero, every byte, and of larger integers those that are good
    indices of nearly everything."""
    if dtype is DType.BFLOAT16:
        floats = numbers.standard_normal(sizes, np.float32)
        return (floats.view(np.uint32) >> 16).astype(dtype.numpy)
    if dtype.is_float and dtype.numpy.kind == "f":
        return numbers.standard_normal(sizes).astype(dtype.numpy)
    if dtype is DType.BOOL or dtype.itemsize * 8 >= _SMALL:
        return numbers.integers(0, 2, sizes).astype(dtype.numpy)
    return numbers.integers(0, 256, sizes).astype(np.uint8).view(dtype.numpy)
