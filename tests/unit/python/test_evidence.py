"""Evidence for the C core that may not be lost: tools/mcdc, tools/mutate."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]


@pytest.mark.slow
@pytest.mark.broad
def test_c_tests_decide_every_branch_and_condition() -> None:
    if shutil.which("llvm-cov-19") is None:
        pytest.skip("llvm-cov-19 is not installed")
    words = [sys.executable, str(ROOT / "tools/mcdc"), "--json", "-"]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    facts = json.loads(done.stdout)
    assert facts["gaps"] == []
    assert (facts["branches"], facts["mcdc"]) == (100, 100)


@pytest.mark.slow
@pytest.mark.broad
def test_tests_notice_most_mutants() -> None:
    """Of a sample; tools/mutate tries all."""
    words = [sys.executable, str(ROOT / "tools/mutate"), "--sample", "40"]
    words += ["--json", "-"]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    facts = json.loads(done.stdout)
    assert facts["mutants"] >= 30
    assert facts["score"] >= 95, done.stderr
