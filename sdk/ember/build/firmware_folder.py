"""An estimate that fits becomes the last artefact: firmware, certificate, sizes."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

from ember.build import certificate
from ember.build import folder as build_folder
from ember.build.estimate import Estimate
from ember.plan import regions
from ember.toolchain import footprint, image
from ember.toolchain.libraries import Libraries


def write(target: Path, linked: Path, estimate: Estimate, libs: Libraries) -> None:
    """Writes the `linked` firmware into the new folder `target`.

    SdkError when it is not what was planned.
    """
    assert estimate.compiled is not None
    objects = estimate.compiled.objects
    planned = certificate.planned(
        estimate.placed.plans,
        objects.members,
        estimate.compiled.stack,
        estimate.compiled.moved,
    )
    planned = replace(planned, work=estimate.placed.facts["work"])
    certified = certificate.linked(planned, linked, objects.graph)
    target.mkdir()
    for file in (linked, linked.with_suffix(".map")):
        shutil.move(file, target / file.name)
    certified.write(target)
    _write_sizes(target / linked.name, estimate, libs)


def _write_sizes(elf_file: Path, estimate: Estimate, libs: Libraries) -> None:
    assert estimate.packed is not None
    plans, job = estimate.placed.plans, estimate.job
    images = image.write_images(elf_file, job.board)
    sizes = image.sizes(elf_file, job.board, *regions.totals(plans))
    build_folder.write_json(
        elf_file.with_name("size.json"),
        {
            "size": sizes.to_json(),
            "memory": estimate.memories_json(),
            "footprint": footprint.of_map(
                elf_file.with_suffix(".map"),
                estimate.packed.kernels,
                libs.objects,
                job.app,
            ),
            "work": estimate.placed.facts["work"],
            "method_arena": regions.to_json(plans)["method_arena"],
            "images": [path.name for path in images],
        },
    )
