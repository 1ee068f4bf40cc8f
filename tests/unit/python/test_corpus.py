# SPDX-License-Identifier: Apache-2.0
"""The committed cases are complete, and exporting them again gives the same."""

from __future__ import annotations

from pathlib import Path

import exporting
import numpy as np
import pytest
import sequences
from committed_cases import PROGRAMS, matching, path_of

from ember import cases, program
from ember.cases import Case

ROOT = Path(__file__).resolve().parents[3]
EXPORTER = "export_corpus.py"
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
NAMES = {path.stem for path in matching()}
OTHERS = ("executorch_",)  # export_versions.py


def meaning(case: Case) -> object:
    """A program as the SDK writes it (exporters' bytes depend on the version of the
    package flatbuffers beside them), what its runs read, and tolerances."""
    runs = [(run.method, [_value(value) for value in run.inputs]) for run in case.runs]
    return program.write(case.program), runs, case.rtol, case.atol, case.data


def _value(value: cases.Value) -> object:
    if isinstance(value, cases.CaseTensor):
        return value.dtype, value.array.shape, value.array.tobytes()
    return repr(value)


def gives_the_same(fresh: Case, kept: Case) -> bool:
    """Within the tolerance: PyTorch's sums depend on the processor."""
    pairs = [
        (value, other)
        for run, same in zip(fresh.runs, kept.runs, strict=True)
        for value, other in zip(run.outputs, same.outputs, strict=True)
    ]
    return all(
        np.allclose(value.array, other.array, kept.rtol, kept.atol, equal_nan=True)
        if isinstance(value, cases.CaseTensor) and isinstance(other, cases.CaseTensor)
        else repr(value) == repr(other)
        for value, other in pairs
    )


@pytest.mark.parametrize("name", sequences.names())
def test_a_sequence_says_what_a_bundle_cannot(name: str) -> None:
    case = sequences.case_of(name)
    values = [v for run in case.runs for v in (*run.inputs, *run.outputs)]
    alternate = [run.method for run in case.runs]
    assert (
        case.data
        or None in values
        or any(run.reset for run in case.runs)
        or alternate != sorted(alternate, key=alternate.index)
    )


@pytest.mark.parametrize("name", sequences.names())
def test_a_line_of_the_table_gives_a_case_folder_and_back(
    name: str, tmp_path: Path
) -> None:
    case = cases.read(cases.Found(name, sequences.save(name, tmp_path)))
    assert gives_the_same(case, sequences.case_of(name))
    (tmp_path / "again").mkdir()
    sequences.add(case, tmp_path / "again")
    again = sequences.case_of(name, tmp_path / "again")
    assert meaning(again) == meaning(case)
    assert [run.reset for run in again.runs] == [run.reset for run in case.runs]


def test_whole_programs_are_bundles_or_sequences() -> None:
    files = {path for path in PROGRAMS.iterdir() if path.suffix != ".bpte"}
    assert files == {*sequences.files(), PROGRAMS / "README.md"}


def test_no_program_is_there_twice() -> None:
    contents = [path.read_bytes() for path in PROGRAMS.glob("*.bpte")]
    assert len(contents) == len(set(contents))


def test_committed_cases_stay_small() -> None:
    sizes = [path.stat().st_size for path in PROGRAMS.iterdir()]
    # Networks in float32, int8, for XNNPACK; front ends; a decoder; six versions of
    # ExecuTorch.
    assert sum(sizes) <= 5_500_000


def test_there_are_seeds_for_the_fuzzer() -> None:
    programs = list(PROGRAMS.glob("*.bpte"))
    assert sum(path.stat().st_size <= 10_000 for path in programs) >= 20


@pytest.mark.export
def test_every_committed_case_has_a_recipe() -> None:
    names = exporting.said_by(EXPORTER, "--list", "--small").split()
    whole = {name for name in NAMES if not name.startswith(OTHERS)}
    assert whole == set(names)


@pytest.mark.export
def test_export_is_repeatable(tmp_path: Path) -> None:
    exporting.said_by(
        EXPORTER, "--out", str(tmp_path), *(f"-k={name}$" for name in AGAIN)
    )
    for name in AGAIN:
        fresh, kept = (
            cases.read(cases.Found(name, path))
            for path in (tmp_path / name, path_of(name))
        )
        assert meaning(fresh) == meaning(kept), name
        assert gives_the_same(fresh, kept), name
