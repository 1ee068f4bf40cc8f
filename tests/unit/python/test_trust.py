"""Decision 0025: what an ember.yaml that is only there may run."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
import yaml

from ember import boards, cli, paths
from ember.errors import SdkError
from ember.firmware import project


def described(folder: Path, **runner: object) -> None:
    """A folder with an ember.yaml and the board that it names."""
    board = yaml.safe_load((paths.boards() / "mps2-an386.yaml").read_text())
    board["runner"] |= runner
    board["name"] = "mine"
    (folder / "mine.yaml").write_text(yaml.safe_dump(board))
    (folder / "ember.yaml").write_text("board: mine.yaml\n")


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    boards.load.cache_clear()  # it knows the name from another test
    return tmp_path


def test_the_emulator_of_a_board_of_ours(here: Path) -> None:
    described(here)
    assert project.load().board_or(None) == "mine.yaml"


@pytest.mark.parametrize(
    "runner",
    [
        {"binary": "./evil"},
        {"kind": "qemu-user", "binary": "sh", "args": ["-c", "evil"]},
        {"args": ["-machine", "mps2-an386", "-plugin", "./evil.so"]},
    ],
)
def test_a_command_of_its_own(
    here: Path,
    runner: dict[str, object],
    data: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    described(here, **runner)
    assert cli.main(["build", str(data / "add.pte")]) == 1
    said = capsys.readouterr().err
    assert "runs its own command: " in said
    assert "if you trust it, name it: --board mine.yaml" in said
    plans = project.load()
    with pytest.raises(SdkError, match="evil"):
        plans.board_or(None)
    assert plans.board_or("mine.yaml") == "mine.yaml"
    assert project.load(Path("ember.yaml")).board_or(None) == "mine.yaml"


@pytest.mark.skipif(os.geteuid() != 0, reason="files cannot be given away")
@pytest.mark.parametrize(
    ("me", "folder", "file", "is_refused"),
    [
        (0, 0, 0, False),
        (0, 0, 4242, True),
        (0, 4242, 4242, False),  # a checkout in a container
        (4242, 4242, 4242, False),
        (4242, 4242, 0, False),
        (4242, 0, 4243, True),
        (4242, 4243, 4243, True),
    ],
)
def test_somebody_elses(
    here: Path,
    monkeypatch: pytest.MonkeyPatch,
    me: int,
    folder: int,
    file: int,
    is_refused: bool,
) -> None:
    path = here / "ember.yaml"
    path.write_text("optimize: size\n")
    os.chown(here, folder, -1)
    os.chown(path, file, -1)
    monkeypatch.setattr(os, "geteuid", lambda: me)
    if not is_refused:
        assert project.load().optimize == "size"
        return
    with pytest.raises(SdkError, match="belongs to another user") as error:
        project.load()
    assert error.value.hint == "if you trust it: --project ember.yaml"
    assert project.load(Path("ember.yaml")).optimize == "size"
