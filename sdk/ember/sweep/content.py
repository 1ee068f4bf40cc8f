"""A case becomes bytes that travel once, under their hash, and a case again."""

from __future__ import annotations

import hashlib
import io
import os
import shutil
import tempfile
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from ember import files, paths
from ember.cases import BUNDLE, CASE_FILE, MODEL, Found
from ember.errors import SdkError

_KINDS = (".npy", ".ptd")
_NAMES = (CASE_FILE, MODEL, BUNDLE)
_LEAST_DATE = (1980, 1, 1, 0, 0, 0)  # of a ZIP; the same bytes whenever it is made


@dataclass(frozen=True)
class CaseContent:
    """What a case consists of; `digest` is the same for equal files."""

    location: Found
    digest: str

    def packed(self) -> bytes:
        """The files of the case as they are now. SdkError where they have changed."""
        held = _files(self.location)
        if _digest(held) != self.digest:
            raise SdkError(f"{self.location.path} changed during the sweep")
        stream = io.BytesIO()
        with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, content in held.items():
                archive.writestr(zipfile.ZipInfo(name, _LEAST_DATE), content)
        return stream.getvalue()


def of(location: Found) -> CaseContent:
    return CaseContent(location, _digest(_files(location)))


def _files(location: Found) -> dict[str, bytes]:
    if location.path.is_file():
        return {BUNDLE: files.read(location.path)}
    return {
        path.name: files.read(path)
        for path in sorted(location.path.iterdir())
        if path.name in _NAMES or path.suffix in _KINDS
    }


def _digest(held: dict[str, bytes]) -> str:
    hashed = hashlib.sha256()
    for name, content in held.items():
        hashed.update(name.encode() + b"\0" + hashlib.sha256(content).digest())
    return hashed.hexdigest()


def unpacked(digest: str, fetch: Callable[[], bytes]) -> Path:
    """The folder of a case in this computer's cache; `fetch` gives what is not there.

    SdkError where what came is another case's.
    """
    top = paths.cache() / "sweep"
    place = top / digest
    if place.is_dir():
        return place
    paths.writable_folder(top)
    aside = Path(tempfile.mkdtemp(prefix=f"{digest}.", dir=top))
    try:
        _write(fetch(), aside)
        location = Found(digest, aside)
        if _digest(_files(location)) != digest:
            raise SdkError(f"the contents of case {digest[:16]} came damaged")
        _keep(aside, place)
    finally:
        shutil.rmtree(aside, ignore_errors=True)
    return place


def _write(packed: bytes, folder: Path) -> None:
    with zipfile.ZipFile(io.BytesIO(packed)) as archive:
        for name in archive.namelist():
            (folder / Path(name).name).write_bytes(archive.read(name))


def _keep(aside: Path, place: Path) -> None:
    try:
        os.rename(aside, place)  # noqa: PTH104 - Path.rename is no different
    except OSError:
        if not place.is_dir():  # else another process was faster
            raise
