"""tools/new_kernel.py writes kernels that build, and cases that pass and can fail."""

from __future__ import annotations

import importlib.util
import shutil
import sys
from pathlib import Path
from types import ModuleType

import committed_cases
import pytest

from ember import cli, kernels, paths
from ember.kernels import library

ROOT = Path(__file__).resolve().parents[3]
TWO = "(Tensor a, Tensor b, *, Tensor(a!) out) -> Tensor(a!)"


def _tool() -> ModuleType:
    path = ROOT / "tools" / "new_kernel.py"
    spec = importlib.util.spec_from_file_location("new_kernel", path)
    assert spec and spec.loader
    module = sys.modules["new_kernel"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


TOOL = _tool()


@pytest.fixture(name="tree")
def _tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A checkout with the list of kernels and the element-wise ones."""
    (tmp_path / "kernels").mkdir()
    shutil.copy(paths.kernels() / library.FILE, tmp_path / "kernels")
    folder = "elementwise"
    shutil.copytree(paths.kernels() / folder, tmp_path / "kernels" / folder)
    monkeypatch.setattr(TOOL, "ROOT", tmp_path)
    return tmp_path


@pytest.mark.slow
def test_a_library_of_ones_own_builds_and_passes(tmp_path: Path) -> None:
    folder = str(tmp_path / "own")
    words = ["blend", "--schema", TWO, "--formula", "a * a + b", "--into", folder]
    assert TOOL.main(words) == 0
    test = ["test", folder, "--board", "host", "--kernels", folder]
    assert cli.main(test) == 0
    source = tmp_path / "own" / "blend.c"
    source.write_text(source.read_text().replace("a * a + b", "a * b"))
    kernels.load.cache_clear()  # as in another process
    assert cli.main(test) == 1
    assert TOOL.main(["twice", "--into", folder]) == 0
    assert len(library.read(tmp_path / "own").entries) == 2


def test_an_operator_gets_its_place_in_the_list(tree: Path) -> None:
    path = tree / "kernels" / library.FILE
    before = library.read(tree / "kernels")
    assert TOOL.main(["mid", "--op", "aten::mid.out"]) == 0
    after = library.read(tree / "kernels")
    entries = list(after.entries)
    (added,) = [entry for entry in entries if entry.op == "aten::mid.out"]
    entries.remove(added)
    assert entries == list(before.entries)
    assert added.folder == tree / "kernels" / "elementwise"
    assert added.source("mid").is_file()
    lines = [
        line for line in path.read_text().splitlines() if line.startswith("- op: ")
    ]
    at = lines.index("- op: aten::mid.out")
    assert lines[at - 1] < lines[at] < lines[at + 1]
    committed_cases.run(tree / "tests" / "ops" / "numpy" / "mid.py", tree)
    assert {path.parent.name for path in tree.glob("*/case.json")} == {
        "mid_float32",
        "mid_float64",
    }


NUMBER = "(Tensor a, Scalar b, *, Tensor(a!) out) -> Tensor(a!)"
THREE = "(Tensor a, Tensor b, Tensor c, *, Tensor(a!) out) -> Tensor(a!)"


@pytest.mark.parametrize(
    ("words", "macro"),
    [
        (["--formula", "a + a"], "EMBER_MAP_F32_1(mid_f32, a + a);"),
        (["--schema", TWO], "EMBER_MAP_F32_2(mid_f32, a + b);"),
        (["--schema", NUMBER], "EMBER_MAP_F32_SCALAR(mid_f32, a + b);"),
        (["--schema", THREE], ""),
    ],
)
def test_float32_has_a_kernel_where_a_macro_writes_it(
    words: list[str], macro: str, tree: Path
) -> None:
    assert TOOL.main(["mid", *words]) == 0
    listed = library.read(tree / "kernels").entries
    (added,) = [entry for entry in listed if entry.op == "my_ops::mid.out"]
    assert list(added.kernels) == (["mid_f32", "mid"] if macro else ["mid"])
    source = tree / "kernels" / "elementwise" / "mid_f32.c"
    assert source.exists() == bool(macro)
    assert not macro or macro in source.read_text()


@pytest.mark.parametrize(("kernel", "marked"), [("add_f32", True), ("acos", False)])
def test_a_variant_stands_before_its_kernel(
    kernel: str, marked: bool, tree: Path
) -> None:
    assert TOOL.main([kernel, "--isa", "dsp"]) == 0
    listed = library.read(tree / "kernels")
    variant = f"{kernel}_dsp"
    homes = [
        listed_entry
        for listed_entry in listed.entries
        if kernel in listed_entry.kernels
    ]
    assert homes
    for entry in homes:
        at = entry.kernels.index(kernel)
        assert entry.kernels[at - 1] == variant
    assert (variant in listed.facts.in_place) is marked
    text = homes[0].source(variant).read_text()
    assert f"({variant}, " in text
    assert f"{variant}(a" not in text  # a C function of the kernel's name


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["Twice"], "is not a valid name for a kernel"),
        (["twice_mve"], "has the name of a variant"),
        (["abs"], "is there already"),
        (["twice", "--op", "aten::abs.out"], "is listed already"),
        (["twice", "--family", "nowhere"], "does not exist"),
        (["twice", "--schema", "(*, Tensor(a!) out)"], "1 to 4 operands"),
        (["twice", "--schema", TWO, "--formula", "a"], "the formula lacks b"),
        (["nothing", "--isa", "mve"], "has a kernel nothing"),
        (["abs", "--isa", "avx"], "no instruction set 'avx'"),
        (["add_f32", "--isa", "mve"], "is there already"),
    ],
)
def test_what_it_refuses(
    words: list[str], said: str, tree: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = (tree / "kernels" / library.FILE).read_text()
    assert TOOL.main(words) == 1
    assert said in capsys.readouterr().err
    assert (tree / "kernels" / library.FILE).read_text() == before
