# SPDX-License-Identifier: Apache-2.0
"""A backend to test delegates with: single operators -> EXB0 blobs.

A blob is one operator on contiguous float32 tensors that all have n elements:

    0   "EXB0"
    4   u8   operator: 0 = input * constant, 1 = input + constant, 2 = input + input
    5   u8   where the constant is: 0 = there is none, 1 = in the blob, 2 = named data
    6   u16  0
    8   u32  n, elements of every input and of the output
    12  u32  c, elements of the constant: 0, 1 (the same for all) or n
    16  where = 1: c float32 numbers
        where = 2: u32 length of the key, then the key (ASCII, no NUL); the named
        data holds c float32 numbers

Everything is little-endian. The delegate's arguments are the inputs (one, or two
for operator 2) and then the output. The compile spec "constants" holds "inline"
or "named", as the blob itself does.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import Any, final

import torch
from executorch.exir._serialize._named_data_store import NamedDataStore
from executorch.exir.backend.backend_details import BackendDetails, PreprocessResult
from executorch.exir.backend.compile_spec_schema import CompileSpec
from executorch.exir.backend.partitioner import (
    DelegationSpec,
    Partitioner,
    PartitionResult,
)
from executorch.exir.backend.utils import tag_constant_data
from executorch.exir.dialects._ops import ops as exir_ops
from torch._export.utils import get_buffer, get_param, is_buffer, is_param
from torch.export import ExportedProgram

MULTIPLY, ADD, ADD_INPUTS = 0, 1, 2
NO_CONSTANT, INLINE, NAMED = 0, 1, 2
HEADER = struct.Struct("<4sBBHII")
OPERATORS = {
    exir_ops.edge.aten.mul.Tensor: MULTIPLY,
    exir_ops.edge.aten.add.Tensor: ADD,
}


def blob(operator: int, count: int, constant: bytes, key: str = "") -> bytes:
    """Return a blob; the constant is left out when it has a key."""
    where = NAMED if key else INLINE if constant else NO_CONSTANT
    head = HEADER.pack(b"EXB0", operator, where, 0, count, len(constant) // 4)
    if key:
        return head + struct.pack("<I", len(key)) + key.encode("ascii")
    return head + constant


@final
class EmberExampleBackend(BackendDetails):
    """Compiles a partition of one multiplication or addition."""

    @staticmethod
    def preprocess(
        edge_program: ExportedProgram, compile_specs: list[CompileSpec]
    ) -> PreprocessResult:
        call = _only_call(edge_program)
        operator = OPERATORS[call.target]
        constants = [c for c in (_constant(edge_program, a) for a in call.args) if c]
        constant = constants[0] if constants else b""
        named = constant and any(spec.value == b"named" for spec in compile_specs)
        store = NamedDataStore()
        key = f"example_{call.name}" if named else ""
        if named:
            store.add_named_data(key, constant, alignment=16)
        kind, count = operator if constant else ADD_INPUTS, call.meta["val"].numel()
        return PreprocessResult(
            processed_bytes=blob(kind, count, constant, key),
            debug_handle_map={},
            data_store_output=store.get_named_data_store_output(),
        )


def _only_call(program: ExportedProgram) -> torch.fx.Node:
    calls = [node for node in program.graph.nodes if node.op == "call_function"]
    if len(calls) != 1:
        raise ValueError(f"EmberExampleBackend: want one call, got {len(calls)}")
    return calls[0]


def _constant(program: ExportedProgram, node: torch.fx.Node) -> bytes:
    """Return the bytes of a constant argument, b"" for an input."""
    if not is_buffer(program, node) and not is_param(program, node):
        return b""
    tensor = (get_buffer if is_buffer(program, node) else get_param)(program, node)
    return tensor.detach().contiguous().numpy().tobytes()


class ExamplePartitioner(Partitioner):
    """Gives every operator that the backend knows to a delegate of its own."""

    def __init__(self, constants: str = "inline") -> None:
        super().__init__()
        spec = CompileSpec("constants", constants.encode("ascii"))
        self.delegation = DelegationSpec(EmberExampleBackend.__name__, [spec])

    def partition(self, exported_program: ExportedProgram) -> PartitionResult:
        tags: dict[str, DelegationSpec] = {}
        for node in exported_program.graph.nodes:
            if _supported(exported_program, node):
                tag = f"example_{len(tags)}"
                node.meta["delegation_tag"] = tag
                tags[tag] = self.delegation
        tag_constant_data(exported_program)
        return PartitionResult(exported_program, tags)


def _supported(program: ExportedProgram, node: torch.fx.Node) -> bool:
    if node.op != "call_function" or node.target not in OPERATORS:
        return False
    values = [_value(arg) for arg in node.args]
    if any(v is None or v.dtype != torch.float32 for v in values) or node.kwargs:
        return False
    constant = [is_buffer(program, a) or is_param(program, a) for a in node.args]
    count = node.meta["val"].numel()
    inputs = _numels(values, constant, False)
    if any(n != count for n in inputs) or not inputs:
        return False
    if len(inputs) == 2:
        return OPERATORS[node.target] == ADD
    return _numels(values, constant, True)[0] in (1, count)


def _numels(values: Sequence[Any], constant: Sequence[bool], want: bool) -> list[int]:
    pairs = zip(values, constant, strict=True)
    return [v.numel() for v, is_constant in pairs if is_constant == want]


def _value(arg: Any) -> Any:
    return arg.meta.get("val") if isinstance(arg, torch.fx.Node) else None
