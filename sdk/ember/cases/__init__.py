"""Folders and .bpte files below a path become test cases: program, inputs, outputs."""

from __future__ import annotations

import difflib
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ember import files, kernels, program
from ember.errors import SdkError, UsageError
from ember.files import arrays, tensor_data, tensors
from ember.files.tensors import Array, DType
from ember.output import counted
from ember.program import Method, Program, bundle, edit

__all__ = [
    "Case",
    "CaseTensor",
    "Found",
    "Run",
    "Value",
    "check_expected",
    "describe",
    "find",
    "read",
]

RTOL, ATOL = 1e-4, 1e-5  # unless the case gives others
CASE_FILE, MODEL, BUNDLE = "case.json", "model.pte", "model.bpte"
_BUILT, _PACKED = "1-program.json", "manifest.json"  # in folders that Ember writes
_CASE_KEYS = ("rtol", "atol", "runs", "dtypes")
_RUN_KEYS = ("method", "inputs", "outputs", "reset")


@dataclass(frozen=True)
class CaseTensor:
    """A logical tensor, in PyTorch's shape; bfloat16 as uint16."""

    dtype: DType
    array: Array

    def __str__(self) -> str:
        return f"{self.dtype.label}{tensors.shape_text(self.array.shape)}"


Tensor = CaseTensor  # for scripts that import the former name


Value = CaseTensor | int | float | bool | str | None


@dataclass(frozen=True)
class Run:
    """One execution: its inputs and expected outputs, in order."""

    method: str
    inputs: tuple[Value, ...]
    outputs: tuple[Value, ...]
    test: int | None = None  # in a bundle: the number of the method's test case
    says_outputs: bool = True  # states which outputs are expected, even if none
    reset: bool = False  # before it, states start again at their initial values


@dataclass(frozen=True)
class Case:
    """A program, its data files, and its runs, which share loaded methods."""

    name: str
    path: Path
    content: bytes  # of the .pte or .bpte
    bundled: bool  # the runs come from the bundle
    program: Program
    data: tuple[bytes, ...]
    runs: tuple[Run, ...]
    rtol: float
    atol: float

    @property
    def pte(self) -> bytes:
        """`program` as a file, without a bundle around it."""
        if self.program.earlier:
            return program.content(self.program)
        return bundle.parse(self.content).program if self.bundled else self.content

    @property
    def methods(self) -> tuple[str, ...]:
        """The methods that the runs use, in order of first use."""
        return tuple(dict.fromkeys(run.method for run in self.runs))


@dataclass(frozen=True)
class Found:
    """The location of a case, before it is read."""

    name: str
    path: Path  # a folder, or a .bpte


def find(paths: Sequence[Path]) -> list[Found]:
    """Every case folder and .bpte below `paths`, sorted; raises UsageError if none."""
    cases: dict[Path, Found] = {}
    for path in paths:
        below = list(_below(path))
        if not below:
            raise UsageError(
                f"{path} contains no case folder and no .bpte",
                hint=f"a case folder has {MODEL} and {CASE_FILE}, or {BUNDLE}",
            )
        for place in below:
            cases.setdefault(place.resolve(), Found(_name(path, place), place))
    return _distinct(list(cases.values()))


def _below(path: Path) -> Iterator[Path]:
    if path.is_file():
        yield _of_file(path)
        return
    if not path.is_dir():
        raise UsageError(f"{path} does not exist", hint="give a folder with cases")
    for name, folders, names in os.walk(path):
        folders.sort()
        folder = Path(name)
        if folder != path and _is_made(names):
            folders.clear()
            continue
        is_case = {CASE_FILE, MODEL, BUNDLE} & set(names)
        if is_case:
            yield folder
            continue
        yield from (
            folder / bundle_name
            for bundle_name in sorted(names)
            if bundle_name.endswith(".bpte")
        )


def _is_made(names: Sequence[str]) -> bool:
    """Whether a folder is one that `ember build` or `ember pack` wrote."""
    if _BUILT in names:
        return True
    return CASE_FILE not in names and {MODEL, _PACKED} <= set(names)


def _of_file(path: Path) -> Path:
    if path.name in (CASE_FILE, MODEL, BUNDLE):
        return path.parent
    if path.suffix == ".bpte":
        return path
    if path.is_file():
        files.refuse_native(files.read(path), str(path))
    raise UsageError(
        f"{path} is not a test case",
        hint=f"give a .bpte, or a folder with {MODEL} and {CASE_FILE}",
    )


def _name(top: Path, path: Path) -> str:
    relative = path.relative_to(top) if top.is_dir() else Path()
    return relative.as_posix() if relative.parts else path.resolve().name


def _distinct(cases: list[Found]) -> list[Found]:
    """Use full paths where the short names of two cases are equal."""
    names = [case.name for case in cases]
    return [
        case if names.count(case.name) == 1 else Found(case.path.as_posix(), case.path)
        for case in cases
    ]


# ---- reading -----------------------------------------------------------------------


def read(place: Found, known: program.Program | None = None) -> Case:
    """Read a case; raises an SdkError that says in one sentence what is wrong with its
    files. Its program is `known` if it was read before."""
    if place.path.suffix == ".bpte" and place.path.is_file():
        return _read_bundle(place, place.path, (), {}, known)
    return _read_folder(place, known)


def _read_folder(place: Found, known: program.Program | None) -> Case:
    folder = place.path
    model, bundled = folder / MODEL, folder / BUNDLE
    if model.exists() and bundled.exists():
        raise SdkError(f"{folder} holds both {MODEL} and {BUNDLE}")
    data = tensor_data.read_all(sorted(folder.glob("*.ptd")))
    settings = _settings(folder, needed=not bundled.exists())
    if bundled.exists() and "runs" not in settings:
        return _read_bundle(place, bundled, data, settings, known)
    if bundled.exists():
        content = bundle.read(bundled).program
    elif model.exists():
        content = files.read(model)
    else:
        raise SdkError(f"{folder} holds neither {MODEL} nor {BUNDLE}")
    reader = _Reader(folder, settings.get("dtypes", {}))
    case = Case(
        name=place.name,
        path=folder,
        content=content,
        bundled=False,
        program=known or _parsed(content, MODEL),
        data=data,
        runs=tuple(reader.run(i, run) for i, run in enumerate(settings["runs"])),
        rtol=_tolerance(settings, "rtol", RTOL),
        atol=_tolerance(settings, "atol", ATOL),
    )
    reader.check_names()
    return _with_memory(_checked(case))


def _read_bundle(
    place: Found,
    path: Path,
    data: tuple[bytes, ...],
    settings: Mapping[str, Any],
    known: program.Program | None,
) -> Case:
    content = files.read(path)
    read_back = bundle.parse(content, path.name)
    runs = [
        Run(
            suite.method,
            _bundled(test.inputs),
            _bundled(test.outputs),
            number,
            says_outputs=bool(test.outputs),
        )
        for suite in read_back.suites
        for number, test in enumerate(suite.cases)
    ]
    if not runs:
        raise SdkError(f"{path.name} holds a program but no test cases")
    rtol, atol = read_back.tolerance or (RTOL, ATOL)
    case = Case(
        name=place.name,
        path=place.path,
        content=content,
        bundled=True,
        program=known or _parsed(read_back.program, f"the program in {path.name}"),
        data=data,
        runs=tuple(runs),
        rtol=_tolerance(settings, "rtol", rtol),
        atol=_tolerance(settings, "atol", atol),
    )
    return _with_memory(_checked(case))


def _parsed(content: bytes, name: str) -> Program:
    return kernels.read_program(content, name)[0]


def _bundled(values: Sequence[bundle.Value]) -> tuple[Value, ...]:
    return tuple(
        CaseTensor(value.dtype, value.array)
        if isinstance(value, bundle.BundledTensor)
        else value.value
        for value in values
    )


def check_expected(case: Case) -> None:
    """Raise an SdkError unless every run has expected outputs."""
    gives = {method.name: len(method.outputs) for method in case.program.methods}
    silent = [run for run in case.runs if not run.says_outputs and gives[run.method]]
    if not silent:
        return
    first = silent[0]
    if not case.bundled:
        raise SdkError(
            f"{CASE_FILE}: run {case.runs.index(first)} has no key 'outputs': list"
            " the expected outputs, or write [] to run without comparing"
        )
    some = "" if len(silent) == len(case.runs) else f"case {first.test} of "
    raise SdkError(
        f"the bundle has no expected outputs for {some}{first.method}: add them"
        " (expected_outputs of MethodTestCase) and write it again, or make a case"
        " folder with"
        ' "outputs": [] to run without comparing'
    )


# ---- case.json ---------------------------------------------------------------------


def _settings(folder: Path, *, needed: bool) -> dict[str, Any]:
    path = folder / CASE_FILE
    if not path.exists() and not needed:
        return {}
    if not path.exists():
        raise SdkError(f"{CASE_FILE} is missing in {folder}")
    data = files.read_json(path)
    _check_keys(data, _CASE_KEYS, CASE_FILE)
    if needed and "runs" not in data:
        raise SdkError(f"{CASE_FILE} has no key 'runs'")
    if not isinstance(data.get("runs", []), list) or data.get("runs") == []:
        raise SdkError(f"{CASE_FILE}: 'runs' must be a list of at least one run")
    dtypes = data.get("dtypes", {})
    if not isinstance(dtypes, dict):
        raise SdkError(f"{CASE_FILE}: 'dtypes' must map .npy files to types")
    settings: dict[str, Any] = data
    return settings


def _check_keys(data: object, known: Sequence[str], where: str) -> None:
    """Refuse unknown keys that look like typing errors; others are ignored."""
    if not isinstance(data, dict):
        raise SdkError(f"{where} must be an object {{...}}")
    for key in data:
        near = difflib.get_close_matches(key, known, n=1, cutoff=0.7)
        if key not in known and near:
            raise SdkError(f"{where}: unknown key '{key}', did you mean '{near[0]}'?")


def _tolerance(settings: Mapping[str, Any], key: str, default: float) -> float:
    value = settings.get(key, default)
    if isinstance(value, bool) or not isinstance(value, int | float) or not value >= 0:
        raise SdkError(f"{CASE_FILE}: '{key}' must be a number of at least 0")
    return float(value)


class _Reader:
    """Reads the runs of one case.json; each .npy is read once."""

    def __init__(self, folder: Path, dtypes: Mapping[str, Any]) -> None:
        self.folder = folder
        self.dtypes = dtypes
        self.read: dict[str, CaseTensor] = {}

    def run(self, index: int, data: Any) -> Run:
        where = f"{CASE_FILE}: run {index}"
        _check_keys(data, _RUN_KEYS, where)
        method = data.get("method", "forward")
        if not isinstance(method, str):
            raise SdkError(f"{where}: 'method' must be a name")
        reset = data.get("reset", False)
        if not isinstance(reset, bool):
            raise SdkError(f"{where}: 'reset' must be true or false")
        return Run(
            method,
            self._values(data, "inputs", where),
            self._values(data, "outputs", where),
            says_outputs="outputs" in data,
            reset=reset,
        )

    def _values(
        self, data: Mapping[str, Any], key: str, where: str
    ) -> tuple[Value, ...]:
        values = data.get(key, [])
        if not isinstance(values, list):
            raise SdkError(f"{where}: '{key}' must be a list")
        return tuple(self._value(value, f"{where}, {key}") for value in values)

    def _value(self, value: Any, where: str) -> Value:
        if isinstance(value, str) and value.endswith(".npy"):
            if value not in self.read:
                self.read[value] = self._tensor(value)
            return self.read[value]
        if value is None or isinstance(value, bool | float | str):
            return value
        if isinstance(value, int):
            if not -(2**63) <= value < 2**63:
                raise SdkError(f"{where}: {value} does not fit 64 bits")
            return value
        raise SdkError(f"{where}: {json.dumps(value)[:40]} is not a value")

    def _tensor(self, name: str) -> CaseTensor:
        path = self.folder / name
        if not path.exists():
            raise SdkError(f"{name} is missing in {self.folder}")
        array = arrays.read(path)
        return CaseTensor(self._dtype(name, array), array)

    def _dtype(self, name: str, array: Array) -> DType:
        label = self.dtypes.get(name, array.dtype.name)
        dtype = DType.named(label) if isinstance(label, str) else None
        if dtype is None:
            raise SdkError(f"{name}: ExecuTorch has no type '{label}'")
        if dtype.numpy != array.dtype:
            raise SdkError(
                f"{name}: {label} is stored as {dtype.numpy.name},"
                f" the file holds {array.dtype.name}"
            )
        return dtype

    def check_names(self) -> None:
        """After all runs: refuse `dtypes` of files that no run uses."""
        for name in self.dtypes:
            if name not in self.read:
                raise SdkError(f"{CASE_FILE}: 'dtypes' names {name}, which no run uses")


# ---- against the program -----------------------------------------------------------


def _with_memory(case: Case) -> Case:
    """Give named buffers memory in the program: the test runner lends only I/O."""
    adopted = edit.adopted(case.program)
    if adopted is case.program:
        return case
    content = program.write(adopted)
    if case.bundled:
        whole = bundle.parse(case.content)
        content = bundle.write(replace(whole, program=content))
    return replace(case, content=content, program=adopted)


def _checked(case: Case) -> Case:
    methods = {method.name: method for method in case.program.methods}
    for index, run in enumerate(case.runs):
        if run.method not in methods:
            known = ", ".join(methods)
            raise SdkError(
                f"run {index}: no method '{run.method}'; the program has {known}"
            )
        _check_run(methods[run.method], index, run)
    return case


def _check_run(method: Method, index: int, run: Run) -> None:
    takes, gives = len(method.inputs), len(method.outputs)
    if len(run.inputs) != takes:
        raise SdkError(
            f"run {index}: method {method.name} takes {counted(takes, 'input')}, but"
            f" {len(run.inputs)} given"
        )
    if len(run.outputs) > gives:
        raise SdkError(
            f"run {index}: method {method.name} returns {counted(gives, 'output')},"
            f" but {len(run.outputs)} expected"
        )
    for place, (declared, given) in enumerate(
        zip(method.input_values, run.inputs, strict=True)
    ):
        problem = _input_problem(declared, given)
        if problem is not None:
            raise SdkError(f"run {index}, input {place} of {method.name}: {problem}")


def _input_problem(declared: program.Value, given: Value) -> str | None:
    if isinstance(declared, program.Tensor):
        return _tensor_problem(declared, given)
    takes = {
        program.Int: int,
        program.Bool: bool,
        program.Double: float,
        program.String: str,
        program.Null: type(None),
    }.get(type(declared))
    name = type(declared).__name__
    if takes is None:
        return f"a value of type {name} cannot be passed as an input"
    widened = takes is float and type(given) is int
    if type(given) is not takes and not widened:
        return f"the program takes {_article(name)}, the case gives {describe(given)}"
    if isinstance(declared, program.String) and given != declared.value:
        return f"the program was exported for {declared.value!r} only"
    return None


def _tensor_problem(declared: program.Tensor, given: Value) -> str | None:
    takes = f"{declared}{' at most' if declared.is_dynamic else ''}"
    wrong = f"the program takes {takes}, the case gives {describe(given)}"
    if not isinstance(given, CaseTensor) or given.dtype is not declared.dtype:
        return wrong
    shape, bound = given.array.shape, declared.sizes
    if len(shape) != len(bound):
        return wrong
    fits = (
        all(size <= most for size, most in zip(shape, bound, strict=True))
        if declared.is_dynamic
        else shape == tuple(bound)
    )
    return None if fits else wrong


def describe(value: object) -> str:
    """A value as text for a sentence: float32[2, 3], 7, none."""
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "true" if value else "false"
    return repr(value) if isinstance(value, str) else str(value)


def _article(kind: str) -> str:
    words = {"Int": "an int", "Bool": "a bool", "Double": "a float", "Null": "null"}
    return words.get(kind, f"a {kind.lower()}")
