"""A program becomes what is watched while it executes: what its instructions touch."""

from __future__ import annotations

from dataclasses import dataclass

from ember.cases.captured import AFTER, BEFORE, ValueWatch
from ember.kernels import KernelList
from ember.kernels import library as kernel_library
from ember.plan import lifetimes
from ember.program import Method, types


@dataclass(frozen=True)
class Watched:
    """Of a method, by instruction: tensors that can change, by value index."""

    reads: tuple[tuple[int, ...], ...]
    updates: tuple[tuple[int, ...], ...]  # read, and then written in part
    results: tuple[tuple[int, ...], ...]  # written, without scratch; and scalars

    def watches(self, instructions: range) -> tuple[ValueWatch, ...]:
        return tuple(
            ValueWatch(index, when, value)
            for index in instructions
            for when, values in (
                (BEFORE, self.before(index)),
                (AFTER, self.results[index]),
            )
            for value in values
        )

    def before(self, instruction: int) -> tuple[int, ...]:
        return tuple(sorted({*self.reads[instruction], *self.updates[instruction]}))


def of(method: Method, known: KernelList) -> Watched:
    """SdkError for an unknown operator."""
    effects = lifetimes.of(method, known, check=False).effects
    reads, updates, results = [], [], []
    for index, effect in enumerate(effects):
        scratch = _scratch(method, known, method.instructions[index])
        written = (effect.writes | effect.updates) - scratch
        written |= {target for target, _ in effect.handles}
        written |= _scalars(method, method.instructions[index])
        reads.append(_changing(method, effect.reads))
        updates.append(_changing(method, effect.updates))
        results.append(tuple(sorted(written)))
    return Watched(tuple(reads), tuple(updates), tuple(results))


def _changing(method: Method, values: frozenset[int]) -> tuple[int, ...]:
    """Tensors that are no constants."""
    kept = []
    for value in sorted(values):
        tensor = method.values[value]
        if isinstance(tensor, types.Tensor) and not (
            tensor.is_constant or tensor.role == "external"
        ):
            kept.append(value)
    return tuple(kept)


def _scalars(method: Method, instruction: types.Instruction) -> frozenset[int]:
    """Numbers that an instruction computes: the result of a call, or of a move."""
    match instruction:
        case types.KernelCall(args=args) if args:
            result = args[-1]
        case types.MoveCall(move_to=result):
            pass
        case _:
            return frozenset()
    scalar = types.Int | types.Bool | types.Double
    return frozenset({result} if isinstance(method.values[result], scalar) else ())


def _scratch(
    method: Method, known: KernelList, instruction: types.Instruction
) -> frozenset[int]:
    if not isinstance(instruction, types.KernelCall):
        return frozenset()
    operator = known.operators[method.operator_names[instruction.op_index]]
    names = zip(kernel_library.names(operator.schema), instruction.args, strict=False)
    return frozenset(
        value for name, value in names if name.rpartition("_")[2] == "scratch"
    )
