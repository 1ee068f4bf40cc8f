"""selected_operators.yaml: the same as ExecuTorch writes and reads."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import committed
import pytest
import yaml
from committed_cases import path_of

from ember import cli, program
from ember.kernels import opinfo
from ember.select.rules import Rules

ROOT = Path(__file__).parents[3]
GRU = path_of("model_gru_small")


def exported(folder: Path, name: str = "model_gru_small") -> Path:
    """The program of a case."""
    file = folder / name / "model.pte"
    file.parent.mkdir()
    file.write_bytes(program.write(committed.program_of(name)))
    return file


def select(*words: object, code: int = 0) -> None:
    assert cli.main(["select", *map(str, words)]) == code


def loaded(path: Path) -> dict[str, Any]:
    content: dict[str, Any] = yaml.safe_load(path.read_text())
    return content


@pytest.mark.parametrize("name", ["model_gru_small", "op_index_put"])
def test_same_as_executorch_writes(
    name: str, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    exported(tmp_path, name)
    select(f"{name}/model.pte", "-o", tmp_path / "ours.yaml")
    theirs = loaded(data / "op_info" / f"{name}.yaml")
    assert loaded(tmp_path / "ours.yaml") == theirs


def test_files_of_executorch_are_read(data: Path, tmp_path: Path) -> None:
    folder = data / "op_info"
    files = ["--ops-yaml", folder / "model_gru_small.yaml"]
    files += ["--ops-yaml", folder / "op_index_put.yaml"]
    select(*files, "--ops", "mm.out", "-o", tmp_path / "all.yaml")
    merged = loaded(tmp_path / "all.yaml")
    gru, index_put = (
        loaded(folder / f"{n}.yaml") for n in ("model_gru_small", "op_index_put")
    )
    assert merged["operators"].keys() == {
        *gru["operators"],
        *index_put["operators"],
        "aten::mm.out",
    }
    keys = gru["et_kernel_metadata"] | index_put["et_kernel_metadata"]
    assert merged["et_kernel_metadata"] == keys | {"aten::mm.out": ["default"]}
    again = opinfo.read(tmp_path / "all.yaml")
    assert again.to_yaml() == (tmp_path / "all.yaml").read_text()


def test_dtypes_of_keys_choose_kernels(data: Path, tmp_path: Path) -> None:
    report = tmp_path / "report.json"
    file = tmp_path / "s64.yaml"
    keys = {"aten::add.out": ["v1/4;0|4;0|4;0|4;0"]}
    file.write_text(yaml.safe_dump({"et_kernel_metadata": keys}))
    select("--ops-yaml", file, "--json", report)
    assert json.loads(report.read_text())["operators"] == {"aten::add.out": ["add"]}


def test_all_operators(tmp_path: Path) -> None:
    select("--all-ops", "-o", tmp_path / "all.yaml")
    listed = loaded(tmp_path / "all.yaml")
    assert listed["include_all_operators"] is True
    assert set(listed["operators"]) == set(Rules().known.operators)


@pytest.mark.export
def test_both_ways_with_the_tools_of_executorch(tmp_path: Path) -> None:
    """gen_oplist's file equals ours, and its tools read ours."""
    tools = "executorch.codegen.tools."

    def run(tool: str, *words: object) -> None:
        command = [sys.executable, "-m", tools + tool, *map(str, words)]
        subprocess.run(command, check=True, capture_output=True)

    theirs, ours = tmp_path / "theirs.yaml", tmp_path / "ours.yaml"
    gru = exported(tmp_path)
    run("gen_oplist", "--output_path", theirs, "--model_file_path", gru)
    select(gru, "-o", ours)
    assert loaded(ours) == loaded(theirs)
    select("--ops-yaml", theirs, "-o", tmp_path / "again.yaml")
    assert loaded(tmp_path / "again.yaml") == loaded(theirs)

    other = tmp_path / "other.yaml"
    select(exported(tmp_path, "op_index_put"), "--ops", "mm.out", "-o", other)
    (tmp_path / "list").write_text(f"{ours}\n{other}\n")
    merged = tmp_path / "merged"
    merged.mkdir()
    at_list = f"@{tmp_path / 'list'}"
    run("gen_all_oplist", "--output_dir", merged, "--model_file_list_path", at_list)
    both = loaded(merged / "selected_operators.yaml")
    assert {"aten::tanh.out", "aten::index_put.out", "aten::mm.out"} <= set(
        both["operators"]
    )
    assert opinfo.read(merged / "selected_operators.yaml").operators == sorted(
        both["operators"]
    )

    portable = Path(str(find_spec("executorch").submodule_search_locations[0]))  # type: ignore[union-attr,index]
    functions = portable / "kernels" / "portable" / "functions.yaml"
    example = ROOT / "examples" / "custom_op" / "kernels" / "kernels.yaml"
    options = ("--functions-yaml-path", functions, "--fallback-yaml-path", example)
    run("merge_yaml", *options, "--output_dir", merged)
    offered = opinfo.read(merged / "merged.yaml").operators
    assert {"aten::add.out", "my_ops::mul3.out"} <= set(offered)
    assert len(offered) > 200

    run("gen_selected_op_variants", "--yaml-file-path", ours, "--output-dir", merged)
    header = (merged / "selected_op_variants.h").read_text()
    assert '"tanh.out"' in header
    assert "ScalarType::Float" in header
