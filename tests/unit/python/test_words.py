"""The tree's sources -> one name for one thing, and the words of docs/writing.md."""

from __future__ import annotations

import ast
import re
import subprocess
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from ember import paths

SDK = paths.package()
ROOT = Path(__file__).resolve().parents[3]
# They say nothing about what they hold.
EMPTY = frozenset({"one", "found", "made", "own"})


@cache
def sources() -> dict[str, ast.Module]:
    """The syntax tree of each module, by its path in the SDK."""
    files = (file for file in SDK.rglob("*.py") if "templates" not in file.parts)
    return {
        file.relative_to(SDK).as_posix(): ast.parse(file.read_text(encoding="utf-8"))
        for file in files
    }


def variables(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Line and name of every variable and argument; fields can be keys of files."""
    classes = (node for node in ast.walk(tree) if isinstance(node, ast.ClassDef))
    lines = (line for node in classes for line in node.body)
    fields = {line.target for line in lines if isinstance(line, ast.AnnAssign)}
    for node in ast.walk(tree):
        if node in fields:
            continue
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.lineno, node.id
        elif isinstance(node, ast.arg):
            yield node.lineno, node.arg


def test_a_class_has_a_name_of_its_own() -> None:
    places = defaultdict(list)
    for path, tree in sources().items():
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                places[node.name].append(f"{path}:{node.lineno}")
    assert {name: of for name, of in places.items() if len(of) > 1} == {}


def test_variables_say_what_they_hold() -> None:
    empty = [
        f"{path}:{line}: {name}"
        for path, tree in (*sources().items(), *other_sources())
        for line, name in variables(tree)
        if name in EMPTY
    ]
    assert empty == []


def other_sources() -> Iterator[tuple[str, ast.Module]]:
    for folder in ("tests", "tools"):
        for file in sorted((ROOT / folder).rglob("*.py")):
            yield (
                file.relative_to(ROOT).as_posix(),
                ast.parse(file.read_text(encoding="utf-8")),
            )


# ---- words ---------------------------------------------------------------------------

# The column "Not" of docs/writing.md as far as a pattern can find it, by what to write.
# A space is any gap between words, also one across lines of a comment.
NOT_WRITTEN = {
    "the host": r"\bthis computer\b|\bdevice at hand\b",
    "is in, is at": r"\b(?:lies|lie|lay|lying) (?:in|at)\b",
    "is not a, has no": r"(?<!here)\sis no\b(?! (?:longer|more|less)\b)",
    "fails, is refused": r"\bends? with an error\b|\bdoes not take\b",
    "unused": r"(?<!so)\sthat (?:nothing|nobody)\b",
    "unaligned": r"\bnot aligned\b",
    "in place, at run time": r"\bwhere (?:it|they) lies?\b|\bwhile it runs\b",
    "your own": r"\bof one's own\b",
    "again, only": r"\banew\b|\balone\b",
}
GAP = r"[\s#/*]+"
WRITTEN_BY_OTHERS = ("LICENSE", "docs/writing.md", "tests/unit/python/test_words.py")
ENDINGS = (".c", ".cmake", ".h", ".md", ".py", ".S", ".sh", ".txt", ".yaml")


@cache
def texts() -> tuple[tuple[str, str], ...]:
    """What each tracked source and page says, by its name."""
    done = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        pytest.skip("not in a Git checkout")
    names = [
        name
        for name in done.stdout.splitlines()
        if name not in WRITTEN_BY_OTHERS
        and name.endswith(ENDINGS)
        and (ROOT / name).exists()
    ]
    return tuple((name, (ROOT / name).read_text(encoding="utf-8")) for name in names)


@pytest.mark.parametrize("better", NOT_WRITTEN)
def test_words_are_those_of_the_page(better: str) -> None:
    pattern = re.compile(NOT_WRITTEN[better].replace(" ", GAP))
    places = [
        f"{name}:{text.count(chr(10), 0, match.start()) + 1}: {match.group(0)!r}"
        for name, text in texts()
        for match in pattern.finditer(text)
    ]
    assert places == []
