# SPDX-License-Identifier: Apache-2.0
"""Lines of tests/cases/sequences.yaml become case folders.

A .bpte has no missing inputs, no resets, no methods in turn and no files of data. The
table has the runs of such a case; NAME.pte beside it is the program:

    special_ptd_state:
      data: [special_ptd_state.ptd]
      runs:
      - {inputs: [{f32: [1.0, 2.0]}, null], outputs: [{f32: [3.0, 4.0]}], reset: true}
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import case_tables
import numpy as np
import one_call
import yaml

from ember import cases, program
from ember.cases import Case, CaseTensor
from ember.files.tensors import DType

FOLDER = Path(__file__).resolve().parents[1] / "tests" / "cases"
TABLE = "sequences.yaml"
_DTYPES = {name: DType(number) for name, number in one_call.DTYPES.items()}
_LABELS = {dtype: name for name, dtype in _DTYPES.items()}
_HEAD = f"# Runs of NAME.pte: {Path(__file__).parent.name}/{Path(__file__).name}\n"


def names(folder: Path = FOLDER) -> list[str]:
    return sorted(_read(folder))


def files(folder: Path = FOLDER) -> list[Path]:
    """The table, the programs, and their files of data."""
    table = _read(folder)
    data = [name for entry in table.values() for name in entry.get("data", ())]
    return [folder / name for name in (TABLE, *(f"{x}.pte" for x in table), *data)]


def case_of(name: str, folder: Path = FOLDER) -> Case:
    entry = _read(folder)[name]
    path = folder / f"{name}.pte"
    content = path.read_bytes()
    return Case(
        name=name,
        path=path,
        content=content,
        bundled=False,
        program=program.parse(content, path.name),
        data=tuple((folder / file).read_bytes() for file in entry.get("data", ())),
        runs=tuple(_runs(entry["runs"])),
        rtol=entry.get("rtol", cases.RTOL),
        atol=entry.get("atol", cases.ATOL),
    )


def add(case: Case, folder: Path = FOLDER) -> Path:
    """Write the program and its data, and the runs into the table."""
    given = {"rtol": case.rtol, "atol": case.atol}
    defaults = {"rtol": cases.RTOL, "atol": cases.ATOL}
    entry: dict[str, Any] = {k: x for k, x in given.items() if x != defaults[k]}
    data = _data_names(case)
    if data:
        entry["data"] = list(data)
    entry["runs"] = list(map(_line_of, case.runs))
    for name, content in zip(data, case.data, strict=True):
        (folder / name).write_bytes(content)
    path = folder / f"{case.name}.pte"
    path.write_bytes(case.pte)
    _write(_read(folder) | {case.name: entry}, folder)
    return path


def save(name: str, folder: Path, source: Path = FOLDER) -> Path:
    """The case as a folder such as users have."""
    case = case_of(name, source)
    target = folder / name
    target.mkdir(parents=True)
    for file in _read(source)[name].get("data", ()):
        shutil.copy(source / file, target)
    try:
        (target / cases.BUNDLE).write_bytes(case_tables.bundled(case))
    except ValueError:
        case_tables.folder_of(case, target)
    return target


def save_program(case: Case, folder: Path = FOLDER) -> Path:
    """A whole program as a bundle, or where that cannot say it all, in the table."""
    try:
        return add(case, folder) if case.data else case_tables.save(case, folder)
    except ValueError:
        return add(case, folder)


def _data_names(case: Case) -> list[str]:
    if len(case.data) < 2:
        return [f"{case.name}.ptd" for _ in case.data]
    return [f"{case.name}_{number}.ptd" for number in range(len(case.data))]


# ---- the table -----------------------------------------------------------------------


def _read(folder: Path) -> dict[str, dict[str, Any]]:
    path = folder / TABLE
    if not path.exists():
        return {}
    lines = yaml.load(path.read_text(encoding="utf-8"), yaml.CSafeLoader)
    return dict(lines)


def _write(table: Mapping[str, Mapping[str, Any]], folder: Path) -> None:
    text = _HEAD
    for name in sorted(table):
        text += f"{name}:\n"
        for key, value in table[name].items():
            if key == "runs":
                text += "  runs:\n"
                text += "".join(f"  - {_flow(run)}\n" for run in value)
            else:
                text += f"  {key}: {_flow(value)}\n"
    (folder / TABLE).write_text(text, encoding="utf-8")


def _flow(value: Any) -> str:
    """YAML on one line; names need no quotes."""
    if isinstance(value, dict):
        return f"{{{', '.join(f'{key}: {_flow(x)}' for key, x in value.items())}}}"
    if isinstance(value, list):
        return f"[{', '.join(map(_flow, value))}]"
    return value if isinstance(value, str) else json.dumps(value)


def _runs(lines: list[dict[str, Any]]) -> Iterator[cases.Run]:
    for line in lines:
        yield cases.Run(
            line.get("method", "forward"),
            tuple(map(_value_of, line["inputs"])),
            tuple(map(_value_of, line["outputs"])),
            reset=line.get("reset", False),
        )


def _line_of(run: cases.Run) -> dict[str, Any]:
    line: dict[str, Any] = {}
    if run.method != "forward":
        line["method"] = run.method
    line["inputs"] = list(map(_written, run.inputs))
    line["outputs"] = list(map(_written, run.outputs))
    return {**line, "reset": True} if run.reset else line


def _value_of(value: Any) -> cases.Value:
    """A number or null as it stands, a tensor as {dtype: numbers}."""
    if not isinstance(value, dict):
        number: int | float | bool | str | None = value
        return number
    ((dtype, numbers),) = value.items()
    array = np.array(numbers, _DTYPES[dtype].numpy)
    return CaseTensor(_DTYPES[dtype], array)


def _written(value: cases.Value) -> Any:
    """With as many digits as its dtype needs."""
    if not isinstance(value, CaseTensor):
        return value
    return {_LABELS[value.dtype]: _numbers(value.array)}


def _numbers(array: np.ndarray[Any, Any]) -> Any:
    if array.ndim:
        return [_numbers(part) for part in array]
    return float(str(array)) if array.dtype.kind == "f" else array.item()
