# SPDX-License-Identifier: Apache-2.0
"""tools/bench rows: its tables are those of docs/memory.md."""

from __future__ import annotations

from benchmarks import row_memory
from benchmarks.row_memory import Cost

from ember import paths

PAGE = paths.root() / "docs" / "memory.md"


def test_the_page_has_the_tables_that_are_measured() -> None:
    """Heads and models are the same, so a page that is written again keeps all else."""
    page = PAGE.read_text(encoding="utf-8")
    costs = [
        Cost(title, table.head[0].partition(",")[0], core, mode, 10_000, 500)
        for table in row_memory.tables()
        for title, _ in table.rows
        for core in row_memory.CORES
        for mode in table.modes
    ]
    new = row_memory.updated(page, row_memory.tables(), costs)
    before, after = page.splitlines(), new.splitlines()
    assert len(before) == len(after)
    changed = [
        (a, b) for a, b in zip(before, after, strict=True) if a != b and "---" not in a
    ]
    for old, line in changed:
        assert old.split("|")[1].strip() == line.split("|")[1].strip()
        assert "10,000 / 10,000" in line
    assert len(changed) == sum(len(table.rows) for table in row_memory.tables())
