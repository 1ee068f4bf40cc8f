"""The user's own kernels become objects, kept in the cache by their content."""

from __future__ import annotations

import contextlib
import hashlib
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from ember import kept, paths
from ember.kernels import KernelList
from ember.kernels.library import Library
from ember.toolchain.libraries import Libraries

_KEPT = 64  # folders of objects


def digest(libraries: Sequence[Library]) -> bytes:
    """A hash of every file that the user's kernels may be made of."""
    hashed = hashlib.sha256()
    for library in libraries:
        for path in library.files():
            hashed.update(str(path.relative_to(library.folder)).encode() + b"\0")
            hashed.update(hashlib.sha256(path.read_bytes()).digest())
    return hashed.digest()


def options(known: KernelList) -> list[str]:
    return [f"-I{library.folder}" for library in known.libraries]


def objects(
    libs: Libraries, known: KernelList, chosen: Mapping[str, Sequence[str]]
) -> list[Path]:
    """Objects of the user's files that `chosen` kernels need, compiled where new."""
    sources = known.user_sources(chosen)
    if not sources:
        return []
    key = hashlib.sha256(libs.key.encode() + digest(known.libraries))
    key.update(str([str(path) for path in sources]).encode())
    top = paths.writable_folder(paths.cache() / "user-kernels")
    folder = top / key.hexdigest()[:16]
    if not kept.found(folder):
        with tempfile.TemporaryDirectory(dir=top) as temporary:
            place = Path(temporary) / "made"
            place.mkdir()
            told = [libs.kernel_option, *options(known)]
            libs.compile(sources, place, told, given=sources)
            with contextlib.suppress(OSError):  # another process was faster
                place.rename(folder)
        kept.forget_old((path for path in top.iterdir() if path.is_dir()), _KEPT)
    return sorted(folder.iterdir())
