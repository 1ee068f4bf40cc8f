"""A short run of the fuzzer; tools/check.sh and CI run longer ones."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import positions
import pytest

FUZZ = Path(__file__).parent


@pytest.mark.slow
def test_mutants_make_no_report() -> None:
    if shutil.which("clang-19") is None:
        pytest.skip("clang-19 is not installed")
    command = [sys.executable, str(FUZZ / "run.py"), "--seconds", "20"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("pattern", ["*.pte", "*.ptd", "*.bpte"])
def test_positions_are_inside_the_file(pattern: str) -> None:
    data = FUZZ.parent / "unit/python/data"
    for path in sorted(data.glob(pattern)):
        content = path.read_bytes()
        found = positions.walk(content)
        assert len(found) > 10
        assert all(one.at + one.width <= len(content) for one in found)
