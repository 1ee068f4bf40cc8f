"""Placed models become packed ones: the input of compiler and linker."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ember import kernels as kernel_list
from ember.build import folder as build_folder
from ember.build import pack as artefacts
from ember.build import prepared
from ember.build.jobs import Job
from ember.build.placing import Placed
from ember.errors import SdkError
from ember.model import describe
from ember.plan import regions
from ember.plan.improved import Improved
from ember.plan.memories import Spread
from ember.select import selection as selections


@dataclass(frozen=True)
class Packed:
    """Placed models as files to compile: images, C tables, a linker script."""

    placed: Placed
    kernels: dict[str, tuple[str, ...]]  # of all models, by operator
    nodes: frozenset[str]  # kernels of the nodes of delegates

    @property
    def plans(self) -> list[regions.Plan]:
        return self.placed.plans


def pack(folder: Path, job: Job, placed: Placed) -> Packed:
    """Fills 4-package in `folder`, even where something has no room."""
    selected = placed.selected
    each = [selection.kernels for _, selection in selected.pairs]
    merged = selections.merge(each, job.options.rules.allowed(job.board))
    package = folder / "4-package"
    shutil.rmtree(package, ignore_errors=True)
    package.mkdir()
    parts = artefacts.parts(
        [model for model, _ in selected.pairs],
        placed.plans,
        [selection.changing for _, selection in selected.pairs],
        [_prepared(job, *pair) for pair in selected.pairs],
    )
    backends = sorted(
        {name for _, selection in selected.pairs for name in selection.backends}
    )
    nodes = frozenset(
        name for _, selection in selected.pairs for name in selection.nodes
    )
    table = kernel_list.backend_table(backends, job.board.isa, nodes)
    labels = _labels(job)
    known, code = job.options.rules.known, job.options.steering.code
    artefacts.write(package, parts, merged, table, known, labels, list(code))
    return Packed(placed, merged, nodes)


def write_facts(
    folder: Path, job: Job, packed: Packed, plan: Mapping[str, Any]
) -> None:
    """Writes the artefacts before the package; `plan` are the plan's facts."""
    selection = _selection_facts(job, packed.placed.selected, packed.kernels)
    build_folder.write_json(folder / "1-program.json", _program_facts(job))
    build_folder.write_json(folder / "2-selection.json", selection)
    build_folder.write_json(folder / "3-plan.json", plan)


def _labels(job: Job) -> dict[str, tuple[str, ...]]:
    """Classes by model; those without a model's name belong to the only one."""
    given = dict(job.options.labels)
    names = [model.name for model in job.models]
    if "" in given and len(names) == 1:
        given[names[0]] = given.pop("")
    unknown = sorted(set(given) - set(names))
    if unknown:
        which = unknown[0] or "the file"
        raise SdkError(
            f"labels: {which} is none of the models {', '.join(names)}",
            hint="write `labels: {MODEL: FILE}` into ember.yaml",
        )
    return given


def _prepared(
    job: Job, model: Improved, chosen: selections.Selection
) -> tuple[prepared.Prepared, ...]:
    """The methods of a model as constants; empty where the firmware loads them."""
    if not job.options.prepared:
        return ()
    names = [method.name for method in model.program.methods]
    methods = [(names.index(method.name), method) for method in chosen.methods]
    known = job.options.rules.known
    return prepared.prepare(
        model.content, model.data, job.board, methods, known, chosen.kernels
    )


def _program_facts(job: Job) -> Any:
    facts = [
        describe.program(model.program, model.program.methods) for model in job.models
    ]
    return facts[0] if len(facts) == 1 else facts


def _selection_facts(
    job: Job, selected: Spread, chosen: Mapping[str, Sequence[str]]
) -> dict[str, Any]:
    """The selections as one; for several models also each by itself."""
    pairs = selected.pairs
    facts = [{"model": model.name, **selection.to_json()} for model, selection in pairs]
    if len(facts) == 1:
        return pairs[0][1].to_json()
    return facts[0] | {"operators": chosen, "models": facts}
