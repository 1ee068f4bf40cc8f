"""A chosen model becomes the one whose kernels have their scratch in the holes of its
plan, where that takes less memory than scratch beside it.

Scratch is a tensor that is alive during the calls that use it. Neighbours share one, as
far as that makes the plan no larger, because each costs an instruction.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from ember import program
from ember.files.tensors import DType
from ember.kernels import KernelList
from ember.plan import check, lifetimes, own_scratch
from ember.plan.improved import Improved
from ember.plan.replan import replan
from ember.plan.rows import overlapped, placing, row_regions
from ember.program import KernelCall, Method, types
from ember.program.types import ALIGN
from ember.select.resolve import MethodNeeds


@dataclass(frozen=True)
class Stretch:
    """Instructions [first, end) and the bytes of scratch that they need."""

    first: int
    end: int
    size: int

    def joined(self, other: Stretch) -> Stretch:
        return Stretch(self.first, other.end, max(self.size, other.size))


def filled(model: Improved, needs: MethodNeeds, known: KernelList) -> Improved | None:
    """The model, which has one method; None where scratch stays beside its plan."""
    (method,) = model.program.methods
    if not needs.temp or not _may_have(method, needs):
        return None
    (memory,) = (n for n, size in enumerate(method.planned_sizes) if size)
    sizes = {call.instruction: call.scratch for call in needs.calls}
    stretches = _stretches(method, known, sizes)
    apart = _with_calls(method, stretches, memory)
    before = replace(model.program, methods=(apart,))
    plan = replan(_placed(apart, known), known, check=False)
    if plan.planned >= method.planned_bytes + needs.temp:
        return None
    after = replace(before, methods=(plan.method,))
    check.check(before, after, known)
    old = model.replanned[method.name]
    origins = model.origins.get(method.name, range(len(method.instructions)))
    return replace(
        model,
        program=after,
        content=program.content(after),
        replanned={method.name: replace(plan, stock=old.stock, conflict=old.conflict)},
        origins={method.name: tuple(_origins(origins, stretches))},
    )


def _may_have(method: Method, needs: MethodNeeds) -> bool:
    """Whether it has one memory, one order of calls, and no scratch of its own yet."""
    calls = all(isinstance(call, KernelCall) for call in method.instructions)
    memories = [size for size in method.planned_sizes if size]
    empty = any(tensor.numel == 0 for _, tensor in _read(method))
    plain = calls and len(method.chains) == 1 and len(memories) == 1 and not empty
    return plain and not needs.delegates and not own_scratch.covered(method)


def _read(method: Method) -> Iterator[tuple[int, types.Tensor]]:
    """Inputs and outputs, and what calls make."""
    results = {call.args[-1] for _, _, call in method.kernel_calls()}
    for value in {*method.inputs, *method.outputs, *results}:
        tensor = method.values[value]
        if isinstance(tensor, types.Tensor):
            yield value, tensor


# ---- stretches -----------------------------------------------------------------------


def _stretches(
    method: Method, known: KernelList, sizes: Mapping[int, int]
) -> list[Stretch]:
    """As few as possible with which the peak is lowest, from the first scratch on."""
    stores = lifetimes.of(method, known, check=False).storages
    alive = placing.bytes_alive(stores, overlapped.pairs(method, stores))

    def peak(stretch: Stretch) -> int:
        room = -(-stretch.size // ALIGN) * ALIGN
        most = (alive.get(n, 0) for n in range(stretch.first, stretch.end))
        return room + max(most, default=0)

    units = _units(method, sizes)
    least = max(map(peak, units))
    joined = [next(unit for unit in units if unit.size)]
    for unit in units:
        if unit.first < joined[0].end:
            continue
        both = joined[-1].joined(unit)
        if peak(both) <= least:
            joined[-1] = both
        else:
            joined.append(unit)
    return joined


def _units(method: Method, sizes: Mapping[int, int]) -> list[Stretch]:
    """Calls, and regions of rows: nothing can come between their instructions."""
    ends = {region.enter: region.rows + 1 for region in row_regions.regions(method)}
    units = []
    at = 0
    while at < len(method.instructions):
        end = ends.get(at, at + 1)
        size = max(sizes.get(number, 0) for number in range(at, end))
        units.append(Stretch(at, end, size))
        at = end
    return units


def _origins(origins: Sequence[int], stretches: Sequence[Stretch]) -> Iterator[int]:
    begins = {stretch.first for stretch in stretches}
    for index, origin in enumerate(origins):
        if index in begins:
            yield origin
        yield origin


# ---- the method ----------------------------------------------------------------------


def _with_calls(method: Method, stretches: Sequence[Stretch], memory: int) -> Method:
    """With a tensor for each stretch, behind all others, and the call that says so."""
    (chain,) = method.chains
    values, end = list(method.values), method.planned_sizes[memory]
    operator = len(method.operators)
    new: list[types.Instruction] = []
    order: list[int] = []
    at = 0
    for stretch in stretches:
        place = types.Allocation(memory, end)
        size = (stretch.size,)
        tensor = types.Tensor(DType.UINT8, size, (0,), allocation=place)
        end += -(-stretch.size // ALIGN) * ALIGN
        values.append(tensor)
        new += chain.instructions[at : stretch.first]
        order += range(at, stretch.first)
        new.append(KernelCall(operator, (len(values) - 1,) * 2))
        order.append(stretch.first)
        at = stretch.first
    new += chain.instructions[at:]
    order += range(at, len(chain.instructions))
    sizes = list(method.planned_sizes)
    sizes[memory] = end
    return replace(
        method,
        values=tuple(values),
        chains=(chain.rewritten(new, order),),
        operators=(*method.operators, own_scratch.OPERATOR),
        planned_sizes=tuple(sizes),
    )


def _placed(method: Method, known: KernelList) -> Method:
    """Where regions of rows have outputs over inputs, these are placed together."""
    if not row_regions.overlapping(method):
        return method
    return overlapped.placed(method, known)
