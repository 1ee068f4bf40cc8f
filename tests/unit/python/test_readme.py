"""README.md says what is true: its commands run, its output is what they print."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import readme

from ember import boards, program

ROOT = Path(__file__).parents[3]
README = (ROOT / "README.md").read_text(encoding="utf-8")
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
PYTHON = re.compile(r"^```python\n((?:.*\n)*?)```$", re.MULTILINE)
C = re.compile(r"^```c\n((?:.*\n)*?)```$", re.MULTILINE)
LINK = re.compile(r"\]\(([^)#:]+)(?:#[^)]*)?\)")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    return tmp_path


def run(folder: Path, *command: str) -> str:
    environment = os.environ | {"PYTHONPATH": str(ROOT / "sdk")}
    done = subprocess.run(
        [sys.executable, *command],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.qemu
@pytest.mark.parametrize("example", readme.examples(), ids=lambda it: it.command[:40])
def test_command(example: readme.Example, folder: Path) -> None:
    assert not readme.stale(example, readme.printed(example.command, folder))


def test_stale_figures_are_found() -> None:
    assert readme.same("code 17,840 9.1%", "code 17,900 9.1%")
    assert readme.same("2 passed in 1.7 s", "2 passed in 64.0 s")
    assert readme.same("cmake 3.25.1 builds", "cmake 4.0.2 builds")
    assert not readme.same("code 17,840", "code 18,300")
    assert not readme.same("3 passed in 1.7 s", "2 passed in 1.7 s")
    assert not readme.same("output 0: float32[1,10]", "output 0: float32[1,11]")


@pytest.mark.parametrize("code", PYTHON.findall(README))
def test_python(code: str, folder: Path) -> None:
    assert run(folder, "-c", code) == "forward ['float32[1, 1, 8, 8]']\n"
    original = program.read(folder / "examples/models/digits/digits.pte")
    assert program.read(folder / "copy.pte") == original


@pytest.mark.parametrize("page", ["runtime.md", "kernels.md"])
def test_c(page: str, folder: Path) -> None:
    examples = C.findall((ROOT / "docs" / page).read_text(encoding="utf-8"))
    assert examples
    for code in examples:
        (folder / "example.c").write_text(code, encoding="utf-8")
        flags = ["-std=c11", "-Wall", "-Wextra", "-Wpedantic", "-Werror"]
        includes = [f"-I{ROOT / 'runtime_c/include'}", f"-I{ROOT}"]
        words = ["gcc", *flags, *includes, "-fsyntax-only", "example.c"]
        done = subprocess.run(
            words, cwd=folder, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr


def test_there_is_something_to_run() -> None:
    assert len(readme.examples()) >= 6
    assert len(PYTHON.findall(README)) == 1


def test_every_board_is_named() -> None:
    for name in boards.names():
        assert f"`{name}`" in README


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    for target in LINK.findall(page.read_text(encoding="utf-8")):
        assert (page.parent / target).exists(), target


@pytest.mark.slow
def test_generated_pages_are_current() -> None:
    run(ROOT, "tools/make_docs.py", "--check")


def test_decisions_are_short() -> None:
    for page in (ROOT / "docs" / "decisions").glob("0*.md"):
        text = page.read_text(encoding="utf-8")
        assert len(text.splitlines()) <= 40
        parts = re.findall(r"^\*\*(\w[\w ]*)\.\*\*|^\*\*(Checked by)\*\*", text, re.M)
        assert ["".join(part) for part in parts] == [
            "Problem",
            "Decision",
            "Rejected",
            "Price",
            "Checked by",
        ]
