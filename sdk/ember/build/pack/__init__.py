"""Plans become a package: the models' images and the C that a firmware is made of.

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
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ember import kernels
from ember.build.pack import code, image
from ember.build.pack.part import Part, rest_of
from ember.build.prepared import Prepared
from ember.errors import SdkError
from ember.plan.improved import Improved
from ember.plan.regions import Plan, Region
from ember.toolchain import linker

__all__ = ["Part", "parts", "rest_of", "sources", "write"]


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
    chosen: Mapping[str, Sequence[str]],
    backends: str,
    known: kernels.KernelList,
    labels: Mapping[str, Sequence[str]],
    moved: Sequence[str] = (),
) -> None:
    """Write the package of the models into `folder`, which exists.

    `chosen` are the kernels of all of them, `backends` the C text of their backends,
    `labels` the names of a model's classes, `moved` memories that code is moved to.
    """
    plan = items[0].plan
    texts = {
        "models.c": code.models_table(items),
        "ember_models.h": code.models_header(items),
    }
    if not items[0].prepared:
        texts["operators.c"] = kernels.operator_table(chosen, known)
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
        return files | {f"{folder}model_image.c": image.array(part)}
    return files | {f"{folder}model.S": image.assembly(part)}


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
