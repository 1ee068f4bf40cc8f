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


def test_every_placement_says_what_it_costs_here_and_elsewhere() -> None:
    facts = spread(board(12 * K, slow=3)).facts
    rows = {(one["name"], one["memory"]): one for one in facts["placements"]}
    fast, main = rows["activations", "fast"], rows["activations", "main"]
    assert fast["elsewhere"] == {"main": 3 * fast["cycles"]}
    assert main["cycles"] == 3 * main["elsewhere"]["fast"] > 0
    for name, costs in facts["memories"].items():
        here = [one for one in facts["placements"] if one["memory"] == name]
        assert sum(one["accessed"] for one in here) == costs["accessed"]
        # Rows are rounded once, memories after each piece.
        assert sum(one["cycles"] for one in here) == pytest.approx(costs["cycles"])


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
    room = room_of.of(on)["main"]
    made = spread(on, path_of("model_ds_cnn_small"))
    assert 0 < used(made, on)["main"] <= room * 3 / 4 + 2 * K


def test_methods_have_copies_of_their_own() -> None:
    path = path_of("special_methods")
    on = board(512 * K, flash=6)
    made = spread(on, path, methods=("encode", "decode"))
    check(made, [path])
    assert plans(on, made)[0].constants["copied"] > 0
    roles = [region.role for region in plans(on, made)[0].regions]
    assert roles.count("weights") == roles.count("planned") == 2
    names = {name for _, name in made.homes.of}
    assert {"encode_planned_1", "encode_planned_2", "decode_planned_1"} <= names


def test_constants_of_several_methods_stay(tmp_path: Path) -> None:
    one = committed.program_of("special_methods")
    (twice, _) = one.methods
    path = tmp_path / "twice.pte"
    methods = (twice, replace(twice, name="again"))
    path.write_bytes(program.write(replace(one, methods=methods)))
    on = board(512 * K, flash=6)
    made = spread(on, path, methods=("decode", "again"))
    check(made, [path])
    assert plans(on, made)[0].constants["copied"] == 0


def test_state_that_methods_share_is_one_region() -> None:
    path = path_of("special_methods_shared_buffers")
    on = board(512 * K)
    made = spread(on, path, methods=("accumulate", "put"))
    check(made, [path])
    (found,) = plans(on, made)
    first, second = (one.planned[1] for one in found.methods)
    assert first is not None
    assert (first.name, first.size, first) == ("shared_planned_2", 16, second)
    assert [one.name for one in found.regions].count(first.name) == 1


def test_memories_without_shared_state_are_planned_anew() -> None:
    one = committed.program_of("special_two_memories")
    (method,) = one.methods
    twice = replace(one, methods=(method, replace(method, name="again")))
    known = Rules().known
    packed = repack.repack(
        replace(models.read(path_of("special_two_memories")), program=twice), known
    )
    for found in packed.replanned.values():
        assert found.packed == tuple(range(1, len(method.planned_sizes)))


def test_two_models_share_the_fast_memory() -> None:
    on = board(24 * K)
    paths = (RESNET, path_of("model_ds_cnn_small"))
    made = spread(on, *paths)
    check(made, paths)
    assert used(made, on)["fast"] <= 24 * K


@pytest.mark.slow
@pytest.mark.parametrize("fast", [4 * K, 24 * K, 512 * K])
def test_models_that_never_run_together_share_their_activations(fast: int) -> None:
    on, paths = board(fast), (RESNET, path_of("model_ds_cnn_small"))
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


@pytest.mark.slow
def test_a_group_fits_where_its_models_side_by_side_do_not() -> None:
    paths = (RESNET, path_of("model_ds_cnn_small"))
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
        paths = (RESNET, path_of(two))
        spread(board(64 * K), *paths, steering=Steering(exclusive=groups))
    for part in (
        f"model_ds_cnn_smal is neither a model nor MODEL/METHOD: did you mean {two}?",
        f"{two} has no other member: name at least two that never run together",
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
