"""Commands whose writes fail, each once: a sentence, nothing half-written, and the next
run does it all."""

from __future__ import annotations

import errno
import shutil
from pathlib import Path

import pytest
import write_faults

from ember import cli, paths

DIGITS = paths.root() / "examples/models/digits/digits.pte"
ON = ("digits.pte", "--board", "mps2-an386")
COMMANDS = {
    "select": ("select", *ON, "--json", "selection.json"),
    "sign": ("sign", "digits.pte", "--key", "key.pem", "--version", "1"),
    "plan": ("plan", *ON, "--json", "plan.json"),
    "build": ("build", *ON, "--out", "out", "--json", "build.json"),
    "pack": ("pack", *ON, "--out", "out"),
    "new": ("new", "project", "--model", "digits.pte", "--board", "mps2-an386"),
    "package": ("package", *ON, "--out", "out"),
}
# Which of the writes fail; other runs take others, and in the end all.
FEW = {"select": 8, "sign": 1}
SOME = {"plan": 9, "build": 23, "pack": 29, "new": 11, "package": 31}


def check(folder: Path, name: str, step: int, error: int = errno.ENOSPC) -> None:
    root = folder / "root"
    (root / "work").mkdir(parents=True)
    shutil.copy(DIGITS, root / "work")
    if name == "sign":
        assert cli.main(["keygen", str(root / "work" / "key.pem")]) == 0
    found = write_faults.faults(root, COMMANDS[name], error, step, paths.cache())
    assert found.writes > 2
    assert found.problems == []


@pytest.mark.slow
@pytest.mark.parametrize(("name", "step"), FEW.items())
def test_a_write_fails(tmp_path: Path, name: str, step: int) -> None:
    check(tmp_path, name, step)


@pytest.mark.slow
@pytest.mark.broad
@pytest.mark.parametrize(("name", "step"), SOME.items())
def test_a_write_of_a_long_command_fails(tmp_path: Path, name: str, step: int) -> None:
    check(tmp_path, name, step, errno.EIO)


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.parametrize("name", COMMANDS)
def test_every_write_fails(tmp_path: Path, name: str) -> None:
    check(tmp_path, name, 1)
