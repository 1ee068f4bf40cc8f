"""A program, its inputs and the outputs of PyTorch become the folder of a case."""

from __future__ import annotations

import io
import json
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ember.cases import ATOL, RTOL
from ember.export.packages import need

torch = need("torch")


@dataclass(frozen=True)
class ExpectedRun:
    """One execution: flat lists of tensors, numbers, strings or None."""

    method: str
    inputs: Sequence[Any]
    outputs: Sequence[Any]
    reset: bool = False  # states start again before it


@dataclass(frozen=True)
class Exported:
    """What a case folder will hold: program files by name, and its runs."""

    files: Mapping[str, bytes]
    runs: Sequence[ExpectedRun] = ()
    rtol: float = RTOL
    atol: float = ATOL


def write_case(exported: Exported, folder: Path) -> None:
    """Replace `folder` by the files of one case."""
    if folder.exists():
        shutil.rmtree(folder)
    folder.mkdir(parents=True)
    for name, content in exported.files.items():
        (folder / name).write_bytes(content)
    if exported.runs:
        _write_runs(exported, folder)


def _write_runs(exported: Exported, folder: Path) -> None:
    writer = _ValueWriter(folder)
    runs = [
        {
            "method": run.method,
            "inputs": [writer.put(f"in{i}_{j}", v) for j, v in enumerate(run.inputs)],
            "outputs": [
                writer.put(f"out{i}_{j}", v) for j, v in enumerate(run.outputs)
            ],
            **({"reset": True} if run.reset else {}),
        }
        for i, run in enumerate(exported.runs)
    ]
    case: dict[str, Any] = {
        "rtol": exported.rtol,
        "atol": exported.atol,
        "runs": runs,
    }
    if writer.dtypes:
        case["dtypes"] = writer.dtypes
    (folder / "case.json").write_text(json.dumps(case, indent=1) + "\n")


class _ValueWriter:
    """Writes tensors as .npy files and remembers the dtypes NumPy lacks."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.dtypes: dict[str, str] = {}
        self.names: dict[tuple[str, bytes], str] = {}

    def put(self, stem: str, value: Any) -> Any:
        """Return the case.json entry of a value; equal tensors share a file."""
        if not isinstance(value, torch.Tensor):
            return value
        dtype = "bfloat16" if value.dtype == torch.bfloat16 else ""
        content = npy_bytes(value)
        name = self.names.setdefault((dtype, content), f"{stem}.npy")
        (self.folder / name).write_bytes(content)
        if dtype:
            self.dtypes[name] = dtype
        return name


def npy_bytes(tensor: Any) -> bytes:
    """Return the .npy file of a tensor's logical values."""
    plain = tensor.detach().clone(memory_format=torch.contiguous_format)
    if plain.dtype == torch.bfloat16:
        plain = plain.view(torch.uint16)
    file = io.BytesIO()
    np.save(file, plain.numpy())
    return file.getvalue()
