"""Finds the C sources (of a checkout or a wheel) and the cache folder."""

from __future__ import annotations

import functools
import os
from pathlib import Path

from ember.errors import SdkError

_NO_CMAKE = ';"\\$#'  # in the path of a build tree
_PACKAGE = Path(__file__).resolve().parent


@functools.cache
def root() -> Path:
    """The folder with runtime_c/, backends/, kernels/, boards/ and toolchains/."""
    checkout = _PACKAGE.parent.parent
    if (checkout / "pyproject.toml").is_file() and (checkout / "sdk").is_dir():
        return checkout
    data = _PACKAGE / "_data"
    if data.is_dir():
        return data
    raise SdkError(
        f"the C sources of Ember are missing beside {_PACKAGE}",
        hint="install Ember again: pip install --force-reinstall ember",
    )


def package() -> Path:
    """The Python package, on whose modules builds depend."""
    return _PACKAGE


def runtime() -> Path:
    return root() / "runtime_c"


def backends() -> Path:
    return root() / "backends"


def kernels() -> Path:
    return root() / "kernels"


def boards() -> Path:
    return root() / "boards"


def toolchains() -> Path:
    return root() / "toolchains"


def cmake() -> Path:
    """The CMake package."""
    return root() / "cmake"


def examples() -> Path:
    return root() / "examples"


def platformio() -> Path:
    """The templates of PlatformIO's platform."""
    return root() / "platformio"


def plugin() -> Path:
    """The sources of the emulator plugin that counts instructions."""
    return root() / "tools" / "plugin"


def cache() -> Path:
    """The folder for compiled libraries, made when it does not exist.

    $EMBER_CACHE, or ember/ below $XDG_CACHE_HOME or ~/.cache.
    """
    chosen = os.environ.get("EMBER_CACHE")
    if chosen:
        folder = Path(chosen).expanduser()
    else:
        base = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
        folder = Path(base).expanduser() / "ember"
    need_nameable(folder.absolute(), _NO_CMAKE)
    return writable_folder(folder.absolute(), "set EMBER_CACHE to a writable folder")


def text(path: Path | str) -> str:
    """A path as text; bytes that are not UTF-8 become replacement characters."""
    return os.fsencode(path).decode("utf-8", "replace")


def need_nameable(path: Path, signs: str = ";") -> None:
    """Raises SdkError if the path has one of `signs`, which CMake cannot express."""
    wrong = [
        character
        for character in str(path)
        if character in signs or ord(character) < ord(" ")
    ]
    if wrong:
        raise SdkError(
            f"the path {text(path)!r} contains {wrong[0]!r}, which CMake cannot handle",
            hint="choose another folder; letters, digits, spaces and most punctuation"
            " work",
        )


def need_folder(folder: Path, hint: str | None = None) -> None:
    """Raises SdkError if `folder` can neither be made nor written; makes nothing.

    For commands that work for a long time before they write.
    """
    there = next(
        place for place in (folder, *folder.absolute().parents) if place.exists()
    )
    if not there.is_dir():
        raise _unwritable(folder, f"{there} is a file", hint)
    if not os.access(there, os.W_OK | os.X_OK):
        raise _unwritable(folder, "permission denied", hint)


def writable_folder(folder: Path, hint: str | None = None) -> Path:
    """Makes `folder` and its parents. Raises SdkError if that is impossible."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise _unwritable(folder, error.strerror or str(error), hint) from error
    if not os.access(folder, os.W_OK | os.X_OK):
        raise _unwritable(folder, "permission denied", hint)
    return folder


def _unwritable(folder: Path, reason: str, hint: str | None) -> SdkError:
    return SdkError(
        f"cannot write the folder {folder}: {reason}",
        hint=hint or "choose another folder or change its permissions",
    )
