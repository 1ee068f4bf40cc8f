# SPDX-License-Identifier: Apache-2.0
"""A graph that differs -> its smallest run of steps that does."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import exported
import torch
from corpus.case import write_case
from graph import Graph, Values

Run = Callable[[list[Path], list[str]], list[Any]]


def smallest(seed: int, board_names: list[str], run: Run) -> list[str]:
    """Texts of the shortest parts that differ: steps one by one, then two, and so on.

    What the steps before a part give is computed by PyTorch and becomes its inputs.
    """
    graph, known = _exportable(seed)
    for length in range(1, len(graph.steps) + 1):
        found = _differing(graph, known, length, board_names, run)
        if found:
            return found
    return [f"seed {seed}: no part of it differs"]


def _exportable(seed: int) -> tuple[Graph, list[Values]]:
    """The graph that was exported for this seed."""
    for attempt in range(exported.ATTEMPTS):
        graph, known = exported.program(seed, attempt)
        try:
            with torch.no_grad():
                exported.files(graph)
        except Exception:
            continue
        return graph, known
    raise SystemExit(f"seed {seed}: the exporter refuses all attempts")


def _differing(
    graph: Graph, known: list[Values], length: int, board_names: list[str], run: Run
) -> list[str]:
    parts: dict[str, Graph] = {}
    with tempfile.TemporaryDirectory() as scratch:
        for first in range(len(graph.steps) - length + 1):
            part = graph.part(graph.steps[first : first + length], known)
            name = f"steps_{first:02}"
            try:
                with torch.no_grad():
                    write_case(exported.files(part), Path(scratch) / name)
            except Exception as bad:
                print(f"part {name}: not exported: {bad}"[:100], file=sys.stderr)
                continue
            parts[name] = part
        outcomes = run([Path(scratch)], board_names)
    wrong = [one for one in outcomes if one.status != "passed"]
    return [
        f"{one.board}: {one.status}: {one.message}\n{parts[one.path.name].source()}"
        for one in wrong
    ]
