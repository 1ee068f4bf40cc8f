"""tools/new_backend.py writes a backend that compiles, its entry, and a case."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import committed_cases
import numpy as np
import pytest

from ember import cases, paths
from ember.kernels import library

ROOT = Path(__file__).resolve().parents[3]


def _tool() -> ModuleType:
    path = ROOT / "tools" / "new_backend.py"
    spec = importlib.util.spec_from_file_location("new_backend", path)
    assert spec and spec.loader
    module = sys.modules["new_backend"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


TOOL = _tool()


@pytest.fixture(name="tree")
def _tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """What the tool adds to of a checkout."""
    for folder in ("kernels", "backends"):
        (tmp_path / folder).mkdir()
    shutil.copy(paths.kernels() / library.FILE, tmp_path / "kernels")
    monkeypatch.setattr(TOOL, "ROOT", tmp_path)
    return tmp_path


def test_source_entry_and_case(tree: Path) -> None:
    before = library.read(tree / "kernels").backends
    assert TOOL.main(["adder"]) == 0
    added, *others = library.read(tree / "kernels").backends
    assert added == {"id": "AdderBackend", "source": "adder"}
    assert others == list(before)
    case = tree / "case"
    case.mkdir()
    committed_cases.run(tree / "tests" / "ops" / "numpy" / "adder.py", case)
    (run,) = cases.read(cases.Found("adder", case)).runs
    (output,) = run.outputs
    first, second = (np.load(case / f"in{index}.npy") for index in range(2))
    assert isinstance(output, cases.CaseTensor)
    assert np.array_equal(output.array, first + second)
    source = tree / "backends" / "adder.c"
    words = ["cc", "-std=c11", "-Wall", "-Wextra", "-Wconversion", "-Werror", "-c"]
    include = f"-I{paths.runtime() / 'include'}"
    subprocess.run([*words, include, source, "-o", tree / "adder.o"], check=True)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["example"], "exists already"),
        (["other", "--id", "XnnpackBackend"], "XnnpackBackend is listed already"),
        (["Adder"], "'Adder' is not a name"),
        (["adder", "--id", 'a"b'], "is not the id of a backend"),
    ],
)
def test_what_is_refused(
    tree: Path, words: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copy(paths.backends() / "example.c", tree / "backends")
    assert TOOL.main(words) == 1
    assert said in capsys.readouterr().err
    assert not (tree / "tests").exists()


@pytest.mark.long
def test_it_runs_on_the_host_and_on_a_cortex_m4(tmp_path: Path) -> None:
    tree = tmp_path / "checkout"

    def skipped(folder: str, names: list[str]) -> set[str]:
        top = {".git", ".venv", "build", "docs"} if Path(folder) == ROOT else set()
        return {*top, "__pycache__"} & set(names)

    shutil.copytree(ROOT, tree, ignore=skipped)
    environment = {**os.environ, "PYTHONPATH": str(tree / "sdk")}

    def done(*words: str | Path) -> str:
        command = [sys.executable, *words]
        return subprocess.run(
            command,
            check=True,
            text=True,
            stdout=subprocess.PIPE,
            env=environment,
            cwd=tree,
        ).stdout

    done("tools/new_backend.py", "adder")
    for board in ("host", "mps2-an386"):
        assert "1 passed" in done("tools/cases", "adder", "--board", board)
