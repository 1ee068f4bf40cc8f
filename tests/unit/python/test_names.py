"""Modules of the model: kept in a program, shown for instructions, not in firmware."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import planted
import pytest
from committed_cases import path_of

from ember import cli, kernels, program
from ember.program import DelegateCall, Method, Program, bundle, names
from ember.program.types import Frame

LENET, ENCODER = "model_lenet_small", "xnnpack_encoder"


def frames(method: Method, index: int) -> tuple[Frame, ...]:
    """A module for each instruction, and for each node of a delegate."""
    call = method.instructions[index]
    inside = range(100) if isinstance(call, DelegateCall) else ()
    each = (names.frame(f"part.{index}.node{at}", "net.py", at) for at in inside)
    return (*each, names.frame(f"part.{index}", "net.py", 10 + index))


def named(parsed: Program) -> Program:
    def told(method: Method) -> Method:
        (chain,) = method.chains
        trace = tuple(frames(method, n) for n in range(len(chain.instructions)))
        return replace(method, chains=(replace(chain, stacktrace=trace),))

    return replace(parsed, methods=tuple(map(told, parsed.methods)))


def written(folder: Path, case: str) -> Path:
    """A case whose program has names."""
    before = bundle.read(path_of(case))
    content = program.write(named(program.parse(before.program)))
    path = folder / "named.bpte"
    path.write_bytes(bundle.write(replace(before, program=content)))
    return path


def shown(path: Path, capsys: pytest.CaptureFixture[str], *words: str) -> Any:
    """What a command writes as JSON, and says."""
    assert cli.main([words[0], str(path), *words[1:], "--json", "facts.json"]) == 0
    return json.loads(Path("facts.json").read_text()), capsys.readouterr().out


@pytest.fixture(autouse=True)
def _in_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")


def test_a_file_keeps_names_and_firmware_has_none(tmp_path: Path) -> None:
    parsed = program.parse(bundle.read(written(tmp_path, LENET)).program)
    (method,) = parsed.methods
    assert names.module_of(method, 3) == "part.3"
    assert names.facts(method, 3) == {"module": "part.3", "source": "net.py:13"}
    (bare,) = program.parse(program.content(parsed)).methods
    assert bare.chains[0].stacktrace is None
    assert names.facts(bare, 3) == {"module": None, "source": None}
    grown = len(program.write(parsed)) - len(program.content(parsed))
    assert 0 < grown < 100 * len(method.instructions)


def test_lines_of_a_python_stack_are_no_modules(data: Path) -> None:
    (method,) = program.read(data / "trace.pte").methods
    facts = names.facts(method, 0)
    assert facts["module"] is None
    assert facts["source"] is not None


def test_inspect_shows_them(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    facts, text = shown(written(tmp_path, LENET), capsys, "inspect", "--values")
    (method,) = facts["program"]["methods"]
    first = method["instructions"][0]
    assert (first["module"], first["source"]) == ("part.0", "net.py:10")
    assert "::" in first["name"]
    assert "part.0" in text
    plain, text = shown(path_of(LENET), capsys, "inspect", "--values")
    (method,) = plain["program"]["methods"]
    assert method["instructions"][0]["module"] is None
    assert "module" not in text


def test_inspect_shows_them_of_nodes_inside_a_delegate(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    facts, text = shown(written(tmp_path, ENCODER), capsys, "inspect")
    (method,) = facts["program"]["methods"]
    delegate = next(each for each in method["delegates"] if len(each["nodes"]) > 2)
    assert delegate["nodes"][2]["module"].endswith(".node2")
    assert ".node2" in text


@pytest.mark.slow
def test_plan_shows_them_whatever_passes_did(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = written(tmp_path, LENET)
    words = ("plan", "--board", "mps2-an386", "--html", "plan.html")
    for _ in range(2):  # the second time passes are those of the cache
        facts, text = shown(path, capsys, *words)
        (method,) = facts["methods"]
        pairs = zip(method["instructions"], method["modules"], strict=True)
        assert all(module for op, module in pairs if op.startswith("aten::"))
        assert len({*method["modules"]} - {None}) > 5
        tensor = facts["methods"][0]["tensors"][-1]
        assert tensor["module"] is None or tensor["module"].startswith("part.")
        assert "of part." in text
        assert "of part." in Path("plan.html").read_text()
    facts, text = shown(path_of(LENET), capsys, *words)
    assert {*facts["methods"][0]["modules"]} == {None}
    assert "module" not in text


@pytest.mark.slow
@pytest.mark.qemu
def test_profile_shows_them(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = written(tmp_path, LENET)
    words = ("profile", "--board", "mps2-an386", "--html", "profile.html")
    facts, text = shown(path, capsys, *words)
    modules = {row["module"] for row in facts["nodes"]}
    assert len(modules - {None}) > 5
    assert facts["nodes"][0]["name"].startswith(("aten::", "ember::"))
    assert "module" not in facts["operators"][0]
    assert facts["nodes"][0]["module"] in text
    assert f"of {facts['nodes'][0]['module']}" in Path("profile.html").read_text()
    assert cli.main(["compare", "facts.json", "facts.json"]) == 0


@pytest.mark.slow
@pytest.mark.parametrize("packed", [(), ("--packed",)])
def test_debug_shows_that_of_the_wrong_node(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], packed: tuple[str, ...]
) -> None:
    kernels.load.cache_clear()
    op = "aten::max_pool2d_with_indices.out"
    kernel = kernels.load().operators[op].usable(())[-1]
    folder = planted.write(tmp_path / "kernels", op, kernel, "border")
    words = ["debug", str(written(tmp_path, LENET)), "--board", "host", *packed]
    words += ["--kernels", str(folder), "--json", "facts.json"]
    assert cli.main(words) == 1
    first = json.loads(Path("facts.json").read_text())["first"]
    assert (first["module"], first["source"]) == ("part.2", "net.py:12")
    said = capsys.readouterr().out
    assert "module   part.2" in said
    assert "source   net.py:12\n" in said
