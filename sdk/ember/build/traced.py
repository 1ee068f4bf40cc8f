"""A built firmware gets a twin that marks the start and the end of each node."""

from __future__ import annotations

import itertools
import tempfile
from collections.abc import Sequence
from pathlib import Path

from ember import writing
from ember.build import certificate, firmware, jobs
from ember.build.built import Built
from ember.toolchain import user_kernels
from ember.toolchain.libraries import Libraries


def trace(built: Built) -> Path:
    """Link the traced twin of a firmware, unless it is there; its path."""
    with writing.locked(built.folder, wait=True):
        if not built.traced.is_file():
            libs = jobs.libraries_of(built.board, built.options)
            known, chosen = built.options.rules.known, built.selection["operators"]
            kernels = user_kernels.objects(libs, known, chosen)
            _link_traced(built, libs, kernels)
    return built.traced


def _link_traced(built: Built, libs: Libraries, kernels: Sequence[Path]) -> None:
    package = built.folder / "4-package"
    methods = tuple(itertools.chain(*built.chosen))
    prepared = built.options.prepared
    sources = firmware.Sources(package, methods, None, traced=True, prepared=prepared)
    with tempfile.TemporaryDirectory(prefix="ember-objects-") as place:
        compiled = sources.compile(libs, Path(place))
        objects = firmware.objects(libs, [*compiled, *kernels])
        script = package / "linker.ld"
        needed = certificate.stack_size(libs, objects.graph, None).bytes
        if objects.graph is not None and needed > built.plan["stack"]:
            script = firmware.script_with_stack(package, needed)
        with writing.aside(built.traced.parent) as aside:
            objects.link(aside / built.traced.name, script)
            writing.publish(aside, built.traced.parent)
