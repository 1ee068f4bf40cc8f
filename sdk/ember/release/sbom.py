"""A built firmware becomes its bill of materials."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ember import __version__, paths
from ember.build import Built, jobs
from ember.model import Model
from ember.release import cyclonedx, linked
from ember.release.cyclonedx import Component, sha256
from ember.toolchain import build_tree, tools
from ember.toolchain.libraries import Libraries

_LICENSE = "Apache-2.0"
_OF_GCC = ("libgcc", "crtbegin", "crtend", "crti", "crtn")


def of_firmware(built: Built) -> dict[str, Any]:
    """The firmware with all that is linked, and what it was made with.

    Hashes are SHA-256 of files. The same for the same firmware, wherever it was made.
    """
    libs = jobs.libraries_of(built.board, built.options)
    inside = linked.of(built, libs)
    components = [
        *_ours(built, inside.sources),
        *_models(built),
        *_of_compiler(inside.toolchain, libs),
        *_tools(libs),
        _board(built),
    ]
    return cyclonedx.document(_product(built), components)


def _product(built: Built) -> Component:
    options = built.options
    files = (built.firmware, *built.images, built.firmware.with_suffix(".map"))
    return Component(
        "firmware",
        f"{built.name} on {built.board.name}",
        sha256=_hash(built.firmware),
        properties={
            "board": built.board.name,
            "methods": " ".join(
                method.name for methods in built.chosen for method in methods
            ),
            "optimize": options.optimize,
            "prepared": str(options.prepared).lower(),
            "messages": str(options.messages).lower(),
        },
        parts=[Component("file", file.name, sha256=_hash(file)) for file in files],
    )


def _ours(built: Built, sources: dict[str, tuple[Path, ...]]) -> Iterator[Component]:
    """A component for each library: the SDK's with its version and licence."""
    package = built.folder / "4-package"
    for library, files in sources.items():
        parts = {_name(file, package): file for file in files}
        from_sdk = all(paths.root() in file.parents for file in files)
        yield Component(
            "library",
            f"ember {library}",
            version=__version__,
            license=_LICENSE if from_sdk else None,
            parts=[
                Component("file", name, sha256=_hash(parts[name]))
                for name in sorted(parts)
            ],
        )


def _name(file: Path, package: Path) -> str:
    """Without folders of this computer."""
    if paths.root() in file.parents and package not in file.parents:
        return file.relative_to(paths.root()).as_posix()
    if package in file.parents:
        return f"generated/{file.relative_to(package).as_posix()}"
    return f"{file.parent.name}/{file.name}"


def _models(built: Built) -> Iterator[Component]:
    """The program as it was exported, its data files, and what lies in the firmware."""
    for model in built.models:
        folder = built.folder / "4-package"
        if len(built.models) > 1:
            folder /= model.identifier
        images = [*sorted(folder.glob("*.pte")), *sorted(folder.glob("*.ptd"))]
        yield Component(
            "machine-learning-model",
            model.name,
            sha256=sha256(model.content),
            properties={"bytes": str(len(model.content)), "schema": "ET12"},
            parts=[
                *_data(model),
                *(
                    Component("file", f"generated/{path.name}", sha256=_hash(path))
                    for path in images
                ),
            ],
        )


def _data(model: Model) -> Iterator[Component]:
    for index, content in enumerate(model.data):
        yield Component("data", f"data file {index}", sha256=sha256(content))


def _of_compiler(files: tuple[Path, ...], libs: Libraries) -> Iterator[Component]:
    """Run-time and C libraries, each once, with the version of what they belong to."""
    by_hash = {_hash(file): file.name for file in files if file.is_file()}
    for digest, name in sorted(by_hash.items(), key=lambda item: (item[1], item[0])):
        version = None
        if name.startswith(_OF_GCC):
            version = tools.full_version(_gcc(libs))
        elif name.endswith(".a") and "arm-none-eabi" in _gcc(libs):
            version = tools.newlib_version(_gcc(libs))
        yield Component("library", name, version=version, sha256=digest)


def _gcc(libs: Libraries) -> str:
    """The compiler that brings libraries, beside Clang also."""
    names = build_tree.compilers(libs.config.toolchain)
    return next((name for name in names if name.endswith("gcc")), libs.compiler)


def _tools(libs: Libraries) -> Iterator[Component]:
    for name in (*build_tree.compilers(libs.config.toolchain), "cmake", "ninja"):
        gcc = name.endswith(("cc", "gcc"))
        version = tools.full_version(name) if gcc else tools.version(name)
        yield Component("application", name, version=version, excluded=True)


def _board(built: Built) -> Component:
    board = built.board
    facts = {"cpu": board.cpu, "toolchain": built.options.toolchain or board.toolchain}
    return Component("device", board.name, excluded=True, properties=facts)


def _hash(file: Path) -> str:
    return sha256(file.read_bytes())
