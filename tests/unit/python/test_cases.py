"""Case folders and bundles: what is found, what is read, every mistake one sentence."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ember import cases, cli, program
from ember.errors import SdkError, UsageError
from ember.files.tensors import DType
from ember.program import bundle


def write(folder: Path, model: Path, arrays: dict[str, Any], **settings: Any) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copy(model, folder / "model.pte")
    for name, array in arrays.items():
        np.save(folder / name, array)
    (folder / "case.json").write_text(json.dumps(settings))
    return folder


def ones(*shape: int, dtype: str = "float32") -> np.ndarray:
    return np.ones(shape, dtype)


@pytest.fixture
def add_case(tmp_path: Path, data: Path) -> Path:
    run = {"method": "forward", "inputs": ["a.npy", "b.npy"], "outputs": ["c.npy"]}
    arrays = {"a.npy": ones(2, 3), "b.npy": ones(2, 3), "c.npy": ones(2, 3) * 2}
    folder = tmp_path / "cases" / "add"
    return write(folder, data / "add.pte", arrays, rtol=1e-3, atol=0, runs=[run, run])


def read(folder: Path) -> cases.Case:
    return cases.read(cases.find([folder])[0])


def edit(folder: Path, **changes: Any) -> None:
    path = folder / "case.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))


def edit_run(folder: Path, **changes: Any) -> None:
    run = json.loads((folder / "case.json").read_text())["runs"][0]
    edit(folder, runs=[run | changes])


# ---- finding -------------------------------------------------------------------------


def test_finds_folders_and_bundles_below_a_path(add_case: Path, data: Path) -> None:
    top = add_case.parent
    shutil.copytree(add_case, top / "deep" / "er")
    shutil.copy(data / "bundle.bpte", top / "deep" / "one.bpte")
    (top / "notes.txt").write_text("ignored")
    names = [case.name for case in cases.find([top])]
    assert sorted(names) == ["add", "deep/er", "deep/one.bpte"]


def test_folders_that_ember_wrote_are_no_cases(add_case: Path) -> None:
    """`ember test .` beside a build folder."""
    top = add_case.parent
    package = top / "build" / "host" / "add" / "4-package"
    package.mkdir(parents=True)
    for name in ("1-program.json", "4-package/model.pte", "4-package/manifest.json"):
        (package.parent / name).touch()
    (top / "packed").mkdir()
    for name in ("model.pte", "manifest.json", "models.c"):
        (top / "packed" / name).touch()
    assert [case.name for case in cases.find([top])] == ["add"]
    (add_case / "manifest.json").touch()  # of its owner's
    assert [case.name for case in cases.find([top])] == ["add"]
    with pytest.raises(UsageError, match="contains no case folder"):
        cases.find([package.parent])


def test_a_case_given_twice_is_one_case(add_case: Path) -> None:
    listed = cases.find([add_case, add_case.parent, add_case / "case.json"])
    assert [case.name for case in listed] == ["add"]


def test_equal_names_become_paths(add_case: Path, tmp_path: Path) -> None:
    other = tmp_path / "other" / "add"
    shutil.copytree(add_case, other)
    names = [case.name for case in cases.find([add_case, other])]
    assert names == [add_case.as_posix(), other.as_posix()]


@pytest.mark.parametrize("name", ["nowhere", "empty", "file.pte"])
def test_a_path_without_cases_is_wrong_usage(tmp_path: Path, name: str) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "file.pte").write_bytes(b"x")
    with pytest.raises(UsageError, match=name):
        cases.find([tmp_path / name])


# ---- reading -------------------------------------------------------------------------


def test_reads_runs_tensors_and_tolerances(add_case: Path) -> None:
    case = read(add_case)
    assert (case.name, case.rtol, case.atol, case.methods) == (
        "add",
        1e-3,
        0.0,
        ("forward",),
    )
    assert len(case.runs) == 2
    (first, _) = case.runs[0].inputs
    assert isinstance(first, cases.CaseTensor)
    assert str(first) == "float32[2, 3]"


def test_everything_but_the_runs_has_a_default(add_case: Path) -> None:
    (add_case / "case.json").write_text(
        json.dumps({"runs": [{"inputs": ["a.npy", "b.npy"]}]})
    )
    case = read(add_case)
    assert (case.rtol, case.atol) == (cases.RTOL, cases.ATOL)
    assert case.runs[0].method == "forward"
    assert case.runs[0].outputs == ()


def test_a_run_may_start_again(add_case: Path) -> None:
    run = json.loads((add_case / "case.json").read_text())["runs"][0]
    edit(add_case, runs=[run, {**run, "reset": True}])
    assert [run.reset for run in read(add_case).runs] == [False, True]


def test_reset_is_true_or_false(add_case: Path) -> None:
    run = json.loads((add_case / "case.json").read_text())["runs"][0]
    edit(add_case, runs=[{**run, "reset": 1}])
    with pytest.raises(SdkError, match="run 0: 'reset' must be true or false"):
        read(add_case)


def test_bfloat16_is_named_in_dtypes(add_case: Path) -> None:
    np.save(add_case / "c.npy", ones(2, 3, dtype="uint16"))
    edit(add_case, dtypes={"c.npy": "bfloat16"})
    (expected,) = read(add_case).runs[0].outputs
    assert isinstance(expected, cases.CaseTensor)
    assert expected.dtype is DType.BFLOAT16


def test_dynamic_inputs_may_be_smaller(tmp_path: Path, data: Path) -> None:
    (declared,) = program.read(data / "dynamic.pte").methods[0].input_tensors
    small = tuple(max(1, size - 1) for size in declared.sizes)
    folder = write(
        tmp_path / "d",
        data / "dynamic.pte",
        {"x.npy": np.zeros((small[0], *declared.sizes[1:]), "float32")},
        runs=[{"inputs": ["x.npy"], "outputs": []}],
    )
    assert read(folder).runs[0].outputs == ()


def test_a_bundle_brings_its_own_runs(data: Path, tmp_path: Path) -> None:
    case = read(data / "bundle.bpte")
    stored = bundle.read(data / "bundle.bpte")
    assert case.bundled
    assert len(case.runs) == sum(len(suite.cases) for suite in stored.suites)
    folder = tmp_path / "folder"
    folder.mkdir()
    shutil.copy(data / "bundle.bpte", folder / "model.bpte")
    assert read(folder).name == "folder"
    (folder / "case.json").write_text('{"rtol": 0.5}')
    assert read(folder).rtol == 0.5


# ---- mistakes ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"runs": []}, "at least one run"),
        ({"runs": 3}, "at least one run"),
        ({"runs": ["forward"]}, "run 0 must be an object"),
        ({"rtol": -1}, "'rtol' must be a number of at least 0"),
        ({"atol": "small"}, "'atol' must be a number"),
        ({"rtoll": 1}, "unknown key 'rtoll', did you mean 'rtol'"),
        ({"dtypes": {"x.npy": "bfloat16"}}, "names x.npy, which no run uses"),
        ({"dtypes": {"a.npy": "float12"}}, "no type 'float12'"),
        ({"dtypes": {"a.npy": "bfloat16"}}, "bfloat16 is stored as uint16"),
        ({"dtypes": 7}, "'dtypes' must map"),
    ],
)
def test_mistakes_in_case_json(
    add_case: Path, change: dict[str, Any], sentence: str
) -> None:
    edit(add_case, **change)
    with pytest.raises(SdkError) as error:
        read(add_case)
    assert sentence in error.value.what


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"method": "backward"}, "no method 'backward'; the program has forward"),
        ({"method": 3}, "'method' must be a name"),
        ({"inputs": ["a.npy"]}, "takes 2 inputs, but 1 given"),
        ({"inputs": "a.npy"}, "'inputs' must be a list"),
        ({"inputs": ["a.npy", [1]]}, "[1] is not a value"),
        ({"inputs": ["a.npy", 3]}, "takes float32[2, 3], the case gives 3"),
        ({"inputs": ["a.npy", 2**64]}, "does not fit 64 bits"),
        ({"inputs": ["a.npy", "no.npy"]}, "no.npy is missing"),
        ({"inputs": ["a.npy", "wide.npy"]}, "the case gives float32[2, 4]"),
        ({"inputs": ["a.npy", "double.npy"]}, "the case gives float64[2, 3]"),
        ({"inputs": ["a.npy", "text.npy"]}, "text.npy is not a .npy file"),
        ({"inputs": ["a.npy", "names.npy"]}, "no type 'str"),
        ({"outputs": ["c.npy", "c.npy"]}, "returns 1 output, but 2 expected"),
    ],
)
def test_mistakes_in_a_run(
    add_case: Path, change: dict[str, Any], sentence: str
) -> None:
    np.save(add_case / "wide.npy", ones(2, 4))
    np.save(add_case / "double.npy", ones(2, 3, dtype="float64"))
    np.save(add_case / "names.npy", np.array(["a"]))
    (add_case / "text.npy").write_text("text")
    edit_run(add_case, **change)
    with pytest.raises(SdkError) as error:
        read(add_case)
    assert sentence in error.value.what
    assert "\n" not in error.value.what


def test_mistakes_in_the_folder(add_case: Path, data: Path) -> None:
    shutil.copy(data / "bundle.bpte", add_case / "model.bpte")
    with pytest.raises(SdkError, match=r"both model.pte and model.bpte"):
        read(add_case)
    (add_case / "model.bpte").unlink()
    (add_case / "model.pte").write_bytes(b"nonsense")
    with pytest.raises(SdkError, match=r"model\.pte"):
        read(add_case)
    (add_case / "model.pte").unlink()
    with pytest.raises(SdkError, match="neither"):
        read(add_case)
    (add_case / "case.json").write_text("{")
    with pytest.raises(SdkError, match="is not JSON"):
        read(add_case)


def test_a_program_without_case_json_is_a_mistake(add_case: Path) -> None:
    (add_case / "case.json").unlink()
    with pytest.raises(SdkError, match=r"case\.json is missing"):
        read(add_case)


# ---- what there is to compare --------------------------------------------------------


def without_outputs(path: Path, keep: int) -> bundle.Bundle:
    """The bundle in `path`; only `keep` cases of a method have expected outputs."""
    stored = bundle.read(path)
    (suite,) = stored.suites
    several = suite.cases[:1] * 2
    kept = tuple(
        case if number < keep else replace(case, outputs=())
        for number, case in enumerate(several)
    )
    return replace(stored, suites=(replace(suite, cases=kept),))


@pytest.mark.parametrize(("keep", "where"), [(0, "for forward"), (1, "for case 1 of")])
def test_a_bundle_without_outputs_cannot_pass(
    data: Path, tmp_path: Path, keep: int, where: str
) -> None:
    path = tmp_path / "silent.bpte"
    path.write_bytes(bundle.write(without_outputs(data / "bundle.bpte", keep)))
    case = read(path)  # `ember run` takes its inputs
    with pytest.raises(
        SdkError, match=rf"no expected outputs {where}.*outputs\": \[\]"
    ):
        cases.check_expected(case)


def test_a_run_without_comparison_is_said(add_case: Path) -> None:
    silent = {"inputs": ["a.npy", "b.npy"]}
    (add_case / "case.json").write_text(json.dumps({"runs": [silent]}))
    with pytest.raises(SdkError, match="run 0 has no key 'outputs'"):
        cases.check_expected(read(add_case))
    (add_case / "case.json").write_text(
        json.dumps({"runs": [silent | {"outputs": []}]})
    )
    cases.check_expected(read(add_case))


def test_ember_test_refuses_to_compare_nothing(
    data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "silent.bpte"
    path.write_bytes(bundle.write(without_outputs(data / "bundle.bpte", 0)))
    assert cli.main(["test", str(path), "--board", "host"]) == 1
    said = capsys.readouterr().out
    assert "error  host silent.bpte: the bundle has no expected outputs" in said
    assert "0 passed, 0 failed, 1 error" in said
