"""What Ember reads and writes is what ExecuTorch reads and runs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ember import program
from ember.files import tensor_data
from ember.plan.replan import Places, relocate
from ember.program import Program, Tensor, bundle

pytestmark = pytest.mark.export

torch = pytest.importorskip("torch")
pytest.importorskip("executorch.exir")
runtime = pytest.importorskip("executorch.extension.pybindings.portable_lib")


def reference(data: bytes) -> Any:
    """ExecuTorch's own reading of the FlatBuffer, as it is stored."""
    from executorch.exir._serialize._flatbuffer_program import _flatbuffer_to_program
    from executorch.exir._serialize._program import _get_extended_header

    header = _get_extended_header(data)
    return _flatbuffer_to_program(data[: header.program_size] if header else data)


def assert_same_tensor(mine: Tensor, theirs: Any) -> None:
    assert int(mine.dtype) == int(theirs.scalar_type)
    assert list(mine.sizes) == list(theirs.sizes)
    assert list(mine.dim_order) == list(theirs.dim_order)
    assert mine.data_index == theirs.data_buffer_idx
    place = theirs.allocation_info
    assert (mine.allocation is None) == (place is None)
    if mine.allocation is not None:
        assert mine.allocation.memory_id == place.memory_id
        assert mine.allocation.offset == place.memory_offset


def assert_same(mine: Program, theirs: Any) -> None:
    assert len(mine.methods) == len(theirs.execution_plan)
    for method, plan in zip(mine.methods, theirs.execution_plan, strict=True):
        assert method.name == plan.name
        assert list(method.inputs) == list(plan.inputs)
        assert list(method.outputs) == list(plan.outputs)
        assert list(method.planned_sizes) == list(plan.non_const_buffer_sizes)
        assert [
            (operator.name, operator.overload) for operator in method.operators
        ] == [(operator.name, operator.overload) for operator in plan.operators]
        assert [delegate.id for delegate in method.delegates] == [
            delegate.id for delegate in plan.delegates
        ]
        for value, theirs_value in zip(method.values, plan.values, strict=True):
            assert type(value).__name__ == type(theirs_value.val).__name__
            if isinstance(value, Tensor):
                assert_same_tensor(value, theirs_value.val)
        for instruction, other in zip(
            method.instructions, plan.chains[0].instructions, strict=True
        ):
            assert type(instruction).__name__ == type(other.instr_args).__name__
            args = getattr(other.instr_args, "args", None)
            assert list(getattr(instruction, "args", ())) == list(args or ())


def test_reading(program_file: Path) -> None:
    data = program_file.read_bytes()
    assert_same(program.parse(data), reference(data))


def test_writing(program_file: Path) -> None:
    mine = program.read(program_file)
    assert_same(mine, reference(program.write(mine)))


def _inputs(method: program.Method) -> tuple[Any, ...]:
    torch.manual_seed(0)
    inputs = []
    for value in method.input_values:
        assert isinstance(value, Tensor)
        dtype = getattr(torch, value.dtype.label)
        random = torch.rand(value.sizes).mul(3).to(dtype)
        inputs.append(
            random.permute(value.dim_order)
            .contiguous()
            .permute(tuple(np.argsort(value.dim_order)) if value.sizes else ())
        )
    return tuple(inputs)


RUNS = sorted((Path(__file__).parent / "data").glob("*.pte"))


@pytest.mark.parametrize("path", RUNS, ids=lambda path: path.name)
@pytest.mark.parametrize(
    "options",
    [{}, {"segment_alignment": 4096}, {"constant_alignment": 64, "deduplicate": True}],
    ids=["as is", "aligned", "deduplicated"],
)
def test_same_outputs(path: Path, options: dict[str, Any]) -> None:
    """A program written again gives the same bits in ExecuTorch's runtime."""
    if path.name == "external.pte":
        pytest.skip("the Python runtime takes no .ptd from a buffer")
    original = path.read_bytes()
    again = program.write(program.parse(original), **options)
    for method in program.parse(original).methods:
        inputs = _inputs(method)
        results = []
        for data in (original, again):
            module = runtime._load_for_executorch_from_buffer(data)
            results.append(module.run_method(method.name, inputs))
        for expected, other in zip(*results, strict=True):
            assert torch.equal(expected, other)


def test_copied_constants(data: Path) -> None:
    """Constants that are copied to planned memory, which the wheel's runtime fills."""
    original = program.read(data / "conv.pte")
    (method,) = original.methods
    places, at = {}, 0
    for index in sorted(original.used_constants()):
        places[index] = program.types.Allocation(len(method.planned_sizes), at)
        at += -(-len(original.constants[index]) // 16) * 16
    sizes = (*method.planned_sizes, at)
    copied = relocate(original, method.name, Places(sizes, (), places))
    assert not copied.used_constants()
    inputs = _inputs(method)
    results = [
        runtime._load_for_executorch_from_buffer(content).run_method(
            method.name, inputs
        )
        for content in (program.write(original), program.write(copied))
    ]
    for expected, other in zip(*results, strict=True):
        assert torch.equal(expected, other)


def test_external_data(data: Path, tmp_path: Path) -> None:
    (tmp_path / "again.pte").write_bytes(
        program.write(program.read(data / "external.pte"))
    )
    (tmp_path / "again.ptd").write_bytes(
        tensor_data.write(tensor_data.read(data / "external.ptd"))
    )
    x = torch.rand(2, 4)
    results = []
    for folder, name in ((data, "external"), (tmp_path, "again")):
        module = runtime._load_for_executorch(
            str(folder / f"{name}.pte"), str(folder / f"{name}.ptd")
        )
        results.append(module.run_method("forward", (x,))[0])
    assert torch.equal(*results)


def test_bundle_passes_its_own_test(data: Path) -> None:
    again = bundle.write(bundle.read(data / "bundle.bpte"))
    loaded = runtime._load_bundled_program_from_buffer(again)
    for index in range(2):
        loaded.verify_result_with_bundled_expected_output("forward", index, 1e-5, 1e-6)
