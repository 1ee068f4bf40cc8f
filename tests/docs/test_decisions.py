"""The index of decisions names every one by its title."""

from __future__ import annotations

import re
from pathlib import Path

FOLDER = Path(__file__).resolve().parents[2] / "docs" / "decisions"


def test_index() -> None:
    rows = []
    for path in sorted(FOLDER.glob("0*.md")):
        title = re.match(r"# (\d{4})\. (.+)", path.read_text())
        assert title, f"{path.name} has no title such as '# 0001. What was decided'"
        assert path.name.startswith(title[1]), path.name
        rows.append(f"| [{title[1]}]({path.name}) | {title[2]} |")
    index = (FOLDER / "README.md").read_text()
    assert re.findall(r"^\| \[\d.*$", index, re.MULTILINE) == rows
