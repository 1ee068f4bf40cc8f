"""A user's rules on memories: what is where, and what is wrong with a rule."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
import yaml
from spreading import (
    RESNET,
    K,
    board,
    check,
    memory_of,
    plans,
    split,
    spread,
    used,
)

from ember import cli
from ember.errors import SdkError
from ember.firmware import project as projects
from ember.kernels import KernelList
from ember.model.steering import Steering
from ember.plan import memories
from ember.select.rules import Rules


def test_classes_lie_where_the_user_wants() -> None:
    on = board(512 * K, flash=6)
    place = {
        "inputs": ("main",),
        "outputs": ("main",),
        "stack": ("main",),
        "constants": ("flash",),
        "arena": ("main",),
    }
    placed = spread(on, steering=Steering(place=place))
    check(placed)
    method = placed.pairs[0][0].program.methods[0]
    assert memory_of(placed, method.inputs[0]) == "main"
    assert memory_of(placed, method.outputs[0]) == "main"
    assert placed.homes.of[0, "stack"].memory == "main"
    assert placed.homes.of[0, "forward_arena"].memory == "main"
    (layout,) = plans(on, placed)
    assert layout.constants["copied"] == 0
    assert layout.stack_memory == "main"


@pytest.mark.parametrize("full", [False, True])
def test_a_value_and_an_operator_lie_where_the_user_wants(full: bool) -> None:
    on = board(512 * K)
    method = spread(on).pairs[0][0].program.methods[0]
    calls = [(name, kernel_call) for _, name, kernel_call in method.kernel_calls()]
    value = calls[3][1].args[-1]
    word = f"model_resnet8_small/forward/{value}" if full else f"forward/{value}"
    place = {word: ("main",), "aten::convolution.out": ("main",)}
    placed = spread(on, steering=Steering(place=place))
    check(placed)
    assert memory_of(placed, value) == "main"
    for name, call in calls:
        if name == "aten::convolution.out":
            assert memory_of(placed, call.args[-1]) == "main"
    assert memory_of(placed, method.inputs[0]) == "fast"


def test_reserved_and_forbidden_memory_is_left_alone() -> None:
    on = board(64 * K)
    placed = spread(on, steering=Steering(reserve={"fast": 60 * K}))
    assert used(placed, on)["fast"] <= 4 * K
    placed = spread(on, steering=Steering(forbid=("fast",)))
    assert used(placed, on)["fast"] == 0


def test_lines_of_a_cache_are_not_shared() -> None:
    on = board(12 * K, flash=6)
    kinds = ("activations", "inputs", "outputs", "constants", "scratch", "arena")
    placed = spread(on, steering=Steering(align=dict.fromkeys(kinds, 64)))
    check(placed)
    for region in plans(on, placed)[0].regions:
        assert (region.align, region.size % 64) == (64, 0)
    for _, tensor in placed.pairs[0][0].program.methods[0].tensors:
        assert tensor.allocation is None or tensor.allocation.offset % 64 == 0


def test_what_rules_leave_no_room_for_is_told() -> None:
    rules = Steering(place={"activations": ("fast",)})
    with pytest.raises(SdkError) as error:
        spread(board(8 * K), steering=rules)
    assert "model_resnet8_small does not fit" in error.value.what
    assert "bytes: no room in fast" in error.value.what
    assert error.value.hint is not None
    assert "ember.yaml" in error.value.hint


def test_every_wrong_word_is_told_together() -> None:
    place = {
        "input": ("fast",),
        "aten::relu.oot": ("main",),
        "forward/9999": ("main",),
        "inputs": ("flsh",),
        "scratch": ("flash",),
        "arena": ("fast",),
    }
    rules = Steering(place, {"main": 1 << 30}, ("fast", "nowhere"))
    with pytest.raises(SdkError) as error:
        spread(board(64 * K), steering=rules)
    text = error.value.what
    for part in (
        "input is not a class, operator, name or METHOD/VALUE of planned memory:"
        " did you mean inputs?",
        "aten::relu.oot is not a class",
        "forward/9999 is not a class",
        "has no memory flsh: did you mean flash?",
        "scratch cannot go in flash, only in fast, main",
        "arena allows only memories that `forbid` excludes",
        "reserve: main has 1,048,576 bytes, not 1,073,741,824",
        "has no memory nowhere",
    ):
        assert part in text


def test_rules_are_read_from_the_project(tmp_path: Path) -> None:
    file = tmp_path / "ember.yaml"
    file.write_text(
        "memory:\n"
        "  place: {inputs: fast, constants: [flash, main]}\n"
        "  reserve: {fast: 4K}\n"
        "  forbid: slow\n"
        "  align: {inputs: 32}\n"
    )
    steering = projects.load(file).steering
    assert steering == Steering(
        place={"inputs": ("fast",), "constants": ("flash", "main")},
        reserve={"fast": 4 * K},
        forbid=("slow",),
        align={"inputs": 32},
    )
    file.write_text("memory: {exclusive: [[ears, eyes/scan]]}\n")
    assert projects.load(file).steering == Steering(exclusive=(("ears", "eyes/scan"),))
    for wrong in ("ears", "[ears, eyes]", "[[ears, 1]]", "{ears: eyes}"):
        file.write_text(f"memory: {{exclusive: {wrong}}}\n")
        with pytest.raises(SdkError, match="it must be a list of groups"):
            projects.load(file)
    file.write_text("memory: {align: 64}\n")
    assert projects.load(file).steering.align_of("outputs") == 64
    file.write_text("board: host\n")
    assert not projects.load(file).steering


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("3", "memory: it must be a mapping"),
        ("{plase: {}}", "memory: unknown key plase: did you mean place?"),
        ("{place: [fast]}", "memory.place: it must be a mapping"),
        (
            "{place: {inputs: 3}}",
            "place: inputs: it must be a memory or a list of memories",
        ),
        ("{reserve: {fast: 4Q}}", "reserve: fast: '4Q' is not a size: write 65536"),
        ("{reserve: {fast: 0}}", "'0' is not a size"),
        ("{align: 24}", "memory.align: 24 is not a power of two from 16 to 4096"),
        ("{align: {input: 32}}", "unknown key input: did you mean inputs?"),
        ("{forbid: {a: b}}", "memory.forbid: it must be a memory or a list"),
    ],
)
def test_a_wrong_rule_is_one_sentence(tmp_path: Path, text: str, says: str) -> None:
    file = tmp_path / "ember.yaml"
    file.write_text(f"memory: {text}\n")
    with pytest.raises(SdkError) as error:
        projects.load(file)
    assert says in error.value.what


def test_rules_for_accesses_name_arguments_of_their_operators() -> None:
    known: KernelList = Rules().known
    from ember.kernels import library as kernel_library

    listed = {
        kernel: kernel_library.names(operator.schema)
        for operator in known.operators.values()
        for kernel in operator.kernels
    }
    for kernel, rules in known.facts.accesses.items():
        assert kernel in listed
        assert set(rules) <= {*listed[kernel], "scratch"}
    assert memories.spread.__doc__


@pytest.mark.slow
def test_copies_are_told_and_a_rule_leaves_them_in_place(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    slow_flash = tmp_path / "split.yaml"
    fields = {"name": "split", "like": "mps2-an386", "memories": split(512 * K, 6, 2)}
    slow_flash.write_text(yaml.safe_dump(fields))
    words = ["plan", str(RESNET), "--board", str(slow_flash)]
    words += ["--project", str(tmp_path / "ember.yaml")]
    places = tmp_path / "plan.html", tmp_path / "plan.json"
    (tmp_path / "ember.yaml").write_text("passes: []\n")
    outputs = ["--html", str(places[0]), "--json", str(places[1])]
    assert cli.main([*words, *outputs]) == 0
    facts = json.loads(places[1].read_text())
    told = facts["copies"]
    assert told[0]["bytes"] == max(copied["bytes"] for copied in told)
    assert sum(copied["bytes"] for copied in told) == facts["constants"]["copied"]
    assert {(copied["source"], copied["memory"]) for copied in told} == {
        ("flash", "fast")
    }
    assert all(copied["cycles_copied"] < copied["cycles_in_place"] for copied in told)
    assert told[0]["name"].startswith("aten::convolution.out, instruction ")

    text = capsys.readouterr().out
    rule = re.search(r"in ember.yaml:\s+(memory: .*\}\})", text)
    assert rule is not None
    assert rule[1] in places[0].read_text(encoding="utf-8")
    assert told[0]["name"] in places[0].read_text(encoding="utf-8")
    (tmp_path / "ember.yaml").write_text(f"passes: []\n{rule[1]}\n")
    assert cli.main([*words, "--json", str(places[1])]) == 0
    facts = json.loads(places[1].read_text())
    assert facts["copies"] == []
    assert facts["constants"]["copied"] == 0
    assert "copies of constants" not in capsys.readouterr().out
