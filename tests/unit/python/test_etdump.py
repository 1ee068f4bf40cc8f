"""ETDump files: the format, and the events that runs become."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from small_programs import call, one_method, tensor

from ember.cases.inputs import TensorValue
from ember.cycles.estimate import NOT_ESTIMATED, Cycles
from ember.errors import SdkError
from ember.files import etdump, tensors
from ember.files.etdump import (
    Allocated,
    ETDump,
    Event,
    Logged,
    LoggedList,
    LoggedTensor,
    RunBlock,
    Timed,
    Where,
)
from ember.files.tensors import DType
from ember.program import Method, types
from ember.run.etdump import events
from ember.run.etdump.events import Executed, Lent
from ember.run.etdump.intermediate import ValueFile
from ember.run.run import NodeRun


@pytest.fixture(autouse=True)
def _in_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


# ---- the format --------------------------------------------------------------------

PLACE = LoggedTensor(DType.INT16, (2, 0, 3), (3, 3, 1), 64)
ENTRIES: tuple[etdump.Entry, ...] = (
    PLACE,
    LoggedList((PLACE, LoggedTensor(DType.FLOAT32, (), (), 0))),
    LoggedList(()),
    *(True, False, -(2**63), 0, 0.5, 0.0, float("inf")),
)
LOGGED = [
    Event(logged=Logged(entry, Where(number), "name", output=bool(number)))
    for number, entry in enumerate(ENTRIES)
]
EVERYTHING = ETDump(
    (
        RunBlock(
            "Default",
            (
                Event(allocated=Allocated(1, 2**40)),
                Event(timed=Timed("Program::load_method", 0, 2**63)),
            ),
            ("sram", "flash"),
        ),
        RunBlock(
            "Execute",
            (
                *LOGGED,
                Event(timed=Timed("", 1, 1, Where(3, 0, "Add #1"), b"kernel\x00\xff")),
                Event(timed=Timed("OPERATOR_CALL", 5, 2, Where(0, 2, 0))),
            ),
            bundled_input=0,
        ),
    )
)


def test_what_is_written_is_read() -> None:
    data = etdump.to_bytes(EVERYTHING)
    assert int.from_bytes(data[:4], "little") == len(data) - 4
    assert data[8:12] == b"ED00"
    read = etdump.from_bytes(data, "it")
    assert read == EVERYTHING
    kinds = [type(event.logged.entry) for event in read.runs[1].events if event.logged]
    assert kinds == [
        LoggedTensor,
        *[LoggedList] * 2,
        *[bool] * 2,
        *[int] * 2,
        *[float] * 3,
    ]


def test_an_empty_dump() -> None:
    assert etdump.from_bytes(etdump.to_bytes(ETDump(())), "it") == ETDump(())


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\0\0\0\0",
        etdump.to_bytes(EVERYTHING)[:-1],
        etdump.to_bytes(EVERYTHING) + b"\0",
        etdump.to_bytes(EVERYTHING)[4:],
        etdump.to_bytes(EVERYTHING).replace(b"ED00", b"ET12"),
    ],
)
def test_what_is_no_dump(data: bytes) -> None:
    with pytest.raises(SdkError, match="file is not an ETDump"):
        etdump.from_bytes(data, "file")


def test_damaged_bytes_are_errors_of_ours() -> None:
    whole = etdump.to_bytes(EVERYTHING)
    for at in range(len(whole)):
        for value in (0, 0xFF, whole[at] ^ 0x10):
            damaged = bytearray(whole)
            damaged[at] = value
            try:
                etdump.from_bytes(bytes(damaged), "file")
            except SdkError as error:
                assert "file" in error.what


# ---- events ------------------------------------------------------------------------


def method() -> Method:
    values: list[types.Value] = [tensor(0), tensor(32), tensor(64), types.Bool(True)]
    calls: list[types.Instruction] = [
        call("relu", 0, 1),
        types.JumpFalseCall(3, 3),
        types.MoveCall(1, 2),
        call("cos", 1, 2),
    ]
    model = one_method(values, calls, (0,), (2,))
    return model.program.methods[0]


def node(index: int, op: str, origin: int, took: int = 10, times: int = 1) -> NodeRun:
    kernel = f"{op}_kernel" if "::" in op else None
    return NodeRun(index, origin, op, kernel, took if times else 0, times, None)


def executed(**changes: object) -> Executed:
    nodes = (
        node(0, "aten::relu.out", 0, 30),
        node(1, "jump if false", 1, 2),
        node(2, "move", 2, 0, times=0),
        node(3, "aten::cos.out", 3, 40, times=2),
    )
    execution = Executed(
        method(), method(), nodes, 7, 100, NOT_ESTIMATED, NOT_ESTIMATED
    )
    return replace(execution, **changes)  # type: ignore[arg-type]


def rows(executed: Executed) -> list[tuple[object, ...]]:
    (run,) = (run for run in events.runs(executed) if run.name == "Execute")
    return [
        (
            event.timed.where.instruction,
            event.timed.name,
            event.timed.begin,
            event.timed.end - event.timed.begin,
        )
        for event in run.events
        if event.timed
    ]


def test_instructions_are_named_as_the_runtime_does() -> None:
    assert rows(executed()) == [
        (0, "native_call_relu.out", 7, 30),
        (0, "OPERATOR_CALL", 7, 30),
        (1, "JF_CALL", 37, 2),
        (3, "native_call_cos.out", 39, 40),
        (3, "OPERATOR_CALL", 39, 40),
        (-1, "Method::execute", 7, 100),
    ]
    first = next(iter(events.runs(executed())))
    assert first.name == "Default"
    assert first.events == (Event(timed=Timed("Program::load_method", 0, 7)),)


def test_what_passes_made_counts_as_the_instruction_that_it_was() -> None:
    packed = replace(
        method(),
        chains=(types.Chain((call("full", 1), call("relu", 0, 1), call("cos", 1, 2))),),
    )
    nodes = (
        node(0, "ember::scratch.out", 0, 1),
        node(1, "aten::relu.out", 0, 30),
        node(2, "aten::cos.out", 3, 40),
    )
    assert rows(executed(packed=packed, nodes=nodes))[:5] == [
        (0, "native_call_relu.out", 7, 30),
        (0, "native_call_scratch.out", 37, 1),
        (0, "OPERATOR_CALL", 7, 31),
        (3, "native_call_cos.out", 38, 40),
        (3, "OPERATOR_CALL", 38, 40),
    ]


def with_cycles(execution: Executed, last: Cycles) -> Executed:
    nodes = [replace(each, cycles=Cycles(5, 6)) for each in execution.nodes]
    nodes[-1] = replace(nodes[-1], cycles=last)
    return replace(
        execution,
        nodes=tuple(nodes),
        load_cycles=Cycles(8, 9),
        execute_cycles=Cycles(50, 60),
    )


@pytest.mark.parametrize(
    ("last", "begin", "took", "all_"),
    [
        (Cycles(5, 6), 9, 6, 60),
        (Cycles(5, None), 8, 5, 50),
        (NOT_ESTIMATED, 7, 30, 100),
    ],
)
def test_times_are_cycles_where_all_are_known(
    last: Cycles, begin: int, took: int, all_: int
) -> None:
    listed = rows(with_cycles(executed(), last))
    assert listed[0] == (0, "native_call_relu.out", begin, took)
    assert listed[-1] == (-1, "Method::execute", begin, all_)


def test_values_stand_before_the_end_of_their_instruction() -> None:
    value, gone = Logged(1, Where(0)), Logged(2, Where(2))
    runs = list(events.runs(executed(logged={0: [value], 2: [gone]}, outputs=[value])))
    names = [
        event.timed.name if event.timed else event.logged for event in runs[1].events
    ]
    # An instruction without counts needs its own name.
    assert names[:5] == [
        "native_call_relu.out",
        value,
        "OPERATOR_CALL",
        "JF_CALL",
        replace(gone, name="MOVE_CALL"),
    ]
    assert names[-2:] == [value, "Method::execute"]


def test_allocations_can_be_read_by_what_reads_no_allocations() -> None:
    lent = (Lent("sram activations", 1024), Lent("dtcm arena", 5))
    (loading, _) = events.runs(executed(allocations=lent))
    assert loading.allocators == ("sram activations", "dtcm arena")
    first, second, _ = loading.events
    assert first.allocated == Allocated(1, 1024)
    assert first.logged == Logged(1024, Where(chain=1), "sram activations: 1,024 bytes")
    assert second.allocated == Allocated(2, 5)


def test_nothing_known_is_no_run() -> None:
    nothing = executed(nodes=(), load=None, execute=None)
    assert list(events.runs(nothing)) == []


# ---- values ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("dtype", "given", "written", "read"),
    [
        (DType.BFLOAT16, 0x3FC0, DType.FLOAT32, 1.5),
        (DType.UINT32, 2**32 - 1, DType.INT64, 2**32 - 1),
        (DType.QINT8, -3, DType.INT8, -3),
        (DType.FLOAT16, 0.5, DType.FLOAT16, 0.5),
        (DType.BOOL, True, DType.BOOL, True),
    ],
)
def test_types_that_the_inspector_reads(
    dtype: DType, given: object, written: DType, read: object
) -> None:
    file = ValueFile()
    file.entry(TensorValue(DType.INT8, (1,), b"\1"))
    array = np.asarray([given], dtype.numpy)
    entry = file.entry(TensorValue(dtype, (1,), array.tobytes()))
    assert isinstance(entry, LoggedTensor)
    assert (entry.dtype, entry.offset) == (written, 16)
    assert np.frombuffer(file.content[16:], written.numpy) == read


@pytest.mark.parametrize("number", [float("inf"), float("-inf"), float("nan")])
def test_numbers_that_the_inspector_does_not_read(number: float) -> None:
    """It takes the way over JSON."""
    file = ValueFile()
    assert file.entry(number) == LoggedTensor(DType.FLOAT64, (), (), 0)
    assert np.frombuffer(file.content).tobytes() == np.float64(number).tobytes()
    assert file.entry(0.5) == 0.5


def test_tensors_are_contiguous() -> None:
    logical = np.arange(24, dtype=np.float32).reshape(1, 2, 3, 4)
    order = (0, 2, 3, 1)
    data = tensors.to_bytes(logical, DType.FLOAT32, order)
    declared = types.Tensor(DType.FLOAT32, (1, 2, 3, 4), order)
    file = ValueFile()
    entry = file.entry(TensorValue(DType.FLOAT32, (1, 2, 3, 4), data), declared)
    assert entry == LoggedTensor(DType.FLOAT32, (1, 2, 3, 4), (24, 12, 4, 1), 0)
    assert bytes(file.content) == logical.tobytes()
