"""A few random graphs, exported afresh; run.py tries thousands."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

RUN = Path(__file__).parent / "run.py"
pytestmark = [pytest.mark.export, pytest.mark.slow]


def run(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, str(RUN), *words], capture_output=True, text=True, check=False
    )


def test_graphs_agree(tmp_path: Path) -> None:
    pytest.importorskip("executorch")
    done = run("--count", "20", "--seed", "70001", "--cache", str(tmp_path))
    assert done.returncode == 0, done.stdout + done.stderr
    assert "host: 20 passed" in done.stdout


def test_a_seed_is_always_the_same_graph() -> None:
    pytest.importorskip("executorch")
    texts = {run("--seed", "70003", "--show").stdout for _ in range(2)}
    assert len(texts) == 1
    assert "return v" in texts.pop()
