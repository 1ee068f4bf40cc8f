"""Boards one can buy: models fit, or it is said what lacks; QEMU runs what it has."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import real_boards

from ember import boards, cases, paths
from ember.cases import inputs
from ember.firmware import build
from ember.run import run

ROOT = paths.root()
DS_CNN = ROOT / "tests" / "boards"
pytestmark = pytest.mark.qemu


def tool(*words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(ROOT / "tools" / "real_boards.py"), *words]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_the_table_has_every_board_and_none_is_called_verified() -> None:
    listed = real_boards.real()
    page = real_boards.shown().splitlines()[2:]
    assert [line.split("`")[1] for line in page] == [board.name for board in listed]
    assert sum(board.verified == "datasheet" for board in listed) >= 12
    assert not [board.name for board in listed if board.verified == "hardware"]
    built = [line for line in page if "refused" not in line]
    assert len(built) >= 12


def some_boards() -> list[str]:
    """A board for each of a few cores, whose libraries other tests compile, too."""
    cores = ("cortex-m0", "cortex-m4")
    by_core = {
        board.cpu: board.name for board in real_boards.real() if board.cpu in cores
    }
    assert by_core.keys() == set(cores)
    return list(by_core.values())


@pytest.mark.slow
@pytest.mark.parametrize(
    "rest", [False, pytest.param(True, marks=pytest.mark.long)], ids=["some", "rest"]
)
def test_the_table_is_current(*, rest: bool) -> None:
    few = some_boards()
    every = [board.name for board in real_boards.real()]
    names = [name for name in every if (name in few) != rest]
    assert len(names) >= (10 if rest else 2)
    done = tool("--check", *(word for name in names for word in ("--board", name)))
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_table_is_stale_when_it_says_something_else() -> None:
    head = "| board | digits |\n|---|---|\n"
    page = head + "| `a` | 10,000 / 9,000 |\n| `b` | refused: 512 bytes |\n"
    assert not real_boards.stale(page, page)
    assert not real_boards.stale(page.replace("10,000", "11,200"), page)
    changes = {"10,000": "12,500", "`a`": "`c`", "refused: 512 bytes": "1 / 2"}
    for old, new in changes.items():
        assert len(real_boards.stale(page.replace(old, new), page)) == 1


def test_rows_of_some_boards_are_put_in_their_places() -> None:
    page = real_boards.shown()
    head, rows = page.splitlines()[:2], page.splitlines()[2:]
    second = "\n".join([*head, rows[1].replace("datasheet", "hardware")]) + "\n"
    without = "\n".join([*head, rows[0], *rows[2:]]) + "\n"
    changed = page.replace(rows[1], rows[1].replace("datasheet", "hardware"))
    assert real_boards.merged(page, page) == page
    assert real_boards.merged(page, second) == changed
    assert real_boards.merged(without, second) == changed


@pytest.mark.parametrize(
    ("name", "model"),
    [
        ("netduinoplus2", DS_CNN / "int8_ds_cnn_m4.bpte"),
        ("netduinoplus2", ROOT / "examples" / "models" / "digits" / "case"),
        ("microbit", ROOT / "examples" / "models" / "digits" / "case"),
    ],
)
def test_what_qemu_has_runs(name: str, model: Path, tmp_path: Path) -> None:
    case = cases.read(cases.Found(model.name, model))
    given = inputs.of_case(model)
    assert given is not None
    built = build(model, name, out=tmp_path)
    log = run.run(built, inputs.lay_out(built.methods[0], given.given), trace=False)
    for output, wanted in zip(log.arrays(), case.runs[0].outputs, strict=True):
        assert isinstance(output, np.ndarray)
        assert isinstance(wanted, cases.CaseTensor)
        np.testing.assert_allclose(output, wanted.array, rtol=case.rtol, atol=case.atol)
    assert boards.load(name).verified == "qemu"
