"""A job becomes the artefacts of a build folder, one after the other."""

from __future__ import annotations

import itertools
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ember import (
    build_folder,
    certificate,
    describe,
    firmware,
    footprint,
    image,
    jobs,
    pack,
    plan,
    prepared,
    user_kernels,
)
from ember import kernels as kernel_list
from ember import selection as selections
from ember.jobs import Job
from ember.libraries import Libraries
from ember.memories import Spread
from ember.model import Model
from ember.stack.bound import Bound
from ember.uses import Pair


def all_of(folder: Path, job: Job, pairs: Sequence[Pair], made: Libraries) -> None:
    """All of them, in an empty folder."""
    target = folder / "5-firmware"
    target.mkdir()
    with tempfile.TemporaryDirectory(prefix="ember-objects-") as place:
        packed, objects = _with_stack(folder, job, pairs, made, Path(place))
        elf_file = target / "firmware.elf"
        planned = certificate.planned(packed.plans, objects.members, packed.bound)
        script = folder / "4-package" / "linker.ld"
        objects.link(elf_file, script if script.is_file() else None)
        certificate.linked(planned, elf_file, objects.graph).write(target)
    _write_sizes(target, job, packed, made)


def _write_sizes(target: Path, job: Job, packed: Packed, made: Libraries) -> None:
    elf_file, plans = target / "firmware.elf", packed.plans
    images = image.write_images(elf_file, job.board)
    regions = {region.name: region.size for one in plans for region in one.regions}
    model_bytes = sum(one.model_bytes for one in plans)
    found = image.sizes(elf_file, job.board, model_bytes, sum(regions.values()))
    build_folder.write_json(
        target / "size.json",
        {
            "size": found.to_json(),
            "memory": found.memories_json(),
            "footprint": footprint.of_map(
                elf_file.with_suffix(".map"), packed.chosen, made.objects, job.app
            ),
            "method_arena": plan.to_json(plans)["method_arena"],
            "images": [path.name for path in images],
        },
    )


@dataclass(frozen=True)
class Packed:
    """Models with their place in the board's memories."""

    chosen: dict[str, tuple[str, ...]]  # the kernels of all models
    plans: list[plan.Plan]
    bound: Bound | None = None  # of the stack


def _with_stack(
    folder: Path, job: Job, pairs: Sequence[Pair], made: Libraries, place: Path
) -> tuple[Packed, firmware.Objects]:
    """Plan, pack and compile, with the stack that the compiled code needs.

    What is linked says how much that is, and where memory is left may change what is
    linked; so it starts with a small stack, which only grows.
    """
    sources = firmware.Sources(
        folder / "4-package",
        tuple(itertools.chain(*job.methods)),
        job.app,
        prepared=job.options.prepared,
    )
    known, wish = job.options.rules.known, job.options.stack
    stack = wish or certificate.first_stack(job.board)
    compiled = b""
    while True:
        packed = packed_models(folder, job, pairs, stack)
        if compiled != sources.digest():
            compiled = sources.digest()
            own = user_kernels.objects(made, known, packed.chosen)
            objects = firmware.objects(made, [*sources.compile(made, place), *own])
            needed, bound = certificate.stack_size(made, objects.graph, wish)
        if needed <= stack:
            return replace(packed, bound=bound), objects
        stack = needed


def packed_models(folder: Path, job: Job, pairs: Sequence[Pair], stack: int) -> Packed:
    """The first four artefacts."""
    selected = jobs.spread(job, pairs, stack)
    build_folder.write_json(folder / "1-program.json", _program_facts(job))
    kernels = [one.kernels for _, one in selected.pairs]
    chosen = selections.merge(kernels, job.options.rules.allowed(job.board))
    build_folder.write_json(
        folder / "2-selection.json", _selection_facts(job, selected, chosen)
    )
    plans, facts = jobs.plan_facts(selected, job, stack)
    build_folder.write_json(folder / "3-plan.json", facts)
    package = folder / "4-package"
    shutil.rmtree(package, ignore_errors=True)
    package.mkdir()
    parts = pack.parts(
        [model for model, _ in selected.pairs],
        plans,
        [one.changing for _, one in selected.pairs],
        [_prepared(job, *pair) for pair in selected.pairs],
    )
    backends = sorted({name for _, one in selected.pairs for name in one.backends})
    nodes = frozenset(name for _, one in selected.pairs for name in one.nodes)
    table = kernel_list.backend_table(backends, job.board.isa, nodes)
    pack.write(package, parts, chosen, table, job.options.rules.known)
    return Packed(chosen, plans)


def _prepared(
    job: Job, model: Model, chosen: selections.Selection
) -> tuple[prepared.Prepared, ...]:
    """The methods of a model as constants; none, where the firmware loads them."""
    if not job.options.prepared:
        return ()
    names = [one.name for one in model.program.methods]
    methods = [(names.index(one.name), one) for one in chosen.methods]
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
    """As one selection; of several models also each by itself."""
    pairs = selected.pairs
    facts = [{"model": model.name, **one.to_json()} for model, one in pairs]
    if len(facts) == 1:
        return pairs[0][1].to_json()
    return facts[0] | {"operators": chosen, "models": facts}
