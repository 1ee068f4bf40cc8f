"""Content becomes complete files or leaves the old ones: made aside, then renamed.

A full disk, an interrupt or a second command in the same folder leaves neither a
partial file nor a partial folder. New files are made in the folder where they belong,
so that renaming copies nothing; only a power cut between two renames can leave a
mixture of old and new files.
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
    """The reason of an error, as a part of a sentence."""
    return _FULL.get(error.errno or 0) or error.strerror or str(error)


def is_full(error: OSError) -> bool:
    """Whether the disk was full."""
    return error.errno in _FULL


def says_full(output: str) -> bool:
    """Whether the output of a tool says that the disk was full."""
    return any(text in output for text in _OUTPUTS)


def full(what: str) -> SdkError:
    """The error for a tool that found the disk full."""
    return SdkError(f"{what}: the disk is full", hint=_ROOM)


def failed(path: Path, error: OSError) -> SdkError:
    """The error for a file or folder that could not be written."""
    hint = "choose a folder that exists and is writable"
    return SdkError(
        f"cannot write {path}: {reason(error)}", hint=_ROOM if is_full(error) else hint
    )


# ---- files -------------------------------------------------------------------------


def write(path: Path, content: bytes) -> None:
    """Writes a file; the old one stays until the new one is complete on the disk."""
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
    """The file to replace, behind links; None if it is a pipe or a device."""
    if not path.exists():
        return _behind_links(path)
    if path.is_dir():
        raise IsADirectoryError(errno.EISDIR, "it is a folder")
    return _behind_links(path) if path.is_file() else None


def _behind_links(path: Path) -> Path:
    # Path.resolve() raises a RuntimeError where links go in circles.
    return Path(os.path.realpath(path)) if path.is_symlink() else path


def _write_through(path: Path, content: bytes) -> None:
    # Without O_NONBLOCK, opening a pipe without a reader would block forever.
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
            file.flush()
            os.fsync(number)
        temporary.chmod(_mode(path))
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def _mode(path: Path) -> int:
    """The permissions of the existing file, or those of a new one."""
    with contextlib.suppress(FileNotFoundError):
        return stat.S_IMODE(path.stat().st_mode)
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask


def need_file(path: Path) -> None:
    """Raises SdkError if `path` cannot become a file, before a long command starts."""
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
    """A file that a long command will write; refused if another command wrote it."""

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
    """Allows one command at a time in a folder; others wait, or are refused."""
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
    """A folder to fill; at the end all its files go into `target`, or none.

    Unchanged files are not touched, so that builds need not repeat. In the folders
    `whole` of `target`, files that the new one lacks are removed.
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
    """A new folder in `target`, which is locked meanwhile; removed at the end."""
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
    """Moves those files of `place` to `target` that differ."""
    files = [path.relative_to(place) for path in _files(place)]
    for folder in dict.fromkeys(file.parent for file in files):
        (target / folder).mkdir(parents=True, exist_ok=True)
    for name in files:
        if not _is_same(place / name, target / name):
            _sync(place / name)
            (place / name).replace(target / name)
    _remove_others(target, whole, {target / name for name in files})


def _sync(path: Path) -> None:
    if not path.is_symlink():
        with path.open("rb") as file:
            os.fsync(file.fileno())


def _remove_others(target: Path, whole: Sequence[str], kept: set[Path]) -> None:
    for name in whole:
        for file in _files(target / name):
            if file not in kept:
                file.unlink()
        for parent, _, _ in os.walk(target / name, topdown=False):
            with contextlib.suppress(OSError):  # it is not empty
                Path(parent).rmdir()


def _files(folder: Path) -> list[Path]:
    """Everything below a folder except folders, including links."""
    below = sorted(folder.rglob("*"))
    return [path for path in below if path.is_symlink() or not path.is_dir()]


def _is_same(new: Path, there: Path) -> bool:
    if new.is_symlink() or there.is_symlink():
        both = new.is_symlink() and there.is_symlink()
        return both and new.readlink() == there.readlink()
    if not there.is_file() or new.stat().st_size != there.stat().st_size:
        return False
    return new.read_bytes() == there.read_bytes()
