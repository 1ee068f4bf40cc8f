"""A link map becomes the sources that a firmware was compiled from, and the compiler's
libraries in it."""

from __future__ import annotations

import itertools
import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from ember import paths
from ember.boards import uart
from ember.build import Built, firmware
from ember.errors import SdkError
from ember.toolchain import linkmap, objects
from ember.toolchain.libraries import Libraries

_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]+"([^"\n]+)"', re.MULTILINE)
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
        for piece in linkmap.pieces(self._map):
            sections = self._sections.setdefault((piece.file, piece.member), set())
            sections.add(piece.section)
        self.package = built.folder / "4-package"
        options = built.options
        methods = tuple(itertools.chain(*built.chosen))
        self._compiled = firmware.Sources(
            self.package, methods, options.app, prepared=options.prepared
        ).paths
        self._app = options.app
        known = options.rules.known
        self._own_kernels = known.user_sources(built.selection["operators"])
        self._folders = (
            *(paths.root(), paths.runtime() / "include", self.package),
            *(library.folder for library in known.libraries),
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
        every = {name: self._with_headers(files) for name, files in sources.items()}
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
            console = uart.console(board.uart, board.port)
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
        """Libraries that are loaded with a program of this computer."""
        text = self._map.read_text(encoding="utf-8", errors="surrogateescape")
        yield from (Path(name).resolve() for name in _SHARED.findall(text))

    def _with_headers(self, files: Iterable[Path]) -> tuple[Path, ...]:
        """The same with what they include by a name in quotes, at any depth."""
        known: set[Path] = set()
        waiting = list(files)
        while waiting:
            file = waiting.pop()
            if file in known:
                continue
            known.add(file)
            text = file.read_text(encoding="utf-8", errors="replace")
            for name in _INCLUDE.findall(text):
                places = (folder / name for folder in (file.parent, *self._folders))
                header = next((path for path in places if path.is_file()), None)
                if header is not None:
                    waiting.append(header.resolve())
        return tuple(sorted(known))


def _having(candidates: dict[Path, Path], sections: Iterable[str]) -> set[Path]:
    """Of the sources of objects with the same name, those that `sections` are of."""
    if len(candidates) == 1:
        return set(candidates.values())
    held = {
        source: {section.name for section in objects.read(path).file.sections}
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
