"""`ember test --baseline`: what got worse is named, by case, figure and node."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from committed_cases import path_of

from ember import cli
from ember.errors import SdkError
from ember.run import baseline

MLP, ADD = str(path_of("bundle_mlp")), str(path_of("op_add"))
pytestmark = pytest.mark.qemu


def _fails(*_: object) -> None:
    raise SdkError("the disk is full")


@pytest.fixture(autouse=True)
def _in_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def ember_test(*words: str) -> int:
    return cli.main(
        ["test", *words, "--board", "mps2-an386", "--baseline", "base.json"]
    )


def stored() -> dict[str, Any]:
    facts: dict[str, Any] = json.loads(Path("base.json").read_text())
    return facts


def change(case: str, **figures: object) -> None:
    """As if the firmware had been another when it was stored."""
    facts = stored()
    facts["boards"]["mps2-an386"][case].update(figures)
    Path("base.json").write_text(json.dumps(facts))


def test_figures_are_stored_and_then_compared(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert ember_test(MLP, ADD) == 0
    assert "stored 2 cases in base.json" in capsys.readouterr().out
    before = Path("base.json").read_bytes()
    figures = stored()["boards"]["mps2-an386"]["bundle_mlp.bpte"]
    counted = {"instructions", "load", "cycles", "ram", "flash"}
    assert all(figures[name] > 0 for name in counted)
    assert figures["cycles"] > figures["instructions"]
    assert figures["nodes"][0]["op"] == "aten::addmm.out"
    assert ember_test(MLP, ADD, "--json", "out.json") == 0
    facts = json.loads(Path("out.json").read_text())
    assert facts["baseline"] == {"changes": [], "unknown": []}
    assert Path("base.json").read_bytes() == before


def test_nothing_is_stored_of_cases_that_were_not_measured(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(baseline, "measure", _fails)
    assert ember_test(ADD) == 1
    assert "base.json is not written: 1 case could" in capsys.readouterr().out
    assert not Path("base.json").exists()


def test_a_regression_names_node_and_amount(capsys: pytest.CaptureFixture[str]) -> None:
    assert ember_test(MLP) == 0
    figures = stored()["boards"]["mps2-an386"]["bundle_mlp.bpte"]
    nodes = figures["nodes"]
    nodes[1]["instructions"] -= 30
    change(
        "bundle_mlp.bpte",
        instructions=figures["instructions"] - 30,
        ram=figures["ram"] - 16,
        nodes=nodes,
    )
    words = ["--json", "out.json", "--junit", "out.xml", "--summary", "out.md"]
    assert ember_test(MLP, *words) == 1
    said = capsys.readouterr().out
    assert "failed mps2-an386 bundle_mlp.bpte: instructions" in said
    assert "(+30, " in said
    assert "most in node 1, aten::relu.out by relu_f32_fpu (+30)" in said
    facts = json.loads(Path("out.json").read_text())
    (case,) = facts["cases"]
    assert case["status"] == "failed"
    assert [c["figure"] for c in facts["baseline"]["changes"]] == [
        "instructions",
        "ram",
    ]
    assert "node 1, aten::relu.out" in Path("out.xml").read_text()
    assert "| mps2-an386 | bundle_mlp.bpte | ram |" in Path("out.md").read_text()


def test_growth_may_be_allowed_and_less_is_told(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert ember_test(MLP) == 0
    figures = stored()["boards"]["mps2-an386"]["bundle_mlp.bpte"]
    change("bundle_mlp.bpte", load=figures["load"] - 1, flash=figures["flash"] + 100)
    assert ember_test(MLP) == 1
    assert ember_test(MLP, "--allow", "1") == 0
    said = capsys.readouterr().out
    assert "less   mps2-an386 bundle_mlp.bpte: flash" in said
    assert ember_test(MLP, "--update-baseline") == 0
    assert stored()["boards"]["mps2-an386"]["bundle_mlp.bpte"] == figures


def test_other_bits_are_a_failure(capsys: pytest.CaptureFixture[str]) -> None:
    assert ember_test(ADD) == 0
    change("op_add.bpte", outputs="0" * 16)
    assert ember_test(ADD) == 1
    assert "the outputs have other bits than the baseline's" in capsys.readouterr().out


def test_a_case_that_is_new_is_told_and_others_stay(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert ember_test(ADD) == 0
    assert ember_test(MLP) == 0
    assert "1 case not in base.json" in capsys.readouterr().out
    assert ember_test(MLP, "--update-baseline") == 0
    assert set(stored()["boards"]["mps2-an386"]) == {"op_add.bpte", "bundle_mlp.bpte"}


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--allow", "1"], "--allow needs --baseline FILE"),
        (["--update-baseline"], "--update-baseline needs --baseline FILE"),
        (["--baseline", "b", "--poison", "1"], "firmware of its own in emulators"),
        (["--baseline", "b", "--port", "x"], "firmware of its own in emulators"),
    ],
)
def test_words_that_do_not_go_together(
    words: list[str], says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["test", ADD, "--board", "mps2-an386", *words]) == 2
    assert says in capsys.readouterr().err


@pytest.mark.parametrize(
    "text", ["{}", "[]", '{"ember_baseline": 1}', '{"ember_baseline": 1, "boards": 3}']
)
def test_a_file_that_is_no_baseline_is_left_alone(
    text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("base.json").write_text(text)
    assert ember_test(ADD, "--update-baseline") == 1
    said = capsys.readouterr().err
    assert "base.json is not a baseline" in said
    assert "delete the file" in said
    assert Path("base.json").read_text() == text


@pytest.mark.parametrize("figure", ["ram", "nodes"])
def test_figures_that_are_damaged(
    figure: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert ember_test(ADD) == 0
    change("op_add.bpte", **{figure: "many"})
    assert ember_test(ADD) == 1
    assert "base.json is not a baseline" in capsys.readouterr().err
