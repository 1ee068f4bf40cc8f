# SPDX-License-Identifier: Apache-2.0
"""Lines of tables get the numbers that PyTorch computes for them; lists of calls, its
answers whether it takes them."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import case_tables
import numpy as np
import one_call
import torch
from case_tables import Entry

from calls import drawing, oracle
from calls.sizes import Call
from ember import cases, files
from ember.cases import Case, CaseTensor
from ember.files.tensors import Array, DType
from ember.program import types

CALLS = case_tables.FOLDER / "calls.yaml"
_GENERATED = "Expected out tensor to have dtype"
# Whose form with outputs PyTorch generates: it takes outputs of no other dtype, where
# Ember takes those that it could cast to, as ExecuTorch does; but not of these.
_STRICT = (
    *("aten::fill.", "aten::isnan.", "aten::isinf.", "aten::copy."),
    *("aten::_softmax.", "aten::_log_softmax.", "aten::max.dim", "aten::min.dim"),
)
_C_NAMES = {
    **{"unsigned char": torch.uint8, "signed char": torch.int8, "int": torch.int32},
    **{"short int": torch.int16, "long int": torch.int64, "float": torch.float32},
    **{"double": torch.float64, "c10::Half": torch.float16, "bool": torch.bool},
    "c10::BFloat16": torch.bfloat16,
}
_ONE = {DType.BFLOAT16: 0x3F80}


@dataclass
class Recomputed:
    """What became of the numbers of a table."""

    same: int = 0
    unknown: list[str] = field(default_factory=list)  # PyTorch cannot say
    differ: list[str] = field(default_factory=list)
    arrays: dict[str, Array] = field(default_factory=dict)


def recomputed(path: Path) -> Recomputed:
    """The numbers of a table once more, from its inputs."""
    numbers = case_tables.numbers_of(path)
    result = Recomputed(arrays=dict(numbers))
    for entry in case_tables.read(path).values():
        case = case_tables.case_of(entry, numbers)
        try:
            runs = [(run, _outputs(entry, case, run)) for run in case.runs]
        except (oracle.RefusedError, oracle.UnknownError) as error:
            result.unknown.append(f"{entry.name}: {error}")
            continue
        if all(_agree(case, run, new) for run, new in runs):
            result.same += 1
        else:
            result.differ.append(entry.name)
            for number, (_, new) in enumerate(runs):
                result.arrays |= case_tables.outputs_of(entry.name, number, new)
    return result


def _outputs(entry: Entry, case: Case, run: cases.Run) -> list[Array]:
    arrays = [x.array if isinstance(x, CaseTensor) else None for x in run.inputs]
    call = Call(entry.name, case.program, tuple(arrays))
    indices = oracle.Arguments(call).out_indices
    outputs = dict(zip(indices, oracle.results(call), strict=True))
    return [oracle.array_of(outputs[index]) for index in call.method.outputs]


def _agree(case: Case, run: cases.Run, new: Sequence[Array]) -> bool:
    pairs = zip(run.outputs, new, strict=True)
    return all(
        isinstance(old, CaseTensor)
        and old.array.shape == array.shape
        and old.array.dtype == array.dtype
        and np.allclose(
            real(array, old.dtype),
            real(old.array, old.dtype),
            case.rtol,
            case.atol,
            equal_nan=True,
        )
        for old, array in pairs
    )


def real(array: Array, dtype: DType) -> Array:
    """bfloat16 as float32."""
    if dtype is not DType.BFLOAT16:
        return array
    return (array.astype(np.uint32) << 16).view(np.float32)


def added(name: str, line: str) -> Case:
    """The case of a new line of a table, with numbers that depend on its name."""
    random.seed(name)
    program = one_call.program_of([line])
    inputs = program.methods[0].inputs
    call = drawing.filled(Call(name, program, (None,) * len(inputs)))
    return drawing.answered(call, natural=False)


# ---- refusals ------------------------------------------------------------------------


def is_taken(line: str) -> bool:
    """Whether PyTorch computes it into the outputs as they are."""
    program = one_call.program_of([line])
    (method,) = program.methods
    arrays = tuple(_ones(method.values[index]) for index in method.inputs)
    arguments = oracle.Arguments(Call(line, program, arrays))
    shapes = [arguments.declared(index).sizes for index in arguments.out_indices]
    pairs = zip(shapes, arguments.out_dtypes, strict=True)
    outs = [torch.ones(shape, dtype=dtype) for shape, dtype in pairs]
    operator = oracle.overload(line.partition("(")[0])
    try:
        operator(**arguments.given, **dict(zip(arguments.outs, outs, strict=True)))
    except (RuntimeError, IndexError, ValueError) as error:
        generated = _GENERATED in str(error) and not line.startswith(_STRICT)
        return generated and _is_castable(str(error))
    return [tuple(out.shape) for out in outs] == shapes


def _ones(value: types.Value) -> Array:
    assert isinstance(value, types.Tensor)
    return np.full(value.sizes, _ONE.get(value.dtype, 1), value.dtype.numpy)


def _is_castable(message: str) -> bool:
    """Whether the output that the message names could be cast to."""
    result, _, out = message.splitlines()[0].partition(", but got ")
    wanted = _C_NAMES[result.removeprefix(_GENERATED).strip()]
    return bool(torch.can_cast(wanted, _C_NAMES[out.removesuffix(" instead")]))


def differing() -> list[str]:
    """A sentence for each call of the list that PyTorch or the loader answers in
    another way."""
    listed = files.read_yaml(CALLS)
    pairs = [(line, group == "taken") for group in listed for line in listed[group]]
    refusals = one_call.refusals([line for line, _ in pairs])
    return [
        f"{line}: listed as {'taken' if taken else 'refused'}; {why or 'no refusal'}"
        for (line, taken), why in zip(pairs, refusals, strict=True)
        if {is_taken(line), why is None} != {taken}
    ]
