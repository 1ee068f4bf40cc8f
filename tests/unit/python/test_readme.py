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
NOT_OURS = {".venv", "build", "out", "dist"}  # what is installed or made
PAGES = sorted(
    page
    for page in ROOT.rglob("*.md")
    if not any(
        part in NOT_OURS or part[0] == "." for part in page.relative_to(ROOT).parts
    )
)
PYTHON = re.compile(r"^```python\n((?:.*\n)*?)```$", re.MULTILINE)
C = re.compile(r"^```c\n((?:.*\n)*?)```$", re.MULTILINE)
BLOCK = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^)#:\s]*)(?:#([^)\s]*))?\)")
ADDRESS = re.compile(r"docs/[\w/-]+\.md(?:#[\w-]+)?")


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


def test_figures_are_compared_exactly_with_their_compiler(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    example = readme.Example("ember", ("code 17,840 9.1%",))
    monkeypatch.setattr(readme, "tolerance", lambda: 0)
    assert not readme.stale(example, ["code 17,840 9.1%"])
    assert readme.stale(example, ["code 17,841 9.1%"]) == ["code 17,840 9.1%"]
    assert not readme.stale(readme.Example("", ("in 1.7 s",)), ["in 64.0 s"])
    monkeypatch.setattr(readme, "tolerance", lambda: readme.TOLERANCE)
    assert not readme.stale(example, ["code 17,841 9.1%"])


def test_stale_figures_are_found() -> None:
    assert readme.same("code 17,840 9.1%", "code 17,900 9.1%")
    assert readme.same("2 passed in 1.7 s", "2 passed in 64.0 s")
    assert readme.same("cmake 3.25.1 builds", "cmake 4.0.2 builds")
    assert not readme.same("code 17,840", "code 19,300")
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


def test_the_table_names_every_board() -> None:
    table = README.split("## Boards", 1)[1].split("\n## ", 1)[0]
    rows = re.findall(r"^\| (`.*?`) \|", table, re.MULTILINE)
    named = [name for row in rows for name in re.findall(r"`([^`]+)`", row)]
    assert sorted(named) == sorted(boards.names())


def anchors(page: Path) -> set[str]:
    """Of the titles of a page, as GitHub makes them."""
    slugs: list[str] = []
    text = BLOCK.sub("", page.read_text(encoding="utf-8"))
    for title in re.findall(r"^#+ +(.+)$", text, re.MULTILINE):
        plain = re.sub(r"\]\([^)]*\)", "", title).lower().strip()
        slugs.append(re.sub(r"[^\w\- ]", "", plain).replace(" ", "-"))
    counts = [(title, slugs[:at].count(title)) for at, title in enumerate(slugs)]
    again = {f"{title}-{count}" for title, count in counts if count}
    return {*slugs, *again}


def leads_somewhere(page: Path, target: str, anchor: str) -> bool:
    place = page.parent / target if target else page
    return place.exists() and (not anchor or anchor in anchors(place))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    links = LINK.findall(BLOCK.sub("", page.read_text(encoding="utf-8")))
    assert [link for link in links if not leads_somewhere(page, *link)] == []


def test_pages_that_programs_name_are_there() -> None:
    """In messages, comments and boards."""
    named = {
        address
        for folder in ("sdk", "boards", "kernels", "runtime_c", "tools", "examples")
        for file in (ROOT / folder).rglob("*")
        if file.suffix in {".py", ".yaml", ".c", ".h", ".cmake", ".sh"}
        for address in ADDRESS.findall(file.read_text(encoding="utf-8"))
    }
    assert len(named) > 10
    wrong = [
        address
        for address in sorted(named)
        if not leads_somewhere(ROOT / "README.md", *address.partition("#")[::2])
    ]
    assert wrong == []


def test_lost_links_are_found(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("# A `b.c`: d\n\n## Twice\n\n## Twice\n\n```sh\n# no title\n```\n")
    assert anchors(page) == {"a-bc-d", "twice", "twice-1"}
    assert leads_somewhere(page, "page.md", "twice-1")
    assert leads_somewhere(page, "", "a-bc-d")
    assert not leads_somewhere(page, "", "no-title")
    assert not leads_somewhere(page, "other.md", "")


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
