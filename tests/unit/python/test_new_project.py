# SPDX-License-Identifier: Apache-2.0
"""Folders that `ember new` makes."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from ember.firmware import project as projects
from ember.packaging import new

DATA = Path(__file__).parent / "data"


@pytest.mark.parametrize("template", new.TEMPLATES)
def test_a_new_project_explains_itself(
    template: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its page has the commands, ember.yaml is read in its folder, a test is there."""
    folder = tmp_path / "app"
    words = new.create(folder, template, "mps2-an386", DATA / "add.pte")
    page = (folder / "README.md").read_text()
    assert "\n".join(words) in page
    assert "`models/add.pte` on mps2-an386" in page
    source = "app/app.ino" if template == "arduino" else "src/main.c"
    assert f"`{source}`" in page
    assert (folder / source).is_file()
    monkeypatch.chdir(folder)
    project = projects.load()
    assert [path.resolve() for path in project.models] == [folder / "models/add.pte"]
    assert project.board_or(None) == "mps2-an386"
    tests = {"zephyr": "sample.yaml", "arduino": None}.get(template, "test/test_model")
    assert tests is None or (folder / tests).exists()
    assert (folder / "test/test_custom_runner.py").exists() == (
        template == "platformio"
    )


def test_a_new_project_names_a_board_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By its path from any folder."""
    monkeypatch.chdir(tmp_path)
    Path("mine.yaml").write_text("name: mine\nlike: mps2-an386\n")
    new.create(Path("app"), "cmake", "mine.yaml", DATA / "add.pte")
    monkeypatch.chdir("app")
    assert projects.load().board_or(None) == str(tmp_path / "mine.yaml")


def test_a_new_project_for_pio_has_its_board_alone(tmp_path: Path) -> None:
    new.create(tmp_path / "app", "platformio", "mps2-an386", DATA / "add.pte")
    platform = tmp_path / "app/.ember/platform"
    scripts = platform / "framework/scripts"
    assert [path.name for path in scripts.iterdir()] == ["mps2-an386.ld"]
    assert [path.name for path in (platform / "boards").iterdir()] == [
        "mps2-an386.json"
    ]


@pytest.mark.parametrize(
    ("board", "name", "fpu"),
    [
        ("nucleo-f446re", "nucleo_f446re", "CONFIG_FPU=y"),
        ("mps2-an385", "mps2/an385", "# the core has no floating-point unit"),
        ("netduinoplus2", "BOARD", "CONFIG_FPU=y"),
    ],
)
def test_a_project_for_zephyr(
    board: str, name: str, fpu: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = new.create(tmp_path / "app", "zephyr", board, DATA / "add.pte")
    assert words == (f"west build -b {name}",)
    assert fpu in (tmp_path / "app/prj.conf").read_text().splitlines()
    sample = yaml.safe_load((tmp_path / "app/sample.yaml").read_text())
    assert sample["tests"]["ember.app"]["platform_allow"] == [name]
    assert ("does not know what Zephyr calls" in capsys.readouterr().err) == (
        name == "BOARD"
    )


def test_a_project_says_what_pio_lacks(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(new, "_has_platformio", lambda: False)
    new.create(tmp_path / "app", "platformio", "mps2-an386", DATA / "add.pte")
    said = capsys.readouterr().err
    assert "PlatformIO is not installed" in said
    assert "pip install platformio scons" in said
