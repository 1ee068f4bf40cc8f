"""Content becomes files that are whole, or as they were: made aside, then renamed.

A full disk, an interrupt or a second command in the same place leaves no half of a
file and no half of a folder. What is renamed lies in the folder where it goes, so that
nothing is copied; only a power cut between two renames can leave a folder of both.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import shutil
import stat
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from ember import paths
from ember.errors import SdkError

_ASIDE = ".ember-new-"
_FULL = {
    errno.ENOSPC: "the disk is full",
    errno.EDQUOT: "your disk quota is used up",
    errno.EFBIG: "it exceeds the file size limit here",
    errno.EROFS: "the disk is read-only",
    errno.EIO: "the disk failed",
}
_ROOM = "free some space or choose another place; existing files are unchanged"
_OUTPUTS = (
    *("No space left on device", "Disk quota exceeded", "File too large"),
    "File size limit exceeded",
)


def reason(error: OSError) -> str:
    """What went wrong, in the words of a sentence."""
    return _FULL.get(error.errno or 0) or error.strerror or str(error)


def is_full(error: OSError) -> bool:
    """Whether the disk took no more."""
    return error.errno in _FULL


def says_full(output: str) -> bool:
    """Whether a tool says that the disk took no more."""
    return any(text in output for text in _OUTPUTS)


def full(what: str) -> SdkError:
    """The error for a tool that found no room on the disk."""
    return SdkError(f"{what}: the disk is full", hint=_ROOM)


def failed(path: Path, error: OSError) -> SdkError:
    """The error for a file or folder that could not be written."""
    hint = "choose a folder that exists and is writable"
    return SdkError(
        f"cannot write {path}: {reason(error)}", hint=_ROOM if is_full(error) else hint
    )


# ---- files -------------------------------------------------------------------------


def write(path: Path, content: bytes) -> None:
    """Write a file; what stands there stays until all of it is on the disk."""
    try:
        target = _target(path)
        if target is None:  # a pipe or a device
            _write_through(path, content)
        else:
            _replace(target, content)
    except OSError as error:
        raise failed(path, error) from error
    except ValueError as error:  # a zero byte in the path
        raise SdkError(f"{str(path)!r} is not a path: {error}") from error


def _target(path: Path) -> Path | None:
    """The file that is replaced, behind links; None: it is no file."""
    if not path.exists():
        return _behind_links(path)
    if path.is_dir():
        raise IsADirectoryError(errno.EISDIR, "it is a folder")
    return _behind_links(path) if path.is_file() else None


def _behind_links(path: Path) -> Path:
    # Path.resolve() raises a RuntimeError where links go in circles.
    return Path(os.path.realpath(path)) if path.is_symlink() else path


def _write_through(path: Path, content: bytes) -> None:
    # Without O_NONBLOCK a pipe that nobody reads is waited for without end.
    number = os.open(path, os.O_WRONLY | os.O_NONBLOCK)
    os.set_blocking(number, True)
    with os.fdopen(number, "wb", buffering=0) as file:
        view = memoryview(content)
        while view:
            view = view[file.write(view) :]


def _replace(path: Path, content: bytes) -> None:
    number, name = tempfile.mkstemp(prefix=_ASIDE, dir=path.parent)
    temporary = Path(name)
    try:
        with os.fdopen(number, "wb") as file:
            file.write(content)
        temporary.chmod(_mode(path))
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def _mode(path: Path) -> int:
    """The permissions of the file that is there, else of a new one."""
    with contextlib.suppress(FileNotFoundError):
        return stat.S_IMODE(path.stat().st_mode)
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask


def need_file(path: Path) -> None:
    """Raise an SdkError when `path` cannot become a file: for long commands."""
    try:
        is_folder, has_place = path.is_dir(), path.absolute().parent.is_dir()
    except ValueError as error:  # a zero byte in the path
        raise SdkError(f"{str(path)!r} is not a path: {error}") from error
    if is_folder:
        raise SdkError(f"cannot write {path}: it is a folder")
    if not has_place:
        raise SdkError(
            f"cannot write {path}: its folder does not exist",
            hint="create the folder first",
        )


class Claim:
    """A file that a long command will write: refused when another one wrote it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._before = self._identity()
        need_file(path)

    def write(self, content: bytes) -> None:
        if self._identity() != self._before:
            raise SdkError(
                f"another program wrote {self.path} in the meantime",
                hint="run one command at a time, or choose another -o",
            )
        write(self.path, content)

    def _identity(self) -> tuple[int, int] | None:
        try:
            facts = self.path.stat()
        except OSError:
            return None
        return facts.st_ino, facts.st_mtime_ns


# ---- folders -----------------------------------------------------------------------


@contextlib.contextmanager
def locked(folder: Path, *, wait: bool = False) -> Iterator[None]:
    """One command at a time in a folder; the others wait, or are refused."""
    number = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        try:
            fcntl.flock(number, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        except BlockingIOError:
            raise busy(folder) from None
        yield
    finally:
        os.close(number)


def busy(folder: Path) -> SdkError:
    return SdkError(
        f"another Ember command is writing {folder}",
        hint="wait for it, or give each command its own folder",
    )


@contextlib.contextmanager
def folder(target: Path, whole: Sequence[str] = ()) -> Iterator[Path]:
    """A folder to fill, whose files go into `target` at the end, or not at all.

    Files that are the same are left alone, so that nothing is built again for them.
    Below the folders `whole` of `target` what is not in the new one is removed.
    """
    new_folders = [
        folder for folder in (target, *target.parents) if not folder.exists()
    ]
    paths.writable_folder(target)
    try:
        with locked(target), aside(target) as place:
            yield place
            publish(place, target, whole)
    except BaseException:
        if target in new_folders:  # a part of it may be there already
            shutil.rmtree(target, ignore_errors=True)
        for folder in new_folders:
            with contextlib.suppress(OSError):
                folder.rmdir()
        raise


@contextlib.contextmanager
def aside(target: Path) -> Iterator[Path]:
    """A new folder in `target`, which is locked; it is removed in the end."""
    for old in target.glob(f"{_ASIDE}*"):  # of a command that was killed
        shutil.rmtree(old, ignore_errors=True)
    try:
        with tempfile.TemporaryDirectory(prefix=_ASIDE, dir=target) as name:
            yield Path(name)
    except OSError as error:
        if not is_full(error):
            raise
        raise failed(target, error) from error


def publish(place: Path, target: Path, whole: Sequence[str] = ()) -> None:
    """Move what `place` holds to `target`, where it differs."""
    files = [path.relative_to(place) for path in _files(place)]
    for folder in dict.fromkeys(file.parent for file in files):
        (target / folder).mkdir(parents=True, exist_ok=True)
    for name in files:
        if not _is_same(place / name, target / name):
            (place / name).replace(target / name)
    _remove_others(target, whole, {target / name for name in files})


def _remove_others(target: Path, whole: Sequence[str], kept: set[Path]) -> None:
    for name in whole:
        for file in _files(target / name):
            if file not in kept:
                file.unlink()
        for parent, _, _ in os.walk(target / name, topdown=False):
            with contextlib.suppress(OSError):  # it is not empty
                Path(parent).rmdir()


def _files(folder: Path) -> list[Path]:
    """All below that is no folder, links too."""
    below = sorted(folder.rglob("*"))
    return [path for path in below if path.is_symlink() or not path.is_dir()]


def _is_same(new: Path, there: Path) -> bool:
    if new.is_symlink() or there.is_symlink():
        both = new.is_symlink() and there.is_symlink()
        return both and new.readlink() == there.readlink()
    if not there.is_file() or new.stat().st_size != there.stat().st_size:
        return False
    return new.read_bytes() == there.read_bytes()
