# SPDX-License-Identifier: Apache-2.0
"""Units of cases -> folders in the cache, with a record of what was refused and why."""

from __future__ import annotations

import copy
import functools
import json
import multiprocessing
import signal
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import torch
from corpus.case import Case, Exported, Run, write_case
from corpus.exporting import Apply, eager_run, eager_runs, program_files
from executorch.exir import EdgeCompileConfig, to_edge
from torch._export import utils
from torch.export import export

from conformance import operators
from conformance.tolerance import tolerance

INDEX = "index.json"
MOST_PROGRAM = 12_000  # bytes
MOST_OUTPUT = 8192  # bytes of a tensor
SECONDS = 60  # for one case
DONE = "exported"
SHORT = (torch.float16, torch.bfloat16)


class RefusedError(Exception):
    """The case is nothing for Ember; the message is the reason."""


def exported_call(
    function: Callable[..., Any],
    inputs: Sequence[Any],
    keep: Sequence[torch._ops.OpOverload] = (),
    dim_order: bool = True,
) -> Exported:
    """Export one function. What is not Core ATen may pass; `keep` is not decomposed."""
    module, sample = Apply(function).eval(), tuple(inputs)
    (run,) = eager_runs(module, [sample])
    for value in run.outputs:
        _check_output(value)
    config = EdgeCompileConfig(
        _check_ir_validity=False,
        _skip_dim_order=not dim_order,
        preserve_ops=list(keep),
    )
    edge = to_edge(export(module, copy.deepcopy(sample)), compile_config=config)
    rtol, atol = tolerance([*run.inputs, *run.outputs])
    atol = max(atol, _own_error(function, run))
    _check_graph(edge.exported_program().module(), sample, run, (rtol, atol))
    files = program_files(edge.to_executorch())
    _check_program(files["model.pte"])
    return Exported(files, [run], rtol, atol)


def _own_error(function: Callable[..., Any], run: Run) -> float:
    """How far PyTorch's 16-bit arithmetic is from its float32, or 0.

    It rounds after every step where the kernels round once. An error in the size of
    the result is no rounding, but a function of the dtype.
    """
    if not any(x.dtype in SHORT for x in run.outputs if isinstance(x, torch.Tensor)):
        return 0.0
    wider = [_widened(x) for x in copy.deepcopy(run.inputs)]
    try:
        exact = eager_run(run.method, function, tuple(wider)).outputs
        pairs = zip(run.outputs, exact, strict=True)
        return max(_difference(got, want) for got, want in pairs)
    except (RuntimeError, TypeError, ValueError):
        return 0.0


def _widened(value: Any) -> Any:
    short = isinstance(value, torch.Tensor) and value.dtype in SHORT
    return value.to(torch.float32) if short else value


def _difference(got: Any, exact: Any) -> float:
    if not isinstance(got, torch.Tensor) or got.dtype not in SHORT or not got.numel():
        return 0.0
    apart = (got.float() - exact.to(got.dtype).float()).abs()
    apart, size = apart[apart.isfinite()], got[got.isfinite()].float().abs()
    if not apart.numel() or apart.max() > 0.1 * size.max():
        return 0.0
    return float(apart.max())


def _check_graph(
    graph: Callable[..., Any], sample: Any, run: Run, tolerance: tuple[float, float]
) -> None:
    """Refuse what decomposing changed, in PyTorch: no runtime could mend that."""
    changed = eager_run(run.method, graph, copy.deepcopy(sample))
    rtol, atol = tolerance
    for got, expected in zip(changed.outputs, run.outputs, strict=True):
        if not isinstance(expected, torch.Tensor):
            same = got == expected
        elif got.dtype != expected.dtype or got.shape != expected.shape:
            same = False
        elif not expected.is_floating_point():
            same = torch.equal(got, expected)
        else:
            same = torch.allclose(got, expected, 4 * rtol, 4 * atol, equal_nan=True)
        if not same:
            raise RefusedError("PyTorch's decomposition gives another result")


def _check_program(program: bytes) -> None:
    if len(program) > MOST_PROGRAM:
        raise RefusedError("the program is large")
    if operators.has_short_constants(program):
        raise RefusedError("the exporter rounds a float64 constant to float32")
    if operators.reads_strange_layout(program):
        raise RefusedError("the exporter makes a view of channels_last without a copy")
    strange = operators.strangers(program)
    if strange:
        raise RefusedError(f"outside of ExecuTorch's libraries: {', '.join(strange)}")


def _check_output(value: Any) -> None:
    if not isinstance(value, torch.Tensor):
        return
    if value.is_complex():
        raise RefusedError("complex numbers")
    if value.numel() * value.element_size() > MOST_OUTPUT:
        raise RefusedError("the output is large")


# ---- one unit: the cases of one folder ---------------------------------------------


def make_unit(name: str, cases: Iterable[Case], out: Path) -> dict[str, str]:
    """Export the cases into out/name; return what became of each."""
    index = {}
    for case in cases:
        index[case.name] = _made(case, out / name / case.name)
    (out / name).mkdir(parents=True, exist_ok=True)
    (out / name / INDEX).write_text(json.dumps(index, indent=1) + "\n")
    return index


def _made(case: Case, folder: Path) -> str:
    """Export one case; return DONE, or in a line why not."""
    signal.signal(signal.SIGALRM, _too_long)
    signal.alarm(SECONDS)
    try:
        write_case(case.exported(), folder)
    except Exception as error:  # torch and the exporter raise whatever they like
        lines = str(error).strip().splitlines() or [""]
        return f"{type(error).__name__}: {lines[0][:200]}"
    finally:
        signal.alarm(0)
    return DONE


def _too_long(_signal: int, _frame: Any) -> None:
    raise RefusedError(f"the export takes more than {SECONDS} s")


# ---- all units ---------------------------------------------------------------------


def make_all(
    names: Sequence[str],
    worker: Callable[[str, Path], dict[str, str]],
    out: Path,
    jobs: int,
) -> Iterator[tuple[str, dict[str, str]]]:
    """Make the units in processes of their own; yield each when it is done."""
    context = multiprocessing.get_context("spawn")
    tasks = [(worker, name, out) for name in names]
    with context.Pool(jobs, initializer=_ready, maxtasksperchild=80) as pool:
        yield from pool.imap_unordered(_task, tasks)


def _ready() -> None:
    """Prepare a process. Torch asks for all its operators at every export: one does."""
    utils._materialize_cpp_cia_ops = functools.cache(utils._materialize_cpp_cia_ops)
    warnings.filterwarnings("ignore")
    torch.set_num_threads(1)


def _task(task: tuple[Any, str, Path]) -> tuple[str, dict[str, str]]:
    worker, name, out = task
    return name, worker(name, out)


def outcomes(out: Path) -> dict[str, str]:
    """Return what became of every case in the cache."""
    found = {}
    for path in sorted(out.glob(f"*/{INDEX}")):
        for name, outcome in json.loads(path.read_text()).items():
            found[f"{path.parent.name}/{name}"] = outcome
    return found


def report(out: Path) -> str:
    """Return how many were exported, and the reasons of the others, counted."""
    found = outcomes(out)
    counts = Counter(_reason(outcome) for outcome in found.values())
    lines = [f"{counts.pop(DONE, 0)} of {len(found)} samples exported"]
    lines += [f"{count:6} {reason}" for reason, count in counts.most_common()]
    return "\n".join(lines) + "\n"


def _reason(outcome: str) -> str:
    """Numbers and names differ from sample to sample; the reason does not."""
    if outcome == DONE:
        return DONE
    return outcome.split("(", maxsplit=1)[0][:100]
