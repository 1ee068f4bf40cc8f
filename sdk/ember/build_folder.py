"""A build folder: its JSON files, the stamp of what it holds, one build at a time."""

from __future__ import annotations

import contextlib
import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ember import documents, writing
from ember.errors import SdkError

_STAMP = "build.json"


def is_built(folder: Path, key: str) -> bool:
    try:
        stamp = documents.read_json(folder / _STAMP)
    except SdkError:
        return False
    return isinstance(stamp, dict) and stamp.get("key") == key


def stamp(folder: Path, key: str) -> None:
    """Note what the folder holds, once it is whole."""
    write_json(folder / _STAMP, {"key": key})


@contextlib.contextmanager
def filled(folder: Path, key: str) -> Iterator[Path]:
    """A folder aside to make artefacts in, which then stand in `folder` instead of an
    older build's; files that are not ours stay."""
    with writing.aside(folder) as place:
        yield place
        _clean(folder)
        for made in sorted(place.iterdir()):
            target = folder / made.name
            if target.is_dir() and not target.is_symlink():
                shutil.rmtree(target)
            made.rename(target)
        stamp(folder, key)


@contextlib.contextmanager
def locked(folder: Path, key: str) -> Iterator[bool]:
    """One build at a time in a folder; whether it holds what `key` says.

    SdkError when another command has just put something else there: one of the two
    would be lost.
    """
    with writing.locked(folder, wait=True) as waited:
        is_mine = is_built(folder, key)
        if waited and not is_mine and (folder / _STAMP).is_file():
            raise writing.busy(folder)
        yield is_mine


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
    text = json.dumps(facts, indent=2, ensure_ascii=False)
    path.write_text(f"{text}\n", encoding="utf-8", errors="backslashreplace")


def read_json(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = documents.read_json(path)
    return found
