"""tools/new_node.py adds a kind of node: to both schemas, a kernel, and a case."""

from __future__ import annotations

import importlib.util
import re
import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import committed_cases
import numpy as np
import pytest

from ember import cases, paths
from ember.files import xnnpack
from ember.kernels import library

ROOT = Path(__file__).resolve().parents[3]
SCHEMA = Path("backends/xnnpack/graph/schema.h")
READER = Path("sdk/ember/files/xnnpack.py")


def _module(name: str, path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec and spec.loader
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


TOOL = _module("new_node", ROOT / "tools" / "new_node.py")


@pytest.fixture(name="tree")
def _tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """What the tool adds to of a checkout."""
    shutil.copytree(paths.backends() / "xnnpack", tmp_path / "backends" / "xnnpack")
    for path in (READER, Path("kernels") / library.FILE):
        (tmp_path / path).parent.mkdir(parents=True)
        shutil.copy(ROOT / path, tmp_path / path)
    monkeypatch.setattr(TOOL, "ROOT", tmp_path)
    return tmp_path


@pytest.mark.parametrize("form", ["unary", "binary"])
def test_a_kind_is_the_last_of_both_schemas(form: str, tree: Path) -> None:
    assert TOOL.main(["next_kind", "--form", form]) == 0
    reader = _module("reader_with_another_kind", tree / READER)
    kinds = [table.name for table in reader.NODES.tables]
    assert kinds == [*(table.name for table in xnnpack.NODES.tables), "NextKind"]
    text = (tree / SCHEMA).read_text()
    last = f"    XNN(NEXT_KIND, {len(kinds)}, XNN_{form.upper()})\n"
    assert last in text
    assert f"XNN_KIND_MOST = {len(kinds)} " in text
    before, listed = (
        next(
            backend["kernels"]
            for backend in library.read(folder / "kernels").backends
            if backend["id"] == xnnpack.BACKEND
        )
        for folder in (ROOT, tree)
    )
    assert listed == ["next_kind", *before]
    source = tree / "backends" / "xnnpack" / "nodes" / "next_kind.c"
    words = ["cc", "-std=c11", "-Wall", "-Wextra", "-Werror", "-fsyntax-only"]
    folders = [tree, ROOT, paths.runtime() / "include"]
    includes = [f"-I{folder}" for folder in folders]
    subprocess.run([*words, *includes, source], check=True)


def test_the_case_has_what_the_formula_gives(tree: Path) -> None:
    assert TOOL.main(["next_kind", "--formula", "a + a", "--kind", "Abs"]) == 0
    case = tree / "case"
    case.mkdir()
    committed_cases.run(tree / "tests" / "ops" / "numpy" / "next_kind.py", case)
    (run,) = cases.read(cases.Found("next_kind", case)).runs
    (output,) = run.outputs
    assert isinstance(output, cases.CaseTensor)
    first = np.load(case / "in0.npy")
    assert np.array_equal(output.array, first + first)


@pytest.mark.parametrize(
    ("words", "said"),
    [(["Softer"], "is not a name"), (["cos"], "COS is in")],
)
def test_what_is_refused(
    words: list[str], said: str, tree: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert TOOL.main(words) == 1
    assert re.search(said, capsys.readouterr().err)
    assert not (tree / "tests").exists()
