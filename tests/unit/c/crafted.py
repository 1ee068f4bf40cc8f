"""Files with one thing wrong -> what the loader must answer.

Each is named after what it attacks; the numbers are those of ExecuTorch's advisories
and fixes of that kind. `write_all` puts them into a folder.
"""

from __future__ import annotations

import dataclasses
import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import crafted_tables
import positions
import programs

from ember import program
from ember.files.tensors import DType
from ember.program import (
    Allocation,
    Bool,
    ExtraInfo,
    FreeCall,
    Int,
    IntList,
    JumpFalseCall,
    KernelCall,
    MoveCall,
    OptionalTensorList,
    PlannedDevice,
    Program,
    TensorList,
)

BAD, UNSUPPORTED, NO_MEMORY, BUDGET, NOT_FOUND = -1, -2, -3, -7, -6
OPEN, LOAD, EXECUTE = "open", "load", "execute"


@dataclass(frozen=True)
class Crafted:
    name: str
    data: bytes
    stage: str
    status: int

    @property
    def file(self) -> str:
        return self.name if self.name.endswith(".ptd") else f"{self.name}.pte"


_all: list[Crafted] = []


def craft(name: str, data: bytes, stage: str = LOAD, status: int = BAD) -> None:
    """What is wrong in a method is refused when the method is loaded."""
    _all.append(Crafted(name, data, stage, status))


def craft_file(name: str, data: bytes, status: int = BAD) -> None:
    """What is wrong in what methods share is refused when the file is opened."""
    _all.append(Crafted(name, data, OPEN, status))


def patched(data: bytes, *changes: tuple[str, int]) -> bytes:
    """`data` with fields, by their paths, set to other numbers."""
    places = {one.path: one for one in positions.walk(data)}
    changed = bytearray(data)
    for path, number in changes:
        one = places[path]
        bits = number & ((1 << 8 * one.width) - 1)
        changed[one.at : one.at + one.width] = bits.to_bytes(one.width, "little")
    return bytes(changed)


def of(build: Callable[[], Program], *changes: tuple[str, int]) -> bytes:
    return patched(program.write(build()), *changes)


PLAN = "execution_plan[0]"
CALL = f"{PLAN}.chains[0].instructions"


# ---- tensors -----------------------------------------------------------------------


def with_tensor(**fields: object) -> bytes:
    """add.pte with the first tensor changed."""
    made = programs.add()
    method = made.methods[0]
    tensor = dataclasses.replace(method.values[0], **fields)  # type: ignore[arg-type]
    values = (tensor, *method.values[1:])
    methods = (dataclasses.replace(method, values=values),)
    return program.write(dataclasses.replace(made, methods=methods))


def shaped(*sizes: int) -> bytes:
    return with_tensor(sizes=sizes, dim_order=[at % 256 for at in range(len(sizes))])


def tensors() -> None:
    big = 2**31 - 1
    # CVE-2025-30402, #16706, #19055, #19057, #19121: numel and nbytes wrap.
    craft("nbytes_overflow", shaped(65536, 65536))
    craft("nbytes_overflow_64", shaped(big, big, 4))
    craft("nbytes_overflow_bytes", shaped(2**29))
    craft("nbytes_overflow_many", shaped(*(256,) * 9))
    craft("nbytes_wraps_to_small", shaped(65536, 65536, 65536, 65536))
    # #19270: dimensions on 32 bits; a product with a zero in it.
    craft("huge_dim", shaped(big))
    craft("huge_dims_and_zero", shaped(0, big, big))
    craft("zero_last", shaped(big, big, 0))
    craft("negative_size", shaped(2, -3))
    craft("most_negative_size", shaped(-(2**31), 2))
    craft("two_negative_sizes", shaped(-2, -3))
    # CVE-2025-54951: more dimensions than kTensorDimensionLimit.
    craft("dims_17", shaped(*(1,) * 17))
    craft("dims_300", shaped(*(1,) * 300))
    # #17131: dims against sizes.
    craft("dim_order_short", with_tensor(sizes=(2, 3), dim_order=(0,)))
    craft("dim_order_long", with_tensor(sizes=(2, 3), dim_order=(0, 1, 2)))
    craft("dim_order_absent", with_tensor(sizes=(2, 3), dim_order=()))
    craft("dim_order_twice", with_tensor(dim_order=(0, 0)))
    craft("dim_order_outside", with_tensor(dim_order=(0, 200)))
    craft("sizes_absent", of(programs.add, (f"{PLAN}.values[0].val@2", 0)))
    craft("storage_offset", with_tensor(storage_offset=1), LOAD, UNSUPPORTED)
    craft("unbounded", with_tensor(dynamism="unbounded"), LOAD, UNSUPPORTED)
    dtype = f"{PLAN}.values[0].val.scalar_type"
    for number in (8, 12, 99, 255):
        data = of(programs.add, (dtype, number))
        craft(f"dtype_{number}", data, LOAD, UNSUPPORTED)
    last = f"{PLAN}.values[2].val.scalar_type"
    craft("dtype_too_wide", of(programs.add, (last, DType.FLOAT64)))
    craft("rank_of_kernel", shaped(3, 2), LOAD, BAD)


def allocations() -> None:
    def at(memory: int, offset: int) -> bytes:
        return with_tensor(allocation=Allocation(memory, offset))

    # CVE-2025-30405: an address outside the planned memory.
    craft("offset_outside", at(1, 80))
    craft("offset_last_byte", at(1, 76))
    craft("offset_most", at(1, 2**32 - 4))
    craft("offset_wraps_32", at(1, 2**32))
    craft("offset_wraps_64", at(1, 2**64 - 4))
    craft("offset_misaligned", at(1, 2))
    craft("memory_0", at(0, 0))
    craft("memory_2", at(2, 0))
    craft("memory_most", at(2**32 - 1, 0))
    sizes = f"{PLAN}.non_const_buffer_sizes[1]"
    # CVE-2025-30404, CVE-2025-54952, #18680: sizes that wrap in an allocator.
    for name, size in (
        ("wraps_32", 2**32 + 96),
        ("most", 2**64 - 1),
        ("negative", 2**63),
        ("large", 2**40),
    ):
        craft(f"planned_{name}", of(programs.add, (sizes, size)), LOAD, NO_MEMORY)
    craft("planned_small", of(programs.add, (sizes, 87)))
    craft("planned_zero", of(programs.add, (sizes, 0)))
    craft("planned_absent", of(programs.add, (f"{PLAN}@8", 0)))
    craft("planned_count", of(programs.add, (f"{PLAN}.non_const_buffer_sizes#", 1)))


# ---- data --------------------------------------------------------------------------


def constants() -> None:
    segment = "constant_segment"
    index = f"{PLAN}.values[1].val.data_buffer_idx"
    base = programs.constants
    craft("buffer_outside", of(base, (index, 4)))  # data_buffer_idx
    craft("buffer_most", of(base, (index, 2**32 - 1)))
    # #18662, #16707: where constants and segments end.
    craft("constant_past_end", of(base, (f"{segment}.offsets[1]", 2**20)))
    craft("constant_at_end", of(base, (f"{segment}.offsets[1]", 46)))
    craft("constant_wraps", of(base, (f"{segment}.offsets[1]", 2**64 - 4)))
    craft("constant_wraps_32", of(base, (f"{segment}.offsets[1]", 2**32 + 16)))
    craft("constant_misaligned", of(base, (f"{segment}.offsets[1]", 2)))
    craft("constant_no_offsets", of(base, (f"{segment}@1", 0)))
    craft("constant_offset_count", of(base, (f"{segment}.offsets#", 2)))
    craft("constant_no_table", of(base, ("@5", 0)))
    two = programs.constants()
    slots = {one.path: one.at for one in positions.walk(program.write(two))}
    same = struct.unpack_from("<H", program.write(two), slots[f"{segment}@1"])[0]
    craft("constant_segment_index", of(base, (f"{segment}@0", same)))
    short = dataclasses.replace(two, constants=(b"", b"1234567", b"12345678"))
    craft("constant_too_small", program.write(short, inline_constants=True))
    craft(
        "constant_inline_outside",
        patched(program.write(two, inline_constants=True), (index, 9)),
    )

    # MACA-2026-001 (#19268), the offset -1 of a public write-up.
    craft_file("segment_offset_most", moved_segment(2**64 - 1))
    craft_file("segment_offset_wraps_32", moved_segment(2**32))
    craft_file("segment_offset_end", moved_segment(2**20))
    craft_file("segment_size_most", of(base, ("segments[0].size", 2**64 - 1)))
    craft_file("segment_size_wraps", of(base, ("segments[0].size", 2**32 + 16)))
    craft("segments_absent", of(base, ("@4", 0)))

    def constant_output() -> Program:
        m = programs.Maker()
        x, c = m.input(2), m.tensor(2, memory=None, data=1)
        m.call("copy.out", x, c)
        return m.program(constants=(b"", programs.floats(1, 2)))

    craft("constant_written", program.write(constant_output()), LOAD, BAD)


def moved_segment(offset: int) -> bytes:
    """counter.pte has several segments, so the second one's offset is stored."""
    return of(programs.counter, ("segments[1].offset", offset))


def states() -> None:
    base = programs.counter
    index = f"{PLAN}.values[0].val.data_buffer_idx"
    home = f"{PLAN}.values[1].val.extra_tensor_info.mutable_data_segments_idx"
    craft("state_outside", of(base, (index, 2)))
    craft("state_segment", of(base, (home, 2)))
    craft("state_segment_most", of(base, (home, 2**64 - 1)))
    craft("state_segment_wraps", of(base, (home, 2**32)))
    craft("state_past_end", of(base, ("mutable_data_segments[0].offsets[1]", 4)))
    craft("state_file_segment", of(base, ("mutable_data_segments[0].segment_index", 9)))
    craft("states_absent", of(base, ("@6", 0)))


def named() -> None:
    craft_file("named_segment", of(programs.named, ("named_data[1].segment_index", 9)))
    craft_file(
        "named_segment_most",
        of(programs.named, ("named_data[1].segment_index", 2**32 - 1)),
    )
    craft("named_no_key", of(programs.named, ("named_data[0]@0", 0)), EXECUTE, 0)
    location = f"{PLAN}.values[2].val.extra_tensor_info.location"
    craft("location_unknown", of(programs.external, (location, 2)), LOAD, UNSUPPORTED)
    craft("external_missing", of(programs.external), LOAD, NOT_FOUND)


def data_files() -> None:
    whole = programs.external_data()
    first = "segments[0]"
    craft("fine.ptd", whole, EXECUTE, 0)
    craft_file("segment_size.ptd", patched(whole, (f"{first}.size", 2**20)))
    craft_file("segment_most.ptd", patched(whole, ("segments[1].offset", 2**64 - 1)))
    craft_file("segment_index.ptd", patched(whole, ("named_data[1].segment_index", 9)))
    craft("too_small.ptd", patched(whole, ("segments[1].size", 7)), LOAD, NOT_FOUND)
    craft("key.ptd", patched(whole, ("named_data[1].key[0]", 0)), LOAD, NOT_FOUND)
    layout = "named_data[1].tensor_layout"
    craft("dtype.ptd", patched(whole, (f"{layout}.scalar_type", 4)), LOAD, NOT_FOUND)
    craft("size.ptd", patched(whole, (f"{layout}.sizes[0]", 3)), LOAD, NOT_FOUND)
    craft("rank.ptd", patched(whole, (f"{layout}.sizes#", 0)), LOAD, NOT_FOUND)
    craft_file("flat_offset.ptd", patched(whole, ("$field0", 2**64 - 8)))
    craft_file("flat_size.ptd", patched(whole, ("$field1", 2**32)))
    craft_file("base.ptd", patched(whole, ("$field2", 2**63)))
    craft_file("data_size.ptd", patched(whole, ("$field3", 2**63)))
    craft_file("root.ptd", patched(whole, ("$root", len(whole))))
    craft_file("identifier.ptd", patched(whole, ("$identifier", 0)), UNSUPPORTED)
    craft_file("length.ptd", patched(whole, ("$length", 31)))


# ---- the container -------------------------------------------------------------------


def header() -> None:
    base = programs.constants
    size = len(of(base))
    # #18597: the root offset.
    for name, at in (
        ("0", 0),
        ("1", 1),
        ("end", size),
        ("most", 2**32 - 1),
        ("tail", size - 2),
        ("sign", 2**31),
        ("odd", 62),
    ):
        craft_file(f"root_{name}", of(base, ("$root", at)))
    craft_file("root_no_header_end", of(programs.add, ("$root", 2**31 - 4)))
    craft_file("identifier", of(base, ("$identifier", 0x33315445)), UNSUPPORTED)
    craft_file("header_short", of(base, ("$length", 23)))
    craft_file("header_most", of(base, ("$length", 2**32 - 1)))
    craft("header_old", of(base, ("$length", 24)), EXECUTE, 0)
    craft_file("program_size_past_end", of(base, ("$field0", size + 1)))
    craft_file("program_size_most", of(base, ("$field0", 2**64 - 1)))
    craft_file("program_size_wraps_32", of(base, ("$field0", 2**32 + 512)))
    craft_file("program_size_0", of(base, ("$field0", 0)))
    craft_file("program_size_tiny", of(base, ("$field0", 64)))
    craft_file("base_past_end", of(base, ("$field1", size + 1)))
    craft_file("base_most", of(base, ("$field1", 2**64 - 1)))
    craft_file("base_wraps_32", of(base, ("$field1", 2**32)))
    craft_file("data_size_past_end", of(base, ("$field2", 4096)))
    craft_file("data_size_wraps", of(base, ("$field2", 2**64 - 128)))
    craft_file("ends_in_header", of(base)[:20])
    craft_file("ends_in_constants", of(base)[:-40])


def structure() -> None:
    base = programs.add
    for path, stage in (
        ("execution_plan#", OPEN),
        (f"{PLAN}.values#", OPEN),
        (f"{CALL}#", OPEN),
        (f"{PLAN}.operators#", OPEN),
        (f"{CALL}[0].instr_args.args#", LOAD),
        (f"{PLAN}.values[0].val.sizes#", LOAD),
        (f"{PLAN}.operators[0].name#", LOAD),
    ):
        for name, count in (("most", 2**32 - 1), ("wraps", 2**30 + 1), ("sign", 2**31)):
            short = path.rstrip("#").replace(PLAN, "plan").replace("[0]", "")
            craft(f"count_{short}_{name}", of(base, (path, count)), stage)
    # #19878, #19916: null tables.
    craft("value_null", of(base, (f"{PLAN}.values[0]@1", 0)))
    craft("tag_null", of(base, (f"{PLAN}.values[0]@0", 0)))
    craft("call_null", of(base, (f"{CALL}[0]@1", 0)))
    craft("values_null", of(base, (f"{PLAN}@2", 0)))
    craft("chains_null", of(base, (f"{PLAN}@5", 0)), EXECUTE, 0)
    craft("operators_null", of(base, (f"{PLAN}@6", 0)))
    craft("plans_null", of(base, ("@1", 0)), LOAD, NOT_FOUND)
    craft("args_null", of(base, (f"{CALL}[0].instr_args@1", 0)), LOAD, BAD)
    craft("inputs_null", of(base, (f"{PLAN}@3", 0)), EXECUTE, 0)
    vtables("", f"{PLAN}@", 2, OPEN)
    # Of tables whose like were read before: the layout of their vtable is known.
    vtables("_value", f"{PLAN}.values[2]@", 1, LOAD)
    vtables("_tensor", f"{PLAN}.values[2].val@", 2, LOAD)
    vtables("_allocation", f"{PLAN}.values[2].val.allocation_info@", 0, LOAD)
    vtables("_call", f"{CALL}[0].instr_args@", 1, LOAD)
    for name, offset in (
        ("0", 0),
        ("most", 2**32 - 1),
        ("past_end", 2**20),
        ("sign", 2**31),
        ("misaligned", 6),
    ):
        craft_file(f"offset_values_{name}", of(base, (f"{PLAN}.values", offset)))
    # Unions and instructions of another kind.
    for tag in (0, 12, 200):
        craft(f"value_tag_{tag}", of(base, (f"{PLAN}.values[0].val?", tag)))
    for tag in (0, 6, 255):
        craft(f"instruction_tag_{tag}", of(base, (f"{CALL}[0].instr_args?", tag)))
    craft_file("many_plans", many_plans(100_000))


def vtables(of_what: str, table: str, field: int, stage: str) -> None:
    """Before the file, behind it, odd, too small, fields outside."""
    base = programs.add
    first = next(one.at for one in positions.walk(of(base)) if one.path == table)
    for name, offset in (
        ("before", 2**20),
        ("behind", -(2**20)),
        ("far", 2**31),
        ("odd", 1),
        ("itself", 0),
        ("minus_1", first + 1),  # just before the first byte: 2^32 - 1, modulo 2^32
    ):
        craft(f"vtable{of_what}_{name}", of(base, (table, offset)), stage)
    for name, path, number in (
        ("vtable_size_3", f"{table}size", 3),
        ("vtable_size_odd", f"{table}size", 5),
        ("vtable_size_most", f"{table}size", 0xFFFE),
        ("field_outside_table", f"{table}{field}", 0x7FFC),
        ("field_in_vtable_offset", f"{table}{field}", 2),
        ("field_misaligned", f"{table}{field}", 6),
    ):
        craft(f"{name}{of_what}", of(base, (path, number)), stage)


def tables() -> None:
    for case in crafted_tables.collect():
        craft(case.name, case.data, case.stage, 0 if case.sound else BAD)


def many_plans(count: int) -> bytes:
    """Plans that are all the same table: a file that explodes when walked."""
    old = program.write(programs.add())
    plan = next(one.at for one in positions.walk(old) if one.path == f"{PLAN}@")
    head = struct.pack("<I4s4HiI", 16, b"ET12", 8, 8, 0, 4, 8, 4)
    start = len(head) + 4 + 4 * count
    start += -start % 8
    vector = [start + plan - (len(head) + 4 + 4 * i) for i in range(count)]
    body = head + struct.pack(f"<I{count}I", count, *vector)
    return body.ljust(start, b"\0") + old


# ---- indices ----------------------------------------------------------------------


def altered(instruction: program.Instruction) -> bytes:
    """A program of this one instruction and four values."""
    m = programs.Maker()
    x, y = m.input(2), m.tensor(2)
    m.value(Int(1))
    m.value(Bool(True))
    m.operator("toy::copy.out")
    m.add(instruction)
    m.give(x, y)
    return program.write(m.program())


def indices() -> None:
    outside = (4, 2**31 - 1, -1, -(2**31))
    for at in outside:
        # #18176: FreeCall's index, and the others like it.
        craft(f"free_{at}", altered(FreeCall(at)))
        craft(f"move_from_{at}", altered(MoveCall(at, 0)))
        craft(f"move_to_{at}", altered(MoveCall(0, at)))
        craft(f"jump_condition_{at}", altered(JumpFalseCall(at, 0)))
        craft(f"argument_{at}", altered(KernelCall(0, (0, at, 1))))
    for at in (2, 2**31 - 1, -1):
        craft(f"jump_target_{at}", altered(JumpFalseCall(3, at)))
        craft(f"operator_{at}", altered(KernelCall(at, (0, 1, 1))))
        craft(f"delegate_{at}", altered(program.DelegateCall(at, (0, 1))))
    for at in (3, 2**31 - 1, -1):
        craft(f"input_{at}", of(programs.add, (f"{PLAN}.inputs[0]", at)))
        craft(f"output_{at}", of(programs.add, (f"{PLAN}.outputs[0]", at)))
    craft("jump_end", altered(JumpFalseCall(3, 1)), EXECUTE, 0)
    craft("jump_on_int", altered(JumpFalseCall(2, 0)), EXECUTE, BAD)
    craft("jump_on_float", altered(JumpFalseCall(0, 0)), EXECUTE, BAD)
    craft("move_kinds", altered(MoveCall(2, 0)), EXECUTE, 0)
    craft("move_itself", altered(MoveCall(0, 0)), EXECUTE, 0)
    # CVE-2025-54950: number and kinds of a kernel's arguments.
    craft("arguments_none", altered(KernelCall(0, ())), LOAD, BAD)
    craft("arguments_few", altered(KernelCall(0, (0, 1))), LOAD, BAD)
    craft("arguments_many", altered(KernelCall(0, (0, 1, 1, 1))), LOAD, BAD)
    craft("argument_int", altered(KernelCall(0, (2, 1, 1))), LOAD, BAD)
    craft("argument_out_bool", altered(KernelCall(0, (0, 3, 3))), EXECUTE, BAD)
    craft("endless", of(programs.endless), EXECUTE, BUDGET)


def lists() -> None:
    def with_list(value: program.Value) -> bytes:
        m = programs.Maker()
        y = m.input(2)
        m.call("sum.out", m.value(value), y)
        return program.write(m.program())

    craft("int_list_outside", with_list(IntList((9,))))
    craft("int_list_negative", with_list(IntList((-1,))))
    craft("int_list_wraps_32", with_list(IntList((2**32,))))
    craft("tensor_list_outside", with_list(TensorList((9,))))
    craft("tensor_list_none", with_list(TensorList((-1,))))
    craft("optional_list_outside", with_list(OptionalTensorList((0, -2))))
    craft("tensor_list_of_list", with_list(TensorList((1,))), LOAD, BAD)
    craft("tensor_list_of_ints", with_list(IntList((0,))), LOAD, BAD)


def devices() -> None:
    extra = ExtraInfo(name="x", device_type=1)
    craft("device_tensor", with_tensor(extra=extra), LOAD, UNSUPPORTED)
    made = programs.add()
    devices = (PlannedDevice(1, 1, 0),)
    method = dataclasses.replace(made.methods[0], planned_devices=devices)
    data = program.write(dataclasses.replace(made, methods=(method,)))
    craft_file("device_memory", data, UNSUPPORTED)
    chains = made.methods[0].chains * 2
    method = dataclasses.replace(made.methods[0], chains=chains)
    data = program.write(dataclasses.replace(made, methods=(method,)))
    craft_file("two_chains", data, UNSUPPORTED)
    made = programs.missing_backend()
    one = program.write(made)
    craft("delegate_unknown", one, LOAD, UNSUPPORTED)
    place = f"{PLAN}.delegates[1].processed.index"
    craft("delegate_blob", patched(one, (place, 9)), LOAD, UNSUPPORTED)


def collect() -> Sequence[Crafted]:
    if not _all:
        for group in (
            tensors,
            allocations,
            constants,
            states,
            named,
            data_files,
            header,
            structure,
            tables,
            indices,
            lists,
            devices,
        ):
            group()
    return _all


def write_all(folder: Path) -> None:
    for one in collect():
        (folder / one.file).write_bytes(one.data)
