# SPDX-License-Identifier: Apache-2.0
"""One-operator programs: those committed cover every operator, and stay exportable."""

from __future__ import annotations

import json
import runpy
import shutil
from pathlib import Path

import exporting
import pytest

from ember import cases, kernels, program
from ember.program import KernelCall, Program, bundle

TESTS = Path(__file__).resolve().parents[1]
COMMITTED = Path(__file__).with_name("cases")
DIALECTS = [Path(__file__).with_name(name) for name in ("cadence", "cortex_m")]
NUMPY = Path(__file__).with_name("numpy")
EXPORTER = "export_conformance.py"
# What the exporter turns into something else, writes only for programs with state, or
# for what nobody can compare (memory as it was found).
UNREACHED = frozenset(
    {
        "aten::_native_batch_norm_legit.out",
        "aten::empty.out",
        "aten::empty_strided.out",
        "aten::index_put_",
        "aten::lift_fresh_copy.out",
        "aten::native_batch_norm.out",
        "dim_order_ops::_empty_dim_order.out",
    }
)


def stored(path: Path) -> Program:
    content = path.read_bytes()
    if path.suffix == ".bpte":
        content = bundle.parse(content).program
    return program.parse(content, path.name)


def operators(model: Program) -> set[str]:
    return {
        method.operators[instruction.op_index].full_name
        for method in model.methods
        for chain in method.chains
        for instruction in chain.instructions
        if isinstance(instruction, KernelCall)
    }


def programs(folder: Path) -> list[Path]:
    return sorted([*folder.rglob("*.pte"), *folder.rglob("*.bpte")])


def test_committed_programs_call_every_operator() -> None:
    found: set[str] = set()
    for folder in (TESTS / "cases", COMMITTED, *DIALECTS, NUMPY):
        for path in programs(folder):
            found |= operators(stored(path))
    listed = set(kernels.load().operators)
    assert sorted(listed - found - UNREACHED) == []
    assert sorted(UNREACHED & found) == []


def test_every_operator_of_cadence_has_a_case_of_its_dialect() -> None:
    called: set[str] = set()
    for path in programs(DIALECTS[0]):
        called |= operators(stored(path))
    listed = {name for name in kernels.load().operators if name.startswith("cadence::")}
    assert len(listed) == 91  # those with an `out` that ExecuTorch's wheel registers
    assert sorted(listed ^ called) == []


@pytest.mark.parametrize("folder", sorted(NUMPY.iterdir()), ids=lambda one: one.name)
def test_a_case_of_numpy_is_what_its_script_writes(
    folder: Path, tmp_path: Path
) -> None:
    script = shutil.copy(folder / "make.py", tmp_path)
    runpy.run_path(str(script))
    assert written(tmp_path) == written(folder)


def written(folder: Path) -> dict[str, bytes]:
    files = (path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


def test_committed_programs_stay_small() -> None:
    sizes = [path.stat().st_size for path in COMMITTED.rglob("*") if path.is_file()]
    assert sum(sizes) <= 6_000_000
    assert len(cases.find([COMMITTED])) >= 600


# ---- with torch ----------------------------------------------------------------------


@pytest.mark.export
def test_there_is_a_unit_for_each_sampled_operator_and_group() -> None:
    names = exporting.said_by(EXPORTER, "--list").split()
    assert len(names) == len(set(names)) >= 300
    assert {"add", "softmax", "edge_softmax", "nn_functional_conv2d"} <= set(names)


@pytest.mark.export
@pytest.mark.slow
def test_exporting_resumes_and_gives_the_same_bytes(tmp_path: Path) -> None:
    options = ("--out", str(tmp_path), "--jobs", "1", "-k", "^edge_powers$")
    exporting.said_by(EXPORTER, *options)
    index = json.loads((tmp_path / "edge_powers" / "index.json").read_text())
    made = {name for name, outcome in index.items() if outcome == "exported"}
    assert len(made) >= 0.9 * len(index)
    first = contents(tmp_path)
    assert made == {path.parts[1] for path in first if len(path.parts) == 3}
    exporting.said_by(EXPORTER, *options)
    assert contents(tmp_path) == first
    exporting.said_by(EXPORTER, *options, "--again")
    assert contents(tmp_path) == first


def contents(folder: Path) -> dict[Path, bytes]:
    return {
        path.relative_to(folder): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }
