# SPDX-License-Identifier: Apache-2.0
"""Units: the folder of one operator or of one group of edge cases, by name."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

from corpus.case import Case

from conformance import (
    edges_elementwise,
    edges_kept,
    edges_layers,
    edges_shapes,
    operators,
    samples,
)
from conformance.making import make_unit

EDGES = {
    **edges_elementwise.GROUPS,
    **edges_kept.GROUPS,
    **edges_layers.GROUPS,
    **edges_shapes.GROUPS,
}
COMPOSITE = 4  # calls of other operators from which on an OpInfo tells little new


def names() -> list[str]:
    """Return every unit's name: edge cases, then what is called like an operator."""
    ours = {name.split("::")[-1].split(".")[0] for name in operators.known()}
    sampled = samples.infos()
    return [*EDGES, *sorted(sampled, key=lambda one: (_plain(one) not in ours, one))]


def _plain(name: str) -> str:
    """The name of an OpInfo without its module, as operators are called."""
    return name.removeprefix("nn_functional_")


def make(name: str, out: Path) -> dict[str, str]:
    """Export one unit afresh; return what became of each of its cases."""
    shutil.rmtree(out / name, ignore_errors=True)
    cases = EDGES[name]() if name in EDGES else _info_cases(name, out)
    return make_unit(name, cases, out)


def _info_cases(name: str, out: Path) -> Iterator[Case]:
    """Yield the cases of an OpInfo: two first; the rest if one could be exported."""
    info = samples.infos()[name]
    found = samples.info_cases(info)
    probes = [case for _, case in zip(range(2), _cases(found), strict=False)]
    yield from probes
    programs = [out / name / case.name / "model.pte" for case in probes]
    programs = [path for path in programs if path.exists()]
    if not programs:
        return
    calls = max(len(operators.called(path.read_bytes())) for path in programs)
    if calls >= COMPOSITE:
        found = samples.info_cases(info, portion=0.34)
    done = {case.name for case in probes}
    yield from (case for case in _cases(found) if case.name not in done)


def _cases(found: Iterator[tuple[str, samples.Call]]) -> Iterator[Case]:
    yield from (samples.as_case(name, call) for name, call in found)
