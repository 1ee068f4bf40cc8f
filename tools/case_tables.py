# SPDX-License-Identifier: Apache-2.0
"""Lines of tables become test cases of one call, and such cases become lines.

tests/ops/FAMILY.yaml has a line for each case of the operators of kernels/FAMILY: its
name, the call as one_call.py has it, and tolerances that are not the default ones.
FAMILY.npz has the numbers, inputs and what an oracle gives for them: NAME/in0 and
NAME/out0, NAME/1/in0 of a second run, NAME/stored0 of what the program stores.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import one_call
import yaml

from ember import cases, program
from ember.cases import Case, CaseTensor
from ember.files.tensors import contiguous
from ember.kernels import load as load_kernels
from ember.program import Program, bundle, types

FOLDER = Path(__file__).resolve().parents[1] / "tests" / "ops"
Arrays = Mapping[str, np.ndarray[Any, Any]]


_TOLERANCES = {"rtol": cases.RTOL, "atol": cases.ATOL}


@dataclass(frozen=True)
class Entry:
    """A line of a table."""

    name: str
    call: str
    tolerances: dict[str, float] = field(default_factory=dict)

    @property
    def operator(self) -> str:
        return self.call.partition("(")[0]


class NotOneCallError(Exception):
    """Why a case cannot be a line of a table."""


# ---- tables --------------------------------------------------------------------------


def tables() -> list[Path]:
    return sorted(path.with_suffix(".yaml") for path in FOLDER.glob("*.npz"))


def read(path: Path) -> dict[str, Entry]:
    """The lines of a table, by name."""
    lines = yaml.load(path.read_text(encoding="utf-8"), yaml.CSafeLoader)
    entries = {}
    for name, line in lines.items():
        given: dict[str, Any] = {"call": line} if isinstance(line, str) else {**line}
        entries[name] = Entry(name, given.pop("call"), given)
    return entries


def write(path: Path, entries: Mapping[str, Entry], arrays: Arrays) -> None:
    """The table and its numbers, sorted by name."""
    lines = (_line(entries[name]) for name in sorted(entries))
    path.write_text("".join(lines), encoding="utf-8")
    named: dict[str, Any] = {name: arrays[name] for name in sorted(arrays)}
    np.savez_compressed(path.with_suffix(".npz"), **named)


def _line(entry: Entry) -> str:
    call = json.dumps(entry.call)
    if not entry.tolerances:
        return f"{entry.name}: {call}\n"
    rest = "".join(f", {key}: {_real(x)}" for key, x in entry.tolerances.items())
    return f"{entry.name}: {{call: {call}{rest}}}\n"


def _real(number: float) -> str:
    """As YAML has it: without a point it would be text."""
    text = repr(number)
    return text if "." in text else text.replace("e", ".0e")


def family(operator: str) -> str:
    """The folder of its kernels."""
    return load_kernels().operators[operator].sources[-1].parent.name


def add(given: Iterable[Case], folder: Path = FOLDER) -> list[Case]:
    """Put cases into tables, in place of those with their names; return those that are
    no lines of a table."""
    left: list[Case] = []
    entries: dict[str, dict[str, Entry]] = {}
    arrays: dict[str, dict[str, np.ndarray[Any, Any]]] = {}
    for case in given:
        try:
            entry, numbers = entry_of(case)
        except NotOneCallError:
            left.append(case)
            continue
        at = family(entry.operator)
        entries.setdefault(at, {})[entry.name] = entry
        arrays.setdefault(at, {}).update(numbers)
    for at, more in entries.items():
        path = folder / f"{at}.yaml"
        known = read(path) if path.exists() else {}
        numbers = numbers_of(path) if path.exists() else {}
        kept = {k: v for k, v in numbers.items() if k.rpartition("/")[0] not in more}
        write(path, known | more, kept | arrays[at])
    return left


def numbers_of(path: Path) -> dict[str, np.ndarray[Any, Any]]:
    """Those of a table."""
    with np.load(path.with_suffix(".npz")) as stored:
        return {name: stored[name] for name in stored.files}


# ---- a line becomes a case -----------------------------------------------------------


def case_of(entry: Entry, arrays: Arrays) -> Case:
    """The case; its runs are those that `arrays` has numbers of."""
    model = one_call.program_of([entry.call])
    stored = [
        arrays[f"{entry.name}/stored{number}"].tobytes()
        for number in range(len(model.constants) - 1)
    ]
    method = replace(model.methods[0], name="forward")
    model = Program(methods=(method,), constants=(b"", *stored))
    runs = _runs(entry.name, method, arrays)
    return of_program(entry.name, model, runs, **entry.tolerances)


def of_program(
    name: str, model: Program, runs: Iterable[cases.Run], **tolerances: float
) -> Case:
    """A case that is not in a file yet."""
    content, options = program.write(model), {**_TOLERANCES, **tolerances}
    return Case(name, Path(name), content, False, model, (), tuple(runs), **options)


def _runs(name: str, method: program.Method, arrays: Arrays) -> Iterator[cases.Run]:
    number = 0
    sides = {"in": method.input_tensors, "out": method.output_tensors}
    while f"{_run(name, number)}/out0" in arrays:
        inputs, outputs = (
            tuple(
                CaseTensor(tensor.dtype, arrays[f"{_run(name, number)}/{side}{i}"])
                for i, tensor in enumerate(tensors)
            )
            for side, tensors in sides.items()
        )
        yield cases.Run("forward", inputs, outputs)
        number += 1


def zeros_of(line: str) -> Case:
    """The case of a call whose inputs and outputs are zeros."""
    model = one_call.program_of([line])
    (method,) = model.methods
    inputs, outputs = (
        tuple(CaseTensor(x.dtype, np.zeros(x.sizes, x.dtype.numpy)) for x in tensors)
        for tensors in (method.input_tensors, method.output_tensors)
    )
    return of_program(method.name, model, [cases.Run(method.name, inputs, outputs)])


def _run(name: str, number: int) -> str:
    return f"{name}/{number}" if number else name


def save(case: Case, folder: Path) -> Path:
    """The case as a bundled program in a folder."""
    target = folder / f"{case.name}.bpte"
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(bundled(case))
    return target


def bundled(case: Case) -> bytes:
    """The case as a bundled program; ValueError if there is none that says it all."""
    of_methods = {method.name: method for method in case.program.methods}
    suites: dict[str, list[bundle.BundledCase]] = {name: [] for name in case.methods}
    for run in case.runs:
        method = of_methods[run.method]
        inputs = tuple(_laid_out(method.input_values, run.inputs))
        outputs = tuple(_laid_out(method.output_values, run.outputs))
        suites[run.method].append(bundle.BundledCase(inputs, outputs))
    runs = [run.method for run in case.runs]
    if runs != sorted(runs, key=runs.index) or any(run.reset for run in case.runs):
        raise ValueError(f"{case.name}: runs of methods that alternate, or resets")
    given = (case.rtol, case.atol)
    stated = None if given == (cases.RTOL, cases.ATOL) else given
    listed = tuple(bundle.Suite(name, tuple(suites[name])) for name in suites)
    return bundle.write(bundle.Bundle(case.pte, listed, tolerance=stated))


def folder_of(case: Case, folder: Path) -> Path:
    """The case as a case folder, for tests that change its files."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / cases.MODEL).write_bytes(case.pte)
    facts: dict[str, Any] = {"rtol": case.rtol, "atol": case.atol}
    facts["runs"], facts["dtypes"] = [], {}
    for number, run in enumerate(case.runs):
        names: dict[str, list[Any]] = {"inputs": [], "outputs": []}
        for side, values in (("in", run.inputs), ("out", run.outputs)):
            for i, value in enumerate(values):
                name = f"{side}{i}_{number}.npy"
                tensor = isinstance(value, CaseTensor)
                names[f"{side}puts"].append(name if tensor else value)
                if not isinstance(value, CaseTensor):
                    continue
                np.save(folder / name, value.array)
                if value.dtype.label != value.array.dtype.name:
                    facts["dtypes"][name] = value.dtype.label
        reset = {"reset": True} if run.reset else {}
        facts["runs"].append({"method": run.method, **names, **reset})
    text = json.dumps(facts, indent=1) + "\n"
    (folder / cases.CASE_FILE).write_text(text, encoding="utf-8")
    return folder


def _laid_out(
    declared: Sequence[program.Value], given: Sequence[cases.Value]
) -> Iterator[bundle.Value]:
    """The values, tensors in the memory order that the program declares."""
    scalars: dict[type, Any] = {bool: types.Bool, int: types.Int, float: types.Double}
    for value, item in zip(declared, given, strict=True):
        if isinstance(item, CaseTensor):
            order = value.dim_order if isinstance(value, types.Tensor) else None
            yield bundle.BundledTensor.of(item.array, item.dtype, order)
        elif type(item) in scalars:
            yield scalars[type(item)](item)
        else:
            raise ValueError(f"a bundle has no {item!r}")


# ---- a case becomes a line -----------------------------------------------------------


def entry_of(case: Case) -> tuple[Entry, Arrays]:
    """Raises NotOneCallError if the line would be another program."""
    name = case.name.removesuffix(".bpte")
    if len(case.program.methods) != 1 or case.data:
        raise NotOneCallError("several methods, or data")
    (method,) = case.program.methods
    calls = [*method.kernel_calls()]
    if len(calls) != 1 or len(method.instructions) != 1 or method.delegates:
        raise NotOneCallError("not one call")
    line = _Line(case.program)
    text = line.text()
    stored = tuple(array.tobytes() for array in line.stored)
    program_of_line = replace(one_call.program_of([text]), constants=(b"", *stored))
    if _meaning(program_of_line) != _meaning(case.program):
        raise NotOneCallError("inputs and outputs are not those of the call")
    given = {"rtol": case.rtol, "atol": case.atol}
    tolerances = {k: v for k, v in given.items() if v != _TOLERANCES[k]}
    arrays = {f"{name}/stored{i}": array for i, array in enumerate(line.stored)}
    return Entry(name, text, tolerances), {**arrays, **_numbers(name, case)}


def _numbers(name: str, case: Case) -> Arrays:
    numbers = {}
    for number, run in enumerate(case.runs):
        if run.reset or not run.outputs:
            raise NotOneCallError("states, or outputs without expected values")
        for side, values in (("in", run.inputs), ("out", run.outputs)):
            for i, value in enumerate(values):
                if not isinstance(value, CaseTensor):
                    raise NotOneCallError("an input or output is not a tensor")
                numbers[f"{_run(name, number)}/{side}{i}"] = value.array
    return numbers


def outputs_of(name: str, run: int, outputs: Sequence[np.ndarray[Any, Any]]) -> Arrays:
    """Those of a run, as a table names them."""
    return {f"{_run(name, run)}/out{i}": array for i, array in enumerate(outputs)}


class _Line:
    """The call of a program as text."""

    def __init__(self, model: Program) -> None:
        self.constants = model.constants
        (self.method,) = model.methods
        self.stored: list[np.ndarray[Any, Any]] = []

    def text(self) -> str:
        ((_, operator, call),) = self.method.kernel_calls()
        first: dict[int, int] = {}
        parts = []
        for number, index in enumerate(call.args[:-1]):
            is_tensor = isinstance(self.method.values[index], types.Tensor)
            again = is_tensor and index in first
            parts.append(f"${first[index]}" if again else self._value(index))
            first.setdefault(index, number)
        return f"{operator}({', '.join(parts)})"

    def _value(self, index: int) -> str:
        value = self.method.values[index]
        if isinstance(value, types.Tensor):
            return self._tensor(index, value)
        if isinstance(value, types.TensorList | types.OptionalTensorList):
            items = ["none" if i < 0 else self._value(i) for i in value.items]
        elif isinstance(value, types.IntList):
            items = [self._value(i) for i in value.items]
        elif isinstance(value, types.BoolList | types.DoubleList):
            items = [_scalar(item) for item in value.items]
        else:
            return _scalar(None if isinstance(value, types.Null) else value.value)
        return f"[{','.join(items)}]"

    def _tensor(self, index: int, value: types.Tensor) -> str:
        if value.storage_offset or value.extra or value.has_initial_state:
            raise NotOneCallError("an unusual tensor")
        text = f"{one_call.NAMES[value.dtype]}[{','.join(map(str, value.sizes))}]"
        if value.dim_order != contiguous(len(value.sizes)):
            text += "@" + "".join(map(str, value.dim_order))
        if value.is_dynamic:
            text += "~"
        if value.is_constant:
            data = bytes(self.constants[value.data_index])[: value.nbytes]
            self.stored.append(np.frombuffer(data, value.dtype.numpy))
            return f"={text}"
        is_read, is_written = (
            index in places for places in (self.method.inputs, self.method.outputs)
        )
        mark = "&" if is_read and is_written else "" if is_read or is_written else "_"
        return f"{mark}{text}"


def _scalar(value: bool | int | float | str | None) -> str:
    if value is None or isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return json.dumps(value)
    return repr(value)


def _meaning(model: Program) -> Any:
    """What must stay the same: the call, its values, what enters and what returns."""
    (method,) = model.methods
    ((_, operator, call),) = method.kernel_calls()
    seen: dict[int, int] = {}

    def of(index: int) -> Any:
        value = method.values[index] if index >= 0 else None
        if isinstance(value, types.Tensor):
            place = seen.setdefault(index, len(seen))
            data = bytes(model.constants[value.data_index])[: value.nbytes]
            kept = data if value.is_constant else None
            shape = value.dtype, value.sizes, value.dim_order, value.is_dynamic
            return place, shape, kept
        if isinstance(value, types.TensorList | types.OptionalTensorList):
            return type(value), tuple(map(of, value.items))
        if isinstance(value, types.IntList):
            return tuple(map(of, value.items))
        return value

    return operator, *(
        tuple(map(of, each)) for each in (call.args, method.inputs, method.outputs)
    )
