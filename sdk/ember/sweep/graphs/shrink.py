"""A graph that differs becomes the case of its smallest part that does.

What the steps outside a part give is computed by PyTorch and becomes its inputs.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from ember.export.folders import write_case
from ember.sweep.graphs import exported
from ember.sweep.graphs.graph import GraphStep, RandomGraph, Values
from ember.sweep.settings import Family

Differing = Callable[[Sequence[Path]], list[Path]]  # of folders of cases
_Parts = list[tuple[GraphStep, ...]]


def smallest(family: Family, seed: int, differing: Differing, folder: Path) -> str:
    """Write the case of the smallest part into `folder`, which is replaced; its text.

    Steps are tried one by one, then two in a row, and so on; then single steps are
    taken out of the row. Where no part differs alone, it is the whole graph.
    """
    matching = exported.accepted(family, seed, [])
    assert matching is not None  # it was exported before
    graph, known, whole = matching
    steps = tuple(graph.steps)
    for row in _rows(steps):
        guilty = _first(graph, known, row, family, differing)
        if guilty is not None:
            break
    else:
        write_case(whole, folder)
        return graph.source()
    while smaller := _first(graph, known, _fewer(guilty), family, differing):
        guilty = smaller
    part = graph.part(guilty, known)
    write_case(exported.files(part, family), folder)
    return part.source()


def _rows(steps: tuple[GraphStep, ...]) -> Iterator[_Parts]:
    """Parts of one step, those of two in a row, and so on, but the whole."""
    for length in range(1, len(steps)):
        starts = range(len(steps) - length + 1)
        yield [steps[start : start + length] for start in starts]


def _fewer(steps: tuple[GraphStep, ...]) -> _Parts:
    """Without one of the steps between the first and the last: those are needed."""
    inner = range(1, len(steps) - 1)
    return [(*steps[:index], *steps[index + 1 :]) for index in inner]


def _first(
    graph: RandomGraph,
    known: list[Values],
    parts: _Parts,
    family: Family,
    differing: Differing,
) -> tuple[GraphStep, ...] | None:
    """The first of the parts that differs; what the exporter refuses does not."""
    with tempfile.TemporaryDirectory(prefix="ember-shrink-") as scratch:
        folders = {}
        for number, steps in enumerate(parts):
            folder = Path(scratch) / f"part_{number:03}"
            part = graph.part(steps, known)
            try:
                write_case(exported.files(part, family), folder)
            except Exception:  # noqa: S112 - whatever the exporter does not take
                continue
            folders[folder] = steps
        wrong = differing(list(folders)) if folders else []
        return folders[wrong[0]] if wrong else None
