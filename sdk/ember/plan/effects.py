"""An instruction becomes what it does to values: reads, writes, moves of handles.

Operators are known by their schemas: a tensor that is annotated as written, as in
`Tensor(a!) out`, is overwritten when it is a keyword argument and updated in place when
it is a positional one. An operator without a schema is an error, never a guess.

A call may have its scratch in planned memory: a call of ember::scratch says where, for
all calls up to the next one.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from ember.errors import SdkError
from ember.files import xnnpack
from ember.kernels import KernelList
from ember.kernels import library as kernel_library
from ember.kernels.schemas import NamedCall
from ember.program import KernelCall, Method, edit, types
from ember.program.remembered import remembered

_VIEW = "executorch_prim::et_view.default"  # `out` points at `self`
_COPY_INDEX = "executorch_prim::et_copy_index.tensor"  # one part of `copy_to`


@dataclass(frozen=True, slots=True)
class Effects:
    """Tensors that an instruction touches, by value index.

    What is in `updates` is read and then written, as a whole or in part; what is in
    `writes` is overwritten; `handles` are (target, source): from then on the target
    may be where the source is.
    """

    reads: frozenset[int] = frozenset()
    writes: frozenset[int] = frozenset()
    updates: frozenset[int] = frozenset()
    handles: tuple[tuple[int, int], ...] = ()

    @property
    def touched(self) -> frozenset[int]:
        return self.reads | self.writes | self.updates


def of(method: Method, known: KernelList) -> tuple[Effects, ...]:
    """The effects of every instruction. SdkError names an unknown operator."""
    return remembered(method, ("effects", known), lambda: _all(method, known))


def _all(method: Method, known: KernelList) -> tuple[Effects, ...]:
    sets: dict[frozenset[int], frozenset[int]] = {}  # most are of one value, or empty

    def shared(values: frozenset[int]) -> frozenset[int]:
        return sets.setdefault(values, values)

    def of_call(index: int, instruction: types.Instruction) -> Effects:
        effect = _of(method, index, instruction, known)
        reads, writes, updates = map(
            shared, (effect.reads, effect.writes, effect.updates)
        )
        return Effects(reads, writes, updates, effect.handles)

    effects = list(itertools.starmap(of_call, enumerate(method.instructions)))
    for index, value in scratch_of(method).items():
        writes = shared(effects[index].writes | {value})
        effects[index] = replace(effects[index], writes=writes)
    return tuple(effects)


def variable(method: Method) -> frozenset[int]:
    """Values that may change: inputs, results of calls, targets of moves."""
    values = set(method.inputs)
    for instruction in method.instructions:
        if isinstance(instruction, types.KernelCall):
            values.update(instruction.args[-1:])
        elif isinstance(instruction, types.DelegateCall):
            values.update(instruction.args)
        elif isinstance(instruction, types.MoveCall):
            values.add(instruction.move_to)
    return frozenset(values)


def _of(
    method: Method, index: int, instruction: types.Instruction, known: KernelList
) -> Effects:
    match instruction:
        case types.KernelCall(op_index=op):
            name = method.operator_names[op]
            if name not in known.operators:
                raise SdkError(
                    f"{method.name}, instruction {index}: what {name} writes is"
                    " unknown",
                    hint="list the operator with its schema in a kernels.yaml",
                )
            return _kernel_call(known.named(method, instruction), known)
        case types.DelegateCall(delegate_index=number, args=args):
            return _delegate_call(method, method.delegates[number], args)
        case types.MoveCall(move_from=source, move_to=target):
            reads = frozenset(_tensors(method, (source,)))
            if not reads:
                return Effects()
            return Effects(reads, frozenset((target,)), handles=((target, source),))
        case types.JumpFalseCall(condition=condition):
            return Effects(reads=frozenset(_tensors(method, (condition,))))
        case _:
            return Effects()


def _kernel_call(call: NamedCall, known: KernelList) -> Effects:
    method = call.method
    if call.operator == _VIEW:
        return Effects(handles=((call["out"], call["self"]),))
    if call.operator == _COPY_INDEX:
        return Effects(
            frozenset(_tensors(method, (call["copy_from"],))),
            updates=frozenset(_tensors(method, (call["copy_to"],))),
        )
    by_role: dict[str, set[int]] = {"reads": set(), "writes": set(), "updates": set()}
    roles = _roles(known.operators[call.operator].schema)
    for role, value in zip(roles, call.call.args, strict=False):
        by_role[role].update(_tensors(method, (value,)))
    written = by_role["writes"] | by_role["updates"]
    return Effects(
        frozenset(by_role["reads"] - written),
        frozenset(by_role["writes"] - by_role["reads"] - by_role["updates"]),
        frozenset(by_role["updates"] | (by_role["writes"] & by_role["reads"])),
    )


def _delegate_call(
    method: Method, delegate: types.Delegate, args: tuple[int, ...]
) -> Effects:
    """Of XNNPACK's payloads what their graph says. Of others nothing says which are
    inputs and which are outputs: lifetimes.py looks."""
    outputs = xnnpack.outputs(delegate.data) if delegate.id == xnnpack.BACKEND else None
    if outputs is None:
        return Effects(updates=frozenset(_tensors(method, args)))
    written = tuple(value for at, value in enumerate(args) if at in outputs)
    read = tuple(value for at, value in enumerate(args) if at not in outputs)
    reads, writes = (frozenset(_tensors(method, part)) for part in (read, written))
    return Effects(reads - writes, writes - reads, reads & writes)


_roles = functools.cache(kernel_library.roles)


def _tensors(method: Method, indices: tuple[int, ...]) -> Iterator[int]:
    """Tensors among values, also those in lists."""
    for index in indices:
        value = method.values[index]
        if isinstance(value, types.Tensor):
            yield index
        elif isinstance(value, types.TensorList | types.OptionalTensorList):
            yield from (item for item in value.items if item >= 0)


# ---- scratch in planned memory -------------------------------------------------------


SCRATCH = types.Operator("ember::scratch", "out")


def without_scratch(method: Method) -> Method:
    """The method with its scratch outside of its plan again."""
    if SCRATCH not in method.operators:
        return method
    calls = (
        index for index, name, _ in method.kernel_calls() if name == SCRATCH.full_name
    )
    return edit.without(method, frozenset(calls))[0]


def scratch_of(method: Method) -> Mapping[int, int]:
    """The tensor that each instruction has as scratch, by their indices."""
    if SCRATCH not in method.operators:
        return {}
    scratch: dict[int, int] = {}
    now = None
    for index, call in enumerate(method.instructions):
        if isinstance(call, KernelCall) and method.operators[call.op_index] == SCRATCH:
            tensor = method.values[call.result]
            is_empty = isinstance(tensor, types.Tensor) and tensor.nbytes == 0
            now = None if is_empty else call.result
        elif now is not None:
            scratch[index] = now
    return scratch
