"""The checker of plans: what it must find, and that it is silent where all is well."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import committed
import pytest
from committed_cases import matching, path_of

from ember import boards, cases, kernels, program
from ember import model as models
from ember.errors import SdkError
from ember.files.tensors import DType
from ember.firmware import repack
from ember.plan import check as plan_check
from ember.plan.replan import Replanned, replan
from ember.program import Method, Program, types
from ember.run import testing

# Mutants are made of the programs here.
COMMITTED = Path(__file__).resolve().parents[2] / "cases"
OPERATORS = (
    types.Operator("aten::relu", "out"),
    types.Operator("aten::add", "out"),
    types.Operator("aten::split_copy", "Tensor_out"),
    types.Operator("executorch_prim::et_copy_index", "tensor"),
)
NAMES = ("relu", "add", "split_copy", "et_copy_index")


def call(name: str, *args: int) -> types.KernelCall:
    return types.KernelCall(NAMES.index(name), args)


def relu(source: int, target: int) -> types.KernelCall:
    return call("relu", source, target, target)


def tensor(offset: int | None, size: int = 16, memory: int = 1) -> types.Tensor:
    place = None if offset is None else types.Allocation(memory, offset)
    return types.Tensor(DType.UINT8, (size,), (0,), 0, place)


def made(
    values: Sequence[types.Value],
    calls: Sequence[types.Instruction],
    outputs: tuple[int, ...],
    inputs: tuple[int, ...] = (0,),
) -> Program:
    delegate = types.Delegate("own", b"")
    method = Method(
        "forward",
        tuple(values),
        inputs,
        outputs,
        (types.Chain(tuple(calls)),),
        OPERATORS,
        (delegate,),
        (0, 256, 256),
    )
    return Program((method,), constants=(b"", bytes(16), bytes(range(16))))


def moved(source: Program, **places: int | tuple[int, int]) -> Program:
    """With values elsewhere: v3=32, or v3=(2, 32) in memory 2."""
    (method,) = source.methods
    values = list(method.values)
    for name, place in places.items():
        memory, offset = place if isinstance(place, tuple) else (1, place)
        value = values[int(name[1:])]
        assert isinstance(value, types.Tensor)
        spot = types.Allocation(memory, offset)
        values[int(name[1:])] = replace(value, allocation=spot)
    return replace(source, methods=(replace(method, values=tuple(values)),))


def problems(source: Program, **places: int | tuple[int, int]) -> list[str]:
    return plan_check.problems(source, moved(source, **places), kernels.load())


def chain() -> Program:
    """0 -> 1 -> 2 -> 3, and 1 is needed again at the end."""
    values: list[types.Value] = [tensor(16 * n) for n in range(5)]
    calls = [relu(0, 1), relu(1, 2), relu(2, 3), call("add", 3, 1, 5, 4, 4)]
    return made([*values, types.Int(1)], calls, (4,))


def test_the_same_plan_and_others_that_are_right() -> None:
    assert problems(chain()) == []
    assert problems(chain(), v3=0) == []  # the input is used up
    assert problems(chain(), v4=0, v3=96, v1=48) == []
    assert problems(chain(), v3=(2, 0), v1=(2, 128)) == []


@pytest.mark.parametrize("offset", [16, 1, 9])
def test_a_value_that_is_needed_later_is_destroyed(offset: int) -> None:
    assert problems(chain(), v3=offset) == [
        "forward, instruction 3: value 1 is not what was written for it"
    ]


def test_an_output_that_lies_on_an_input_of_its_instruction() -> None:
    assert problems(chain(), v1=0) == [
        "forward, instruction 0: value 1 is written over value 0, which the same"
        " instruction uses"
    ]
    # A program that says so itself is believed.
    assert problems(moved(chain(), v1=0)) == []


def test_places_outside_of_the_memory_and_unaligned() -> None:
    assert problems(chain(), v3=250) == ["forward: value 3 is outside its memory"]
    assert problems(chain(), v3=(3, 0)) != []
    chained = chain()
    (method,) = chained.methods
    last = method.values[3]
    assert isinstance(last, types.Tensor)
    wide = replace(last, dtype=DType.FLOAT32)
    values = (*method.values[:3], wide, *method.values[4:])
    chained = replace(chained, methods=(replace(method, values=values),))
    assert problems(chained, v3=66) == ["forward: value 3 is unaligned"]


def views() -> Program:
    """Value 2 is a view of value 1, and 3 of its second half, without instructions."""
    values: list[types.Value] = [
        *(tensor(0), tensor(16), tensor(16), tensor(24, 8)),
        *(tensor(32), tensor(48), tensor(64, 8)),
    ]
    return made(values, [relu(0, 1), relu(0, 4), relu(2, 5), relu(3, 6)], (4, 5, 6))


def test_views_without_an_instruction() -> None:
    assert problems(views(), v1=128, v2=128, v3=136) == []
    assert len(problems(views(), v1=128, v2=128)) == 1  # 3 stayed behind
    assert len(problems(views(), v3=16)) == 1  # the wrong half
    assert len(problems(views(), v4=24)) == 2  # what is viewed is destroyed


def branches() -> Program:
    """0 -> 1 or 2, moved to 3; 4 is made before and needed after."""
    values: list[types.Value] = [tensor(16 * n) for n in range(6)]
    flag, never = types.Bool(True), types.Bool(False)
    calls: list[types.Instruction] = [
        relu(0, 4),
        types.JumpFalseCall(6, 5),
        relu(0, 1),
        types.MoveCall(1, 3),
        types.JumpFalseCall(7, 7),
        relu(0, 2),
        types.MoveCall(2, 3),
        call("add", 3, 4, 8, 5, 5),
    ]
    return made([*values, flag, never, types.Int(1)], calls, (5,), (0, 6))


def test_branches_exclude_each_other() -> None:
    assert problems(branches(), v1=32) == []
    assert problems(branches(), v1=48, v2=48) == []  # in the place that they move to
    for value in ("v1", "v2", "v3"):
        assert any(
            "instruction 7" in problem
            for problem in problems(branches(), **{value: 64})
        )


def test_a_move_of_the_handle_must_be_served_too() -> None:
    # A copy leaves value 2 to be overwritten; who moves the handle still needs it.
    values: list[types.Value] = [tensor(16 * n) for n in range(6)]
    calls: list[types.Instruction] = [
        relu(0, 1),
        types.MoveCall(1, 2),
        relu(0, 3),
        call("add", 2, 3, 6, 4, 4),
    ]
    moving = made([*values, types.Int(1)], calls, (4,))
    assert problems(moving, v1=80) == []
    assert problems(moving, v3=16) == [
        "forward, instruction 3: value 2 is not what was written for it"
    ]


def loop() -> Program:
    """Value 2 is read in every turn of a loop, value 3 collects its results."""
    values: list[types.Value] = [tensor(16 * n) for n in range(6)]
    calls: list[types.Instruction] = [
        relu(0, 2),
        relu(2, 1),
        call("et_copy_index", 3, 1, 6, 3),
        types.JumpFalseCall(7, 1),
        relu(3, 5),
    ]
    return made([*values, types.Int(0), types.Bool(False)], calls, (5,), (0, 7))


def test_a_loop_reads_again_what_was_written_before_it() -> None:
    assert problems(loop(), v2=128, v1=0) == []
    assert any("instruction 1" in problem for problem in problems(loop(), v1=32))
    # What is written in parts keeps what it held.
    assert any("value 3" in problem for problem in problems(loop(), v1=48))
    assert any("value 3" in problem for problem in problems(loop(), v2=48))


def test_state_is_there_in_the_next_run() -> None:
    # Value 1 is read before anything wrote it.
    values: list[types.Value] = [tensor(16 * n) for n in range(4)]
    stateful = made(values, [relu(1, 2), relu(2, 3), relu(0, 1)], (3,))
    assert problems(stateful, v2=64) == []
    assert problems(stateful, v3=16) != []
    assert any("value 1" in problem for problem in problems(stateful, v2=16))


def test_lists_and_several_outputs() -> None:
    values: list[types.Value] = [
        *(tensor(0, 32), tensor(32), tensor(48), types.TensorList((1, 2))),
        *(types.Int(16), types.Int(0), tensor(64)),
    ]
    calls = [call("split_copy", 0, 4, 5, 3, 3), call("add", 1, 2, 4, 6, 6)]
    listing = made(values, calls, (6,))
    assert problems(listing, v1=128, v2=144) == []
    assert "value 2 is written over value 1" in str(problems(listing, v2=40))


def test_delegates_may_read_and_write() -> None:
    values: list[types.Value] = [tensor(16 * n) for n in range(5)]
    calls: list[types.Instruction] = [
        relu(0, 1),
        types.DelegateCall(0, (1, 2)),
        call("add", 2, 1, 5, 3, 3),
    ]
    delegated = made([*values, types.Int(1)], calls, (3,))
    assert problems(delegated, v2=80) == []
    assert problems(delegated, v2=0, v3=64) == []
    assert problems(delegated, v2=16) != []


def test_constants_are_compared_by_their_bytes() -> None:
    values: list[types.Value] = [tensor(0), replace(tensor(None), data_index=1)]
    values += [replace(tensor(None), data_index=2), tensor(16), tensor(32)]
    calls = [call("add", 0, 1, 5, 3, 3), call("add", 3, 2, 5, 4, 4)]
    original = made([*values, types.Int(1)], calls, (4,))
    known = kernels.load()
    assert (
        plan_check.problems(original, replace(original, constants=(b"",) * 3), known)
        != []
    )
    swapped = replace(
        original, constants=(b"", original.constants[2], original.constants[1])
    )
    assert len(plan_check.problems(original, swapped, known)) == 2
    # A copy in planned memory, filled when the method is loaded.
    (method,) = original.methods
    copied = replace(tensor(64), data_index=1)
    values = [*method.values[:2], copied, *method.values[3:]]
    filled = replace(
        original,
        methods=(replace(method, values=tuple(values)),),
        mutable_data=((b"", original.constants[2]),),
    )
    assert plan_check.problems(original, filled, known) == []
    assert plan_check.problems(original, moved(filled, v4=64), known) != []


def test_a_plan_of_the_program_that_destroys_a_value_may_be_repaired() -> None:
    broken = moved(chain(), v3=16)
    assert plan_check.problems(broken, chain(), kernels.load()) == []
    assert plan_check.problems(chain(), broken, kernels.load()) != []


def test_other_instructions_are_no_other_plan() -> None:
    original = chain()
    (method,) = original.methods
    calls = (types.Chain(method.instructions[:3]),)
    less = replace(original, methods=(replace(method, chains=calls),))
    assert plan_check.problems(original, less, kernels.load()) == [
        "forward: the instructions differ"
    ]


def test_packing_stops_at_a_wrong_plan(monkeypatch: pytest.MonkeyPatch) -> None:
    model = models.read(path_of("model_mlp_small"))
    right = replan

    def wrong(method: Method, *rest: object, check: bool = True) -> Replanned:
        replanned = right(method, *rest, check=check)  # type: ignore[arg-type]
        mutant = next(mutants(replanned, random.Random(1), 1))
        return replace(replanned, method=mutant)

    monkeypatch.setattr(repack, "replan", wrong)
    with pytest.raises(SdkError, match="the memory plan is wrong: 2 problems"):
        repack.repack(model, kernels.load())


# ---- mutants -------------------------------------------------------------------------


def mutants(plan: Replanned, chance: random.Random, most: int) -> Iterator[Method]:
    """Plans in which two storages that are alive together share some bytes."""
    placed = [place for place in plan.placed if place.storage.size > 0]
    pairs = [
        (place, other)
        for place in placed
        for other in placed
        if place is not other
        and place.memory_id == other.memory_id
        and place.storage.points & other.storage.points
    ]
    for shifted, other in chance.sample(pairs, min(most, len(pairs))):
        first = max(other.offset - shifted.storage.size + 1, 0)
        first = -(-first // 16) * 16
        offset = chance.choice(range(first, other.offset + other.storage.size, 16))
        values = list(plan.method.values)
        for value, start in shifted.storage.values.items():
            moved_value = values[value]
            if isinstance(moved_value, types.Tensor):
                spot = types.Allocation(shifted.memory_id, offset + start)
                values[value] = replace(moved_value, allocation=spot)
        sizes = list(plan.method.planned_sizes)
        end = offset + shifted.storage.size
        sizes[shifted.memory_id] = max(sizes[shifted.memory_id], end)
        yield replace(plan.method, values=tuple(values), planned_sizes=tuple(sizes))


@pytest.mark.slow
def test_every_overlap_that_does_harm_is_found(tmp_path: Path) -> None:
    known = kernels.load()
    count = 0
    silent = []
    for path in matching():
        model = models.read(path)
        packed = repack.repack(model, known)
        chance = random.Random(path.name)
        for name, plan in packed.replanned.items():
            for mutant in mutants(plan, chance, 4):
                methods = tuple(
                    mutant if method.name == name else method
                    for method in packed.program.methods
                )
                changed = replace(packed.program, methods=methods)
                count += 1
                if not plan_check.problems(model.program, changed, known):
                    folder = tmp_path / f"{path.name}_{count}"
                    committed.copied(path.stem, folder)
                    (folder / "model.pte").write_bytes(program.write(changed))
                    silent.append(folder)
    assert count > 1000
    # Those of bytes that are unused, or of which only zeros are read.
    assert len(silent) < count / 500
    case_files = cases.find([tmp_path]) if silent else []
    outcomes = testing.test(case_files, [boards.load("host")], jobs=1)
    assert [outcome.name for outcome in outcomes if outcome.status != "passed"] == []
