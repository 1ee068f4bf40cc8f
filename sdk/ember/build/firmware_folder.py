"""An estimate that fits becomes the last artefact: firmware, certificate, sizes."""

from __future__ import annotations

import shutil
from pathlib import Path

from ember.build import certificate
from ember.build import folder as build_folder
from ember.build.estimate import Estimate
from ember.plan import regions
from ember.toolchain import footprint, image
from ember.toolchain.libraries import Libraries


def write(target: Path, linked: Path, found: Estimate, made: Libraries) -> None:
    """Writes the `linked` firmware into the new folder `target`.

    SdkError when it is not what was planned.
    """
    assert found.compiled is not None
    objects = found.compiled.objects
    planned = certificate.planned(
        found.placed.plans,
        objects.members,
        found.compiled.bound,
        found.compiled.moved,
    )
    certified = certificate.linked(planned, linked, objects.graph)
    target.mkdir()
    for one in (linked, linked.with_suffix(".map")):
        shutil.move(one, target / one.name)
    certified.write(target)
    _write_sizes(target / linked.name, found, made)


def _write_sizes(elf_file: Path, found: Estimate, made: Libraries) -> None:
    assert found.packed is not None
    plans, job = found.placed.plans, found.job
    images = image.write_images(elf_file, job.board)
    sizes = image.sizes(elf_file, job.board, *regions.totals(plans))
    build_folder.write_json(
        elf_file.with_name("size.json"),
        {
            "size": sizes.to_json(),
            "memory": found.memories_json(),
            "footprint": footprint.of_map(
                elf_file.with_suffix(".map"),
                found.packed.kernels,
                made.objects,
                job.app,
            ),
            "method_arena": regions.to_json(plans)["method_arena"],
            "images": [path.name for path in images],
        },
    )
