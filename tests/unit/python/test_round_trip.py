# SPDX-License-Identifier: Apache-2.0
"""Packed programs load in ExecuTorch's own runtime and give the same bits."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from committed_cases import programs

ROOT = Path(__file__).resolve().parents[3]
pytestmark = [pytest.mark.export, pytest.mark.slow]


def corpus() -> Path:
    cache = os.environ.get("EMBER_CACHE") or Path.home() / ".cache" / "ember"
    return Path(cache) / "corpus"


@pytest.mark.parametrize("folders", [programs(), [corpus()]], ids=["cases", "corpus"])
def test_every_program_that_executorch_runs(folders: list[Path]) -> None:
    pytest.importorskip("executorch", reason="pip install '.[export]'")
    if not any(folders[0].rglob("*.*pte")):
        pytest.skip("tools/export_corpus.py has not been run")
    done = subprocess.run(
        [sys.executable, ROOT / "tools" / "round_trip.py", *folders],
        check=False,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout
    same = re.search(r"(\d+) same", done.stdout)
    assert same is not None
    assert int(same[1]) > 400
    assert "special_cond_two: repaired" in done.stdout
