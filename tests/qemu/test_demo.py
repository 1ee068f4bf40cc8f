"""The demo reads every image right, and says plainly what it cannot do."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def demo(*boards: str) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"PYTHONPATH": str(ROOT / "sdk")}
    return subprocess.run(
        [sys.executable, str(ROOT / "tools" / "demo.py"), *boards],
        capture_output=True,
        text=True,
        env=environment,
        check=False,
    )


@pytest.mark.qemu
def test_digits_are_read_right() -> None:
    done = demo()
    assert done.returncode == 0, done.stdout + done.stderr
    last = done.stdout.splitlines()[-1]
    assert last == "10 images are read right on mps3-an547 and mps2-an386"
    assert max(map(len, done.stdout.splitlines())) <= 80
    assert "\x1b" not in done.stdout


def test_unknown_board() -> None:
    done = demo("mps2-an368")
    assert done.returncode == 1
    assert "did you mean mps2-an386" in done.stderr
    assert "Traceback" not in done.stderr
