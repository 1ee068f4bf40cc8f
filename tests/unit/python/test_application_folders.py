"""examples/applications: each folder is whole, small, and found by the tool."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
import time
from pathlib import Path

import applications
import pytest

from ember import boards, paths
from ember.errors import SdkError

FOLDER = paths.root() / "examples" / "applications"
NAMES = applications.names()
FACTS = {
    **{"application": "a", "board": "host", "accuracy": 0.9, "float_accuracy": 1.0},
    **{"ram": 1000, "flash": 2000, "instructions": 3000, "cycles": None},
}


def folder_with(text: str, tmp_path: Path) -> Path:
    (tmp_path / "one").mkdir()
    (tmp_path / "one" / "evaluate.py").write_text(text)
    return tmp_path


def says(stdout: str, tmp_path: Path, stderr: str = "", status: int = 0) -> Path:
    lines = ["import sys", 'BOARDS = ("host", "mps2-an386")']
    lines += [f"print({stdout!r})", f"print({stderr!r}, file=sys.stderr)"]
    return folder_with("\n".join([*lines, f"sys.exit({status})"]), tmp_path)


def test_folders_with_an_evaluation_are_applications() -> None:
    folders = {path.name for path in FOLDER.iterdir() if path.is_dir()}
    assert set(NAMES) == folders - {"__pycache__"}


@pytest.mark.parametrize("name", NAMES)
def test_an_application_has_its_files(name: str) -> None:
    folder = FOLDER / name
    for file in ("README.md", "model.py", "train.py", "firmware/main.c"):
        assert (folder / file).is_file(), file
    weights = list(folder.glob("weights.*"))
    assert weights
    assert sum(path.stat().st_size for path in weights) <= 1_000_000
    assert list(folder.rglob("*.pte"))
    assert list((folder / "firmware").glob("*.h"))
    for board in applications.boards_of(name):
        assert boards.load(board).runner.kind != "none"
    assert f"({name}/" in (FOLDER / "README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", NAMES)
def test_a_committed_application_stays_small(name: str) -> None:
    tracked = [path for path in (FOLDER / name).rglob("*") if path.is_file()]
    sizes = [path.stat().st_size for path in tracked if "__pycache__" not in path.parts]
    assert sum(sizes) <= 2_000_000


def test_a_row_is_what_the_evaluation_says(tmp_path: Path) -> None:
    folder = says(json.dumps(FACTS), tmp_path)
    assert applications.names(folder) == ["one"]
    assert applications.boards_of("one", folder) == ("host", "mps2-an386")
    row = applications.evaluate("one", "host", folder)
    assert row == applications.Row("one", "host", FACTS)


def test_a_broken_promise_keeps_its_figures(tmp_path: Path) -> None:
    folder = says(json.dumps(FACTS), tmp_path, "too much RAM", 1)
    row = applications.evaluate("one", "host", folder)
    assert row.facts == FACTS
    assert row.failure == "too much RAM"


@pytest.mark.parametrize(
    ("stdout", "stderr", "status", "reason"),
    [
        ("", "no such board", 1, "no such board"),
        ("hello", "", 0, "no line of JSON"),
        ("[1]", "", 0, "not an object"),
        ("{}", "", 0, "no valid application, board, accuracy"),
        (json.dumps(FACTS | {"cycles": "7"}), "", 0, "no valid cycles"),
        (json.dumps(FACTS | {"ram": None}), "", 0, "no valid ram"),
    ],
)
def test_what_fails_is_told(
    stdout: str, stderr: str, status: int, reason: str, tmp_path: Path
) -> None:
    folder = says(stdout, tmp_path, stderr, status)
    assert reason in applications.evaluate("one", "host", folder).failure


def test_an_evaluation_without_boards_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SdkError, match="has no BOARDS"):
        applications.boards_of("one", folder_with("x = 1", tmp_path))


def test_an_unknown_application_is_named() -> None:
    words = [sys.executable, applications.__file__, "teleportation"]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "no application teleportation" in done.stderr
    assert "Traceback" not in done.stderr


def test_training_without_pytorch_says_where_it_is(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    assert applications.main(["--train"]) == 1
    assert "PYTORCH=" in capsys.readouterr().err


def test_the_status_tells_of_failures(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    row = applications.Row("one", "host", FACTS)
    monkeypatch.setattr(applications, "chosen", lambda _: ["one"])
    monkeypatch.setattr(applications, "evaluate", lambda *_: row)
    assert applications.main(["--board", "host"]) == 0
    assert "90.00%" in capsys.readouterr().out
    broken = applications.Row("one", "host", FACTS, "too much RAM")
    monkeypatch.setattr(applications, "evaluate", lambda *_: broken)
    assert applications.main(["--board", "host"]) == 1
    assert "too much RAM" in capsys.readouterr().out


def test_rows_are_in_the_order_that_was_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    def evaluate(name: str, board: str) -> applications.Row:
        time.sleep(0.2 if name == "slow" else 0)
        return applications.Row(name, board)

    monkeypatch.setattr(applications, "evaluate", evaluate)
    asked = [("slow", "host"), ("fast", "host"), ("fast", "mps2-an386")]
    rows = applications.evaluate_all(asked)
    assert [(row.application, row.board) for row in rows] == asked


def test_training_says_what_it_took(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    busy = "import time\nwhile time.process_time() < 1.2: pass\nraise SystemExit(3)"
    (tmp_path / "one").mkdir()
    (tmp_path / "one" / "train.py").write_text(busy)
    assert applications.train("one", tmp_path) == 3
    said = capsys.readouterr().out.splitlines()
    assert said == ["one: training", "one: 1 s of a processor"]
