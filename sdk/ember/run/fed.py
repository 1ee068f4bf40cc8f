"""Runs with whole inputs become runs with a row of one input at a time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from ember.cases import Case, CaseTensor, Run
from ember.plan.rows import row_regions

_ROWS = 2  # the dimension


def row_by_row(case: Case) -> Case:
    """A packed case with a run for each row of an input that comes so; only the last
    one of an image says which outputs are expected."""
    fed = {
        method.name: row_regions.fed_inputs(method) for method in case.program.methods
    }
    runs = [part for run in case.runs for part in _parts(run, fed.get(run.method, {}))]
    return replace(case, runs=tuple(runs))


def _parts(run: Run, fed: Mapping[int, int]) -> Iterator[Run]:
    if not fed:
        yield run
        return
    ((index, rows),) = fed.items()
    image = run.inputs[index]
    assert isinstance(image, CaseTensor)
    for row in range(rows):
        array = image.array[:, :, row : row + 1, :]
        inputs = list(run.inputs)
        inputs[index] = CaseTensor(image.dtype, array)
        last = row == rows - 1
        yield replace(run, inputs=tuple(inputs), says_outputs=last and run.says_outputs)
