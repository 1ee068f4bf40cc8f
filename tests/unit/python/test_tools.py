"""The tools of the repository: each is described in a line."""

from __future__ import annotations

import re
from pathlib import Path

TOOLS = Path(__file__).resolve().parents[3] / "tools"
FOLDERS = {
    "benchmarks",
    "calls",
    "corpus",
    "evidence",
}  # of scripts


def test_the_page_lists_each_tool() -> None:
    text = (TOOLS / "README.md").read_text(encoding="utf-8")
    listed = re.findall(r"^\| `([\w.]+)/?` \|", text, re.M)
    assert len(listed) == len(set(listed))
    tools = {
        path.name
        for path in TOOLS.iterdir()
        if path.suffix in ("", ".py", ".sh", ".c") and path.name != "__pycache__"
    }
    assert set(listed) == tools - FOLDERS
    assert all(f"`{folder}/`" in text or f"({folder}/" in text for folder in FOLDERS)
