"""The streams between SDK and test runner, without a runner."""

from __future__ import annotations

import contextlib
import random
import re
import struct
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from ember import cases, paths, program
from ember.cases import CaseTensor, Run, batch, inputs
from ember.errors import SdkError
from ember.files import tensors
from ember.files.tensors import DType
from ember.run import testing, verdicts


def header() -> str:
    return (paths.runtime() / "app" / "batch.h").read_text()


def case_of(data: Path, name: str, inputs: tuple[cases.Value, ...]) -> cases.Case:
    content = (data / name).read_bytes()
    return cases.Case(
        name=name,
        path=data,
        content=content,
        bundled=False,
        program=program.parse(content),
        data=(b"d" * 5,),
        runs=(Run("forward", inputs, ()),),
        rtol=0.0,
        atol=0.0,
    )


def result(index: int, status: int = 0, message: str = "") -> bytes:
    text = message.encode() + bytes(-len(message) % 4)
    body = struct.pack(
        "<IiIIII6Q", index, status, 6, 0, 7, len(message), 2**64 - 1, 1, 2, 3, 4, 5
    )
    return struct.pack("<II", 6, len(body) + len(text)) + body + text


def output(index: int, run: int, *values: inputs.Value) -> bytes:
    body = struct.pack("<IIiI", index, run, 0, 0)
    return struct.pack("<II", 5, len(body)) + body + inputs.to_bytes(values)


HELLO = struct.pack("<IIIIQ", 1, 16, batch.VERSION, 4, 1000)
END = struct.pack("<IIQQ", 4, 16, 64, 32)


@pytest.mark.parametrize(
    "name",
    ["HELLO", "CASE", "RUN", "END", "OUTPUT", "RESULT", "DEAD", "WATCH", "NODE"],
)
def test_record_kinds_are_those_of_the_header(name: str) -> None:
    match = re.search(rf"EMBER_BATCH_{name} = (\d+)", header())
    assert match is not None
    assert int(match[1]) == getattr(batch, f"_{name}")


def test_the_version_is_that_of_the_header() -> None:
    assert f"EMBER_BATCH_VERSION = {batch.VERSION}," in header()


def test_a_program_starts_at_a_multiple_of_16(data: Path) -> None:
    x = CaseTensor(DType.FLOAT32, np.zeros((2, 3), "float32"))
    case = case_of(data, "add.pte", (x, x))
    body = batch.record(case, 5)[8:]
    assert body.index(case.content) % 16 == 0
    assert body.index(b"ddddd") % 16 == 0
    assert struct.unpack_from("<I", body)[0] == 5


def test_the_record_of_a_run_says_that_states_start_again(data: Path) -> None:
    x = CaseTensor(DType.FLOAT32, np.zeros((2, 3), "float32"))
    case = case_of(data, "add.pte", (x, x))
    again = replace(case, runs=tuple(replace(run, reset=True) for run in case.runs))
    first, other = (batch.parts(item, 0)[-1] for item in (case, again))
    at = 8 + 24  # behind the head, two indices and two tolerances
    assert first[at : at + 4] == bytes(4)
    assert other[at : at + 4] == b"\1\0\0\0"
    assert first[:at] == other[:at] and first[at + 4 :] == other[at + 4 :]


def test_a_linked_case_leaves_its_program_out(data: Path) -> None:
    x = CaseTensor(DType.FLOAT32, np.zeros((2, 3), "float32"))
    case = case_of(data, "add.pte", (x, x))
    assert case.content[:64] not in batch.record(case, 0, linked=0)


def test_inputs_are_laid_out_in_the_declared_dim_order(data: Path) -> None:
    (declared,) = program.read(data / "conv.pte").methods[0].input_tensors
    assert declared.dim_order != tensors.contiguous(4)
    array = np.arange(np.prod(declared.sizes), dtype="float32")
    given = CaseTensor(DType.FLOAT32, array.reshape(declared.sizes))
    laid = batch.lay_out(declared, given)
    assert isinstance(laid, inputs.TensorValue)
    assert laid.data != array.tobytes()
    np.testing.assert_array_equal(laid.array(declared.dim_order), given.array)


def test_an_int_for_a_float_becomes_one() -> None:
    laid = batch.lay_out(program.Double(1.0), 3)
    assert type(laid) is float


def test_answers_are_read_back() -> None:
    stream = b"".join(
        [HELLO, output(0, 0, 3, None, "text"), result(0), result(1, -3, "why"), END]
    )
    answer = batch.answer(stream)
    assert (answer.memory, answer.finished, answer.stack_used) == (1000, True, 32)
    good, bad = answer.results
    assert good.outputs[0].values == (3, None, "text")
    assert (good.method, good.planned, good.scratch, good.used) == (1, 2, 3, 4)
    assert (bad.status, bad.message, bad.needed, bad.instruction) == (
        -3,
        "why",
        None,
        7,
    )
    assert bad.outputs == ()


def test_a_torn_stream_gives_the_cases_that_ended() -> None:
    value = inputs.TensorValue(DType.UINT8, (100,), bytes(100))
    stream = HELLO + output(0, 0, value) + result(0) + output(1, 0, value) + result(1)
    whole = len(HELLO + output(0, 0, value) + result(0))
    for end in range(len(stream)):
        answer = batch.answer(stream[:end])
        assert not answer.finished
        assert len(answer.results) == (1 if end >= whole else 0)
    assert batch.answer(b"").memory is None


def test_another_version_is_refused() -> None:
    with pytest.raises(SdkError, match="version 9"):
        batch.answer(struct.pack("<IIIIQ", 1, 16, 9, 4, 1000))


# ---- a hostile runner ----------------------------------------------------------------


def tensor(dtype: int, rank: int, size: int, sizes: tuple[int, ...]) -> bytes:
    head = b"EMV1" + struct.pack("<5I", 1, 5, dtype, rank, size)
    return head + struct.pack(f"<{len(sizes)}i", *sizes) + bytes(min(size, 64))


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (tensor(99, 1, 4, (1,)), "dtype is 99"),
        (tensor(6, 2**32 - 1, 4, ()), "rank is 4294967295, more than 16"),
        (tensor(6, 1, 4, (-1,)), r"tensor float32\[-1\] has 4 bytes"),
        (tensor(6, 1, 8, (1,)), r"tensor float32\[1\] has 8 bytes"),
        (tensor(6, 2, 0, (2**31 - 1, 2**31 - 1)), "has 0 bytes"),
        (b"EMV1" + struct.pack("<6I", 1, 2, 0, 0, 4, 7), "number has 4 bytes, not 8"),
        (b"what", "outputs are malformed"),
    ],
)
def test_outputs_that_contradict_themselves(content: bytes, sentence: str) -> None:
    whole = struct.pack("<IIIIiI", 5, 16, 0, 0, 0, 0) + content
    with pytest.raises(SdkError, match=sentence):
        batch.answer(HELLO + whole + result(0))


def test_a_short_record() -> None:
    with pytest.raises(SdkError, match="kind 6 with 8 bytes, not 72"):
        batch.answer(HELLO + struct.pack("<4I", 6, 8, 0, 0))


def test_any_answers_are_a_result_or_a_sentence(data: Path) -> None:
    """Mutations of a right stream, each field with numbers that hurt."""
    x = CaseTensor(DType.FLOAT32, np.zeros((2, 3), "float32"))
    case = case_of(data, "add.pte", (x, x))
    value = inputs.TensorValue(DType.FLOAT32, (2, 3), bytes(24))
    right = HELLO + output(0, 0, value) + result(0) + END
    chance = random.Random(7)
    for _ in range(3000):
        stream = bytearray(right)
        for _ in range(chance.choice([1, 1, 2, 8])):
            at = chance.randrange(0, len(stream) - 3, 4)
            worst = chance.choice([0, 1, 2, 7, 255, 2**31 - 1, 2**31, 2**32 - 1])
            struct.pack_into("<I", stream, at, worst)
        with contextlib.suppress(SdkError):
            for answer in testing._answer([case], bytes(stream)).results:
                for run in answer.outputs:
                    verdicts.outputs(case, run)
                if answer.status != batch.OK:
                    verdicts.failure(case, answer)
