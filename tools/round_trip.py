#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Pack programs and run them, stock and packed, in ExecuTorch's own runtime.

    tools/round_trip.py [FOLDER]

Below FOLDER (the corpus that export_corpus.py wrote) every case folder is taken whose
operators the runtime has. Outputs must have the same bits; where the program's own plan
destroys a value, those of the packed one must be PyTorch's.
"""

from __future__ import annotations

import argparse
import os
import sys
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

os.environ.setdefault("TORCH_CPP_LOG_LEVEL", "ERROR")
warnings.filterwarnings("ignore")

import torch  # noqa: E402 - the log level must be set first
from executorch.extension.pybindings import portable_lib  # noqa: E402
from executorch.kernels import quantized  # noqa: E402, F401 - registers operators

from ember import cases, kernels, paths  # noqa: E402
from ember import model as models  # noqa: E402
from ember.cases import Case  # noqa: E402
from ember.files.tensors import DType  # noqa: E402
from ember.firmware.repack import repack  # noqa: E402
from ember.plan import passes  # noqa: E402
from ember.plan.improved import Improved  # noqa: E402

RANDOM = ("rand", "randn", "randperm", "dropout")
# What they leave is for Ember's kernels: no indices of pools, results over operands.
OURS = ("unread", "update")
TRIED = tuple(name for name in passes.DEFAULT if name not in OURS)


def verdict(path: Path, names: Sequence[str] = TRIED) -> str:
    """ "same", "repaired", "not run: ..", or what went wrong."""
    case = cases.read(cases.Found(path.name, path))
    operators = {x for method in case.program.methods for x in method.operator_names}
    if any(word in operator for operator in operators for word in RANDOM):
        return "not run: random numbers"
    packed = repack(models.read(path), kernels.load(), names)
    wrong = _waste(packed)
    if wrong:
        return wrong
    text = _apart(lambda: _compared(case, packed))
    return text or "not run: the runtime aborted"


def as_pytorch(path: Path) -> str:
    """Whether the runtime gives the outputs of PyTorch for a program as it is."""
    case = cases.read(cases.Found(path.name, path))
    try:
        agrees = _agree(case, _outputs(case, models.read(path).content))
    except (RuntimeError, ValueError, TypeError) as error:
        return f"not run: {str(error).splitlines()[0]}"
    return "agrees" if agrees else "DIFFERS"


def _apart(work: Callable[[], Iterator[str]]) -> str:
    """The last of the texts that a process of its own comes to."""
    reads, writes = os.pipe()
    child = os.fork()
    if child == 0:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        for text in work():
            os.write(writes, f"{text}\n".encode())
        os._exit(0)
    os.close(writes)
    with os.fdopen(reads) as lines:
        printed = lines.read().splitlines()
    os.waitpid(child, 0)
    return printed[-1] if printed else ""


def _compared(case: Case, packed: Improved) -> Iterator[str]:
    try:
        stock = _outputs(case, models.read(packed.path).content)
    except (RuntimeError, ValueError, TypeError) as error:
        yield f"not run: {str(error).splitlines()[0]}"
        return
    yield "ABORTED"
    try:
        ours = _outputs(case, packed.content)
    except (RuntimeError, ValueError, TypeError) as error:
        yield f"REFUSED: {str(error).splitlines()[0]}"
        return
    if _same(ours, stock):
        yield "same"
    elif any(plan.conflict for plan in packed.replanned.values()):
        yield "repaired" if _agree(case, ours) else "DIFFERS from PyTorch"
    else:
        yield "DIFFERS"


def _waste(packed: Improved) -> str:
    unused = packed.program.unused_constants()
    if unused:
        return f"UNUSED: {len(unused)} constants"
    worse = [plan for plan in packed.replanned.values() if plan.planned > plan.stock]
    return "WORSE than the program's own plan" if worse else ""


def _outputs(case: Case, content: bytes) -> list[list[Any]]:
    if len(case.data) > 1:
        raise ValueError("the Python runtime takes one .ptd")
    module = portable_lib._load_for_executorch_from_buffer(content, *case.data)
    return [
        [_kept(value) for value in module.run_method(run.method, _inputs(case, run))]
        for run in case.runs
    ]


def _kept(value: Any) -> Any:
    return value.clone() if isinstance(value, torch.Tensor) else value


def _inputs(case: Case, run: cases.Run) -> tuple[Any, ...]:
    method = next(value for value in case.program.methods if value.name == run.method)
    inputs = []
    for declared, value in zip(method.input_values, run.inputs, strict=True):
        if not isinstance(value, cases.CaseTensor):
            inputs.append(value)
            continue
        order = getattr(declared, "dim_order", ())
        tensor = _tensor(value)
        if tensor.dim():
            back = sorted(range(len(order)), key=lambda at: order[at])
            tensor = tensor.permute(order).contiguous().permute(back)
        inputs.append(tensor)
    return tuple(inputs)


def _tensor(value: cases.CaseTensor) -> torch.Tensor:
    tensor = torch.from_numpy(value.array.copy())
    if value.dtype is DType.BFLOAT16:
        return tensor.view(torch.bfloat16)
    return tensor


def _bits(value: Any) -> Any:
    if isinstance(value, torch.Tensor):
        flat = value.contiguous().reshape(-1).view(torch.uint8)
        return value.dtype, tuple(value.shape), bytes(flat.tolist())
    return value


def _same(ours: list[list[Any]], theirs: list[list[Any]]) -> bool:
    return [[_bits(value) for value in run] for run in ours] == [
        [_bits(value) for value in run] for run in theirs
    ]


def _agree(case: Case, ours: list[list[Any]]) -> bool:
    return all(
        torch.allclose(got, _tensor(want), case.rtol, case.atol, equal_nan=True)
        for run, outputs in zip(case.runs, ours, strict=True)
        for got, want in zip(outputs, run.outputs, strict=False)
        if isinstance(want, cases.CaseTensor)
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "folders", nargs="*", type=Path, default=[paths.cache() / "corpus"]
    )
    parser.add_argument("--passes", default=",".join(TRIED))
    asked = parser.parse_args()
    names = tuple(name for name in asked.passes.split(",") if name)
    torch.set_num_threads(1)  # else forked processes hang
    counts: Counter[str] = Counter()
    for place in cases.find(asked.folders):
        answer = verdict(place.path, names)
        counts[answer.partition(":")[0]] += 1
        if answer != "same":
            print(f"{place.path.stem}: {answer}", flush=True)
    print(", ".join(f"{number} {word}" for word, number in counts.most_common()))
    return int(any(word.isupper() for name in counts for word in name.split()[:1]))


if __name__ == "__main__":
    sys.exit(main())
