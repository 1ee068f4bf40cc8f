"""A table of buffers (id,lower,upper,size, as MiniMalloc's benchmarks) to buffers."""

from __future__ import annotations

import csv
from bisect import bisect_left
from pathlib import Path

from ember.errors import SdkError
from ember.plan.offsets.buffers import Buffer

_COLUMNS = ("id", "lower", "upper", "size")


def read(path: Path) -> dict[str, Buffer]:
    """Buffers by id, alive from moment `lower` up to but without `upper`.

    They need no alignment. SdkError names the line that is wrong.
    """
    try:
        with path.open(newline="", encoding="utf-8") as lines:
            rows = csv.DictReader(lines)
            missing = [name for name in _COLUMNS if name not in (rows.fieldnames or ())]
            if missing:
                raise SdkError(
                    f"{path} has no column {missing[0]!r}",
                    hint=f"its first line names the columns: {','.join(_COLUMNS)}",
                )
            by_id: dict[str, tuple[int, int, int]] = {}
            for row in rows:
                where = f"{path}, line {rows.line_num}"
                if row["id"] in by_id:
                    raise SdkError(f"{where}: id {row['id']} appears twice")
                by_id[row["id"]] = _numbers(row, where)
    except (OSError, UnicodeDecodeError) as error:
        raise SdkError(f"cannot read {path}: {error}") from error
    if not by_id:
        raise SdkError(f"{path} lists no buffers")
    return _buffers(by_id)


def _numbers(row: dict[str, str], where: str) -> tuple[int, int, int]:
    try:
        lower, upper, size = (int(row[name]) for name in _COLUMNS[1:])
    except (TypeError, ValueError):
        raise SdkError(f"{where}: lower, upper, size must be integers") from None
    if not (0 <= lower < upper and 0 <= size < 1 << 40):
        raise SdkError(f"{where}: 0 <= lower < upper and 0 <= size < 2^40 must hold")
    return lower, upper, size


def _buffers(table: dict[str, tuple[int, int, int]]) -> dict[str, Buffer]:
    """Only moments at which a buffer comes alive count; they are numbered."""
    starts = sorted({lower for lower, _, _ in table.values()})
    return {
        name: Buffer(
            size,
            frozenset(range(bisect_left(starts, lower), bisect_left(starts, upper))),
            align=1,
        )
        for name, (lower, upper, size) in table.items()
    }
