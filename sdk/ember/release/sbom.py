"""A built firmware becomes its bill of materials.

The link map says which sources it was compiled from, and which of the compiler's
libraries are in it.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ember import __version__, paths
from ember.boards import keys
from ember.errors import SdkError
from ember.firmware import Built, jobs, linking
from ember.model import Model
from ember.release import cyclonedx
from ember.release.cyclonedx import Component, sha256
from ember.toolchain import build_tree, elf, footprint, tools, user_code
from ember.toolchain.compiler import Libraries

_LICENSE = "Apache-2.0"
_OF_GCC = ("libgcc", "crtbegin", "crtend", "crti", "crtn")


def of_firmware(built: Built) -> dict[str, Any]:
    """The firmware with all that is linked, and what it was made with.

    Hashes are SHA-256 of files. The same for the same firmware, wherever it was made.
    """
    libs = jobs.libraries_of(built.board, built.options)
    inside = of(built, libs)
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
                method.name for methods in built.all_methods for method in methods
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
    """The name without folders of the host."""
    if paths.root() in file.parents and package not in file.parents:
        return file.relative_to(paths.root()).as_posix()
    if package in file.parents:
        return f"generated/{file.relative_to(package).as_posix()}"
    return f"{file.parent.name}/{file.name}"


def _models(built: Built) -> Iterator[Component]:
    """The program as it was exported, its data files, and what is in the firmware."""
    for model in built.models:
        folder = built.folder / "4-package"
        if len(built.models) > 1:
            folder /= model.identifier
        images = [*sorted(folder.glob("*.pte")), *sorted(folder.glob("*.ptd"))]
        yield Component(
            "machine-learning-model",
            model.name,
            sha256=sha256(model.given),
            properties={"bytes": str(len(model.given)), "schema": "ET12"},
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


# ---- what is linked ------------------------------------------------------------------


_SHARED = re.compile(r"^LOAD (\S*/\S*\.so\.[.\d]+)$", re.MULTILINE)  # of GNU ld
_OBJECT = re.compile(r"\.o(bj)?$")  # startup.c.obj is of startup.c
_PLACE = re.compile(r"^(\d+)_")  # 3_values.o is of the fourth source


@dataclass(frozen=True)
class Linked:
    """Sources with the headers that they include, by the library of Ember's that they
    are in; and files that came with the compiler."""

    sources: dict[str, tuple[Path, ...]]
    toolchain: tuple[Path, ...]


def of(built: Built, libs: Libraries) -> Linked:
    """What the map of a firmware names; SdkError where a source cannot be found."""
    return _Finder(built, libs).linked()


class _Finder:
    def __init__(self, built: Built, libs: Libraries) -> None:
        self._libs = libs
        self._map = built.firmware.with_suffix(".map")
        self._sections: dict[tuple[str, str], set[str]] = {}
        for piece in footprint.pieces(self._map):
            sections = self._sections.setdefault((piece.file, piece.member), set())
            sections.add(piece.section)
        self.package = built.folder / "4-package"
        options = built.options
        methods = tuple(itertools.chain(*built.all_methods))
        app = jobs.app_of(options.app)
        self._compiled = linking.Sources(
            self.package, methods, app, prepared=options.prepared
        ).paths
        known = options.rules.known
        self._own_kernels = known.user_sources(built.selection["operators"])
        self._folders = (
            *(paths.root(), paths.runtime() / "include", self.package),
            *(library.folder for library in known.libraries),
            *(app.folders if app else ()),
        )

    def linked(self) -> Linked:
        sources: dict[str, set[Path]] = {}
        toolchain = set(self._shared())
        for file, member in self._sections:
            folder, _, name = file.partition("/")
            if file.startswith(("/", "toolchain/")):
                toolchain.add(self._of_toolchain(file))
            elif folder in ("ember", "build", "kernels"):
                library, of_member = self._sources(folder, name, member)
                if not of_member:
                    raise SdkError(
                        f"the link map names {file}({member}), whose source is unknown",
                        hint="delete the build folder and build again",
                    )
                sources.setdefault(library, set()).update(of_member)
        every = {
            name: tuple(sorted(user_code.with_headers(files, self._folders)))
            for name, files in sources.items()
        }
        return Linked(every, tuple(sorted(toolchain)))

    def _sources(
        self, folder: str, name: str, member: str
    ) -> tuple[str, Collection[Path]]:
        """The library that a piece of the map is in, and the files it may be of."""
        if folder == "kernels":
            return "own kernels", self._numbered(self._own_kernels, member)
        if folder == "build":
            files = self._numbered(self._compiled, member)
            generated = all(self.package in path.parents for path in files)
            return "tables" if generated else "application", files
        if not name.endswith(".a"):
            return "port", list(self._of_port(member))
        archive = name.removesuffix(".a")
        pairs = zip(
            self._libs.members(archive), self._libs.sources(archive), strict=True
        )
        same = {path: _whole(source) for path, source in pairs if path.name == member}
        sections = self._sections[f"{folder}/{name}", member]
        return archive.removeprefix("libember_"), _having(same, sections)

    def _numbered(self, files: list[Path], member: str) -> list[Path]:
        place = _PLACE.match(member)
        return [files[int(place[1])]] if place and int(place[1]) < len(files) else []

    def _of_port(self, member: str) -> Iterator[Path]:
        board = self._libs.board
        place = _PLACE.match(member)
        if place and board.uart is not None:  # its console
            console = keys.console(board.uart, board.port)
            yield from self._numbered(console, member)
            return
        name = _OBJECT.sub("", re.sub(rf"^{board.port}_\d+_", "", member))
        port = paths.runtime() / "port"
        folders = (port / board.port, port, port / "a64")  # some share its files
        files = (folder / name for folder in folders)
        yield from itertools.islice((path for path in files if path.is_file()), 1)

    def _of_toolchain(self, file: str) -> Path:
        if file.startswith("/"):
            return Path(file).resolve()
        name = Path(file).name
        every = (path for path in self._libs.all_archives if path.name == name)
        return next(every, Path(name))

    def _shared(self) -> Iterator[Path]:
        """Libraries that are loaded with a program of the host."""
        text = self._map.read_text(encoding="utf-8", errors="surrogateescape")
        yield from (Path(name).resolve() for name in _SHARED.findall(text))


def _having(candidates: dict[Path, Path], sections: Iterable[str]) -> set[Path]:
    """Of the sources of objects with the same name, those that `sections` are of."""
    if len(candidates) == 1:
        return set(candidates.values())
    held = {
        source: {section.name for section in elf.read_object(path).file.sections}
        for path, source in candidates.items()
        if path.is_file()
    }
    having = [
        {source for source, names in held.items() if section in names}
        for section in sections
    ]
    certain = {source for few in having if len(few) == 1 for source in few}
    unclear = [few for few in having if not few & certain]
    return certain.union(*unclear) or set(candidates.values())


def _whole(source: Path) -> Path:
    """CMake names some sources from the folder that lists them."""
    runtime = paths.runtime()
    places = (source, runtime / source, runtime / "libc" / source)
    return next((path for path in places if path.is_file()), source)
