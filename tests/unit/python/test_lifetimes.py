"""Lifetimes from programs only, plans made of them, and packed models."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import committed
import numpy as np
import pace
import pytest
from committed_cases import matching, path_of

from ember import boards, cases, kernels, program
from ember import model as models
from ember.cases import CaseTensor
from ember.errors import SdkError
from ember.files.tensors import DType
from ember.firmware.repack import repack
from ember.kernels import library as kernel_library
from ember.plan import lifetimes, offsets
from ember.plan.lifetimes import Storage
from ember.plan.replan import replan
from ember.program import Method, types
from ember.run import testing

ROOT = Path(__file__).resolve().parents[3]


def tensor(offset: int | None, size: int = 4, data: int = 0) -> types.Tensor:
    place = None if offset is None else types.Allocation(1, offset)
    return types.Tensor(DType.FLOAT32, (size,), (0,), data, place)


def method_of(
    values: Sequence[types.Value],
    calls: Sequence[types.Instruction],
    inputs: tuple[int, ...],
    outputs: tuple[int, ...],
    size: int = 256,
) -> Method:
    relu = types.Operator("aten::relu", "out")
    return Method(
        "forward",
        tuple(values),
        inputs,
        outputs,
        (types.Chain(tuple(calls)),),
        (relu,),
        planned_sizes=(0, size),
    )


def relu(source: int, target: int) -> types.KernelCall:
    return types.KernelCall(0, (source, target, target))


def by_value(method: Method) -> dict[int, Storage]:
    storages = lifetimes.of(method, kernels.load()).storages
    return {value: storage for storage in storages for value in storage.values}


def test_a_chain_needs_two_buffers() -> None:
    values = [tensor(0), tensor(16), tensor(32), tensor(48)]
    calls = [relu(0, 1), relu(1, 2), relu(2, 3)]
    method = method_of(values, calls, (0,), (3,), 64)
    plan = replan(method, kernels.load())
    assert (plan.planned, plan.lower_bound, plan.stock) == (32, 32, 64)
    points = by_value(method)[1].points
    assert points == {0, 1}


def test_a_view_without_instruction_keeps_its_base_alive() -> None:
    # Value 2 is at the place of value 1 and nothing writes it.
    values = [tensor(0), tensor(16), tensor(16), tensor(32), tensor(48)]
    calls = [relu(0, 1), relu(0, 3), relu(2, 4)]
    storages = by_value(method_of(values, calls, (0,), (3, 4)))
    assert storages[1] is storages[2]
    assert storages[1].points == {0, 1, 2}


def test_state_lives_everywhere_and_is_not_an_output_of_chance() -> None:
    # Value 1 is read before anything wrote it: it comes from the last run.
    values = [tensor(0), tensor(16), tensor(32)]
    calls = [relu(1, 2), relu(0, 1)]
    storages = by_value(method_of(values, calls, (0,), (2,)))
    assert storages[1].is_state
    assert storages[1].points == {-1, 0, 1, 2}


def test_branches_share_and_the_result_of_both_is_one_place() -> None:
    flag = types.Bool(True)
    # 0 -> relu -> 1 or 2 -> moved to 3 -> relu -> 4
    values: list[types.Value] = [
        tensor(0),
        tensor(16),
        tensor(32),
        tensor(48),
        tensor(64),
        flag,
    ]
    calls: list[types.Instruction] = [
        types.JumpFalseCall(5, 4),
        relu(0, 1),
        types.MoveCall(1, 3),
        types.JumpFalseCall(6, 6),
        relu(0, 2),
        types.MoveCall(2, 3),
        relu(3, 4),
    ]
    method = method_of([*values, types.Bool(False)], calls, (0, 5), (4,))
    # The condition is an input, so it can change; the jump at 3 is always taken.
    method = replace(method, inputs=(0, 5))
    storages = by_value(method)
    assert storages[1] is storages[3]
    assert storages[2] is storages[3]


def test_a_condition_that_is_an_input_may_go_either_way() -> None:
    # The flag is stated as false, with which instruction 2 would never read value 1.
    values: list[types.Value] = [tensor(0), tensor(16), tensor(32), types.Bool(False)]
    calls: list[types.Instruction] = [
        relu(0, 1),
        types.JumpFalseCall(3, 3),
        relu(1, 2),
        relu(0, 2),
    ]
    storages = by_value(method_of(values, calls, (0, 3), (2,)))
    assert 1 in storages[1].points
    fixed = by_value(method_of(values, calls, (0,), (2,)))
    assert 1 not in fixed[1].points


def test_a_jump_reads_its_condition() -> None:
    flag = types.Tensor(DType.BOOL, (), (), 0, types.Allocation(1, 64))
    values: list[types.Value] = [tensor(0), tensor(16), tensor(32), flag]
    calls: list[types.Instruction] = [
        relu(0, 3),
        relu(0, 1),
        types.JumpFalseCall(3, 4),
        relu(1, 2),
        relu(1, 2),
    ]
    storages = by_value(method_of(values, calls, (0,), (2,)))
    assert storages[3].points == {0, 1, 2}


def test_a_plan_that_destroys_a_value_is_told_and_repaired() -> None:
    method = committed.program_of("special_cond_two").methods[0]
    plan = replan(method, kernels.load())
    assert plan.conflict is not None
    assert "overwrites value 12" in plan.conflict
    assert lifetimes.of(plan.method, kernels.load()).conflict is None


def test_an_operator_without_a_schema_is_an_error() -> None:
    method = method_of([tensor(0), tensor(16)], [relu(0, 1)], (0,), (1,))
    strange = replace(method, operators=(types.Operator("my::own", "out"),))
    with pytest.raises(SdkError, match=r"instruction 0: what my::own\.out writes"):
        lifetimes.of(strange, kernels.load())


def test_a_half_overwritten_value_is_an_error() -> None:
    values = [tensor(0), tensor(16), tensor(24, 2), tensor(32), tensor(16)]
    calls = [relu(0, 1), relu(2, 2), relu(4, 3)]
    method = method_of(values, calls, (0,), (3,))
    with pytest.raises(SdkError, match="has overwritten part of it"):
        lifetimes.of(method, kernels.load())


def test_a_value_that_others_write_in_parts_is_one_storage_with_them() -> None:
    # 1 and 2 are the halves of 3, which nothing writes.
    values = [tensor(0), tensor(16), tensor(32), tensor(16, 8), tensor(64, 8)]
    calls = [relu(0, 1), relu(0, 2), relu(3, 4)]
    storages = by_value(method_of(values, calls, (0,), (4,)))
    assert storages[1] is storages[2] is storages[3]
    assert dict(storages[3].values) == {1: 0, 2: 16, 3: 0}
    assert storages[3].points == {0, 1, 2}
    assert not storages[3].is_state


def test_a_value_with_a_part_that_nothing_writes_is_an_error() -> None:
    values = [tensor(0), tensor(16), tensor(32), tensor(16, 8), tensor(64, 8)]
    method = method_of(values, [relu(0, 1), relu(3, 4)], (0,), (4,))
    with pytest.raises(SdkError, match="has overwritten part of it"):
        lifetimes.of(method, kernels.load())


def all_methods() -> list[tuple[str, Method]]:
    return [
        (f"{path.name}/{method.name}", method)
        for path in matching()
        for method in models.read(path).program.methods
    ]


@pytest.mark.slow
def test_every_committed_program_is_planned_to_the_lower_bound() -> None:
    worse = []
    for name, method in all_methods():
        plan = replan(method, kernels.load())
        if plan.planned > plan.lower_bound or plan.planned > plan.stock:
            worse.append(f"{name}: {plan.planned} > {plan.lower_bound}")
        again = lifetimes.of(plan.method, kernels.load())
        buffers = [storage.buffer() for storage in again.storages]
        assert offsets.lower_bound(buffers) <= plan.lower_bound
    assert worse == []


def test_scratch_arguments_of_cortex_m_are_no_state() -> None:
    paths = matching("int8_*")
    for path in paths:
        (method,) = models.read(path).program.methods
        lives = lifetimes.of(method, kernels.load())
        assert not any(storage.is_state for storage in lives.storages), path
        assert lives.conflict is None
    assert len(paths) >= 10


def test_two_thousand_tensors_are_planned_in_a_second() -> None:
    """An unrolled recurrence over one long input, 100 steps of 20 tensors."""
    values: list[types.Value] = [tensor(0, 64 * 100)]
    calls: list[types.Instruction] = []
    offset = 64 * 400
    state = 0
    for _ in range(100):
        for number in range(20):
            values.append(tensor(offset, 16 * (1 + number % 7)))
            offset += 64 * (1 + number % 7)
            source = state if number % 5 else 0
            calls.append(relu(source, len(values) - 1))
            if number % 3 == 0:
                state = len(values) - 1
    method = method_of(values, calls, (0,), (state,), offset)
    known = kernels.load()
    with pace.within(1.0):
        plan = replan(method, known)
    assert len(method.values) > 2000
    assert plan.planned == plan.lower_bound


@pytest.mark.slow
def test_packed_programs_compute_the_same(tmp_path: Path) -> None:
    """Every committed case, packed, against PyTorch's outputs."""
    for path in matching():
        folder = committed.copied(path.stem, tmp_path / path.stem)
        packed = repack(models.read(path), kernels.load())
        (folder / "model.pte").write_bytes(packed.content)
    case_files = cases.find([tmp_path])
    outcomes = testing.test(case_files, [boards.load("host")], jobs=1)
    assert [f"{o.name}: {o.message}" for o in outcomes if o.status != "passed"] == []
    assert len(outcomes) > 400


def test_constants_that_nothing_uses_are_left_out(tmp_path: Path) -> None:
    read = models.read(path_of("model_resnet8_small"))
    again = replace(
        read.program, constants=(*read.program.constants, b"\1" * 64, b"\2" * 64)
    )
    file = tmp_path / "model.pte"
    file.write_bytes(program.write(again))
    packed = repack(models.read(file), kernels.load())
    assert packed.program.unused_constants() == ()
    assert len(packed.content) <= len(read.content)


@pytest.mark.export
def test_executorch_runs_packed_programs(tmp_path: Path) -> None:
    runtime = pytest.importorskip("executorch.runtime").Runtime.get()
    torch = pytest.importorskip("torch")
    for name in ("model_lenet_small", "model_encoder_small", "special_cond_two"):
        case = cases.read(cases.find([path_of(name)])[0])
        packed = repack(models.read(path_of(name)), kernels.load())
        file = tmp_path / f"{name}.pte"
        file.write_bytes(packed.content)
        (run,) = case.runs[:1]
        inputs = []
        for value in run.inputs:
            assert isinstance(value, CaseTensor)
            inputs.append(torch.from_numpy(value.array.copy()))
        outputs = runtime.load_program(file).load_method("forward").execute(inputs)
        for got, wanted in zip(outputs, run.outputs, strict=False):
            assert isinstance(wanted, CaseTensor)
            assert np.allclose(got.numpy(), wanted.array, 1e-4, 1e-5)


def test_scratch_is_written_whatever_its_schema_says() -> None:
    schema = "(Tensor input, Tensor scratch, *, Tensor(a!) out) -> Tensor(a!)"
    assert kernel_library.roles(schema) == ("reads", "writes", "writes")
