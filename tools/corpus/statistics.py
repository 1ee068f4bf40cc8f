# SPDX-License-Identifier: Apache-2.0
"""Programs -> which operators they call, with argument kinds, dtypes and counts."""

from __future__ import annotations

import struct
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import torch
from executorch.exir import schema
from executorch.exir._serialize._flatbuffer_program import _flatbuffer_to_program
from executorch.exir._serialize._program import _get_extended_header

DTYPES = {
    "FLOAT": "f32",
    "DOUBLE": "f64",
    "HALF": "f16",
    "BFLOAT16": "bf16",
    "BYTE": "u8",
    "CHAR": "s8",
    "SHORT": "s16",
    "INT": "s32",
    "LONG": "s64",
    "BOOL": "b1",
}


def stored_program(path: Path) -> schema.Program:
    """Read a .pte or .bpte as it is stored, segments left alone."""
    content = path.read_bytes()
    if content[4:8] == b"BP08":
        content = _bundled_bytes(content)
    header = _get_extended_header(content)
    size = header.program_size if header else len(content)
    return _flatbuffer_to_program(content[:size])


def _bundled_bytes(content: bytes) -> bytes:
    """Cut the program out of a bundled program by its identifier."""
    start = content.index(b"ET12") - 4
    while struct.unpack_from("<I", content, start - 4)[0] > len(content) - start:
        start = content.index(b"ET12", start + 8) - 4
    return content[start : start + struct.unpack_from("<I", content, start - 4)[0]]


def calls(program: schema.Program) -> Iterator[tuple[str, str]]:
    """Yield (operator, arguments) of every instruction of every method."""
    for plan in program.execution_plan:
        for chain in plan.chains:
            for instruction in chain.instructions:
                yield _call(plan, instruction.instr_args)


def _call(plan: schema.ExecutionPlan, call: Any) -> tuple[str, str]:
    if isinstance(call, schema.KernelCall):
        operator = plan.operators[call.op_index]
        name = f"{operator.name}.{operator.overload}".rstrip(".")
        return name, ", ".join(_kind(plan, i) for i in call.args)
    if isinstance(call, schema.DelegateCall):
        name = f"delegate {plan.delegates[call.delegate_index].id}"
        return name, ", ".join(_kind(plan, i) for i in call.args)
    return f"instruction {type(call).__name__}", ""


def _kind(plan: schema.ExecutionPlan, index: int) -> str:
    if index < 0:
        return "None"
    value = plan.values[index].val
    if isinstance(value, schema.Tensor):
        name = value.scalar_type.name
        return DTYPES.get(name, name.lower())
    if isinstance(value, schema.TensorList | schema.OptionalTensorList):
        kinds = sorted({_kind(plan, i) for i in value.items})
        return f"[{' | '.join(kinds)}]"
    return type(value).__name__


def schema_text(name: str) -> str:
    """Return the schema of an operator, or "" when PyTorch does not know it."""
    space, _, rest = name.partition("::")
    packet, _, overload = rest.partition(".")
    found = getattr(getattr(torch.ops, space, None), packet, None)
    found = getattr(found, overload or "default", None)
    return str(found._schema) if found else ""


def report(paths: Iterable[Path]) -> str:
    """Return a table of operators over many programs, most used first."""
    counts: Counter[str] = Counter()
    forms: dict[str, Counter[str]] = {}
    programs = 0
    for path in paths:
        programs += 1
        for name, arguments in calls(stored_program(path)):
            counts[name] += 1
            forms.setdefault(name, Counter())[arguments] += 1
    lines = [f"{programs} programs, {len(counts)} operators, {counts.total()} calls"]
    for name, count in counts.most_common():
        lines += ["", f"{count:6} {name}", f"       {schema_text(name)}"]
        lines += [f"{n:13} ({form})" for form, n in forms[name].most_common()]
    return "\n".join(lines) + "\n"
