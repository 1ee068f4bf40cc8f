"""A few C files become a shared library of this computer, compiled once and cached."""

from __future__ import annotations

import hashlib
import os
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

from ember import paths
from ember.errors import SdkError
from ember.toolchain import tools

_FLAGS = ("-std=c11", "-O2", "-fPIC", "-shared")


def build(name: str, sources: Sequence[Path], headers: Sequence[Path] = ()) -> Path:
    """The library of `sources`, from the cache folder when they have not changed."""
    digest = hashlib.sha256(" ".join(_FLAGS).encode())
    for file in (*sources, *headers):
        digest.update(file.read_bytes())
    library = paths.cache() / name / f"ember_{name}-{digest.hexdigest()[:16]}.so"
    if library.is_file():
        return library
    paths.writable_folder(library.parent)
    compiler = tools.first("cc", "gcc", "clang", "clang-19")
    with tempfile.TemporaryDirectory(dir=library.parent) as folder:
        linked = Path(folder) / library.name
        words = [compiler, *_FLAGS, *map(str, sources)]
        done = subprocess.run(
            [*words, "-o", str(linked)], check=False, capture_output=True, text=True
        )
        if done.returncode != 0:
            raise SdkError(
                f"cannot compile {name}: {done.stderr.strip()[:300]}",
                hint=f"try it yourself: {' '.join(words)}",
            )
        os.replace(linked, library)  # noqa: PTH105 - atomic, also over another's
    return library
