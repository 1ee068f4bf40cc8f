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


def test_integers_read_as_many_digits_as_float32() -> None:
    words = [sys.executable, str(TOOL), *BOARDS, "--json", "-"]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    read = json.loads(done.stdout)
    assert [row["board"] for row in read] == [name for name in BOARDS for _ in range(4)]
    assert {row["images"] for row in read} == {360}
    for plain, int8, int4, int16 in (read[:4], read[4:]):
        assert plain["right"] == 354
        assert min(int8["right"], int4["right"]) >= 352
        assert int8["agreeing"] >= 356
        assert int16["right"] == plain["right"]
        assert int16["agreeing"] >= 359
        assert int4["agreeing"] >= 352
        assert int4["bytes"] < int8["bytes"] < plain["bytes"]
        assert int16["bytes"] < plain["bytes"]
    # the same bits on every board, whatever core the program was exported for
    assert [row["right"] for row in read[:4]] == [row["right"] for row in read[4:]]


def test_an_unknown_board_is_named() -> None:
    words = [sys.executable, str(TOOL), "mps2-an368"]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "mps2-an368" in done.stderr
    assert "Traceback" not in done.stderr
