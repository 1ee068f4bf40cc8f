"""Crafted files: the header, the tables and vtables of the container."""

from __future__ import annotations

import struct

import crafted_tables
import positions
import programs_bundles
import programs_data
from crafting import (
    BAD,
    CALL,
    EXECUTE,
    LOAD,
    NOT_FOUND,
    OPEN,
    PLAN,
    UNSUPPORTED,
    craft,
    craft_file,
    of,
)

from ember import program

# ---- the container -------------------------------------------------------------------


def header() -> None:
    base = programs_data.constants
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
    craft_file("root_no_header_end", of(programs_bundles.add, ("$root", 2**31 - 4)))
    craft_file("identifier", of(base, ("$identifier", 0x33315445)), UNSUPPORTED)
    craft_file("header_short", of(base, ("$length", 23)))
    craft_file("header_most", of(base, ("$length", 2**32 - 1)))
    craft("header_old", of(base, ("$length", 24)), EXECUTE, 0)
    # What would be the size of the segments is not part of an old header.
    craft("header_old_size", of(base, ("$length", 24), ("$field2", 4096)), EXECUTE, 0)
    craft_file("header_short_alone", of(base, ("$length", 23), ("segments#", 0)))
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
    craft_file("data_size_alone", of(base, ("$field2", 4096), ("segments#", 0)))
    craft_file("ends_in_header", of(base)[:20])
    craft_file("ends_in_constants", of(base)[:-40])


def structure() -> None:
    base = programs_bundles.add
    for path, stage in (
        ("execution_plan#", OPEN),
        (f"{PLAN}.values#", LOAD),
        (f"{CALL}#", LOAD),
        (f"{PLAN}.operators#", LOAD),
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
    vtables("", f"{PLAN}@", 2)
    # Of tables whose like were read before: the layout of their vtable is known.
    vtables("_value", f"{PLAN}.values[2]@", 1)
    vtables("_tensor", f"{PLAN}.values[2].val@", 2)
    vtables("_allocation", f"{PLAN}.values[2].val.allocation_info@", 0)
    vtables("_call", f"{CALL}[0].instr_args@", 1)
    for name, offset in (
        ("0", 0),
        ("most", 2**32 - 1),
        ("past_end", 2**20),
        ("sign", 2**31),
        ("misaligned", 6),
    ):
        craft(f"offset_values_{name}", of(base, (f"{PLAN}.values", offset)))
    # Unions and instructions of another kind.
    for tag in (0, 12, 200):
        craft(f"value_tag_{tag}", of(base, (f"{PLAN}.values[0].val?", tag)))
    for tag in (0, 6, 255):
        craft(f"instruction_tag_{tag}", of(base, (f"{CALL}[0].instr_args?", tag)))
    craft("many_plans", many_plans(100_000), EXECUTE, 0)


def vtables(of_what: str, table: str, field: int) -> None:
    """Before the file, behind it, odd, too small, fields outside."""
    base = programs_bundles.add
    first = next(
        position.at for position in positions.walk(of(base)) if position.path == table
    )
    for name, offset in (
        ("before", 2**20),
        ("behind", -(2**20)),
        ("far", 2**31),
        ("odd", 1),
        ("itself", 0),
        ("minus_1", first + 1),  # just before the first byte: 2^32 - 1, modulo 2^32
    ):
        craft(f"vtable{of_what}_{name}", of(base, (table, offset)))
    for name, path, number in (
        ("vtable_size_3", f"{table}size", 3),
        ("vtable_size_odd", f"{table}size", 5),
        ("vtable_size_most", f"{table}size", 0xFFFE),
        ("field_outside_table", f"{table}{field}", 0x7FFC),
        ("field_in_vtable_offset", f"{table}{field}", 2),
        ("field_misaligned", f"{table}{field}", 6),
    ):
        craft(f"{name}{of_what}", of(base, (path, number)))


def tables() -> None:
    for case in crafted_tables.collect():
        craft(case.name, case.data, case.stage, 0 if case.sound else BAD)


def many_plans(count: int) -> bytes:
    """Plans that are all the same table: only the first is read."""
    old = program.write(programs_bundles.add())
    plan = next(
        position.at for position in positions.walk(old) if position.path == f"{PLAN}@"
    )
    head = struct.pack("<I4s4HiI", 16, b"ET12", 8, 8, 0, 4, 8, 4)
    start = len(head) + 4 + 4 * count
    start += -start % 8
    vector = [start + plan - (len(head) + 4 + 4 * i) for i in range(count)]
    body = head + struct.pack(f"<I{count}I", count, *vector)
    return body.ljust(start, b"\0") + old
