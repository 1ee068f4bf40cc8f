"""Crafted files: tensors, their memory and their data."""

from __future__ import annotations

import dataclasses
import struct

import maker
import positions
import programs
import programs_bundles
import programs_data
from crafting import (
    BAD,
    EXECUTE,
    LOAD,
    NO_MEMORY,
    NOT_FOUND,
    PLAN,
    UNSUPPORTED,
    craft,
    craft_file,
    of,
    patched,
)

from ember import program
from ember.files.tensors import DType
from ember.program import Allocation, Program

# ---- tensors -----------------------------------------------------------------------


def with_tensor(**fields: object) -> bytes:
    """add.pte with the first tensor changed."""
    content = programs_bundles.add()
    method = content.methods[0]
    tensor = dataclasses.replace(method.values[0], **fields)  # type: ignore[arg-type]
    values = (tensor, *method.values[1:])
    methods = (dataclasses.replace(method, values=values),)
    return program.write(dataclasses.replace(content, methods=methods))


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
    craft("sizes_absent", of(programs_bundles.add, (f"{PLAN}.values[0].val@2", 0)))
    craft("storage_offset", with_tensor(storage_offset=1), LOAD, UNSUPPORTED)
    craft("unbounded", with_tensor(dynamism="unbounded"), LOAD, UNSUPPORTED)
    dtype = f"{PLAN}.values[0].val.scalar_type"
    for number in (8, 12, 99, 255):
        data = of(programs_bundles.add, (dtype, number))
        craft(f"dtype_{number}", data, LOAD, UNSUPPORTED)
    last = f"{PLAN}.values[2].val.scalar_type"
    craft("dtype_too_wide", of(programs_bundles.add, (last, DType.FLOAT64)))
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
        craft(
            f"planned_{name}", of(programs_bundles.add, (sizes, size)), LOAD, NO_MEMORY
        )
    craft("planned_small", of(programs_bundles.add, (sizes, 87)))
    craft("planned_zero", of(programs_bundles.add, (sizes, 0)))
    craft("planned_absent", of(programs_bundles.add, (f"{PLAN}@8", 0)))
    craft(
        "planned_count",
        of(programs_bundles.add, (f"{PLAN}.non_const_buffer_sizes#", 1)),
    )


# ---- data --------------------------------------------------------------------------


def constants() -> None:
    segment = "constant_segment"
    index = f"{PLAN}.values[1].val.data_buffer_idx"
    base = programs_data.constants
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
    two = programs_data.constants()
    slots = {
        position.path: position.at for position in positions.walk(program.write(two))
    }
    same = struct.unpack_from("<H", program.write(two), slots[f"{segment}@1"])[0]
    craft("constant_segment_index", of(base, (f"{segment}@0", same)))
    short = dataclasses.replace(two, constants=(b"", b"1234567", b"12345678"))
    craft("constant_too_small", program.write(short, inline_constants=True))
    craft(
        "constant_inline_outside",
        patched(program.write(two, inline_constants=True), (index, 9)),
    )

    # MACA-2026-001 (#19268), the offset -1 of a public write-up.
    craft("segment_offset_most", moved_segment(2**64 - 1))
    craft("segment_offset_wraps_32", moved_segment(2**32))
    craft("segment_offset_end", moved_segment(2**20))
    craft("segment_size_most", of(base, ("segments[0].size", 2**64 - 1)))
    craft("segment_size_wraps", of(base, ("segments[0].size", 2**32 + 16)))
    craft("segments_absent", of(base, ("@4", 0)))

    def constant_output() -> Program:
        m = maker.Maker()
        x, c = m.input(2), m.tensor(2, memory=None, data=1)
        m.call("copy.out", x, c)
        return m.program(constants=(b"", maker.floats(1, 2)))

    craft("constant_written", program.write(constant_output()), LOAD, BAD)


def moved_segment(offset: int) -> bytes:
    """counter.pte has several segments, so the second one's offset is stored."""
    return of(programs_data.counter, ("segments[1].offset", offset))


def between() -> None:
    """What is neither input nor output: until something is moved to it, or between two
    calls."""
    sizes = f"{PLAN}.values[2].val.sizes#"
    craft("moved_to_malformed", of(programs.PROGRAMS["unlike"], (sizes, 2**31)))
    dtype = f"{PLAN}.values[3].val.scalar_type"
    craft("dtype_between", of(programs_data.constants, (dtype, 200)), LOAD, UNSUPPORTED)


def states() -> None:
    base = programs_data.counter
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
    # Nothing asks for it: what does is refused (test_rare.c).
    craft(
        "named_segment",
        of(programs_data.named, ("named_data[1].segment_index", 9)),
        EXECUTE,
        0,
    )
    craft("named_no_key", of(programs_data.named, ("named_data[0]@0", 0)), EXECUTE, 0)
    location = f"{PLAN}.values[2].val.extra_tensor_info.location"
    craft(
        "location_unknown", of(programs_data.external, (location, 2)), LOAD, UNSUPPORTED
    )
    craft("external_missing", of(programs_data.external), LOAD, NOT_FOUND)


def data_files() -> None:
    whole = programs_data.external_data()
    first = "segments[0]"
    craft("fine.ptd", whole, EXECUTE, 0)
    craft("unused_size.ptd", patched(whole, (f"{first}.size", 2**20)), EXECUTE, 0)
    for name, field, number in (
        ("segment_most", "segments[1].offset", 2**64 - 1),
        ("segment_size", "segments[1].size", 2**20),
        ("segment_index", "named_data[1].segment_index", 9),
        ("segment_index_most", "named_data[1].segment_index", 2**32 - 1),
        ("entry", "named_data[1]", 2**20),
        ("entry_vtable", "named_data[1]@", 2**20),
    ):
        craft(f"{name}.ptd", patched(whole, (field, number)), LOAD, NOT_FOUND)
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
