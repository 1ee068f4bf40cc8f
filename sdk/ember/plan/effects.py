"""An instruction becomes what it does to values: reads, writes, moves of handles.

Operators are known by their schemas: a tensor that is annotated as written, as in
`Tensor(a!) out`, is overwritten when it is a keyword argument and updated in place when
it is a positional one. An operator without a schema is an error, never a guess.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterator
from dataclasses import dataclass

from ember.errors import SdkError
from ember.kernels import KernelList
from ember.kernels import library as kernel_library
from ember.program import Method, types
from ember.program.remembered import remembered

_VIEW = "executorch_prim::et_view.default"  # (self, size, out): out points at self
_COPY_INDEX = "executorch_prim::et_copy_index.tensor"  # (to, from, index): one part


@dataclass(frozen=True, slots=True)
class Effects:
    """Tensors that an instruction touches, by value index.

    What is in `updates` is read and then written, as a whole or in part; what is in
    `writes` is overwritten; `handles` are (target, source): from then on the target
    may lie where the source lies.
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

    def shared(one: frozenset[int]) -> frozenset[int]:
        return sets.setdefault(one, one)

    def of_call(index: int, instruction: types.Instruction) -> Effects:
        own = _of(method, index, instruction, known)
        reads, writes, updates = map(shared, (own.reads, own.writes, own.updates))
        return Effects(reads, writes, updates, own.handles)

    return tuple(itertools.starmap(of_call, enumerate(method.instructions)))


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
        case types.KernelCall(op_index=op, args=args):
            name = method.operators[op].full_name
            if name not in known.operators:
                raise SdkError(
                    f"{method.name}, instruction {index}: what {name} writes is"
                    " unknown",
                    hint="list the operator with its schema in a kernels.yaml",
                )
            return _kernel_call(method, name, known.operators[name].schema, args)
        case types.DelegateCall(args=args):
            # Nothing says which are inputs and which are outputs: lifetimes/ looks.
            return Effects(updates=frozenset(_tensors(method, args)))
        case types.MoveCall(move_from=source, move_to=target):
            reads = frozenset(_tensors(method, (source,)))
            if not reads:
                return Effects()
            return Effects(reads, frozenset((target,)), handles=((target, source),))
        case types.JumpFalseCall(condition=condition):
            return Effects(reads=frozenset(_tensors(method, (condition,))))
        case _:
            return Effects()


def _kernel_call(
    method: Method, name: str, schema: str, args: tuple[int, ...]
) -> Effects:
    if name == _VIEW:
        return Effects(handles=((args[2], args[0]),))
    if name == _COPY_INDEX:
        return Effects(
            frozenset(_tensors(method, args[1:2])),
            updates=frozenset(_tensors(method, args[:1])),
        )
    by_role: dict[str, set[int]] = {"reads": set(), "writes": set(), "updates": set()}
    for role, value in zip(_roles(schema), args, strict=False):
        by_role[role].update(_tensors(method, (value,)))
    written = by_role["writes"] | by_role["updates"]
    return Effects(
        frozenset(by_role["reads"] - written),
        frozenset(by_role["writes"] - by_role["reads"] - by_role["updates"]),
        frozenset(by_role["updates"] | (by_role["writes"] & by_role["reads"])),
    )


_roles = functools.cache(kernel_library.roles)


def _tensors(method: Method, indices: tuple[int, ...]) -> Iterator[int]:
    """Tensors among values, also those in lists."""
    for index in indices:
        value = method.values[index]
        if isinstance(value, types.Tensor):
            yield index
        elif isinstance(value, types.TensorList | types.OptionalTensorList):
            yield from (item for item in value.items if item >= 0)
