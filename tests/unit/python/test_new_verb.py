"""tools/new_verb.py writes a command of `ember`, its line of the help, and tests."""

from __future__ import annotations

import importlib.util
import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

from ember import cli

ROOT = Path(__file__).resolve().parents[3]
FAULTS = Path("tests/unit/python/test_write_faults.py")
LINE = "List the inputs of a model's methods."


def _tool() -> ModuleType:
    path = ROOT / "tools" / "new_verb.py"
    spec = importlib.util.spec_from_file_location("new_verb", path)
    assert spec and spec.loader
    module = sys.modules["new_verb"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


TOOL = _tool()


@pytest.fixture(name="tree")
def _tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A checkout with what the tool adds to."""
    (tmp_path / FAULTS).parent.mkdir(parents=True)
    shutil.copy(ROOT / FAULTS, tmp_path / FAULTS)
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    (tmp_path / "sdk" / "ember").mkdir(parents=True)
    shutil.copytree(ROOT / "sdk" / "ember" / "cli", tmp_path / "sdk" / "ember" / "cli")
    monkeypatch.setattr(TOOL, "ROOT", tmp_path)
    return tmp_path


def test_a_module_its_line_and_its_tests(
    tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert TOOL.main(["input-shapes", "--line", LINE]) == 0
    verbs = (tree / "sdk/ember/cli/__init__.py").read_text()
    assert f'"input-shapes": "{LINE}",\n}}\n' in verbs
    assert '"input-shapes": ("input-shapes", "digits.pte", *JSON),\n}\n' in (
        (tree / FAULTS).read_text()
    )
    module = tree / "sdk/ember/cli/input_shapes.py"
    written = [module, tree / "tests/unit/python/test_input_shapes.py"]
    for words in (["check", "--quiet"], ["format", "--check", "--quiet"]):
        command = [sys.executable, "-m", "ruff", *words, *map(str, written)]
        subprocess.run(command, check=True, cwd=tree)
    monkeypatch.setitem(cli.VERBS, "input-shapes", LINE)
    monkeypatch.setattr(cli, "__path__", [str(module.parent)])
    monkeypatch.delitem(sys.modules, "ember.cli.input_shapes", raising=False)
    digits = ROOT / "examples/models/digits/digits.pte"
    assert cli.main(["input-shapes", str(digits)]) == 0
    monkeypatch.delitem(sys.modules, "ember.cli.input_shapes", raising=False)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["Shapes", "--line", LINE], "'Shapes' is not a verb"),
        (["run", "--line", LINE], "ember run exists already"),
        (["shapes", "--line", "no sentence"], "must be a sentence with a full stop"),
    ],
)
def test_what_is_refused(
    words: list[str], said: str, tree: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = (tree / FAULTS).read_text()
    assert TOOL.main(words) == 1
    assert said in capsys.readouterr().err
    assert (tree / FAULTS).read_text() == before
