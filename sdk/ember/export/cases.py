"""A lowered program, inputs and outputs become a bundle or the folder of a case."""

from __future__ import annotations

import io
import json
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ember import program
from ember.cases import ATOL, RTOL
from ember.errors import SdkError
from ember.export.flows import Lowered
from ember.export.packages import need
from ember.export.source import Sample
from ember.files import tensors
from ember.program import bundle
from ember.program.types import Bool, Double, Int

# ---- a bundled program ---------------------------------------------------------------


def bundled(lowered: Lowered, samples: Sequence[Sample], outputs: list[Any]) -> bytes:
    """The .bpte whose method forward is called with each sample in order."""
    method = program.parse(lowered.content).methods[0]
    cases = [
        bundle.BundledCase(
            _bundled_values("input", sample, method.input_values),
            _bundled_values("output", given, method.output_values),
        )
        for sample, given in zip(map(lowered.taken, samples), outputs, strict=True)
    ]
    suite = bundle.Suite("forward", tuple(cases))
    return bundle.write(bundle.Bundle(lowered.content, (suite,)))


def distance(exact: list[Any], outputs: list[Any]) -> float:
    """The largest difference of an output from the model's own."""
    torch = need("torch")
    largest = 0.0
    for right, got in zip(_flat(exact), _flat(outputs), strict=True):
        if isinstance(right, torch.Tensor) and right.numel():
            gap = (right.double() - got.double()).abs().max().item()
            largest = max(largest, gap)
    return largest


def _flat(tree: Any) -> list[Any]:
    leaves, _ = need("torch.utils._pytree").tree_flatten(tree)
    return list(leaves)


def _bundled_values(
    what: str, tree: Any, declared: Sequence[program.Value]
) -> tuple[bundle.Value, ...]:
    return tuple(
        _bundled_value(f"{what} {number}", leaf, value)
        for number, (leaf, value) in enumerate(zip(_flat(tree), declared, strict=True))
    )


def _bundled_value(name: str, value: Any, declared: program.Value) -> bundle.Value:
    if isinstance(value, bool):
        return Bool(value)
    if isinstance(value, int):
        return Int(value)
    if isinstance(value, float):
        return Double(value)
    if not isinstance(value, need("torch").Tensor):
        kind = "None" if value is None else f"a {type(value).__name__}"
        raise SdkError(
            f"a bundled program cannot hold {name}: it is {kind}",
            hint="-o FILE.pte writes the program without tests",
        )
    dtype = tensors.DType[str(value.dtype).removeprefix("torch.").upper()]
    # PyTorch's own dim order depends on the strides of dimensions of size 1.
    order = declared.dim_order if isinstance(declared, program.Tensor) else None
    return bundle.BundledTensor.of(_array(value), dtype, order)


def _array(tensor: Any) -> NDArray[Any]:
    torch = need("torch")
    tensor = tensor.detach()
    if tensor.dtype == torch.bfloat16:
        return np.asarray(tensor.contiguous().view(torch.int16).numpy()).view(np.uint16)
    return np.asarray(tensor.numpy())


# ---- the folder of a case ------------------------------------------------------------


@dataclass(frozen=True)
class ExpectedRun:
    """One execution: flat lists of tensors, numbers, strings or None."""

    method: str
    inputs: Sequence[Any]
    outputs: Sequence[Any]
    reset: bool = False  # states start again before it


@dataclass(frozen=True)
class Exported:
    """The content of a case folder: program files by name, and its runs."""

    files: Mapping[str, bytes]
    runs: Sequence[ExpectedRun] = ()
    rtol: float = RTOL
    atol: float = ATOL


def write_case(exported: Exported, folder: Path) -> None:
    """Replaces `folder` by the files of one case."""
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
    """Writes tensors as .npy files and remembers the dtypes that NumPy lacks."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.dtypes: dict[str, str] = {}
        self.names: dict[tuple[str, bytes], str] = {}

    def put(self, stem: str, value: Any) -> Any:
        """The case.json entry of a value; equal tensors share a file."""
        torch = need("torch")
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
    """The .npy file of a tensor's logical values."""
    torch = need("torch")
    plain = tensor.detach().clone(memory_format=torch.contiguous_format)
    if plain.dtype == torch.bfloat16:
        plain = plain.view(torch.uint16)
    file = io.BytesIO()
    np.save(file, plain.numpy())
    return file.getvalue()
