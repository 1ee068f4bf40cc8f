"""A build folder: its JSON files, the stamp of what it holds, one build at a time."""

from __future__ import annotations

import contextlib
import fcntl
import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ember import documents
from ember.errors import SdkError

_STAMP = "build.json"


def is_built(folder: Path, key: str) -> bool:
    try:
        stamp = documents.read_json(folder / _STAMP)
    except SdkError:
        return False
    return isinstance(stamp, dict) and stamp.get("key") == key


@contextlib.contextmanager
def locked(folder: Path) -> Iterator[None]:
    """One build at a time in a folder."""
    with (folder / ".lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def stamp(folder: Path, key: str) -> None:
    """Note what the folder holds, once it is whole."""
    write_json(folder / _STAMP, {"key": key})


def clean(folder: Path) -> None:
    """Forget an older build; files that are not ours stay."""
    (folder / _STAMP).unlink(missing_ok=True)
    for pattern in ("[1-3]-*.json", "4-package", "5-firmware", "6-run"):
        for path in folder.glob(pattern):
            if path.is_dir():
                shutil.rmtree(path)
            else:
                path.unlink()


def write_json(path: Path, facts: Any) -> None:
    text = json.dumps(facts, indent=2, ensure_ascii=False)
    path.write_text(f"{text}\n", encoding="utf-8")


def read_json(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = documents.read_json(path)
    return found
