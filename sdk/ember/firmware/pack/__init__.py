"""Placed models become a package, 4-package: what compiler and linker read.

model.pte, data_0.ptd, ..  the image, byte for byte what the firmware holds
<model>_plan.h             every size; inputs, outputs: shapes, types, scales, labels
model_data.c, model.S      `ember_model`: the image, memory, methods; model_image.c
                           instead of model.S where others compile it (sources.py)
models.c, ember_models.h   the table of models, one or several
operators.c, backends.c    tables of the kernels and backends it needs; not where
                           model_data.c has prepared methods
linker.ld                  where it all goes (boards without a loader)
manifest.json              what the image is

Several models have their image, model_data.c and model.S in folders of their names.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ember import kernels
from ember.errors import SdkError
from ember.firmware import folder as build_folder
from ember.firmware.jobs import Job
from ember.firmware.pack import code, prepared
from ember.firmware.pack.part import Part, array, assembly, rest_of
from ember.firmware.pack.prepared import Prepared
from ember.firmware.placing import Placed
from ember.model import describe
from ember.plan import regions
from ember.plan.improved import Improved
from ember.plan.memories import Spread
from ember.plan.room import Plan, Region
from ember.select import selection as selections
from ember.toolchain import linker

__all__ = ["Packed", "Part", "fill", "parts", "rest_of", "sources", "write"]


@dataclass(frozen=True)
class Packed:
    """Placed models as files to compile: images, C tables, a linker script."""

    placed: Placed
    kernels: dict[str, tuple[str, ...]]  # of all models, by operator
    nodes: frozenset[str]  # kernels of the nodes of delegates

    @property
    def plans(self) -> list[regions.Plan]:
        return self.placed.plans


def fill(folder: Path, job: Job, placed: Placed) -> Packed:
    """Fills 4-package in `folder`, even where something has no room."""
    selected = placed.selected
    each = [selection.kernels for _, selection in selected.pairs]
    merged = selections.merge(each, job.options.rules.allowed(job.board))
    package = folder / "4-package"
    shutil.rmtree(package, ignore_errors=True)
    package.mkdir()
    items = parts(
        [model for model, _ in selected.pairs],
        placed.plans,
        [selection.changing for _, selection in selected.pairs],
        [_constants(job, *pair) for pair in selected.pairs],
    )
    backends = sorted(
        {name for _, selection in selected.pairs for name in selection.backends}
    )
    nodes = frozenset(
        name for _, selection in selected.pairs for name in selection.nodes
    )
    table = kernels.backend_table(backends, job.board.isa, nodes)
    known, moved = job.options.rules.known, list(job.options.steering.code)
    write(package, items, merged, table, known, _labels(job), moved)
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


def _constants(
    job: Job, model: Improved, selection: selections.Selection
) -> tuple[Prepared, ...]:
    """The methods of a model as constants; empty where the firmware loads them."""
    if not job.options.prepared:
        return ()
    names = [method.name for method in model.program.methods]
    methods = [(names.index(method.name), method) for method in selection.methods]
    known = job.options.rules.known
    return prepared.prepare(
        model.content, model.data, job.board, methods, known, selection.kernels
    )


def _program_facts(job: Job) -> Any:
    facts = [
        describe.program(model.program, model.program.methods) for model in job.models
    ]
    return facts[0] if len(facts) == 1 else facts


def _selection_facts(
    job: Job, selected: Spread, by_operator: Mapping[str, Sequence[str]]
) -> dict[str, Any]:
    """The selections as one; for several models also each by itself."""
    pairs = selected.pairs
    facts = [{"model": model.name, **selection.to_json()} for model, selection in pairs]
    if len(facts) == 1:
        return pairs[0][1].to_json()
    return facts[0] | {"operators": by_operator, "models": facts}


# ---- files ---------------------------------------------------------------------------


def parts(
    models: Sequence[Improved],
    plans: Sequence[Plan],
    changing: Sequence[bool],
    prepared: Sequence[tuple[Prepared, ...]],
) -> list[Part]:
    """SdkError when two models have one name."""
    models_with_plans = list(zip(models, plans, changing, strict=True))
    if len(models_with_plans) == 1:
        return [Part(*models_with_plans[0], prepared=prepared[0])]
    names = [model.identifier for model in models]
    for name in names:
        if names.count(name) > 1:
            raise SdkError(
                f"two models of the firmware are called {name}", hint="rename one"
            )
    return [
        Part(*item, item[0].identifier, first=index == 0, prepared=prepared[index])
        for index, item in enumerate(models_with_plans)
    ]


def write(
    folder: Path,
    items: Sequence[Part],
    by_operator: Mapping[str, Sequence[str]],
    backends: str,
    known: kernels.KernelList,
    labels: Mapping[str, Sequence[str]],
    moved: Sequence[str] = (),
) -> None:
    """Write the package of the models into `folder`, which exists.

    `by_operator` are their kernels, `backends` is the C text of their backends,
    `labels` the names of a model's classes, `moved` memories that code is moved to.
    """
    plan = items[0].plan
    texts = {
        "models.c": code.models_table(items),
        "ember_models.h": code.models_header(items),
    }
    if not items[0].prepared:
        texts["operators.c"] = kernels.operator_table(by_operator, known)
        texts["backends.c"] = backends
    for part in items:
        for name, content in part.files.items():
            (folder / name).parent.mkdir(exist_ok=True)
            (folder / name).write_bytes(content)
        texts |= _sources(part)
        header = code.plan_header(
            part.model, part.plan, labels.get(part.model.name, ())
        )
        texts[f"{part.model.identifier}_plan.h"] = header
    texts["manifest.json"] = manifest(items)
    if plan.board.has_script:
        texts["linker.ld"] = linker.script(
            plan.board,
            stack_bytes=plan.stack,
            placement={"stack": plan.stack_memory},
            overlap=_overlap(plan.temp),
            moved=moved,
        )
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")


def _sources(part: Part) -> dict[str, str]:
    folder = f"{part.name}/" if part.name else ""
    files = {f"{folder}model_data.c": code.model_data(part)}
    if part.plan.board.port == "library":
        return files | {f"{folder}model_image.c": array(part)}
    return files | {f"{folder}model.S": assembly(part)}


def _overlap(temp: Region | None) -> linker.Overlap | None:
    if temp is None or not temp.lent:
        return None
    return linker.Overlap(
        temp.name, temp.lent, rest_of(temp.name) if temp.added else None
    )


def sources(folder: Path) -> list[Path]:
    """The C and assembly files of the package in `folder`."""
    files = [path for path in folder.rglob("*") if path.suffix in (".c", ".S")]
    return sorted(files)


def manifest(items: Sequence[Part]) -> str:
    entries = [_manifest(part) for part in items]
    facts = entries[0] if len(entries) == 1 else {"models": entries}
    return json.dumps(facts, indent=2) + "\n"


def _manifest(part: Part) -> dict[str, Any]:
    model, plan = part.model, part.plan
    return {
        "model": model.name,
        "board": plan.board.name,
        "methods": [method.method.name for method in plan.methods],
        "files": [
            {
                "name": name,
                "bytes": len(content),
                "sha256": hashlib.sha256(content).hexdigest(),
                "memory": plan.weights,
            }
            for name, content in part.files.items()
        ],
        "rewritten": False,
        "packed": [{"name": k, "bytes": size} for k, size in model.packed.items()],
    }
