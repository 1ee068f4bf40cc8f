"""A build folder: its JSON files, the stamp of what it holds, one build at a time."""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ember import writing
from ember.build import indented
from ember.errors import SdkError
from ember.files import documents

_STAMP = "build.json"
CERTIFICATE = "certificate.json"  # in 5-firmware


def is_built(folder: Path, key: str) -> bool:
    return held(folder) == key


def held(folder: Path) -> str | None:
    """The key of what the folder holds; None: nothing whole."""
    try:
        stamp = documents.read_json(folder / _STAMP)
    except SdkError:
        return None
    key = stamp.get("key") if isinstance(stamp, dict) else None
    return key if isinstance(key, str) else None


@contextlib.contextmanager
def filled(folder: Path, key: str) -> Iterator[Path]:
    """A temporary folder for artefacts, which then replace those of an older build.

    Other files in `folder` stay.
    """
    with writing.aside(folder) as place:
        yield place
        _clean(folder)
        for entry in sorted(place.iterdir()):
            target = folder / entry.name
            if target.is_dir() and not target.is_symlink():
                shutil.rmtree(target)
            entry.rename(target)
        write_json(folder / _STAMP, {"key": key})


@contextlib.contextmanager
def locked(folder: Path, key: str, before: str | None) -> Iterator[bool]:
    """Locks a folder for one build; yields whether it holds `key` already.

    `before` is what it held when the command began. SdkError when another command has
    put something else there since: one of the two would be lost.
    """
    with writing.locked(folder, wait=True):
        there = held(folder)
        if there not in (key, before, None):
            raise writing.busy(folder)
        yield there == key


def _clean(folder: Path) -> None:
    """Forget an older build."""
    (folder / _STAMP).unlink(missing_ok=True)
    names = ("[1-3]-*.json", "4-package", "5-firmware", "6-run")
    for path in (path for pattern in names for path in folder.glob(pattern)):
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink()


def write_json(path: Path, facts: Any) -> None:
    text = f"{indented.text(facts)}\n"
    path.write_text(text, encoding="utf-8", errors="backslashreplace")


def read_json(path: Path) -> dict[str, Any]:
    content: dict[str, Any] = documents.read_json(path)
    return content
