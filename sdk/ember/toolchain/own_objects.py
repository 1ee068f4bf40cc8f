"""C of the runtime and of packages becomes objects, kept beside the libraries.

Applications, the test runner and consoles are the same in nearly every firmware, and
tables in each that is built of the same models.
"""

from __future__ import annotations

import functools
import hashlib
import tempfile
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from ember import kept, paths

_KEPT = 256  # objects beside one kind of libraries


def _folders() -> tuple[Path, Path]:
    """Where the runtime's sources are that libraries have nothing of."""
    return paths.runtime() / "app", paths.runtime() / "port" / "uart"


def is_ours(source: Path, options: Sequence[str]) -> bool:
    """Whether a source includes only headers beside it and the runtime's: one of the
    runtime, or generated in a folder of `options`."""
    if source.suffix != ".c":  # assembly includes models
        return False
    package = f"-I{source.parent}"
    return source.parent in _folders() or package in options


def place(libraries: Path, source: Path, options: Sequence[str]) -> Path:
    """Where the object is kept: `libraries` is a folder that compiler, flags and all
    other sources name."""
    digest = hashlib.sha256(_headers_of_runtime(_folders()))
    if source.parent not in _folders():
        digest.update(_headers([source.parent]))
    digest.update("\0".join(options).encode() + b"\0" + source.read_bytes())
    return libraries / "own" / f"{source.stem}-{digest.hexdigest()[:16]}.o"


def make(target: Path, compile_to: Callable[[Path], None]) -> None:
    """Compile it, unless it is there."""
    if kept.found(target):
        return
    target.parent.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(dir=target.parent) as folder:
        compiled = Path(folder) / target.name
        compile_to(compiled)
        compiled.replace(target)
    kept.forget_old(target.parent.glob("*.o"), _KEPT)


# As they were when the process first asked, like the libraries' sources.
@functools.cache
def _headers_of_runtime(places: tuple[Path, ...]) -> bytes:
    return _headers(places)


def _headers(places: Iterable[Path]) -> bytes:
    digest = hashlib.sha256()
    for folder in places:
        for path in sorted(folder.glob("*.h")):
            digest.update(path.name.encode() + b"\0")
            digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.digest()
