"""Programs are read, changed and written without loss."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ember import program
from ember.errors import SdkError
from ember.files.tensors import DType
from ember.program import (
    Allocation,
    Bool,
    BoolList,
    Chain,
    CompileSpec,
    Containers,
    Delegate,
    DelegateCall,
    Double,
    DoubleList,
    ExtraInfo,
    Frame,
    FreeCall,
    Instruction,
    Int,
    IntList,
    JumpFalseCall,
    KernelCall,
    Method,
    MoveCall,
    NamedData,
    Null,
    Operator,
    OptionalTensorList,
    PlannedDevice,
    Program,
    String,
    Tensor,
    TensorList,
    types,
)

F32 = DType.FLOAT32


def every_kind() -> Program:
    """One of everything the format has."""
    values = (
        Null(),
        Int(-(2**63)),
        Bool(True),
        Double(math.nan),
        String("größe"),
        Tensor(F32, (2, 3), (0, 1), data_index=1),
        Tensor(
            F32, (2, 3), (1, 0), allocation=Allocation(1, 2**33), requires_grad=True
        ),
        IntList((1, 1)),
        DoubleList((-0.0, math.inf, math.nan)),
        BoolList((True, False)),
        TensorList((5, 6)),
        OptionalTensorList((5, -1)),
        Tensor(DType.BFLOAT16, (), (), data_index=2),
        Tensor(F32, (2,), (0,), 1, Allocation(1, 0), extra=ExtraInfo(0, "state")),
        Tensor(F32, (4,), (0,), extra=ExtraInfo(name="weight", external=True)),
        Tensor(
            DType.UINT64,
            (0, 5),
            (0, 1),
            dynamism="bounded",
            extra=ExtraInfo(device_type=1, device_index=3),
        ),
        Double(-0.0),
    )
    frames = ((Frame("model.py", 3, "forward", "return x"),),) * 5
    chain = Chain(
        instructions=(
            KernelCall(0, (5, 6, 6)),
            DelegateCall(0, (5, 6)),
            MoveCall(5, 6),
            JumpFalseCall(2, 5),
            FreeCall(6),
        ),
        inputs=(5,),
        outputs=(6,),
        stacktrace=frames,
    )
    method = Method(
        name="forward",
        values=values,
        inputs=(5, 2),
        outputs=(6,),
        chains=(chain,),
        operators=(Operator("aten::relu", "out"), Operator("my::op", "")),
        delegates=(
            Delegate("A", b"blob", compile_specs=(CompileSpec("level", b"\x01"),)),
            Delegate("B", b"inline blob", inline=True),
        ),
        planned_sizes=(0, 2**33 + 24),
        planned_devices=(PlannedDevice(1, 1, 2),),
        containers=Containers("[in]", "[out]"),
    )
    return Program(
        methods=(method, replace(method, name="again")),
        constants=(b"", bytes(range(24)), b"\x01\x02"),
        mutable_data=((b"", b"12345678"),),
        named_data=(NamedData("key", b"blob"), NamedData("other", b"data" * 100)),
    )


def test_every_kind_round_trips() -> None:
    assert program.problems(every_kind()) == []
    assert program.parse(program.write(every_kind())) == every_kind()


def test_files_round_trip(program_file: Path) -> None:
    first = program.read(program_file)
    data = program.write(first)
    assert program.parse(data) == first
    assert program.write(program.parse(data)) == data


def test_layout_is_kept(data: Path) -> None:
    first = program.read(data / "aligned.pte").layout
    again = program.parse(program.write(program.read(data / "aligned.pte"))).layout
    assert (again.segment_base, again.segments) == (first.segment_base, first.segments)
    assert again.segment_alignment == first.segment_alignment
    assert again.constant_alignment == first.constant_alignment == 64


@pytest.mark.parametrize("segment", [16, 128, 4096])
@pytest.mark.parametrize("constant", [1, 16, 128])
def test_alignments(segment: int, constant: int) -> None:
    data = program.write(
        every_kind(), segment_alignment=segment, constant_alignment=constant
    )
    parsed = program.parse(data)
    assert parsed == every_kind()
    at = [data.index(bytes(range(24)))]
    at += [
        parsed.layout.segment_base + part.offset for part in parsed.layout.segments[1:]
    ]
    assert at[0] % constant == 0
    assert all(offset % segment == 0 for offset in at[1:])


def test_inline_constants_round_trip(data: Path) -> None:
    first = program.read(data / "mlp.pte")
    old = program.write(first, inline_constants=True)
    assert old[8:12] != b"eh00"
    parsed = program.parse(old)
    assert parsed.layout.inline_constants
    assert not parsed.layout.has_header
    assert parsed == first
    assert all(old.index(constant) % 16 == 0 for constant in first.constants[1:])


def test_without_data_there_is_no_header(data: Path) -> None:
    parsed = program.read(data / "add.pte")
    assert not parsed.layout.has_header
    assert program.write(parsed)[8:12] != b"eh00"


def test_short_header_of_old_files(data: Path) -> None:
    """Before 1.0 the header had no segment size."""
    new = bytearray((data / "mlp.pte").read_bytes())
    new[12:16] = (24).to_bytes(4, "little")
    new[32:40] = b"\xff" * 8  # padding, then
    assert program.parse(bytes(new)) == program.read(data / "mlp.pte")


def test_header_without_segments(data: Path) -> None:
    """A base of 0 says that there is no segment data."""
    parsed = program.read(data / "delegate_inline.pte")
    inner = replace(parsed, named_data=(NamedData("k", b"x"),))
    assert program.parse(program.write(inner)).layout.has_header


def test_equal_data_is_stored_once() -> None:
    blob = bytes(range(256))
    repeated = replace(
        every_kind(),
        named_data=tuple(NamedData(key, blob) for key in "abc"),
        constants=(b"", b"x" * 24, b"x" * 24),
    )
    assert program.write(repeated).count(blob) == 1
    assert program.write(repeated).count(b"x" * 24) == 2
    once = program.write(repeated, deduplicate=True)
    assert once.count(b"x" * 24) == 1
    tensor = repeated.methods[0].values[5]
    assert isinstance(tensor, Tensor)
    assert program.parse(once).data_of(tensor) == b"x" * 24


def test_conveniences(data: Path) -> None:
    parsed = program.read(data / "conv.pte")
    (forward,) = parsed.methods
    assert parsed.method("forward") is forward
    assert parsed.method("backward") is None
    (image,) = forward.input_tensors
    assert str(image) == "float32[1, 2, 5, 5] order [0, 2, 3, 1]"
    assert image.strides == (50, 1, 10, 2)
    assert (image.numel, image.nbytes, image.role) == (50, 200, "planned")
    assert "aten::convolution.out" in [name for _, name, _ in forward.kernel_calls()]
    assert forward.planned_bytes == forward.planned_sizes[1]
    (unused,) = parsed.unused_constants()
    assert len(parsed.constants[unused]) == 8  # num_batches_tracked
    call = next(c for _, name, c in forward.kernel_calls() if "convolution" in name)
    strides = forward.values[call.args[3]]
    assert isinstance(strides, IntList)
    assert forward.int_list(strides) == (1, 1)


def test_initial_state(data: Path) -> None:
    parsed = program.read(data / "counter.pte")
    (state,) = (t for _, t in parsed.methods[0].tensors if t.has_initial_state)
    assert parsed.data_of(state) == b"\x00\x00\x40\x40"


def test_stacktrace(data: Path) -> None:
    (chain,) = program.read(data / "trace.pte").methods[0].chains
    assert chain.stacktrace is not None
    assert len(chain.stacktrace) == len(chain.instructions)
    assert any(
        frame.name == "forward" for frames in chain.stacktrace for frame in frames
    )


def broken() -> list[tuple[str, Program]]:
    """What `problems` must say, and a program that is wrong in that way."""
    good = every_kind()
    method = good.methods[0]

    def of(**changes: Any) -> Program:
        return replace(good, methods=(replace(method, **changes),))

    def value(index: int, new: types.Value) -> Program:
        values = list(method.values)
        values[index] = new
        return of(values=tuple(values))

    def call(instruction: Instruction) -> Program:
        return of(chains=(Chain((instruction,)),))

    tensor = method.values[5]
    assert isinstance(tensor, Tensor)
    return [
        ("has no method", replace(good, methods=())),
        ("two methods", replace(good, methods=(method, method))),
        ("no instruction chain", of(chains=())),
        ("inputs name value 99", of(inputs=(99,))),
        ("outputs name value -1", of(outputs=(-1,))),
        ("planned memory 1 has -5", of(planned_sizes=(0, -5))),
        (
            "buffer 7, which does not exist",
            of(planned_devices=(PlannedDevice(7, 0, 0),)),
        ),
        ("negative size", value(5, replace(tensor, sizes=(-1, 3)))),
        ("dim order", value(5, replace(tensor, dim_order=(0, 0)))),
        ("dim order", value(5, replace(tensor, dim_order=(0,)))),
        ("too many elements", value(5, replace(tensor, sizes=(2**31 - 1,) * 2))),
        ("storage offset", value(5, replace(tensor, storage_offset=4))),
        ("there are 3 constants", value(5, replace(tensor, data_index=3))),
        ("it needs 28 bytes", value(5, replace(tensor, sizes=(7, 1)))),
        ("in mutable segment", replace(good, mutable_data=())),
        ("planned in memory 2", value(6, Tensor(F32, (), (), 0, Allocation(2, 0)))),
        ("planned in memory 0", value(6, Tensor(F32, (), (), 0, Allocation(0, 0)))),
        (
            "ends at byte",
            value(6, Tensor(F32, (2**31, 9), (0, 1), 0, Allocation(1, 0))),
        ),
        ("has no name", value(6, Tensor(F32, (), (), extra=ExtraInfo(external=True)))),
        ("is Null, not an int", value(7, IntList((0,)))),
        ("not one of the 17", value(10, TensorList((17,)))),
        ("is Int, not a tensor", value(11, OptionalTensorList((1,)))),
        ("operator 2 is not", call(KernelCall(2, ()))),
        ("arguments name value 50", call(KernelCall(0, (50,)))),
        ("delegate -1 is not", call(DelegateCall(-1, ()))),
        ("operands name value 40", call(MoveCall(1, 40))),
        ("jumps to 2", call(JumpFalseCall(2, 2))),
        ("neither a bool nor a tensor", call(JumpFalseCall(1, 0))),
        ("operands name value 17", call(FreeCall(17))),
        ("have the key 'k'", replace(good, named_data=(NamedData("k", b""),) * 2)),
    ]


@pytest.mark.parametrize(("said", "wrong"), broken(), ids=lambda value: str(value)[:24])
def test_problems(said: str, wrong: Program) -> None:
    assert any(said in problem for problem in program.problems(wrong))


def test_all_problems_are_reported_together() -> None:
    good = every_kind()
    wrong = replace(good.methods[0], inputs=(99,), outputs=(98,))
    with pytest.raises(SdkError) as caught:
        program.parse(program.write(replace(good, methods=(wrong,))))
    assert "value 99" in caught.value.what
    assert "value 98" in caught.value.what


def test_numbers_that_do_not_fit_are_refused() -> None:
    wrong = replace(every_kind().methods[0], inputs=(2**40,))
    with pytest.raises(SdkError, match=r"execution_plan\[0\].inputs"):
        program.write(Program(methods=(wrong,)))
