"""A user's C, an application or kernels, with the options of its compiler."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ember import kept
from ember.errors import SdkError

SUFFIXES = (".c", ".S", ".s")
_INCLUDED = (*SUFFIXES, ".h", ".inc")
_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*[<"]([^>"\n]+)[>"]', re.MULTILINE)


@dataclass(frozen=True)
class UserCode:
    """Sources that are compiled only with the compiler's warnings and these flags."""

    sources: tuple[Path, ...] = ()
    include: tuple[Path, ...] = ()  # folders, searched as those of the system
    defines: tuple[str, ...] = ()  # NAME or NAME=VALUE
    flags: tuple[str, ...] = ()
    folder: Path = field(default_factory=Path.cwd)  # that flags are relative to

    @property
    def folders(self) -> list[Path]:
        """Where headers are searched for: beside the sources, then as the user says."""
        words = [re.sub("^-(I|isystem|iquote)", "", word) for word in self.flags]
        named = [self.folder / word for word in words if word]
        beside = [path.parent for path in self.sources]
        every = [*beside, *(path for path in named if path.is_dir()), *self.include]
        return list(dict.fromkeys(every))

    @property
    def words(self) -> list[str]:
        """The options of the compiler, which runs in `folder`."""
        beside = dict.fromkeys(path.parent for path in self.sources)
        return [
            *(f"-I{folder}" for folder in beside),
            *(f"-isystem{folder}" for folder in self.include),
            *(f"-D{name}" for name in self.defines),
            *self.flags,
        ]

    def files(self) -> list[Path]:
        """Every file that the compiler may read: the sources, what they include at any
        depth, what is beside that, and files that flags name."""
        named = [self.folder / word for word in self.flags]
        first = {path for path in (*self.sources, *named) if path.is_file()}
        near = {path for folder in self.folders for path in folder.glob("*.*")}
        near = {path for path in near if path.suffix in _INCLUDED and path.is_file()}
        return sorted(with_headers(first, self.folders) | near)

    def digest(self) -> bytes:
        """A hash of all these files."""
        return kept.digest(Path("/"), map(str, self.files()))

    def key(self) -> list[list[str]]:
        """All else that objects depend on."""
        where = [self.folder] if self.flags else []
        places = [list(map(str, each)) for each in (self.sources, self.include, where)]
        return [*places, list(self.defines), list(self.flags)]


def of(places: Sequence[Path]) -> UserCode:
    """An application in these files, and in the files of these folders."""
    return UserCode(sources_in(places))


def sources_in(places: Iterable[Path]) -> tuple[Path, ...]:
    """The files, and those in the folders, once each; SdkError where there is none."""
    sources: list[Path] = []
    for place in places:
        files = [place]
        if place.is_dir():
            every = (path for path in place.iterdir() if path.is_file())
            files = sorted(path for path in every if path.suffix in SUFFIXES)
            if not files:
                raise SdkError(
                    f"the application {place} has no C sources",
                    hint="name a file, or the folder that has them: those below it are"
                    " not searched",
                )
        elif not place.is_file():
            raise SdkError(f"the application {place} does not exist")
        elif place.suffix not in SUFFIXES:
            raise SdkError(
                f"the application {place} is not a source: {', '.join(SUFFIXES)}",
                hint="folders of headers go under `app: include:` in ember.yaml",
            )
        sources += [path.absolute() for path in files]
    return tuple({path.resolve(): path for path in sources}.values())


def with_headers(files: Iterable[Path], folders: Sequence[Path]) -> set[Path]:
    """The same with what they include, at any depth, of `folders` and beside them."""
    known: set[Path] = set()
    waiting = list(files)
    while waiting:
        file = waiting.pop()
        if file in known:
            continue
        known.add(file)
        for name in _INCLUDE.findall(file.read_text("utf-8", "replace")):
            places = (folder / name for folder in (file.parent, *folders))
            header = next((path for path in places if path.is_file()), None)
            if header is not None:
                waiting.append(header.resolve())
    return known
