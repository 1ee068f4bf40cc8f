"""The tracked files -> totals that must not grow, in one table."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
# Whole programs, a network for each core, tables of calls with their numbers, and the
# programs of unit tests.
CASES = ("tests/cases/", "tests/boards/", "tests/unit/python/data/")
TABLES = ("tests/ops/", (".yaml", ".npz"))


@cache
def tracked() -> tuple[str, ...]:
    done = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        pytest.skip("not in a Git checkout")
    return tuple(name for name in done.stdout.splitlines() if (ROOT / name).exists())


def cases() -> list[str]:
    folder, endings = TABLES
    return [
        name
        for name in tracked()
        if name.startswith(CASES)
        or (name.startswith(folder) and name.endswith(endings))
    ]


def json_of_cases() -> list[str]:
    """Those that say what a case is; data of unit tests is not such."""
    return [
        name
        for name in tracked()
        if name.startswith("tests/")
        and name.endswith(".json")
        and ("/case.json" in name or name.startswith(("tests/cases/", "tests/boards/")))
    ]


def modules() -> list[str]:
    return [name for name in tracked() if name.startswith("sdk/") and is_python(name)]


def is_python(name: str) -> bool:
    return name.endswith(".py")


def lines_of_tools() -> int:
    """Lines of Python; the aim is 15,000."""
    files = [name for name in tracked() if name.startswith("tools/")]
    return sum(
        (ROOT / name).read_bytes().count(b"\n") for name in files if is_python(name)
    )


def bytes_of_changes() -> int:
    return (ROOT / "CHANGELOG.md").stat().st_size


# A total is raised only by what adds to it, in the same commit, with the reason.
@pytest.mark.parametrize(
    ("total", "most"),
    [
        (lambda: len(tracked()), 3_600),
        (lambda: len(cases()), 600),
        (lambda: len(json_of_cases()), 0),
        (lambda: len(modules()), 350),
        (lines_of_tools, 15_700),
        (bytes_of_changes, 6_000),
    ],
    ids=[
        "tracked files",
        "files of cases",
        "JSON of cases",
        "modules of the SDK",
        "lines of tools",
        "bytes of CHANGELOG.md",
    ],
)
def test_a_total_does_not_grow(total: Callable[[], int], most: int) -> None:
    assert total() <= most
