"""A method and its kernels become traffic: accesses of every tensor in one run.

kernels.yaml says (`accesses`) how often a kernel reads or writes the elements of
an argument, by its name in the operator's schema: `3`, every element three times;
`macs/8`, one access for eight multiply-accumulates of the call. What is not listed
counts once. A vector variant accesses a whole vector at a time, but one element of what
is `single`. What is `copied` are accesses of scratch, if the call has any; the copy is
made reading COPIED times, once for each line of a filter, say.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from ember.boards import isa
from ember.kernels import KernelList
from ember.kernels import library as kernel_library
from ember.kernels.facts import Times
from ember.plan import effects, macs
from ember.program import Method, types

ROUNDS = 8  # of a loop, whose end only the run knows
COPIED = 3
_WORD = 4  # bytes


@dataclass
class Traffic:
    """Accesses of one tensor, by their width in bytes."""

    reads: dict[int, int] = field(default_factory=dict)
    writes: dict[int, int] = field(default_factory=dict)
    fixed: bool = False  # its kernel takes it as a constant only

    def note(self, kind: str, width: int, count: int) -> None:
        table: dict[int, int] = getattr(self, kind)
        table[width] = table.get(width, 0) + count

    def add(self, other: Traffic) -> None:
        self.fixed = self.fixed or other.fixed
        for kind in ("reads", "writes"):
            for width, count in getattr(other, kind).items():
                self.note(kind, width, count)

    @property
    def count(self) -> int:
        return sum(self.reads.values()) + sum(self.writes.values())

    @property
    def bytes(self) -> int:
        both = (*self.reads.items(), *self.writes.items())
        return sum(width * count for width, count in both)


def words(size: int, times: int = 1) -> Traffic:
    """Every word of `size` bytes read and written so often."""
    count = -(-size // _WORD) * times
    return Traffic({_WORD: count}, {_WORD: count})


def of(
    method: Method,
    known: KernelList,
    kernels: Mapping[int, str],
    scratch: Mapping[int, int] | None = None,
) -> dict[int, Traffic]:
    """Of every tensor that instructions touch; `kernels` are those of the calls, and
    `scratch` its bytes, by instruction."""
    by_value: dict[int, Traffic] = {}
    times = rounds(method)
    for index, effect in enumerate(effects.of(method, known)):
        rules = _Rules(method, index, known, kernels.get(index))
        rules.has_scratch = bool((scratch or {}).get(index))
        for kind, values in (
            ("reads", effect.reads | effect.updates),
            ("writes", effect.writes | effect.updates),
        ):
            for value in values:
                width, count = rules.accesses(value)
                traffic = by_value.setdefault(value, Traffic())
                traffic.note(kind, width, count * times[index])
                traffic.fixed = traffic.fixed or rules.is_fixed(value)
    return by_value


def of_scratch(
    method: Method, known: KernelList, kernel: str, index: int, size: int
) -> Traffic:
    """Of `size` bytes of scratch in one call: filled, and read as the kernel does."""
    traffic = words(size)
    listed = known.facts.accesses.get(kernel, {})
    copied = (times for times in listed.values() if times.copied)
    rule = listed.get("scratch") or next(copied, None)
    if rule is not None:
        all_macs = macs_of(method, index)
        count = rule.times * (all_macs if rule.macs else size / _WORD)
        width = max(_WORD, isa.width(kernel))
        traffic.reads = {width: math.ceil(count * _WORD / width)}
    return traffic


def macs_of(method: Method, index: int) -> int:
    call = method.instructions[index]
    if not isinstance(call, types.KernelCall):
        return 0
    return macs.of_call(method, method.operator_names[call.op_index], call) or 0


class _Rules:
    """How the kernel of one instruction accesses its tensors."""

    def __init__(
        self, method: Method, index: int, known: KernelList, kernel: str | None
    ) -> None:
        self.method = method
        self.kernel = kernel
        self.has_scratch = False
        self.rules: dict[int, Times] = {}
        self.macs = macs_of(method, index)
        call = method.instructions[index]
        if not isinstance(call, types.KernelCall):
            return
        name = method.operator_names[call.op_index]
        listed = known.facts.accesses.get(kernel or "", {})
        names = kernel_library.names(known.operators[name].schema)
        for argument, value in zip(names, call.args, strict=False):
            if argument in listed:
                for tensor in self._tensors(value):
                    self.rules[tensor] = listed[argument]

    def _tensors(self, value: int) -> Iterator[int]:
        listed_value = self.method.values[value]
        if isinstance(listed_value, types.TensorList | types.OptionalTensorList):
            yield from listed_value.items
        else:
            yield value

    def is_fixed(self, value: int) -> bool:
        rule = self.rules.get(value)
        return rule is not None and rule.constant

    def accesses(self, value: int) -> tuple[int, int]:
        """Width in bytes, and how many."""
        tensor = self.method.values[value]
        assert isinstance(tensor, types.Tensor)
        elements: float = tensor.numel
        rule = self.rules.get(value)
        if rule is not None and rule.copied and self.has_scratch:
            elements *= COPIED
        elif rule is not None:
            elements = rule.times * (self.macs if rule.macs else elements)
        size = max(1, tensor.dtype.itemsize)
        width = isa.width(self.kernel) if self.kernel else 1
        width = size if rule is not None and rule.single else max(size, width)
        return width, math.ceil(elements * size / width)


def rounds(method: Method) -> list[int]:
    """Of each instruction how often it counts: more inside of loops."""
    rounds = [1] * len(method.instructions)
    for index, instruction in enumerate(method.instructions):
        if isinstance(instruction, types.JumpFalseCall) and instruction.target <= index:
            for inside in range(instruction.target, index + 1):
                rounds[inside] *= ROUNDS
    return rounds
