"""Models over several memories: what goes where, copies, a user's rules."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from ember import boards, cli, program
from ember import model as models
from ember.boards import Board
from ember.build import choosing, jobs, placing, repack
from ember.build import project as projects
from ember.build.assumed import Assumed
from ember.errors import SdkError
from ember.kernels import KernelList
from ember.kernels.rules import Rules
from ember.model.steering import Steering
from ember.plan import check as plan_check
from ember.plan import memories
from ember.plan import regions as plan
from ember.plan.memories import Spread

CASES = Path(__file__).resolve().parents[2] / "cases"
RESNET = CASES / "model_resnet8_small"
K = 1024
STACK = 2 * K


def memory(name: str, size: int, cycles: Any, **more: Any) -> dict[str, Any]:
    holds = ["stack", "method", "planned", "temp", "io"]
    facts = {"name": name, "size": size, "access": "rw", "kind": "sram"}
    return {**facts, "holds": holds, "read_cycles": cycles, **more}


def split(fast: int, flash: float, slow: float) -> list[dict[str, Any]]:
    """Memories with `fast` bytes of a fast one; cycles of the others."""
    read_only = {"access": "rx", "kind": "flash"}
    code = ["vectors", "code", "rodata", "weights"]
    main = ["stack", "data", "method", "planned", "temp", "io"]
    return [
        memory("flash", 4096 * K, flash, base=0, holds=code, **read_only),
        memory("fast", fast, 1, base=0x20000000),
        memory("main", 1024 * K, slow, base=0x30000000, holds=main),
    ]


def board(fast: int, *, flash: float = 2, slow: float = 2) -> Board:
    """A Cortex-M with these memories."""
    facts = boards.load("mps2-an386").model_dump(mode="json")
    return Board.model_validate({**facts, "memories": split(fast, flash, slow)})


def spread(
    on: Board, *paths: Path, steering: Steering | None = None, **more: Any
) -> Spread:
    options = jobs.Options(steering=steering or Steering(), passes=(), **more)
    found = tuple(models.read(path) for path in paths or (RESNET,))
    job = jobs.make(found, on, options, None)
    return placing.place(job, choosing.choose(job), Assumed(STACK)).selected


def plans(on: Board, made: Spread) -> list[plan.Plan]:
    return plan.make_all(made.pairs, on, stack=STACK, homes=made.homes)


def used(made: Spread, on: Board) -> Mapping[str, int]:
    facts = plan.to_json(plans(on, made))
    return {one["name"]: one["used"] for one in facts["memories"]}


def memory_of(made: Spread, value: int, number: int = 0) -> str:
    """Where a planned value of the first method lies."""
    method = made.pairs[number][0].program.methods[0]
    tensor = method.values[value]
    assert isinstance(tensor, program.Tensor)
    assert tensor.allocation is not None
    name = f"{method.name}_planned_{tensor.allocation.memory_id}"
    return made.homes.of[number, name].memory


def check(made: Spread, before: Sequence[Path] = (RESNET,)) -> None:
    """The file says what the model says, and its plan destroys nothing."""
    for path, (one, chosen) in zip(before, made.pairs, strict=True):
        parsed = program.parse(one.content)
        assert parsed == one.program
        plan_check.check(models.read(path).program, parsed, chosen.known)


def test_activations_are_split_and_fit() -> None:
    on = board(12 * K)
    made = spread(on)
    check(made)
    assert 10 * K < used(made, on)["fast"] <= 12 * K
    values = [n for n, one in made.pairs[0][0].program.methods[0].tensors]
    planned = [
        n for n in values if made.pairs[0][0].program.methods[0].values[n].allocation
    ]
    assert {memory_of(made, value) for value in planned} == {"fast", "main"}
    traffic = made.facts["memories"]
    assert traffic["fast"]["accessed"] > traffic["main"]["accessed"]
    assert traffic["main"]["cycles"] == traffic["main"]["accessed"] / 4 * 2


def test_more_of_the_fast_memory_costs_less() -> None:
    def cycles(fast: int) -> int:
        found = spread(board(fast)).facts["memories"]
        return sum(one["cycles"] for one in found.values())

    costs = [cycles(fast * K) for fast in (8, 16, 64, 512)]
    assert costs == sorted(costs, reverse=True)
    assert costs[0] > costs[-1]


def test_one_kind_of_memory_changes_nothing() -> None:
    on = board(512 * K, flash=1, slow=1)
    made = spread(on)
    one = made.pairs[0][0]
    assert one.program.methods[0].planned_sizes[2:] == ()
    assert plans(on, made)[0].constants["copied"] == 0
    assert made.homes.of[0, "stack"].memory == "fast"


def test_constants_are_copied_where_it_pays_and_held_once() -> None:
    on = board(512 * K, flash=6)
    made = spread(on)
    check(made)
    model, _ = made.pairs[0]
    facts = plans(on, made)[0].constants
    assert facts["copied"] > facts["bytes"] / 2
    assert facts["unreferenced"] == 0
    constants = [one for one in model.program.constants if len(one) > 64]
    states = [one for one in model.program.mutable_data[0] if len(one) > 64]
    assert states
    for piece in (*constants, *states):
        assert model.content.count(piece) == 1
    assert len(model.content) < len(models.read(RESNET).content) + 1024


def test_copies_leave_room_for_the_application() -> None:
    on = board(16, flash=6, slow=1)
    room = plan.room.of(on)["main"]
    made = spread(on, CASES / "model_ds_cnn_small")
    assert 0 < used(made, on)["main"] <= room * 3 / 4 + 2 * K


def test_methods_have_copies_of_their_own() -> None:
    path = CASES / "special_methods"
    on = board(512 * K, flash=6)
    made = spread(on, path, methods=("encode", "decode"))
    check(made, [path])
    assert plans(on, made)[0].constants["copied"] > 0
    roles = [region.role for region in plans(on, made)[0].regions]
    assert roles.count("weights") == roles.count("planned") == 2
    names = {name for _, name in made.homes.of}
    assert {"encode_planned_1", "encode_planned_2", "decode_planned_1"} <= names


def test_constants_of_several_methods_stay(tmp_path: Path) -> None:
    one = program.read(CASES / "special_methods" / "model.pte")
    (twice, _) = one.methods
    path = tmp_path / "twice.pte"
    methods = (twice, replace(twice, name="again"))
    path.write_bytes(program.write(replace(one, methods=methods)))
    on = board(512 * K, flash=6)
    made = spread(on, path, methods=("decode", "again"))
    check(made, [path])
    assert plans(on, made)[0].constants["copied"] == 0


def test_state_that_methods_share_is_one_region() -> None:
    path = CASES / "special_methods_shared_buffers"
    on = board(512 * K)
    made = spread(on, path, methods=("accumulate", "put"))
    check(made, [path])
    (found,) = plans(on, made)
    first, second = (one.planned[1] for one in found.methods)
    assert first is not None
    assert (first.name, first.size, first) == ("shared_planned_2", 16, second)
    assert [one.name for one in found.regions].count(first.name) == 1


def test_memories_without_shared_state_are_planned_anew() -> None:
    one = program.read(CASES / "special_two_memories" / "model.pte")
    (method,) = one.methods
    twice = replace(one, methods=(method, replace(method, name="again")))
    known = Rules().known
    packed = repack.repack(
        replace(models.read(CASES / "special_two_memories"), program=twice), known
    )
    for found in packed.replanned.values():
        assert found.packed == tuple(range(1, len(method.planned_sizes)))


def test_two_models_share_the_fast_memory() -> None:
    on = board(24 * K)
    paths = (RESNET, CASES / "model_ds_cnn_small")
    made = spread(on, *paths)
    check(made, paths)
    assert used(made, on)["fast"] <= 24 * K


@pytest.mark.parametrize("fast", [4 * K, 24 * K, 512 * K])
def test_models_that_never_run_together_share_their_activations(fast: int) -> None:
    on, paths = board(fast), (RESNET, CASES / "model_ds_cnn_small")
    apart = plans(on, spread(on, *paths))
    words = ("model_resnet8_small", "model_ds_cnn_small/forward")
    made = spread(on, *paths, steering=Steering(exclusive=(words,)))
    check(made, paths)
    together = plans(on, made)
    shared = [{r for r in one.regions if r.role == "planned"} for one in together]
    assert any(region.shared for region in shared[0] & shared[1])
    sizes = [sum(region.size for region in one) for one in shared]
    union = sum(region.size for region in shared[0] | shared[1])
    assert union < sum(sizes)
    assert used(made, on)["fast"] <= fast
    before, after = (
        sum(one["used"] for one in plan.to_json(these)["memories"])
        for these in (apart, together)
    )
    regions = {r.name: r.size for one in together for r in one.regions}
    images = sum(one.model_bytes for one in together)
    assert after == sum(regions.values()) + images + STACK
    assert after < before
    for one, (model, _) in zip(together, made.pairs, strict=True):
        for method in one.methods:
            for region, size in zip(
                method.planned, method.method.planned_sizes[1:], strict=True
            ):
                assert (region.size if region else 0) >= size, model.name


def test_a_group_fits_where_its_models_side_by_side_do_not() -> None:
    paths = (RESNET, CASES / "model_ds_cnn_small")
    words = ("model_resnet8_small", "model_ds_cnn_small")
    on = board(1024 * K)
    keep = {"activations": ("fast",), "inputs": ("fast",), "outputs": ("fast",)}
    others = dict.fromkeys(("scratch", "arena", "stack"), ("main",))
    place = {**keep, **others, "constants": ("flash",)}
    made = spread(on, *paths, steering=Steering(place, exclusive=(words,)))
    tight = board(used(made, on)["fast"])
    with pytest.raises(SdkError, match="under the project's rules"):
        spread(tight, *paths, steering=Steering(place))
    again = spread(tight, *paths, steering=Steering(place, exclusive=(words,)))
    assert used(again, tight) == used(made, on)


def test_wrong_groups_are_told_together() -> None:
    one, two = "model_resnet8_small", "model_ds_cnn_small"
    groups = ((one, "model_ds_cnn_smal"), (two,), (one + "/forward", two))
    with pytest.raises(SdkError) as error:
        paths = (RESNET, CASES / two)
        spread(board(64 * K), *paths, steering=Steering(exclusive=groups))
    for part in (
        f"model_ds_cnn_smal is neither a model nor MODEL/METHOD: did you mean {two}?",
        f"{two} stands alone: name at least two that never run together",
        f"{one}/forward is named twice: remove one, or merge the groups",
        f"{two} is named twice",
    ):
        assert part in error.value.what


def test_a_kernel_that_wants_constants_gets_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """When a kernel refuses a copy, the constant stays."""
    from ember.select import selection

    real = selection.examine
    calls: list[int] = []

    def examine(one: Any, *more: Any) -> selection.Examined:
        found = real(one, *more)
        calls.append(len(one.mutable_data))
        if one.mutable_data and len(calls) == 2:  # the first with copies
            (needs,) = found.selection.needs  # type: ignore[union-attr]
            first = replace(needs.calls[0], kernel="another")
            changed = replace(needs, calls=(first, *needs.calls[1:]))
            chosen = replace(found.selection, needs=(changed,))  # type: ignore[type-var]
            return replace(found, selection=chosen)  # type: ignore[arg-type]
        return found

    monkeypatch.setattr(selection, "examine", examine)
    on = board(512 * K, flash=6)
    made = spread(on)
    check(made)
    method = made.pairs[0][0].program.methods[0]
    call = method.instructions[0]
    tensors = [method.values[n] for n in call.args]  # type: ignore[union-attr]
    assert any(isinstance(one, program.Tensor) and one.is_constant for one in tensors)
    assert len(calls) == 3
    assert plans(on, made)[0].constants["copied"] > 0


# ---- a user's rules ----------------------------------------------------------------


def test_classes_lie_where_the_user_wants() -> None:
    on = board(512 * K, flash=6)
    place = {
        "inputs": ("main",),
        "outputs": ("main",),
        "stack": ("main",),
        "constants": ("flash",),
        "arena": ("main",),
    }
    made = spread(on, steering=Steering(place=place))
    check(made)
    method = made.pairs[0][0].program.methods[0]
    assert memory_of(made, method.inputs[0]) == "main"
    assert memory_of(made, method.outputs[0]) == "main"
    assert made.homes.of[0, "stack"].memory == "main"
    assert made.homes.of[0, "forward_arena"].memory == "main"
    (found,) = plans(on, made)
    assert found.constants["copied"] == 0
    assert found.stack_memory == "main"


@pytest.mark.parametrize("full", [False, True])
def test_a_value_and_an_operator_lie_where_the_user_wants(full: bool) -> None:
    on = board(512 * K)
    method = spread(on).pairs[0][0].program.methods[0]
    calls = [(name, one) for _, name, one in method.kernel_calls()]
    value = calls[3][1].args[-1]
    word = f"model_resnet8_small/forward/{value}" if full else f"forward/{value}"
    place = {word: ("main",), "aten::convolution.out": ("main",)}
    made = spread(on, steering=Steering(place=place))
    check(made)
    assert memory_of(made, value) == "main"
    for name, call in calls:
        if name == "aten::convolution.out":
            assert memory_of(made, call.args[-1]) == "main"
    assert memory_of(made, method.inputs[0]) == "fast"


def test_reserved_and_forbidden_memory_is_left_alone() -> None:
    on = board(64 * K)
    made = spread(on, steering=Steering(reserve={"fast": 60 * K}))
    assert used(made, on)["fast"] <= 4 * K
    made = spread(on, steering=Steering(forbid=("fast",)))
    assert used(made, on)["fast"] == 0


def test_lines_of_a_cache_are_not_shared() -> None:
    on = board(12 * K, flash=6)
    kinds = ("activations", "inputs", "outputs", "constants", "scratch", "arena")
    made = spread(on, steering=Steering(align=dict.fromkeys(kinds, 64)))
    check(made)
    for region in plans(on, made)[0].regions:
        assert (region.align, region.size % 64) == (64, 0)
    for _, tensor in made.pairs[0][0].program.methods[0].tensors:
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
    found = projects.load(file).steering
    assert found == Steering(
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
        kernel: kernel_library.names(one.schema)
        for one in known.operators.values()
        for kernel in one.kernels
    }
    for kernel, rules in known.facts.accesses.items():
        assert kernel in listed
        assert set(rules) <= {*listed[kernel], "scratch"}
    assert memories.spread.__doc__


def test_copies_are_told_and_a_rule_leaves_them_in_place(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    slow_flash = tmp_path / "split.yaml"
    own = {"name": "split", "like": "mps2-an386", "memories": split(512 * K, 6, 2)}
    slow_flash.write_text(yaml.safe_dump(own))
    words = ["plan", str(RESNET), "--board", str(slow_flash)]
    words += ["--project", str(tmp_path / "ember.yaml")]
    places = tmp_path / "plan.html", tmp_path / "plan.json"
    (tmp_path / "ember.yaml").write_text("passes: []\n")
    outputs = ["--html", str(places[0]), "--json", str(places[1])]
    assert cli.main([*words, *outputs]) == 0
    facts = json.loads(places[1].read_text())
    told = facts["copies"]
    assert told[0]["bytes"] == max(one["bytes"] for one in told)
    assert sum(one["bytes"] for one in told) == facts["constants"]["copied"]
    assert {(one["source"], one["memory"]) for one in told} == {("flash", "fast")}
    assert all(one["cycles_copied"] < one["cycles_in_place"] for one in told)
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
