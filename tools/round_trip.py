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
from export_corpus import default_folder  # noqa: E402

from ember import cases, kernels  # noqa: E402
from ember import model as models  # noqa: E402
from ember.build.repack import repack  # noqa: E402
from ember.cases import Case  # noqa: E402
from ember.files.tensors import DType  # noqa: E402
from ember.model import Model  # noqa: E402
from ember.plan import passes  # noqa: E402

RANDOM = ("rand", "randn", "randperm", "dropout")


def verdict(path: Path, names: Sequence[str] = passes.DEFAULT) -> str:
    """ "same", "repaired", "not run: ..", or what went wrong."""
    case = cases.read(cases.Found(path.name, path))
    if any(word in op for op in _operators(case) for word in RANDOM):
        return "not run: random numbers"
    packed = repack(models.read(path), kernels.load(), names)
    wrong = _waste(packed)
    if wrong:
        return wrong
    text = _apart(lambda: _compared(case, packed))
    return text or "not run: the runtime aborted"


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
        found = lines.read().splitlines()
    os.waitpid(child, 0)
    return found[-1] if found else ""


def _compared(case: Case, packed: Model) -> Iterator[str]:
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


def _operators(case: Case) -> set[str]:
    return {name for one in case.program.methods for name in one.operator_names}


def _waste(packed: Model) -> str:
    unused = packed.program.unused_constants()
    if unused:
        return f"UNUSED: {len(unused)} constants"
    worse = [one for one in packed.replanned.values() if one.planned > one.stock]
    return "WORSE than the program's own plan" if worse else ""


def _outputs(case: Case, content: bytes) -> list[list[Any]]:
    if len(case.data) > 1:
        raise ValueError("the Python runtime takes one .ptd")
    module = portable_lib._load_for_executorch_from_buffer(content, *case.data)
    return [
        [_kept(one) for one in module.run_method(run.method, _inputs(case, run))]
        for run in case.runs
    ]


def _kept(one: Any) -> Any:
    return one.clone() if isinstance(one, torch.Tensor) else one


def _inputs(case: Case, run: cases.Run) -> tuple[Any, ...]:
    method = next(one for one in case.program.methods if one.name == run.method)
    found = []
    for declared, one in zip(method.input_values, run.inputs, strict=True):
        if not isinstance(one, cases.CaseTensor):
            found.append(one)
            continue
        order = getattr(declared, "dim_order", ())
        tensor = _tensor(one)
        if tensor.dim():
            back = sorted(range(len(order)), key=lambda at: order[at])
            tensor = tensor.permute(order).contiguous().permute(back)
        found.append(tensor)
    return tuple(found)


def _tensor(one: cases.CaseTensor) -> torch.Tensor:
    made = torch.from_numpy(one.array.copy())
    if one.dtype is DType.BFLOAT16:
        return made.view(torch.bfloat16)
    return made


def _bits(one: Any) -> Any:
    if isinstance(one, torch.Tensor):
        flat = one.contiguous().reshape(-1).view(torch.uint8)
        return one.dtype, tuple(one.shape), bytes(flat.tolist())
    return one


def _same(ours: list[list[Any]], theirs: list[list[Any]]) -> bool:
    return [[_bits(one) for one in run] for run in ours] == [
        [_bits(one) for one in run] for run in theirs
    ]


def _agree(case: Case, ours: list[list[Any]]) -> bool:
    return all(
        torch.allclose(got, _tensor(want), case.rtol, case.atol, equal_nan=True)
        for run, outputs in zip(case.runs, ours, strict=True)
        for got, want in zip(outputs, run.outputs, strict=False)
        if isinstance(want, cases.CaseTensor)
    )


def folders(top: Path) -> list[Path]:
    return sorted(path.parent for path in top.glob("*/model.pte"))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", nargs="?", type=Path, default=default_folder())
    parser.add_argument("--passes", default=",".join(passes.DEFAULT))
    asked = parser.parse_args()
    names = tuple(one for one in asked.passes.split(",") if one)
    torch.set_num_threads(1)  # else forked processes hang
    counts: Counter[str] = Counter()
    for path in folders(asked.folder):
        found = verdict(path, names)
        counts[found.partition(":")[0]] += 1
        if found != "same":
            print(f"{path.name}: {found}", flush=True)
    print(", ".join(f"{number} {word}" for word, number in counts.most_common()))
    return int(any(word.isupper() for one in counts for word in one.split()[:1]))


if __name__ == "__main__":
    sys.exit(main())
