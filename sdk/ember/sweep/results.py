"""Results become a SQLite file, which several runs of a sweep share.

A point is stored once, under its key; a run is a list of keys. So a run that was
stopped keeps what it had done, and two runs can be compared.

A file may come from somebody else: it must have our tables, without views or triggers
in their place, each value must have its type, and the time and memory of reading are
bounded by the size of the file.
"""

from __future__ import annotations

import contextlib
import importlib.util
import io
import sqlite3
import time
import typing
from collections.abc import Iterator, Sequence
from dataclasses import asdict, astuple, dataclass, fields
from pathlib import Path
from typing import Any

from ember import __version__, writing
from ember.errors import SdkError, UsageError
from ember.output import counted
from ember.sweep.points import Point
from ember.sweep.work import STATUSES, PointResult

_VERSION = 3
_MOST_KEYS = 500  # of one question
_MOST_TEXT = 1 << 24  # bytes of a value
_LEAST_READ = 1 << 28  # bytes of all texts that any file may give
_STEPS = 1_000_000  # of SQLite's machine, between two looks at how many there were
_STEPS_OF_BYTE = 10  # of the file: for a row of 100 bytes, about 40 are needed
_LAST_TIME = 253_402_300_799  # the year 9999
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
# From older files, by version. That of 1 did not say what a program consisted of; until
# 2, unmeasured `instructions` were those of all executions of a case.
_OLDER = {
    1: "ALTER TABLE members ADD COLUMN content TEXT NOT NULL DEFAULT '';",
    2: "UPDATE points SET instructions = NULL WHERE ram IS NULL;",
}


@dataclass(frozen=True)
class SweepRun:
    """A run of a sweep. `ended`: None if it was stopped."""

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
        """What identifies the point in every run."""
        return self.program, self.board, self.options


class Results:
    """An open file, for one thread at a time. Each addition is one transaction."""

    def __init__(self, path: Path, *, new: bool = True) -> None:
        """Opens the file. Raises SdkError if it is something else, or missing and not
        `new`: then it is opened read-only."""
        if not new and not path.is_file():
            raise UsageError(f"{path} does not exist", "give the results of a sweep")
        self.path = path
        self._version = _VERSION
        try:
            if new:
                writing.need_file(path)
            name = f"{path.absolute().as_uri()}?mode={'rwc' if new else 'ro'}"
            self._base = sqlite3.connect(
                name, timeout=60, uri=True, check_same_thread=False
            )
            self._base.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _MOST_TEXT)
            self._base.execute("PRAGMA trusted_schema = OFF")
            self._make_tables(new=new)
            self._check_tables()
            if new:
                self._base.execute("PRAGMA synchronous = NORMAL")
        except sqlite3.OperationalError as error:  # of the disk, or a lock
            verb = "write" if new else "read"
            raise SdkError(f"cannot {verb} {path}: {error}") from error
        except sqlite3.Error as error:
            raise self._other(str(error)) from error

    def _other(self, why: str) -> SdkError:
        return SdkError(f"{self.path} holds no results of this Ember: {why}")

    def _make_tables(self, *, new: bool) -> None:
        """Makes all tables, or none."""
        (self._version,) = self._base.execute("PRAGMA user_version").fetchone()
        empty = not self._base.execute("SELECT 1 FROM sqlite_master").fetchone()
        if empty and new:
            self._base.executescript(_TABLES)
            self._version = _VERSION
        elif self._version in _OLDER and not empty:
            if new:
                steps = "".join(_OLDER[step] for step in range(self._version, _VERSION))
                done = f"PRAGMA user_version = {_VERSION}; COMMIT;"
                self._base.executescript(f"BEGIN; {steps} {done}")
                self._version = _VERSION
        elif self._version != _VERSION or empty:
            raise sqlite3.DatabaseError("it has other tables")

    def _check_tables(self) -> None:
        """Checks that tables and columns are ours and that no trigger or view acts."""
        asked = "SELECT lower(name) FROM sqlite_master WHERE type = 'table'"
        tables = {row[0] for row in self._base.execute(f"{asked} AND rootpage > 0")}
        triggers = "SELECT 1 FROM sqlite_master WHERE type = 'trigger'"
        if not {"runs", "points", "members"} <= tables or (
            self._base.execute(triggers).fetchone()
        ):
            raise sqlite3.DatabaseError("it has other tables")
        for table in ("runs", "points", "members"):
            columns = self._base.execute(f"PRAGMA table_xinfo({table})")
            if any(hidden for *_, hidden in columns):
                raise sqlite3.DatabaseError(
                    f"columns of its table {table} are computed"
                )

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
        """Stores what a run consists of, replacing a run of the same name."""
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
        """The keys that already have results."""
        keys = list(dict.fromkeys(point.key for point in points))
        stored: set[str] = set()
        for start in range(0, len(keys), _MOST_KEYS):
            part = keys[start : start + _MOST_KEYS]
            marks = ", ".join("?" * len(part))
            asked = f"SELECT key FROM points WHERE key IN ({marks})"  # noqa: S608
            stored.update(key for (key,) in self._asked(asked, part, (str,)))
        return stored

    def _asked(
        self, asked: str, values: Sequence[str], types: Sequence[Any]
    ) -> Iterator[tuple[Any, ...]]:
        """The rows of an answer, each value of its type, within limits of steps and
        memory that follow from the size of the file."""
        size = self.path.stat().st_size
        steps = iter(range(1 + _STEPS_OF_BYTE * size // _STEPS))
        self._base.set_progress_handler(lambda: next(steps, None) is None, _STEPS)
        left = max(_LEAST_READ, 4 * size)
        try:
            for row in self._base.execute(asked, values):
                left -= sum(len(value) for value in row if isinstance(value, str))
                if left < 0:
                    raise self._other("its texts repeat too often")
                if not all(map(isinstance, row, types)):
                    raise self._other("a value is not of its column's type")
                yield row
        except sqlite3.Error as error:
            too_long = "reading it takes too long for its size"
            interrupted = str(error) == "interrupted"
            raise self._other(too_long if interrupted else str(error)) from error
        finally:
            self._base.set_progress_handler(None, 0)

    def runs(self) -> list[SweepRun]:
        """All runs, oldest first."""
        asked = "SELECT name, began, ended, version, sdk FROM runs ORDER BY began"
        runs = [SweepRun(*row) for row in self._asked(asked, (), _types_of(SweepRun))]
        times = [time for run in runs for time in (run.began, run.ended or 0)]
        if not all(0 <= time <= _LAST_TIME for time in times):
            raise self._other("a run is of no year")
        return runs

    def run(self, name: str | None) -> SweepRun:
        """The newest run, or the one with a name. Raises UsageError without one."""
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
        """The points of a run that have results, in its order."""
        columns = ", ".join(f"points.{name}" for name in _COLUMNS)
        if self._version < 3:  # a file that is only read, not brought to today's form
            counted_only = "iif(points.ram IS NULL, NULL, points.instructions)"
            columns = columns.replace("points.instructions", counted_only)
        content = "content" if self._version > 1 else "''"
        asked = (
            f"SELECT program, board, options, {content}, {columns} FROM members"  # noqa: S608
            " JOIN points USING (key) WHERE run = ? ORDER BY place"
        )
        types = (str, str, str, str, *_types_of(PointResult))
        rows = [
            PointRow(program, board, options, content, PointResult(*facts))
            for program, board, options, content, *facts in self._asked(
                asked, (run.name,), types
            )
        ]
        if not all(row.result.status in STATUSES for row in rows):
            raise self._other("a point has another status than passed, failed, error")
        return rows


def _types_of(kind: type) -> list[Any]:
    """The types of a class's fields; a whole number is also a valid float."""
    hints = typing.get_type_hints(kind)
    types = [hints[field.name] for field in fields(kind)]
    return [hint | int if isinstance(0.5, hint) else hint for hint in types]


# ---- Parquet, for pandas, DuckDB and others ------------------------------------------


_COUNTS = ("instructions", "load", "cycles", "ram", "flash")
_NUMBERS = ("max_abs_diff", "seconds")


def need_parquet() -> None:
    """Raises SdkError if the library that writes Parquet is missing."""
    if importlib.util.find_spec("pyarrow") is None:
        raise SdkError(
            "--parquet needs pyarrow, which is not installed",
            hint="pip install 'ember[sweep]'",
        )


def write_parquet(path: Path, rows: Sequence[PointRow]) -> None:
    """Writes a column for each fact: integers, doubles and texts."""
    import pyarrow
    from pyarrow import parquet

    table = pyarrow.Table.from_pylist(
        [
            {"program": row.program, "board": row.board, "options": row.options}
            | asdict(row.result)
            for row in rows
        ],
        schema=pyarrow.schema(_columns()),
    )
    stream = io.BytesIO()
    parquet.write_table(table, stream)
    writing.write(path, stream.getvalue())


def _columns() -> list[tuple[str, str]]:
    texts = ("program", "board", "options", "key", "status", "message", "outputs")
    return [
        *((name, "string") for name in (*texts, "worker")),
        *((name, "int64") for name in _COUNTS),
        *((name, "float64") for name in _NUMBERS),
    ]
