"""The stated ranges of dependencies hold at both ends; the lock file suits them."""

from __future__ import annotations

import os
import re
import subprocess
import tomllib
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))[
    "project"
]
RANGE = re.compile(r"([\w-]+)>=([\d.]+),<([\d.]+)")
PINNED = re.compile(r"^([\w.-]+)==([\w.]+)", re.MULTILINE)
REQUIRED = re.compile(r"([\w-]+)(?:>=([\d.]+))?")
LOCKED_EXTRAS = ("dev", "hexagon", "flash")

# What reads and writes programs, numbers, YAML and the command line.
SUBJECTS = (
    *("test_program.py", "test_malformed.py", "test_round_trip.py", "test_cli.py"),
    *("test_boards.py", "test_cases.py", "test_select.py", "test_half.py"),
)


def ranges() -> dict[str, tuple[str, str]]:
    found = [RANGE.fullmatch(text) for text in PROJECT["dependencies"]]
    assert all(found), "a dependency without a lowest version or a bound"
    return {match[1]: (match[2], match[3]) for match in found if match}


def number(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split("."))


def locked() -> dict[str, str]:
    text = (ROOT / "tools" / "requirements.lock").read_text(encoding="utf-8")
    return dict(PINNED.findall(text))


def test_the_lock_file_is_within_the_ranges() -> None:
    for name, (lowest, bound) in ranges().items():
        assert number(lowest) <= number(locked()[name]) < number(bound), name


def test_the_lock_file_has_the_extras_of_setup() -> None:
    for extra in LOCKED_EXTRAS:
        for text in PROJECT["optional-dependencies"][extra]:
            match = REQUIRED.match(text)
            assert match is not None
            version = locked()[match[1].lower()]
            assert number(match[2] or "0") <= number(version), text


def test_every_locked_file_has_a_hash() -> None:
    text = (ROOT / "tools" / "requirements.lock").read_text(encoding="utf-8")
    parts = re.split(r"^(?=[\w.-]+==)", text, flags=re.MULTILINE)[1:]
    assert len(parts) > len(ranges())
    assert all("--hash=sha256:" in part for part in parts)


def test_the_page_has_the_ranges() -> None:
    page = (ROOT / "docs" / "dependencies.md").read_text(encoding="utf-8")
    for name, (lowest, bound) in ranges().items():
        assert f"| {name} | {lowest} | {bound} |" in page


@pytest.mark.long
@pytest.mark.parametrize("end", ["lowest", "newest"])
def test_both_ends_work(
    end: str, environment: Callable[[str, Sequence[str]], Path]
) -> None:
    bounds = ranges().items()
    packages = [
        f"{name}=={lowest}" if end == "lowest" else f"{name}<{bound}"
        for name, (lowest, bound) in bounds
    ]
    folder = environment(f"dependencies-{end}", [*packages, "pytest>=8"])
    subjects = [f"tests/unit/python/{name}" for name in SUBJECTS]
    done = subprocess.run(
        [
            folder / "bin" / "python",
            "-m",
            "pytest",
            "-q",
            "-m",
            "not export",
            *subjects,
        ],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": str(ROOT / "sdk")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-4000:]
