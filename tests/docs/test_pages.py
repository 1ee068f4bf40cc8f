"""Every command of the documentation runs, in the order of its page."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import follow
import pytest

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
WITH_COMMANDS = [
    page
    for page in PAGES
    if any(block.language == "sh" for block in follow.blocks(page))
]
GENERATED = {"cli.md", "operators.md", "performance.md"}


@pytest.mark.long
@pytest.mark.qemu
@pytest.mark.parametrize("page", WITH_COMMANDS, ids=lambda page: page.stem)
def test_commands_run(page: Path, tmp_path: Path) -> None:
    folder = tmp_path / "checkout"
    folder.mkdir()
    follow.copy_of_checkout(folder)
    python = Path(sys.executable)
    if any("pip install" in block.text for block in follow.blocks(page)):
        python = _fresh_python(tmp_path / "venv")
    assert list(follow.follow(page, folder, python))


def _fresh_python(folder: Path) -> Path:
    """The Python of a new virtual environment, in which nothing is installed."""
    subprocess.run([sys.executable, "-m", "venv", folder], check=True)
    return folder / "bin" / "python"


@pytest.mark.parametrize("page", WITH_COMMANDS, ids=lambda page: page.stem)
def test_options_exist(page: Path) -> None:
    for block in follow.blocks(page):
        if block.language == "sh" and block.word in follow.NOT_RUN:
            follow.check_options(block)


def test_unknown_options_are_found() -> None:
    for line in ("ember flash m.pte --bord x", "ember flush m.pte", "tools/none.py"):
        with pytest.raises(AssertionError):
            follow.check_options(follow.Block("sh", "hardware", line, 1))


def test_a_failing_command_is_told(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("```sh\ntrue\n```\n\n```sh\nfalse\n```\n", encoding="utf-8")
    done = follow.follow(page, tmp_path, Path(sys.executable))
    assert next(done) == "page.md:1: ran 1 lines"
    with pytest.raises(AssertionError, match=r"page\.md:5"):
        next(done)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_no_command_hides_outside_a_block(page: Path) -> None:
    """Indented lines are not followed: commands belong into blocks."""
    if page.name not in GENERATED:
        text = follow.BLOCK.sub("", page.read_text(encoding="utf-8"))
        assert not re.findall(r"^    (?:ember|tools/|make|pip|python) .*", text, re.M)
