"""Program bytes (.pte) -> `Program`, a tree of frozen dataclasses, and back to bytes.

    model = program.read(Path("model.pte"))
    Path("copy.pte").write_bytes(program.write(model))

The only package that knows the format of a program's file. `problems` lists the
contradictions of a program that was made or changed in Python.
"""

from ember.program.check import problems
from ember.program.reader import parse, read
from ember.program.segments import Layout, NamedData, Segment
from ember.program.types import (
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
    Null,
    Operator,
    OptionalTensorList,
    PlannedDevice,
    Program,
    String,
    Tensor,
    TensorList,
    Value,
)
from ember.program.writer import content, layout_of, read_back, write

__all__ = [
    "Allocation",
    "Bool",
    "BoolList",
    "Chain",
    "CompileSpec",
    "Containers",
    "Delegate",
    "DelegateCall",
    "Double",
    "DoubleList",
    "ExtraInfo",
    "Frame",
    "FreeCall",
    "Instruction",
    "Int",
    "IntList",
    "JumpFalseCall",
    "KernelCall",
    "Layout",
    "Method",
    "MoveCall",
    "NamedData",
    "Null",
    "Operator",
    "OptionalTensorList",
    "PlannedDevice",
    "Program",
    "Segment",
    "String",
    "Tensor",
    "TensorList",
    "Value",
    "content",
    "layout_of",
    "parse",
    "problems",
    "read",
    "read_back",
    "write",
]
