"""Results become a SQLite file, which several runs of a sweep share.

A point is stored once, under its key; a run is a list of keys. So a run that was
stopped finds what it had done, and two runs can be compared.
"""

from __future__ import annotations

import contextlib
import sqlite3
import time
from collections.abc import Iterator, Sequence
from dataclasses import astuple, dataclass, fields
from pathlib import Path

from ember import __version__, writing
from ember.errors import SdkError, UsageError
from ember.output import counted
from ember.sweep.points import Point
from ember.sweep.work import PointResult

_VERSION = 2
_MOST_KEYS = 500  # of one question
_COLUMNS = tuple(field.name for field in fields(PointResult))
_TABLES = f"""
BEGIN;
CREATE TABLE runs (
    name TEXT PRIMARY KEY, began REAL NOT NULL, ended REAL, version TEXT NOT NULL,
    sdk TEXT NOT NULL, settings TEXT NOT NULL);
CREATE TABLE points ({", ".join(_COLUMNS)}, PRIMARY KEY (key)) WITHOUT ROWID;
CREATE TABLE members (
    run TEXT NOT NULL, place INTEGER NOT NULL, key TEXT NOT NULL, program TEXT NOT NULL,
    board TEXT NOT NULL, options TEXT NOT NULL, content TEXT NOT NULL,
    PRIMARY KEY (run, place)) WITHOUT ROWID;
PRAGMA user_version = {_VERSION};
COMMIT;
"""
# From files of version 1, which did not say what a program consisted of.
_FROM_1 = f"""
BEGIN;
ALTER TABLE members ADD COLUMN content TEXT NOT NULL DEFAULT '';
PRAGMA user_version = {_VERSION};
COMMIT;
"""


@dataclass(frozen=True)
class SweepRun:
    """A sweep of a day. `ended`: None where it was stopped."""

    name: str
    began: float  # seconds since 1970
    ended: float | None
    version: str  # of Ember
    sdk: str  # a digest of its sources


@dataclass(frozen=True)
class PointRow:
    """A point of a run, with its result."""

    program: str
    board: str
    options: str
    content: str  # a digest of the case's files; '': not recorded
    result: PointResult

    @property
    def place(self) -> tuple[str, str, str]:
        """What names it in every run."""
        return self.program, self.board, self.options


class Results:
    """An open file. Each batch is a transaction: a power cut loses at most one."""

    def __init__(self, path: Path, *, new: bool = True) -> None:
        """SdkError where the file is of something else, or missing and not `new`."""
        if not new and not path.is_file():
            raise UsageError(f"{path} does not exist", "give the results of a sweep")
        writing.need_file(path)
        self.path = path
        try:
            self._base = sqlite3.connect(path, timeout=60)
            self._make_tables(new=new)
            self._base.execute("PRAGMA synchronous = NORMAL")
        except sqlite3.OperationalError as error:  # of the disk, or a lock
            raise SdkError(f"cannot write {path}: {error}") from error
        except sqlite3.Error as error:
            raise SdkError(f"{path} holds no results of this Ember: {error}") from error

    def _make_tables(self, *, new: bool) -> None:
        """All of them at once, or none."""
        (version,) = self._base.execute("PRAGMA user_version").fetchone()
        empty = not self._base.execute("SELECT 1 FROM sqlite_master").fetchone()
        if empty and new:
            self._base.executescript(_TABLES)
        elif version == 1 and not empty:
            self._base.executescript(_FROM_1)
        elif version != _VERSION or empty:
            raise sqlite3.DatabaseError("it has other tables")

    def close(self) -> None:
        self._base.close()

    @contextlib.contextmanager
    def _writes(self) -> Iterator[sqlite3.Connection]:
        try:
            with self._base:
                yield self._base
        except sqlite3.Error as error:
            raise SdkError(f"cannot write {self.path}: {error}") from error

    # ---- a run -----------------------------------------------------------------------

    def begin(
        self, name: str, sdk: str, settings: str, points: Sequence[Point]
    ) -> None:
        """Store what a run consists of, in the place of one of the same name."""
        facts = (name, time.time(), None, __version__, sdk, settings)
        with self._writes() as base:
            base.execute("DELETE FROM members WHERE run = ?", (name,))
            base.execute(
                "INSERT OR REPLACE INTO runs VALUES (?, ?, ?, ?, ?, ?)",
                facts,
            )
            base.executemany(
                "INSERT INTO members VALUES (?, ?, ?, ?, ?, ?, ?)",
                (
                    (
                        name,
                        i,
                        point.key,
                        point.program,
                        point.board.name,
                        point.option.text,
                        point.content.digest,
                    )
                    for i, point in enumerate(points)
                ),
            )

    def add(self, results: Sequence[PointResult]) -> None:
        marks = ", ".join("?" * len(_COLUMNS))
        with self._writes() as base:
            base.executemany(
                f"INSERT OR REPLACE INTO points VALUES ({marks})",  # noqa: S608 - ours
                map(astuple, results),
            )

    def end(self, name: str) -> None:
        with self._writes() as base:
            base.execute(
                "UPDATE runs SET ended = ? WHERE name = ?", (time.time(), name)
            )

    # ---- reading ---------------------------------------------------------------------

    def known(self, points: Sequence[Point]) -> set[str]:
        """The keys that have results."""
        keys = list(dict.fromkeys(point.key for point in points))
        stored: set[str] = set()
        for start in range(0, len(keys), _MOST_KEYS):
            part = keys[start : start + _MOST_KEYS]
            marks = ", ".join("?" * len(part))
            asked = f"SELECT key FROM points WHERE key IN ({marks})"  # noqa: S608
            stored.update(key for (key,) in self._base.execute(asked, part))
        return stored

    def runs(self) -> list[SweepRun]:
        """The oldest first."""
        asked = "SELECT name, began, ended, version, sdk FROM runs ORDER BY began"
        return [SweepRun(*row) for row in self._base.execute(asked)]

    def run(self, name: str | None) -> SweepRun:
        """The newest, or the one of that name. UsageError where there is none."""
        known = self.runs()
        named = [run for run in known if name in (None, run.name)]
        if not named:
            names = ", ".join(run.name for run in known)
            raise UsageError(
                f"{self.path} has no run {name}" if known else f"{self.path} is empty",
                f"it has {counted(len(known), 'run')}: {names}" if known else None,
            )
        return named[-1]

    def rows(self, run: SweepRun) -> list[PointRow]:
        """What a run consists of and is known, in its order."""
        columns = ", ".join(f"points.{name}" for name in _COLUMNS)
        asked = (
            f"SELECT program, board, options, content, {columns} FROM members"  # noqa: S608
            " JOIN points USING (key) WHERE run = ? ORDER BY place"
        )
        return [
            PointRow(program, board, options, content, PointResult(*facts))
            for program, board, options, content, *facts in self._base.execute(
                asked, (run.name,)
            )
        ]
