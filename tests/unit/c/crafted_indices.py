"""Crafted files: indices, lists and devices."""

from __future__ import annotations

import dataclasses

import maker
import programs_bundles
import programs_control
import programs_delegates
from crafted_values import with_tensor
from crafting import (
    BAD,
    BUDGET,
    EXECUTE,
    LOAD,
    PLAN,
    UNSUPPORTED,
    craft,
    of,
    patched,
)

from ember import program
from ember.program import (
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
    TensorList,
)

# ---- indices ----------------------------------------------------------------------


def altered(instruction: program.Instruction) -> bytes:
    """A program of this one instruction and four values."""
    m = maker.Maker()
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
    craft("free_scalar", altered(FreeCall(2)), EXECUTE, 0)  # #18803
    for at in (2, 2**31 - 1, -1):
        craft(f"jump_target_{at}", altered(JumpFalseCall(3, at)))
        craft(f"operator_{at}", altered(KernelCall(at, (0, 1, 1))))
        craft(f"delegate_{at}", altered(program.DelegateCall(at, (0, 1))))
    for at in (3, 2**31 - 1, -1):
        craft(f"input_{at}", of(programs_bundles.add, (f"{PLAN}.inputs[0]", at)))
        craft(f"output_{at}", of(programs_bundles.add, (f"{PLAN}.outputs[0]", at)))
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
    craft("endless", of(programs_control.endless), EXECUTE, BUDGET)


def lists() -> None:
    def with_list(value: program.Value) -> bytes:
        m = maker.Maker()
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
    content = programs_bundles.add()
    devices = (PlannedDevice(1, 1, 0),)
    method = dataclasses.replace(content.methods[0], planned_devices=devices)
    data = program.write(dataclasses.replace(content, methods=(method,)))
    craft("device_memory", data, LOAD, UNSUPPORTED)
    chains = content.methods[0].chains * 2
    method = dataclasses.replace(content.methods[0], chains=chains)
    data = program.write(dataclasses.replace(content, methods=(method,)))
    craft("two_chains", data, LOAD, UNSUPPORTED)
    content = programs_delegates.missing_backend()
    data = program.write(content)
    craft("delegate_unknown", data, LOAD, UNSUPPORTED)
    place = f"{PLAN}.delegates[1].processed.index"
    craft("delegate_blob", patched(data, (place, 9)), LOAD, UNSUPPORTED)
