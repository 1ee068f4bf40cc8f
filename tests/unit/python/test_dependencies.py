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
LOCKED_EXTRAS = {
    "": ("flash", "build"),
    "-dev": ("dev",),
    "-hexagon": ("hexagon",),
    "-sweep": ("sweep",),
}

# What reads and writes programs, numbers, YAML and the command line.
SUBJECTS = (
    *("test_program.py", "test_malformed.py", "test_round_trip.py", "test_cli.py"),
    *("test_boards.py", "test_cases.py", "test_select.py", "test_half.py"),
)


def ranges() -> dict[str, tuple[str, str]]:
    matches = [RANGE.fullmatch(text) for text in PROJECT["dependencies"]]
    assert all(matches), "a dependency without a lowest version or a bound"
    return {match[1]: (match[2], match[3]) for match in matches if match}


def number(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split("."))


def lock_file(part: str) -> str:
    """What tools/setup.sh installs for a part; "" for what every user has."""
    return (ROOT / "tools" / f"requirements{part}.lock").read_text(encoding="utf-8")


def locked(part: str = "") -> dict[str, str]:
    return dict(PINNED.findall(lock_file(part)))


def test_the_lock_file_is_within_the_ranges() -> None:
    for name, (lowest, bound) in ranges().items():
        assert number(lowest) <= number(locked()[name]) < number(bound), name


@pytest.mark.parametrize("part", LOCKED_EXTRAS)
def test_the_lock_files_have_their_extras(part: str) -> None:
    for extra in LOCKED_EXTRAS[part]:
        for text in PROJECT["optional-dependencies"][extra]:
            match = REQUIRED.match(text)
            assert match is not None
            version = locked(part)[match[1].lower()]
            assert number(match[2] or "0") <= number(version), text


@pytest.mark.parametrize("part", LOCKED_EXTRAS)
def test_the_lock_files_agree(part: str) -> None:
    shared = locked().keys() & locked(part).keys()
    assert {name: locked(part)[name] for name in shared} == {
        name: locked()[name] for name in shared
    }


def test_what_few_need_is_not_in_the_first_setup() -> None:
    assert not {"ziglang", "mypy", "ruff", "torch"} & locked().keys()


@pytest.mark.parametrize("part", LOCKED_EXTRAS)
def test_every_locked_file_has_a_hash(part: str) -> None:
    parts = re.split(r"^(?=[\w.-]+==)", lock_file(part), flags=re.MULTILINE)[1:]
    assert parts
    assert all("--hash=sha256:" in text for text in parts)


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
