"""Rows become a Parquet file, for pandas, DuckDB and others."""

from __future__ import annotations

import importlib.util
import io
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from ember import writing
from ember.errors import SdkError
from ember.sweep.results import PointRow

_COUNTS = ("instructions", "load", "cycles", "ram", "flash")
_NUMBERS = ("max_abs_diff", "seconds")


def need() -> None:
    """SdkError where the library that writes it is missing."""
    if importlib.util.find_spec("pyarrow") is None:
        raise SdkError(
            "--parquet needs pyarrow, which is not installed",
            hint="pip install 'ember[sweep]'",
        )


def write(path: Path, rows: Sequence[PointRow]) -> None:
    """A column for each fact: integers, doubles and texts."""
    import pyarrow
    from pyarrow import parquet

    table = pyarrow.Table.from_pylist(
        [
            {"program": row.program, "board": row.board, "options": row.options}
            | asdict(row.result)
            for row in rows
        ],
        schema=pyarrow.schema(_fields()),
    )
    stream = io.BytesIO()
    parquet.write_table(table, stream)
    writing.write(path, stream.getvalue())


def _fields() -> list[tuple[str, str]]:
    texts = ("program", "board", "options", "key", "status", "message", "outputs")
    return [
        *((name, "string") for name in (*texts, "worker")),
        *((name, "int64") for name in _COUNTS),
        *((name, "float64") for name in _NUMBERS),
    ]
