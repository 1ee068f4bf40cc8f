"""Slow results are cached on disk until their inputs change.

One file for each question: another answer to it replaces the last one. What compilers
make has a digest beside it, by which damage is found and made good.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import json
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from ember import paths, progress, writing
from ember.errors import SdkError

_IN_USE_S = 600  # a process that found it reads it by then
_FRESH_NS = 2_000_000_000  # a file touched since may be touched again at the same time


def kept(question: str, of: str, answer: Callable[[], Any]) -> Any:
    """The result of `answer`, which is called only if `of` differs from the last time.

    The result is plain data; data that JSON would change is not cached.
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
    """Whether the cache has a file or folder as put() left it; marks it as used now.
    Reports and deletes a damaged one."""
    stamp = _stamp(str(place))
    if stamp is None or not _sums(place).is_file():
        return False
    try:
        whole = _checked.get(place) == stamp or _sum(place) in _sums(place).read_text(
            encoding="utf-8"
        )
    except FileNotFoundError:  # another process forgot it
        return False
    if not whole:
        progress.say(f"ember: {place} was damaged: it is made again")
        forget(place)
        return False
    with contextlib.suppress(OSError):  # another user's
        os.utime(place)
    if (stamp := _stamp(str(place))) is not None:
        _checked[place] = stamp
    return True


def put(source: Path, place: Path) -> None:
    """Moves a file, or a folder of files, to its place in the cache. If several
    processes do so at the same time, each finds a complete one."""
    seal(source, place)
    try:
        source.replace(place)
    except OSError:
        if not source.is_dir() or not place.is_dir():
            raise  # else another process was faster


def write(place: Path, content: bytes) -> None:
    """Puts the content of a file into the cache."""
    with tempfile.TemporaryDirectory(dir=place.parent) as folder:
        source = Path(folder) / place.name
        source.write_bytes(content)
        put(source, place)


def seal(source: Path, place: Path) -> None:
    """Writes the coming content of `place` to the disk, with the digest for found()."""
    for path in _files(source):
        with path.open("rb") as file:
            os.fsync(file.fileno())
    with _sums(place).open("a", encoding="utf-8") as file:
        file.write(f"{_sum(source)}\n")
        file.flush()
        os.fsync(file.fileno())


def forget(place: Path) -> None:
    """Deletes a file or folder of the cache."""
    if place.is_dir():
        shutil.rmtree(place, ignore_errors=True)
    else:
        place.unlink(missing_ok=True)
    _sums(place).unlink(missing_ok=True)


_checked: dict[Path, tuple[int, ...]] = {}  # what this process found whole, as it was


def _sums(place: Path) -> Path:
    """The file of digests. It has several if contents differ between processes."""
    return place.with_name(f"{place.name}.sum")


def _sum(place: Path) -> str:
    hashed = hashlib.sha256()
    for path in _files(place):
        hashed.update(b"" if path == place else path.name.encode() + b"\0")
        hashed.update(hashlib.sha256(path.read_bytes()).digest())
    return hashed.hexdigest()


def _files(place: Path) -> list[Path]:
    return sorted(place.iterdir()) if place.is_dir() else [place]


def forget_old(places: Iterable[Path], most: int) -> None:
    """Deletes the files and folders that were unused for longest, down to `most`.

    Recently used ones stay: another process may have found one and be about to read it.
    """
    now = time.time()
    ages = sorted((now - used, path) for path in places if (used := _used(path)))
    for age, old in ages[most:]:
        if age >= _IN_USE_S:
            forget(old)


def _used(place: Path) -> float | None:
    """When it was last used; None: another process deleted it."""
    try:
        return place.stat().st_mtime
    except FileNotFoundError:
        return None


def digest(root: Path, files: Iterable[str]) -> bytes:
    """A hash of the paths and contents of files below `root`; a file is read only if it
    was touched."""
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
    """The files below a folder whose names end in one of `suffixes`, except some."""
    matching = []
    for folder, folders, names in os.walk(top):
        folders[:] = [name for name in folders if f"{folder}/{name}" not in skipped]
        matching += [f"{folder}/{name}" for name in names if name.endswith(suffixes)]
    return matching


def _stamp(path: str) -> tuple[int, ...] | None:
    """Facts that change with a file; None: it is being replaced."""
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
