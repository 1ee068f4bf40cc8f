"""Kinds of projects become manifests beside src/, all with the same version.

A template is a file of templates/<kind>/ with placeholders like @VERSION@; its path
there is its path in the package.
"""

from __future__ import annotations

import datetime
import json
import os
import re
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ember import __version__, output, paths
from ember.errors import UsageError
from ember.packaging import sources as sources_of
from ember.quoted import html

_PDSC = "model.pdsc"  # the template; the file is renamed after the pack
DESCRIPTION = "ExecuTorch programs on microcontrollers, without a heap"
LICENSE = "Apache-2.0"
_TEMPLATES = Path(__file__).parent / "templates"
_WORD = re.compile(r"@([A-Z_]+)@")
_NO_NAME = re.compile(r"[^-_A-Za-z0-9]+")


@dataclass(frozen=True)
class PackageKind:
    title: str
    templates: tuple[str, ...]
    needs_model: bool = True


LINUX = "linux"  # compiled, not sources: linux.py
KINDS = {
    "sources": PackageKind("only src/", (), needs_model=False),
    "cmake": PackageKind("a library for add_subdirectory()", ("cmake",)),
    "platformio": PackageKind(
        "a library for lib_deps", ("library",), needs_model=False
    ),
    "zephyr": PackageKind("a module", ("zephyr",)),
    "arduino": PackageKind("a library", ("arduino",)),
    "cmsis-pack": PackageKind("a .pack", ("cmsis-pack",)),
    "esp-idf": PackageKind("a component", ("cmake", "esp-idf")),
    LINUX: PackageKind("a static library and a program for AArch64", ()),
}


def kinds(wanted: Sequence[str], *, models: bool) -> list[str]:
    """The kinds named in `wanted`; if it is empty, every kind that can be written."""
    for name in wanted:
        if name not in KINDS:
            raise UsageError(
                f"there is no package for '{name}'",
                hint=f"one of: {', '.join(KINDS)}",
            )
        if KINDS[name].needs_model and not models:
            raise UsageError(
                f"a package for {name} needs a model, but none was given",
                hint="name a .pte",
            )
    if LINUX in wanted and set(wanted) != {LINUX}:
        raise UsageError(
            "a package for linux is compiled: it needs a separate folder",
            hint="run `ember package` once for linux, and once for the others",
        )
    every = [name for name, kind in KINDS.items() if models or not kind.needs_model]
    every = [name for name in every if name != LINUX]
    return list(dict.fromkeys(wanted)) or every


def write(folder: Path, wanted: Sequence[str], sources: Sequence[str]) -> list[Path]:
    """Write the manifests of the kinds `wanted` into `folder` and return their paths.

    `sources` are the C files below src/.
    """
    pack, date = _pack_name(folder), _date()
    words = {
        "PACK": pack,
        "VERSION": __version__,
        "DESCRIPTION": DESCRIPTION,
        "LICENSE": LICENSE,
        "DATE": date.isoformat(),
        "PACK_FILES": "\n".join(
            f'        <file category="sourceC" name="src/{html(name)}"/>'
            for name in sources
        ),
    }
    written = []
    for template in dict.fromkeys(t for kind in wanted for t in KINDS[kind].templates):
        # PlatformIO's templates are kept with its platform: SCons runs their Python.
        place = paths.platformio() if template == "library" else _TEMPLATES
        written += expand(place / template, folder, words)
    if written:
        licence = folder / "LICENSE"
        output.write_text((paths.root() / "LICENSE").read_text("utf-8"), licence)
        written.append(licence)
    if "cmsis-pack" in wanted:
        description = folder / f"Ember.{pack}.pdsc"
        (folder / _PDSC).replace(description)
        written = [path for path in written if path.name != _PDSC]
        written += [description, _archive(description, date)]
    return written


def _pack_name(folder: Path) -> str:
    """The name of the pack, made of the names of its models."""
    record = folder / sources_of.RECORD
    if not record.is_file():
        return "Ember"
    names = json.loads(record.read_text(encoding="utf-8"))["models"]
    return _NO_NAME.sub("_", "_".join(names))


def _date() -> datetime.date:
    """Today, or the date in SOURCE_DATE_EPOCH, which makes archives reproducible."""
    given = os.environ.get("SOURCE_DATE_EPOCH", "")
    now = datetime.datetime.now(datetime.UTC)
    if given.isdecimal():
        now = datetime.datetime.fromtimestamp(int(given), datetime.UTC)
    return now.date()


def expand(
    template: Path, folder: Path, words: dict[str, str], *, skip: Sequence[str] = ()
) -> list[Path]:
    """Copy a folder of templates, fill in `words`, and return the files written."""
    written = []
    for path in sorted(template.rglob("*")):
        name = path.relative_to(template).as_posix()
        if not path.is_file() or "__pycache__" in name or name in skip:
            continue
        text = path.read_text(encoding="utf-8")
        target = folder / name
        paths.writable_folder(target.parent)
        output.write_text(_WORD.sub(lambda match: words[match[1]], text), target)
        written.append(target)
    return written


def _archive(description: Path, date: datetime.date) -> Path:
    """The .pack: a zip archive of the .pdsc and the files that it names."""
    folder = description.parent
    path = folder / f"{description.stem}.{__version__}.pack"
    files = [description, folder / "LICENSE"]
    files += [file for file in sorted((folder / "src").rglob("*")) if file.is_file()]
    moment = (
        max(date.year, 1980),
        date.month,
        date.day,
        0,
        0,
        0,
    )  # zip cannot store earlier dates
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for file in files:
            name = file.relative_to(folder).as_posix()
            archive.writestr(zipfile.ZipInfo(name, moment), file.read_bytes())
    return path
