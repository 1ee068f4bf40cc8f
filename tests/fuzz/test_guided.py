"""The fuzzer that is guided by coverage: what is kept, and two minutes more."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
CORPUS = Path(__file__).parent / "corpus"
TARGETS = {"program", "payload", "data", "bundle", "link"}


def fuzz(*words: str) -> list[dict[str, Any]]:
    if shutil.which("clang-19") is None:
        pytest.skip("clang-19 is not installed")
    command = [sys.executable, str(ROOT / "tools/fuzz"), *words, "--json", "-"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    results: list[dict[str, Any]] = json.loads(done.stdout)
    return results


@pytest.mark.slow
@pytest.mark.broad
def test_what_is_kept_makes_no_report() -> None:
    """With both sanitizers."""
    results = fuzz("--replay")
    assert {(one["target"], one["sanitizer"]) for one in results} == {
        (target, kind) for target in TARGETS for kind in ("address", "memory")
    }
    assert all(one["executions"] >= one["inputs"] > 10 for one in results)


@pytest.mark.slow
@pytest.mark.broad
def test_two_minutes_make_no_report() -> None:
    results = fuzz("--minutes", "2")
    assert {one["target"] for one in results} == TARGETS
    assert sum(one["executions"] for one in results) > 10_000


def test_what_is_kept_is_small() -> None:
    kept = list(CORPUS.iterdir())
    assert {path.name.partition(".")[0] for path in kept} == TARGETS
    assert sum(path.stat().st_size for path in kept) <= 3 << 20
