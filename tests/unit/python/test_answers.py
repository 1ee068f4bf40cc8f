"""What `ember plan` answers when a model does not fit, or when that is unknown."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import committed
import pytest
from committed_cases import path_of

from ember import boards, cli, program
from ember.files.tensors import DType
from ember.firmware import Options
from ember.firmware.advice import answers
from ember.plan import passes
from ember.program import Operator
from ember.toolchain import linker

K = 1024


def small(ram: int) -> boards.Board:
    """mps2-an386 with one memory of `ram` bytes beside the flash."""
    board = boards.load("mps2-an386")
    flash, ram_of_it, _ = board.memories
    memories = (flash, ram_of_it.model_copy(update={"size": ram}))
    return board.model_copy(update={"memories": memories})


def ask(name: str, ram: int, options: Options | None = None) -> dict[str, Any]:
    return answers.of([path_of(name)], small(ram), options or Options())


@pytest.mark.slow
def test_too_big_says_by_how_much_and_what_makes_the_peak() -> None:
    room = 16 * K
    whole = Options(rows="off")  # by rows it needs less
    answer = ask("model_resnet8_small", room, whole)
    assert (answer["fits"], answer["resolved"], answer["linked"]) == (False, True, True)
    (short,) = answer["shortages"]
    assert short["purpose"] == "planned memory 1 of forward"
    assert answer["over"] == short["over"] == short["needed"] - room
    enough = ask("model_resnet8_small", room + short["over"], whole)
    assert enough["fits"]
    assert not ask("model_resnet8_small", room + short["over"] - 16, whole)["fits"]
    (method,) = answer["methods"]
    (memory,) = method["memories"]
    peak = memory["peak"]
    assert peak["bytes"] == memory["bytes"] == short["pieces"][short["purpose"]]
    assert sum(tensor["bytes"] for tensor in peak["tensors"]) == peak["bytes"]
    assert all("aten::" in tensor["name"] for tensor in peak["tensors"])
    assert answer["int8"]["activations"] == peak["bytes"] // 4
    assert "mps2-an385" in answer["boards_that_fit"]


@pytest.mark.slow
@pytest.mark.broad
def test_what_helps_was_tried() -> None:
    folded = ask("model_encoder_small", 512 * K)
    few = tuple(name for name in passes.DEFAULT if name not in ("fold", "in_place"))
    plain = ask("model_encoder_small", 512 * K, Options(passes=few))
    need = folded["activations"]["planned"]
    assert need < plain["activations"]["planned"]
    (short,) = ask("model_encoder_small", 2 * K)["shortages"]
    room = short["needed"]
    assert ask("model_encoder_small", room)["fits"]
    answer = ask("model_encoder_small", room, Options(passes=few))
    assert not answer["fits"]
    helps = {remedy["change"]: remedy for remedy in answer["helps"]}
    assert next(iter(helps)) == "--prepared"
    every = helps["the passes fold, in_place"]
    assert (every["fits"], every["over"]) == (True, 0)
    assert "the pass fold" in helps
    assert all(remedy["over"] < answer["over"] for remedy in helps.values())


def test_a_model_without_kernels_is_planned_as_far_as_is_known(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    read = committed.program_of("model_mlp_small")
    (method,) = read.methods
    strange = (Operator("my::own", "out"), *method.operators[1:])
    changed = replace(read, methods=(replace(method, operators=strange),))
    file = tmp_path / "strange.pte"
    file.write_bytes(program.write(changed))
    words = ["plan", str(file), "--board", "mps2-an386"]
    page = tmp_path / "page.html"
    assert cli.main([*words, "--html", str(page), "--json", "-"]) == 1
    answer = json.loads(capsys.readouterr().out)
    assert (answer["fits"], answer["resolved"]) == (True, False)
    assert "my::own.out" in answer["reason"]
    used = {memory["name"]: memory["used"] for memory in answer["memories"]}
    assert answer["assumed"]["stack"] == linker.DEFAULT_STACK
    assert sum(used.values()) >= linker.DEFAULT_STACK + method.planned_bytes
    assert "my::own.out" in page.read_text()
    assert cli.main(words) == 1
    assert "incomplete: " in capsys.readouterr().out


def test_an_operator_without_a_kernel_for_the_call_is_planned_anew(
    tmp_path: Path,
) -> None:
    """The operator is known, so lifetimes are; its kernels refuse the call."""
    read = committed.program_of("model_mlp_small")
    (method,) = read.methods
    values = tuple(
        replace(value, dtype=DType.BITS16)
        if isinstance(value, program.Tensor) and index in method.outputs
        else value
        for index, value in enumerate(method.values)
    )
    sizes = (0, method.planned_sizes[1] + 64)
    wide = replace(method, values=values, planned_sizes=sizes)
    file = tmp_path / "odd.pte"
    file.write_bytes(program.write(replace(read, methods=(wide,))))
    answer = answers.of([file], small(64 * K), Options())
    assert (answer["fits"], answer["resolved"]) == (True, False)
    assert answer["methods"][0]["tensors"] != []


def test_the_refusal_is_readable(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["plan", str(path_of("model_resnet8_small")), "--board", "mps2-an386"]
    assert cli.main(words) == 0
    out = " ".join(capsys.readouterr().out.split())
    assert "planned memory 1: most is in use at instruction" in out
    assert cli.main(["plan", "--csv", "a.csv", "--html", "b.html"]) == 2
