"""Models over several memories: what goes where, and copies."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import committed
import pytest
from committed_cases import path_of
from spreading import (
    RESNET,
    STACK,
    K,
    board,
    check,
    memory_of,
    plans,
    spread,
    used,
)

from ember import model as models
from ember import program
from ember.errors import SdkError
from ember.firmware import repack
from ember.model.steering import Steering
from ember.plan import regions as plan
from ember.plan import room as room_of
from ember.select.rules import Rules


def test_activations_are_split_and_fit() -> None:
    on = board(12 * K)
    placed = spread(on)
    check(placed)
    assert 10 * K < used(placed, on)["fast"] <= 12 * K
    tensors = placed.pairs[0][0].program.methods[0].tensors
    planned = [value for value, tensor in tensors if tensor.allocation]
    assert {memory_of(placed, value) for value in planned} == {"fast", "main"}
    traffic = placed.facts["memories"]
    assert traffic["fast"]["accessed"] > traffic["main"]["accessed"]
    assert traffic["main"]["cycles"] == traffic["main"]["accessed"] / 4 * 2


def test_more_of_the_fast_memory_costs_less() -> None:
    def cycles(fast: int) -> int:
        memories = spread(board(fast)).facts["memories"]
        return sum(traffic["cycles"] for traffic in memories.values())

    costs = [cycles(fast * K) for fast in (8, 16, 64, 512)]
    assert costs == sorted(costs, reverse=True)
    assert costs[0] > costs[-1]


def test_every_placement_says_what_it_costs_here_and_elsewhere() -> None:
    facts = spread(board(12 * K, slow=3)).facts
    rows = {
        (placement["name"], placement["memory"]): placement
        for placement in facts["placements"]
    }
    fast, main = rows["activations", "fast"], rows["activations", "main"]
    assert fast["elsewhere"] == {"main": 3 * fast["cycles"]}
    assert main["cycles"] == 3 * main["elsewhere"]["fast"] > 0
    for name, costs in facts["memories"].items():
        here = [
            placement
            for placement in facts["placements"]
            if placement["memory"] == name
        ]
        assert sum(placement["accessed"] for placement in here) == costs["accessed"]
        # Rows are rounded once, memories after each piece.
        assert sum(placement["cycles"] for placement in here) == pytest.approx(
            costs["cycles"]
        )


def test_one_kind_of_memory_changes_nothing() -> None:
    on = board(512 * K, flash=1, slow=1)
    placed = spread(on)
    model = placed.pairs[0][0]
    assert model.program.methods[0].planned_sizes[2:] == ()
    assert plans(on, placed)[0].constants["copied"] == 0
    assert placed.homes.of[0, "stack"].memory == "fast"


def test_constants_are_copied_where_it_pays_and_held_once() -> None:
    on = board(512 * K, flash=6)
    placed = spread(on)
    check(placed)
    model, _ = placed.pairs[0]
    facts = plans(on, placed)[0].constants
    assert facts["copied"] > facts["bytes"] / 2
    assert facts["unreferenced"] == 0
    constants = [constant for constant in model.program.constants if len(constant) > 64]
    states = [state for state in model.program.mutable_data[0] if len(state) > 64]
    assert states
    for piece in (*constants, *states):
        assert model.content.count(piece) == 1
    assert len(model.content) < len(models.read(RESNET).content) + 1024


def test_copies_leave_room_for_the_application() -> None:
    on = board(16, flash=6, slow=1)
    room = room_of.of(on)["main"]
    placed = spread(on, path_of("model_ds_cnn_small"))
    assert 0 < used(placed, on)["main"] <= room * 3 / 4 + 2 * K


def test_methods_have_copies_of_their_own() -> None:
    path = path_of("special_methods")
    on = board(512 * K, flash=6)
    placed = spread(on, path, methods=("encode", "decode"))
    check(placed, [path])
    assert plans(on, placed)[0].constants["copied"] > 0
    roles = [region.role for region in plans(on, placed)[0].regions]
    assert roles.count("weights") == roles.count("planned") == 2
    names = {name for _, name in placed.homes.of}
    assert {"encode_planned_1", "encode_planned_2", "decode_planned_1"} <= names


def test_constants_of_several_methods_stay(tmp_path: Path) -> None:
    original = committed.program_of("special_methods")
    (twice, _) = original.methods
    path = tmp_path / "twice.pte"
    methods = (twice, replace(twice, name="again"))
    path.write_bytes(program.write(replace(original, methods=methods)))
    on = board(512 * K, flash=6)
    placed = spread(on, path, methods=("decode", "again"))
    check(placed, [path])
    assert plans(on, placed)[0].constants["copied"] == 0


def test_state_that_methods_share_is_one_region() -> None:
    path = path_of("special_methods_shared_buffers")
    on = board(512 * K)
    placed = spread(on, path, methods=("accumulate", "put"))
    check(placed, [path])
    (layout,) = plans(on, placed)
    first, second = (method.planned[1] for method in layout.methods)
    assert first is not None
    assert (first.name, first.size, first) == ("shared_planned_2", 16, second)
    assert [region.name for region in layout.regions].count(first.name) == 1


def test_memories_without_shared_state_are_planned_anew() -> None:
    original = committed.program_of("special_two_memories")
    (method,) = original.methods
    twice = replace(original, methods=(method, replace(method, name="again")))
    known = Rules().known
    packed = repack.repack(
        replace(models.read(path_of("special_two_memories")), program=twice), known
    )
    for replanned in packed.replanned.values():
        assert replanned.packed == tuple(range(1, len(method.planned_sizes)))


def test_two_models_share_the_fast_memory() -> None:
    on = board(24 * K)
    paths = (RESNET, path_of("model_ds_cnn_small"))
    placed = spread(on, *paths)
    check(placed, paths)
    assert used(placed, on)["fast"] <= 24 * K


@pytest.mark.slow
@pytest.mark.parametrize("fast", [4 * K, 24 * K, 512 * K])
def test_models_that_never_run_together_share_their_activations(fast: int) -> None:
    on, paths = board(fast), (RESNET, path_of("model_ds_cnn_small"))
    apart = plans(on, spread(on, *paths))
    words = ("model_resnet8_small", "model_ds_cnn_small/forward")
    placed = spread(on, *paths, steering=Steering(exclusive=(words,)))
    check(placed, paths)
    together = plans(on, placed)
    shared = [{r for r in layout.regions if r.role == "planned"} for layout in together]
    assert any(region.shared for region in shared[0] & shared[1])
    sizes = [sum(region.size for region in region_set) for region_set in shared]
    union = sum(region.size for region in shared[0] | shared[1])
    assert union < sum(sizes)
    assert used(placed, on)["fast"] <= fast
    before, after = (
        sum(memory["used"] for memory in plan.to_json(these)["memories"])
        for these in (apart, together)
    )
    regions = {r.name: r.size for layout in together for r in layout.regions}
    images = sum(layout.model_bytes for layout in together)
    assert after == sum(regions.values()) + images + STACK
    assert after < before
    for model_plan, (model, _) in zip(together, placed.pairs, strict=True):
        for method in model_plan.methods:
            for region, size in zip(
                method.planned, method.method.planned_sizes[1:], strict=True
            ):
                assert (region.size if region else 0) >= size, model.name


@pytest.mark.slow
def test_a_group_fits_where_its_models_side_by_side_do_not() -> None:
    paths = (RESNET, path_of("model_ds_cnn_small"))
    words = ("model_resnet8_small", "model_ds_cnn_small")
    on = board(1024 * K)
    keep = {"activations": ("fast",), "inputs": ("fast",), "outputs": ("fast",)}
    others = dict.fromkeys(("scratch", "arena", "stack"), ("main",))
    place = {**keep, **others, "constants": ("flash",)}
    placed = spread(on, *paths, steering=Steering(place, exclusive=(words,)))
    tight = board(used(placed, on)["fast"])
    with pytest.raises(SdkError, match="under the project's rules"):
        spread(tight, *paths, steering=Steering(place))
    again = spread(tight, *paths, steering=Steering(place, exclusive=(words,)))
    assert used(again, tight) == used(placed, on)


def test_wrong_groups_are_told_together() -> None:
    resnet, small = "model_resnet8_small", "model_ds_cnn_small"
    groups = ((resnet, "model_ds_cnn_smal"), (small,), (resnet + "/forward", small))
    with pytest.raises(SdkError) as error:
        paths = (RESNET, path_of(small))
        spread(board(64 * K), *paths, steering=Steering(exclusive=groups))
    for part in (
        f"model_ds_cnn_smal is neither a model nor MODEL/METHOD: did you mean {small}?",
        f"{small} has no other member: name at least two that never run together",
        f"{resnet}/forward is named twice: remove one, or merge the groups",
        f"{small} is named twice",
    ):
        assert part in error.value.what


def test_a_kernel_that_wants_constants_gets_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """When a kernel refuses a copy, the constant stays."""
    from ember.select import selection

    real = selection.examine
    calls: list[int] = []

    def examine(candidate: Any, *more: Any) -> selection.Examined:
        examined = real(candidate, *more)
        calls.append(len(candidate.mutable_data))
        if candidate.mutable_data and len(calls) == 2:  # the first with copies
            chosen = examined.selection
            assert chosen is not None
            (needs,) = chosen.needs
            first = replace(needs.calls[0], kernel="another")
            changed = replace(needs, calls=(first, *needs.calls[1:]))
            return replace(examined, selection=replace(chosen, needs=(changed,)))
        return examined

    monkeypatch.setattr(selection, "examine", examine)
    on = board(512 * K, flash=6)
    placed = spread(on)
    check(placed)
    method = placed.pairs[0][0].program.methods[0]
    call = method.instructions[0]
    assert isinstance(call, program.KernelCall)
    tensors = [method.values[n] for n in call.args]
    assert any(
        isinstance(tensor, program.Tensor) and tensor.is_constant for tensor in tensors
    )
    assert len(calls) == 3
    assert plans(on, placed)[0].constants["copied"] > 0
