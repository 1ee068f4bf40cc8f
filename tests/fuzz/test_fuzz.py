"""A short run of the fuzzer, always the same; tools/check.sh runs a longer one."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import positions
import pytest

FUZZ = Path(__file__).parent


@pytest.mark.slow
@pytest.mark.broad
@pytest.mark.parametrize(
    ("count", "variants"),
    [(25_000, 3), pytest.param(100_000, 12, marks=pytest.mark.long)],
)
def test_mutants_make_no_report(count: int, variants: int) -> None:
    command = [sys.executable, str(FUZZ / "run.py"), "--mutations", str(count)]
    command += ["--variants", str(variants)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("pattern", ["*.pte", "*.ptd", "*.bpte"])
def test_positions_are_inside_the_file(pattern: str) -> None:
    data = FUZZ.parent / "unit/python/data"
    for path in sorted(data.glob(pattern)):
        content = path.read_bytes()
        places = positions.walk(content)
        assert len(places) > 10
        assert all(place.at + place.width <= len(content) for place in places)
