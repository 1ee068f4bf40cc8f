"""Damaged files end in an SdkError: no traceback, no hang, no memory blow-up."""

from __future__ import annotations

import random
import struct
from collections.abc import Callable
from pathlib import Path

import crafted_tables
import flatbuffers
import pace
import pytest

from ember import files, program
from ember.errors import SdkError
from ember.files import tensor_data
from ember.program import bundle

PARSERS: dict[str, Callable[[bytes], object]] = {
    "mlp.pte": program.parse,
    "choose.pte": program.parse,
    "counter.pte": program.parse,
    "delegate.pte": program.parse,
    "external.ptd": tensor_data.parse,
    "bundle.bpte": bundle.parse,
}
SECONDS = 10.0  # far above what any of these loops needs


def survives(parse: Callable[[bytes], object], data: bytes) -> bool:
    """Whether the bytes are accepted; anything but an SdkError escapes."""
    try:
        parse(data)
    except SdkError as error:
        assert error.what
        return False
    return True


@pytest.mark.parametrize("name", PARSERS)
def test_truncated_at_every_byte(name: str, data: Path) -> None:
    whole = (data / name).read_bytes()
    with pace.within(SECONDS):
        for size in range(len(whole)):
            if survives(PARSERS[name], whole[:size]):
                # Only zeros that pad the end may be missing.
                assert not whole[size:].strip(b"\0")


@pytest.mark.parametrize("name", PARSERS)
def test_flipped_bits(name: str, data: Path) -> None:
    whole = (data / name).read_bytes()
    chance = random.Random(name)
    with pace.within(SECONDS):
        for _ in range(1500):
            damaged = bytearray(whole)
            for _ in range(chance.choice((1, 1, 2, 8))):
                damaged[chance.randrange(len(whole))] ^= 1 << chance.randrange(8)
            survives(PARSERS[name], bytes(damaged))


@pytest.mark.parametrize("name", PARSERS)
def test_wild_words(name: str, data: Path) -> None:
    whole = (data / name).read_bytes()
    chance = random.Random(name)
    words = (0, 1, 4, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 0xFFFFFFFC, len(whole))
    for at in range(0, len(whole) - 4, 4):
        damaged = bytearray(whole)
        struct.pack_into("<I", damaged, at, chance.choice(words))
        survives(PARSERS[name], bytes(damaged))


TABLES = list(crafted_tables.collect())


@pytest.mark.parametrize("case", TABLES, ids=lambda case: case.name)
def test_tables_that_share_vtables(case: crafted_tables.TableCase) -> None:
    assert survives(program.parse, case.data) == case.sound


@pytest.mark.parametrize("name", PARSERS)
def test_empty_and_random(name: str) -> None:
    chance = random.Random(name)
    assert not survives(PARSERS[name], b"")
    for size in (1, 7, 8, 9, 64, 1000):
        assert not survives(PARSERS[name], bytes(size))
        assert not survives(PARSERS[name], chance.randbytes(size))


def _vector(builder: flatbuffers.Builder, offsets: list[int]) -> int:
    builder.StartVector(4, len(offsets), 4)
    for offset in reversed(offsets):
        builder.PrependUOffsetTRelative(offset)
    return int(builder.EndVector())


def _shared(depth: int) -> bytes:
    """A program whose plans, values and lists all are one and the same, 1000 times."""
    builder = flatbuffers.Builder(1 << 16)
    builder.StartVector(8, 1000, 8)
    for _ in range(1000):
        builder.PrependInt64(0)
    inner = int(builder.EndVector())
    # IntList {items}, EValue {tag, IntList}, ExecutionPlan {.., values}, Program
    for slots, slot, tag in ((1, 0, None), (2, 1, 7), (10, 2, None))[:depth]:
        builder.StartObject(slots)
        if tag is not None:
            builder.PrependUint8Slot(0, tag, 0)
        builder.PrependUOffsetTRelativeSlot(slot, inner, 0)
        table = int(builder.EndObject())
        inner = table if slots == 1 else _vector(builder, [table] * 1000)
    builder.StartObject(8)
    builder.PrependUOffsetTRelativeSlot(1, inner, 0)
    builder.Finish(builder.EndObject(), b"ET12")
    return bytes(builder.Output())


def test_shared_parts_do_not_multiply() -> None:
    with pace.within(1.0), pytest.raises(SdkError, match="overlap"):
        program.parse(_shared(3))


def _many_pieces(offsets: tuple[int, ...]) -> bytes:
    """A program with those offsets in a constant segment of 4096 bytes."""
    good = program.write(
        program.Program(
            methods=(program.Method("forward", (), (), (), (program.Chain(()),)),),
            constants=(b"", *(b"x" * 8 for _ in offsets[1:])),
        ),
        constant_alignment=8,
    )
    before = struct.pack(f"<{len(offsets)}Q", 0, *range(0, 8 * len(offsets[1:]), 8))
    assert good.count(before) == 1
    return good.replace(before, struct.pack(f"<{len(offsets)}Q", *offsets))


def test_constants_cannot_leave_their_segment() -> None:
    with pytest.raises(SdkError, match="starts at byte"):
        program.parse(_many_pieces((0, 0, 10**9)))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({4: b"ET13"}, "newer format ET13"),
        ({4: b"ET11"}, "older format ET11"),
        ({4: b"GGUF"}, "not an ExecuTorch program"),
        ({4: b"FT01"}, "is tensor data (.ptd)"),
        ({4: b"BP08"}, "is a bundled program (.bpte)"),
        ({12: bytes(4)}, "header of 0 bytes"),
        ({16: b"\xff" * 8}, "is truncated"),
        ({24: b"\xff" * 8}, "is truncated"),
        ({24: bytes([8] + [0] * 7)}, "segments inside its FlatBuffer"),
        ({0: bytes(4)}, "outside the buffer"),
    ],
)
def test_what_is_said(change: dict[int, bytes], said: str, data: Path) -> None:
    damaged = bytearray((data / "mlp.pte").read_bytes())
    for at, new in change.items():
        damaged[at : at + len(new)] = new
    with pytest.raises(SdkError) as caught:
        program.parse(bytes(damaged), "model.pte")
    assert said in caught.value.what
    assert caught.value.what.startswith("model.pte")
    assert caught.value.hint


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(SdkError, match="does not exist"):
        files.read(tmp_path / "none.pte")
    with pytest.raises(SdkError, match="is a folder"):
        files.read(tmp_path)


def test_complex_tensors_are_refused_by_name(data: Path) -> None:
    whole = bytearray((data / "add.pte").read_bytes())
    messages = []
    for at in (at for at, byte in enumerate(whole) if byte == 6):  # float32
        whole[at] = 9
        try:
            program.parse(bytes(whole))
        except SdkError as error:
            messages.append(f"{error.what}; {error.hint}")
        whole[at] = 6
    refusals = [
        message for message in messages if "complex64 is not supported" in message
    ]
    assert refusals
    assert all("malformed" not in refusal and "real" in refusal for refusal in refusals)
