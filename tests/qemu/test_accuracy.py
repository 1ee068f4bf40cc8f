"""The digit classifier in int8 is as accurate as in float32, measured on boards."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from ember import paths

pytestmark = [pytest.mark.qemu, pytest.mark.slow]
TOOL = paths.root() / "tools" / "accuracy.py"
BOARDS = ("mps3-an547", "mps2-an386")


def test_int8_reads_as_many_digits_as_float32() -> None:
    words = [sys.executable, str(TOOL), *BOARDS, "--json", "-"]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert [one["board"] for one in found] == [board for board in BOARDS for _ in "fi"]
    for plain, int8 in zip(found[::2], found[1::2], strict=True):
        assert plain["images"] == int8["images"] == 360
        assert plain["right"] == 354
        assert int8["right"] >= 352
        assert int8["agreeing"] >= 356
        assert int8["bytes"] < plain["bytes"]
    # the same bits on every board, whatever core the program was exported for
    assert found[1]["right"] == found[3]["right"]


def test_an_unknown_board_is_named() -> None:
    words = [sys.executable, str(TOOL), "mps2-an368"]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "mps2-an368" in done.stderr
    assert "Traceback" not in done.stderr
