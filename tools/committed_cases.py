# SPDX-License-Identifier: Apache-2.0
"""Committed cases by their names. Whole programs are bundles in tests/cases. The others
are written below build/cases when they are needed: folders out of a table of sequences
(sequences.py), calls out of tables (case_tables.py), and those of the scripts in
tests/ops/numpy, which compute what they expect. They stay until what they are made of
changes."""

from __future__ import annotations

import fcntl
import functools
import hashlib
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import case_tables
import sequences

ROOT = Path(__file__).resolve().parents[1]
BUILD = ROOT / "build" / "cases"
NUMPY = case_tables.FOLDER / "numpy"
DIGESTS = NUMPY / "digests.yaml"
PROGRAMS = sequences.FOLDER
_HELPERS = (ROOT / "tests" / "shared", ROOT / "tools")  # on the path of scripts
_TOOLS = ("case_tables.py", "one_call.py", "sequences.py")
_WRITERS = [
    *(ROOT / "tools" / name for name in _TOOLS),
    *sorted((ROOT / "sdk" / "ember" / "program").rglob("*.py")),
    *sorted((ROOT / "sdk" / "ember" / "cases").rglob("*.py")),
]


def programs() -> list[Path]:
    """Folders with all whole programs."""
    return [PROGRAMS, _sequences()]


def matching(pattern: str = "*") -> list[Path]:
    """Whole programs with such names, sorted by them."""
    bundles = PROGRAMS.glob(f"{pattern}.bpte")
    return sorted([*bundles, *_sequences().glob(pattern)], key=lambda path: path.stem)


def path_of(name: str) -> Path:
    """The case with this name: a whole program, as a .bpte or a case folder, or a line
    of a table."""
    bundle = PROGRAMS / f"{name}.bpte"
    if bundle.exists():
        return bundle
    return _sequences() / name if name in sequences.names() else case(name)


def operators() -> list[Path]:
    """Folders with all cases of one call."""
    return [*map(table, case_tables.tables()), *map(script, scripts())]


def scripts() -> list[Path]:
    return sorted(NUMPY.glob("*.py"))


def of_dialect(prefix: str) -> list[Path]:
    """Cases of tables that call an operator with this prefix."""
    return [
        case(name) for name, (_, call) in _entries().items() if call.startswith(prefix)
    ]


def case(name: str) -> Path:
    """The case of a table's line."""
    path, _ = _entries()[name]
    return table(path) / f"{name}.bpte"


@functools.cache
def _entries() -> dict[str, tuple[Path, str]]:
    return {
        name: (path, entry.operator)
        for path in case_tables.tables()
        for name, entry in case_tables.read(path).items()
    }


# ---- writing -------------------------------------------------------------------------


@functools.cache
def _sequences() -> Path:
    """The folder with the case folders of the table of sequences."""
    made_of = [*sequences.files(), *_WRITERS]
    return _kept(BUILD / "sequences", made_of, _write_sequences)


def _write_sequences(folder: Path) -> None:
    for name in sequences.names():
        sequences.save(name, folder)


@functools.cache
def table(path: Path) -> Path:
    """The folder with the cases of a table."""
    made_of = [path, path.with_suffix(".npz"), *_WRITERS]
    return _kept(BUILD / path.stem, made_of, lambda folder: _write(path, folder))


def _write(path: Path, folder: Path) -> None:
    arrays = case_tables.numbers_of(path)
    for entry in case_tables.read(path).values():
        case_tables.save(case_tables.case_of(entry, arrays), folder)


@functools.cache
def script(path: Path) -> Path:
    """The folder with the cases of a script."""
    made_of = [path, *sorted(_HELPERS[0].glob("*.py")), *_WRITERS]
    target = BUILD / "numpy" / path.stem
    return _kept(target, made_of, lambda folder: run(path, folder))


def run(path: Path, folder: Path) -> None:
    """A script writes its cases into the folder that it is run in."""
    search = os.pathsep.join(map(str, (*_HELPERS, ROOT / "sdk")))
    environment = {**os.environ, "PYTHONPATH": search}
    subprocess.run([sys.executable, path], cwd=folder, env=environment, check=True)


def _kept(target: Path, made_of: list[Path], make: Callable[[Path], None]) -> Path:
    """The folder, made if it is not there or was made of something else."""
    key = digest(made_of)
    noted = target.with_name(f".{target.name}")
    target.parent.mkdir(parents=True, exist_ok=True)
    with target.with_name(f".{target.name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not noted.exists() or noted.read_text() != key:
            noted.unlink(missing_ok=True)
            shutil.rmtree(target, ignore_errors=True)
            target.mkdir()
            make(target)
            noted.write_text(key)
    return target


def digests() -> dict[str, str]:
    """Of what each script writes, by its name."""
    return {path.stem: digest_of(script(path)) for path in scripts()}


def write_digests() -> Path:
    """Notes them in DIGESTS."""
    head = "# What the scripts beside this file write: committed_cases.digest_of().\n"
    lines = [f"{name}: '{value}'\n" for name, value in sorted(digests().items())]
    DIGESTS.write_text("".join([head, *lines]), encoding="utf-8")
    return DIGESTS


def digest(paths: list[Path]) -> str:
    return _digest((path.name, path.read_bytes()) for path in paths)


def digest_of(folder: Path) -> str:
    """Of all files below a folder."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return _digest((str(x.relative_to(folder)), x.read_bytes()) for x in files)


def _digest(parts: Iterator[tuple[str, bytes]]) -> str:
    hashed = hashlib.sha256()
    for name, content in parts:
        hashed.update(f"{name}\0{len(content)}\0".encode() + content)
    return hashed.hexdigest()[:16]
