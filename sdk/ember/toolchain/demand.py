"""Symbols become members of libraries, compiled when something needs them.

Where a symbol is defined is guessed from the text of the sources, and then read from
their objects: a wrong guess costs a compilation, no more. A backend is one unit.
"""

from __future__ import annotations

import functools
import hashlib
import json
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from ember import paths, writing
from ember.toolchain import libraries, models, objects
from ember.toolchain.libraries import Libraries

# `status_t ember_name(...` at the start of a line, or EXTREME(ember_name, ...).
_DEFINED = re.compile(
    r"^(?!static\b|typedef\b|extern\b)[A-Za-z_][\w \*]*?\b(ember_\w+)\s*[(\[=;]",
    re.MULTILINE,
)
_BY_MACRO = re.compile(r"^[A-Z]\w*\((ember_\w+)", re.MULTILINE)
_BY_FILE = re.compile(r"ember_(?:kernel_|run_)?(\w+?)(?:_ops)?")


class UnmodelledError(Exception):
    """A file uses an intrinsic without a model: only whole libraries leave it out."""


def members(libs: Libraries, symbols: Iterable[str]) -> list[Path]:
    """The sources of members that define `symbols`, and those that these need.

    They are compiled in the build tree of `made`. UnmodelledError.
    """
    wanted = sorted(set(symbols))
    digest = hashlib.sha256("\n".join(wanted).encode()).hexdigest()[:16]
    record = libs.folder / f"members-{digest}.json"
    if record.is_file():
        return [Path(path) for path in json.loads(record.read_text(encoding="utf-8"))]
    with libraries.locked(libs.config):
        taken = sorted(_Demand(libs).closure(wanted))
    text = json.dumps([str(path) for path in taken])
    writing.write(record, text.encode())
    return taken


class _Demand:
    def __init__(self, libs: Libraries) -> None:
        self._made = libs
        self._places = dict(_all_members(libs))
        self._guess = Guess(self._places)
        self._compiled: dict[Path, objects.Object] = {}

    def closure(self, symbols: Iterable[str]) -> set[Path]:
        taken: set[Path] = set()
        waiting, seen = set(symbols), set()
        while waiting:
            self._compile({path for name in waiting for path in self._guess(name)})
            defining = {
                path
                for path, compiled in self._compiled.items()
                if not waiting.isdisjoint(compiled.defined)
            }
            seen |= waiting
            waiting = {
                name
                for path in defining - taken
                for name in self._compiled[path].needed()
            } - seen
            taken |= defining
        return taken

    def _compile(self, sources: set[Path]) -> None:
        new = {path: self._places[path] for path in sources - self._compiled.keys()}
        if not new:
            return
        tree = self._made.config.build
        targets = [str(target.relative_to(tree)) for target in new.values()]
        libraries.compile_targets(self._made.config, targets)
        if models.read(tree):
            raise UnmodelledError
        for path, object_file in new.items():
            self._compiled[path] = objects.read(object_file)


def _all_members(libs: Libraries) -> Iterator[tuple[Path, Path]]:
    """Each source that may be a member, and its object in the build tree."""
    for path in libs.optional_archives:
        yield from zip(libs.sources(path.stem), libs.members(path.stem), strict=True)


class Guess:
    """The sources that may define a symbol."""

    def __init__(self, sources: Iterable[Path]) -> None:
        self._by_name: dict[str, set[Path]] = {}
        self._by_stem: dict[str, set[Path]] = {}
        for source in sources:
            if source.is_relative_to(paths.backends()):
                first = source.relative_to(paths.backends()).parts[0]
                for entry in ("ember_backend_", "ember_run_"):
                    unit = entry + Path(first).stem
                    self._by_name.setdefault(unit, set()).add(source)
                continue
            self._by_stem.setdefault(source.stem, set()).add(source)
            for name in _names(source):
                self._by_name.setdefault(name, set()).add(source)

    def __call__(self, symbol: str) -> set[Path]:
        match = _BY_FILE.fullmatch(symbol)
        if match is None:  # the C library's
            return set()
        stem = match[1]
        files = self._by_name.get(symbol, set()) | self._by_stem.get(stem, set())
        while not files and "_" in stem:  # NAME_of_something stands in NAME.c
            stem = stem.rpartition("_")[0]
            files = self._by_stem.get(stem, set())
        return files


@functools.cache
def _names(source: Path) -> frozenset[str]:
    text = source.read_text(encoding="utf-8", errors="replace")
    return frozenset((*_DEFINED.findall(text), *_BY_MACRO.findall(text)))
