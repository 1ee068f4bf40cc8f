# SPDX-License-Identifier: Apache-2.0
"""The committed cases are complete, and exporting them again gives the same."""

from __future__ import annotations

import json
from pathlib import Path

import exporting
import pytest

from ember import program
from ember.program import bundle

ROOT = Path(__file__).resolve().parents[3]
CASES = ROOT / "tests" / "cases"
EXPORTER = "export_corpus.py"
PROGRAMS = {"model.pte", "model.bpte"}
# One of each family; together they take a few seconds.
AGAIN = (
    "model_mlp_small",
    "model_lstm_small",
    "special_cond_nested",
    "special_kv_cache",
    "special_ptd_two_files",
    "special_delegate_named_data",
    "special_stacktrace",
    "bundle_two_outputs",
    "bundle_correlate",
    "op_conv2d_depthwise_stride",
    "op_add_bf16",
    "op_dequantize_channel_s8_f32",
    "op_prim_mod_int",
)
FOLDERS = sorted(path for path in CASES.iterdir() if path.is_dir())


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: _content(path) for path in folder.iterdir()}


def _content(path: Path) -> bytes:
    """Programs as the SDK writes them: exporters' bytes depend on the version of the
    package flatbuffers beside them."""
    data = path.read_bytes()
    if path.suffix == ".pte":
        return program.write(program.parse(data))
    if path.suffix == ".bpte":
        return bundle.write(bundle.parse(data))
    return data


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_case_names_exactly_the_files_it_has(folder: Path) -> None:
    files = {path.name for path in folder.iterdir()}
    assert len(files & PROGRAMS) == 1
    tensors = {name for name in files if name.endswith(".npy")}
    if "model.bpte" in files:
        assert not tensors
        return
    case = json.loads((folder / "case.json").read_text())
    values = [v for run in case["runs"] for v in (*run["inputs"], *run["outputs"])]
    assert tensors == {v for v in values if isinstance(v, str) and v.endswith(".npy")}
    assert case.get("dtypes", {}).keys() <= tensors


def test_committed_cases_stay_small() -> None:
    sizes = [path.stat().st_size for path in CASES.rglob("*") if path.is_file()]
    assert sum(sizes) <= 4_450_000  # networks in float32, int8, for XNNPACK; front ends


def test_there_are_seeds_for_the_fuzzer() -> None:
    programs = list(CASES.glob("*/model.pte"))
    assert sum(path.stat().st_size <= 10_000 for path in programs) >= 20


@pytest.mark.export
def test_every_committed_case_has_a_recipe() -> None:
    names = exporting.said_by(EXPORTER, "--list", "--small").split()
    assert sorted(names) == [folder.name for folder in FOLDERS]


@pytest.mark.export
def test_export_is_repeatable(tmp_path: Path) -> None:
    exporting.said_by(
        EXPORTER, "--out", str(tmp_path), *(f"-k={name}$" for name in AGAIN)
    )
    for name in AGAIN:
        assert contents(tmp_path / name) == contents(CASES / name), name
