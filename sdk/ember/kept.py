"""What takes time to find is kept in the cache folder, until what it is of changes.

One file for each question: another answer to it replaces the last one.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import json
import os
import shutil
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from ember import paths, writing
from ember.errors import SdkError

_IN_USE_S = 600  # a process that found it reads it by then
_FRESH_NS = 2_000_000_000  # a file touched since may be touched again at the same time


def kept(question: str, of: str, answer: Callable[[], Any]) -> Any:
    """What `answer` says, which is asked when `of` is not what it was the last time.

    It is plain data; what JSON would change is not kept.
    """
    name = hashlib.sha256(question.encode(errors="surrogateescape")).hexdigest()[:16]
    place = Path("kept", f"{name}.json")
    with contextlib.suppress(OSError, SdkError, ValueError, LookupError, TypeError):
        held = json.loads((paths.cache() / place).read_bytes())
        if held["of"] == of:
            return held["answer"]
    value = answer()
    # Whoever has no folder that can be written asks again.
    with contextlib.suppress(OSError, SdkError, ValueError, TypeError, RecursionError):
        text = json.dumps({"of": of, "answer": value})
        if json.loads(text)["answer"] == value:
            paths.writable_folder((paths.cache() / place).parent)
            writing.write(paths.cache() / place, text.encode())
    return value


def found(place: Path) -> bool:
    """Whether a file or folder of the cache is there; then it counts as used now."""
    try:
        os.utime(place)
    except FileNotFoundError:
        return False
    return True


def forget_old(places: Iterable[Path], most: int) -> None:
    """Delete files and folders of the cache, those unused for longest, down to `most`.

    What was used of late stays: another process may have found it and be about to read.
    """
    now = time.time()
    ages = sorted((now - used, path) for path in places if (used := _used(path)))
    for age, old in ages[most:]:
        if age < _IN_USE_S:
            continue
        if old.is_dir():
            shutil.rmtree(old, ignore_errors=True)
        else:
            old.unlink(missing_ok=True)


def _used(place: Path) -> float | None:
    """When it was used last; None: another process forgot it."""
    try:
        return place.stat().st_mtime
    except FileNotFoundError:
        return None


def digest(root: Path, files: Iterable[str]) -> bytes:
    """A hash of files below `root`, of their paths there and what they contain; they
    are read when one of them was touched."""
    ordered = sorted(files)
    stamps = [_stamp(path) for path in ordered]
    newest = max((max(stamp[1:3]) for stamp in stamps if stamp), default=0)
    if None in stamps or time.time_ns() - newest < _FRESH_NS:
        return _read(root, ordered)
    question = "\n".join([f"files of {root}", *ordered])
    facts = hashlib.sha256(repr(stamps).encode()).hexdigest()
    return bytes.fromhex(kept(question, facts, lambda: _read(root, ordered).hex()))


@functools.cache
def modules_digest() -> bytes:
    """A hash of all modules of the SDK."""
    package = paths.package()
    return digest(package, below(f"{package}", (".py",)))


def below(
    top: str, suffixes: tuple[str, ...], skipped: Iterable[str] = ()
) -> list[str]:
    """The files in a folder and those in it, but for some, that end so."""
    matching = []
    for folder, folders, names in os.walk(top):
        folders[:] = [name for name in folders if f"{folder}/{name}" not in skipped]
        matching += [f"{folder}/{name}" for name in names if name.endswith(suffixes)]
    return matching


def _stamp(path: str) -> tuple[int, ...] | None:
    """What changes when a file does; None: an editor replaces it just now."""
    try:
        facts = os.stat(path)  # noqa: PTH116 - many files
    except FileNotFoundError:
        return None
    return facts.st_size, facts.st_mtime_ns, facts.st_ctime_ns, facts.st_ino


def _read(root: Path, ordered: Iterable[str]) -> bytes:
    hashed, start = hashlib.sha256(), len(str(root))
    for path in ordered:
        hashed.update(path[start:].encode(errors="surrogateescape") + b"\0")
        with contextlib.suppress(FileNotFoundError), open(path, "rb") as file:  # noqa: PTH123
            hashed.update(hashlib.sha256(file.read()).digest())
    return hashed.digest()
