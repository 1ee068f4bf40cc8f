# SPDX-License-Identifier: Apache-2.0
"""Which operators a program may call to be a fair test, and which it calls."""

from __future__ import annotations

import functools
from importlib import resources
from pathlib import Path

import torch
import yaml
from corpus import statistics
from executorch.exir import schema
from executorch.exir._serialize._flatbuffer_program import _flatbuffer_to_program
from executorch.exir._serialize._program import _get_extended_header

KERNELS = Path(__file__).resolve().parents[2] / "kernels" / "kernels.yaml"
SPACES = ("executorch_prim::", "dim_order_ops::", "et_copy::", "quantized_decomposed::")


def stored(content: bytes) -> schema.Program:
    """Return the program of a .pte as it is stored."""
    header = _get_extended_header(content)
    size = header.program_size if header else len(content)
    return _flatbuffer_to_program(content[:size])


def called(content: bytes) -> list[str]:
    """Return the operators of a .pte, in the order of their first call."""
    names = [name for name, _ in statistics.calls(stored(content))]
    return list(dict.fromkeys(names))


def has_short_constants(content: bytes) -> bool:
    """Whether a number of a float64 function was made a float32 tensor."""
    values = [
        value.val for plan in stored(content).execution_plan for value in plan.values
    ]
    tensors = [one for one in values if isinstance(one, schema.Tensor)]
    doubles = any(one.scalar_type.name == "DOUBLE" for one in tensors)
    return doubles and any(
        one.scalar_type.name == "FLOAT" and one.data_buffer_idx > 0 for one in tensors
    )


def reads_strange_layout(content: bytes) -> bool:
    """Whether a view that is no copy sees a channels_last tensor as if in order."""
    for plan in stored(content).execution_plan:
        calls = [one.instr_args for chain in plan.chains for one in chain.instructions]
        calls = [one for one in calls if isinstance(one, schema.KernelCall)]
        written = {call.args[-1] for call in calls} | set(plan.inputs)
        read = {i for call in calls for i in call.args[:-1]} - written
        tensors = [value.val for value in plan.values]
        permuted = [_place(tensors[i]) for i in written if _is_permuted(tensors[i])]
        if any(_place(tensors[i]) in permuted for i in read if _place(tensors[i])):
            return True
    return False


def _is_permuted(value: object) -> bool:
    if not isinstance(value, schema.Tensor):
        return False
    order = list(value.dim_order)
    return order != sorted(order)


def _place(value: object) -> tuple[int, int] | None:
    """Where a tensor is planned; None for what is not."""
    planned = value.allocation_info if isinstance(value, schema.Tensor) else None
    return (planned.memory_id, planned.memory_offset_low) if planned else None


def strangers(content: bytes) -> list[str]:
    """Return what a program calls that is in no library and not Core ATen."""
    return [
        name
        for name in called(content)
        if not name.startswith((*SPACES, "instruction "))
        and name not in known()
        and not is_core(name)
    ]


@functools.cache
def known() -> frozenset[str]:
    """The operators of ExecuTorch's portable library and of ours."""
    path = resources.files("executorch") / "kernels" / "portable" / "functions.yaml"
    portable = yaml.safe_load(path.read_text())
    ours = yaml.safe_load(KERNELS.read_text())["operators"]
    names = [_portable_name(one) for one in portable] + [one["op"] for one in ours]
    return frozenset(names)


def _portable_name(entry: dict[str, str]) -> str:
    name = (entry.get("op") or entry["func"]).split("(")[0]
    return name if "::" in name else f"aten::{name}"


@functools.cache
def is_core(name: str) -> bool:
    """Whether an out variant belongs to a function of Core ATen."""
    space, _, rest = name.partition("::")
    packet = getattr(torch.ops.aten, rest.partition(".")[0].removesuffix("_copy"), None)
    if space != "aten" or packet is None:
        return False
    overloads = [getattr(packet, one) for one in packet.overloads()]
    return any(torch.Tag.core in one.tags for one in overloads)
