"""tools/executorch_diff.py: what a newer package of executorch changes."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
REGISTRATIONS = """
from torch.library import Library

lib = Library("cortex_m", "DEF")
lib.define("quantized_add(Tensor self) -> Tensor")
lib.define("quantized_add.out({arguments}, *, Tensor(a!) out) -> Tensor(a!)")
"""
SCHEMA = "table Tensor {{ // comment\n  sizes: [int];{more} }}\nenum Kind {{ A = 0 }}\n"
PASSES = "class Manager:\n    pass_list = [Fold, {more}]\n"
LIST = """
- op: add.out
- func: mine::{name}.out(Tensor x, *, Tensor(a!) out) -> Tensor(a!)
"""
METADATA = "Name: executorch\nRequires-Dist: torch>={torch}\n"


def package(folder: Path, *, newer: bool) -> Path:
    """A folder with a package of executorch, as site-packages has it."""
    arguments = "Tensor self, int shift" if newer else "Tensor self"
    texts = {
        "backends/cortex_m/ops/operators.py": REGISTRATIONS.format(arguments=arguments),
        "backends/cortex_m/passes/manager.py": PASSES.format(
            more="Lower" if newer else "Drop"
        ),
        "schema/program.fbs": SCHEMA.format(more=" offset: int;" if newer else ""),
        "kernels/functions.yaml": LIST.format(name="two" if newer else "one"),
        "kernels/test/functions.yaml": LIST.format(name="only_tested"),
    }
    for name, text in texts.items():
        path = folder / "executorch" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    metadata = folder / "executorch-1.dist-info" / "METADATA"
    metadata.parent.mkdir()
    metadata.write_text(METADATA.format(torch=2 if newer else 1))
    return folder


def wheel(folder: Path, path: Path) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        for item in folder.rglob("*"):
            archive.write(item, item.relative_to(folder))
    return path


def compared(old: Path, new: Path, code: int = 0) -> str:
    tool = ROOT / "tools" / "executorch_diff.py"
    command = [sys.executable, *map(str, (tool, old, new))]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == code, result.stderr
    return result.stdout + result.stderr


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> str:
    place = tmp_path_factory.mktemp("packages")
    old = package(place / "old", newer=False)
    return compared(old, wheel(package(place / "new", newer=True), place / "new.whl"))


@pytest.mark.parametrize(
    "lines",
    [
        "~ cortex_m::quantized_add.out\n"
        "      was (Tensor self, *, Tensor(a!) out) -> Tensor(a!)\n"
        "      now (Tensor self, int shift, *, Tensor(a!) out) -> Tensor(a!)\n"
        "      Ember: takes other lists\n",
        "+ mine::two.out (Tensor x, *, Tensor(a!) out) -> Tensor(a!)\n"
        "      Ember: no kernel\n",
        "- mine::one.out (Tensor x, *, Tensor(a!) out) -> Tensor(a!)\n",
        "~ program.fbs: Tensor\n"
        "      was sizes: [int];\n"
        "      now sizes: [int]; offset: int;\n",
        "~ manager: pass_list\n      was Fold Drop\n      now Fold Lower\n",
        "+ torch>=2\n",
        "settings: no difference in 0\n",
    ],
)
def test_each_kind_of_change_is_reported(report: str, lines: str) -> None:
    assert lines in report


def test_only_what_programs_contain_is_reported(report: str) -> None:
    assert "quantized_add(" not in report  # without an output argument
    assert "only_tested" not in report
    assert "Kind" not in report  # the same in both


def test_the_same_package_differs_in_nothing(tmp_path: Path) -> None:
    old = package(tmp_path / "old", newer=False)
    assert " differ\n" not in compared(old, old)


def test_what_is_no_package_is_refused(tmp_path: Path) -> None:
    said = compared(tmp_path, tmp_path, code=1)
    assert "must be a version, a wheel or a folder with executorch/" in said
