"""Symbols become the files of Ember's sources that define them and what these need.

Calls are read from objects compiled for this computer: a file has the same calls for
any board. Where its libraries are not whole, files are compiled as something needs them
(demand.py).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from ember import paths
from ember.errors import SdkError
from ember.toolchain import demand
from ember.toolchain.libraries import Libraries
from ember.toolchain.objects import Archive

_NAME = re.compile(r"\bember_\w+")
_INCLUDE = re.compile(r'^#include ["<]([^">]+)[">]', re.MULTILINE)


def names(texts: Iterable[str]) -> set[str]:
    """Ember's symbols that C texts name."""
    return {name for text in texts for name in _NAME.findall(text)}


def defining(libs: Libraries, symbols: Iterable[str]) -> list[Path]:
    """The files of kernels, engines and backends that define `symbols`, and those that
    these need; `made` are libraries of this computer."""
    if libs.is_whole:
        taken = _of_archives(libs, symbols)
    else:
        taken = set(demand.members(libs, symbols))
    return sorted({path for source in taken for path in _files(source)})


def _of_archives(libs: Libraries, symbols: Iterable[str]) -> set[Path]:
    libraries = [
        (Archive(path), libs.sources(path.stem)) for path in libs.optional_archives
    ]
    offered = {
        name: (number, place)
        for number, (archive, _) in reversed(list(enumerate(libraries)))
        for name, place in archive.index
    }
    waiting = sorted(set(symbols))
    taken: set[tuple[int, int]] = set()
    while waiting:
        key = offered.get(waiting.pop())
        if key is not None and key not in taken:
            taken.add(key)
            waiting += libraries[key[0]][0].member(key[1]).needed()
    members = set()
    for number, place in taken:
        archive, files = libraries[number]
        members.add(files[archive.places.index(place)])
    return members


def _files(source: Path) -> set[Path]:
    """The file, or what lies in `device` where this computer compiled a model."""
    if source.parent.name != "model":
        return {source}
    device = source.parent.parent / "device"
    return {path for path in device.iterdir() if path.suffix in (".c", ".S")}


def headers(files: Iterable[Path]) -> list[Path]:
    """Every header of Ember that `files` include, at any depth."""
    waiting = list(files)
    headers: set[Path] = set()
    while waiting:
        for header in _included(waiting.pop()):
            if header not in headers:
                headers.add(header)
                waiting.append(header)
    return sorted(headers)


def _included(file: Path) -> Iterator[Path]:
    try:
        text = file.read_text(encoding="utf-8", errors="surrogateescape")
    except OSError as error:
        raise SdkError(f"cannot read {file}: {error.strerror}") from error
    for name in _INCLUDE.findall(text):
        for folder in (file.parent, *include_folders()):
            if (folder / name).is_file():
                yield (folder / name).resolve()
                break


def include_folders() -> tuple[Path, ...]:
    """Where headers are searched for."""
    return (
        paths.runtime() / "include",
        paths.root(),
        paths.kernels() / "intrinsics",
    )
