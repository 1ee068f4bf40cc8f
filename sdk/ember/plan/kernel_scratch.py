"""A chosen model becomes one whose kernels share memory with other data for scratch.

Holes: scratch goes into the holes of a method's plan, where that takes less memory than
scratch beside it. It is a tensor that is alive during the calls that use it. Neighbours
share one, as far as that makes the plan no larger, because each costs an instruction.

Payloads: if the whole image is in RAM, scratch may overlap the payloads of delegates
that are not read once the method is loaded. The model becomes one whose payloads come
last, and scratch begins at the first of them: decision 0024.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ember import program
from ember.boards import Board
from ember.files.tensors import DType
from ember.kernels import KernelList
from ember.plan import check, effects, lifetimes
from ember.plan import check as plan_check
from ember.plan.improved import Chosen, Improved
from ember.plan.replan import replan
from ember.plan.room import Plan
from ember.plan.rows import placing, row_regions
from ember.program import KernelCall, Method, types
from ember.program.remembered import remembered
from ember.program.types import ALIGN
from ember.select.resolve import MethodNeeds
from ember.select.selection import Selection
from ember.toolchain import linker


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
    """Whether it has one memory, one order of calls, and no planned scratch yet."""
    calls = all(isinstance(call, KernelCall) for call in method.instructions)
    memories = [size for size in method.planned_sizes if size]
    empty = any(tensor.numel == 0 for _, tensor in _read(method))
    plain = calls and len(method.chains) == 1 and len(memories) == 1 and not empty
    return plain and not needs.delegates and not effects.scratch_of(method)


def _read(method: Method) -> Iterator[tuple[int, types.Tensor]]:
    """Inputs and outputs, and results of calls."""
    results = {call.result for _, _, call in method.kernel_calls()}
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
    alive = placing.bytes_alive(stores, placing.pairs(method, stores))

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
    """With a tensor for each stretch, behind all others, and the call that names it."""
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
        operators=(*method.operators, effects.SCRATCH),
        planned_sizes=tuple(sizes),
    )


def _placed(method: Method, known: KernelList) -> Method:
    """Places outputs and inputs of regions of rows together, where these overlap."""
    if not row_regions.overlapping(method):
        return method
    return placing.placed(method, known)


# ---- scratch over payloads -----------------------------------------------------------


_NO_SCRATCH = "no scratch is in the image's memory"


@dataclass(frozen=True)
class Lending:
    spare: int = 0  # bytes of payloads that are not read any more
    start: int = 0  # in the program: payloads that scratch may overlap, from there
    size: int = 0  # bytes up to its end; 0: the payloads stay
    reason: str = ""  # why they stay

    def to_json(self, plans: Sequence[Plan]) -> dict[str, Any]:
        """The spare bytes and those that scratch uses, or why there are none."""
        temp = plans[0].temp
        used = temp.lent if temp else 0
        reason = self.reason or ("" if used or not self.spare else _NO_SCRATCH)
        return {"spare": self.spare, "reused": used, "reason": reason}


def may_lend(board: Board, methods: int, *, reload: bool) -> str:
    """Why the payloads of a firmware must stay; empty when they may go."""
    if not linker.is_loaded_whole(board):
        return "the image is not in RAM"
    if reload:
        return "methods may be loaded again (`reload:` of the project)"
    if methods > 1:
        return (
            f"{methods} methods share scratch, and one may be loaded after another"
            " has run"
        )
    return ""


def payloads_last(model: Improved, method: str) -> Improved:
    """The model with a file that ends with the payloads of the method's delegates."""
    if all(delegate.inline for delegate in model.method(method).delegates):
        return model
    layout = replace(model.program.layout, payloads_last=(method,))
    reordered = replace(model.program, layout=layout)
    return replace(model, program=reordered, content=program.content(reordered))


def lending(pairs: Sequence[Chosen], board: Board, *, reload: bool) -> Lending:
    """How scratch may use the payloads of a firmware's models."""
    spare = [_spare(*pair) for pair in pairs]
    total = sum(len(payload) for payloads in spare for payload in payloads)
    if not total:
        return Lending()
    methods = sum(len(chosen.methods) for _, chosen in pairs)
    reason = may_lend(board, methods, reload=reload)
    if reason:
        return Lending(total, reason=reason)
    content = pairs[0][0].content
    start = _start(pairs[0][0], spare[0])
    if start == len(content):
        return Lending(total, reason="other data of the program follows them")
    name = pairs[0][1].methods[0].name
    remembered(  # in each round of a build the same
        pairs[0][0].program,
        ("lent", name, start),
        lambda: plan_check.check_lent(content, name, start),
    )
    return Lending(total, start, len(content) - start)


def _spare(model: Improved, chosen: Selection) -> set[bytes]:
    """The payloads that are not read any more and that only built methods have."""
    built = [names.name for names in chosen.methods]
    others = [other for other in model.program.methods if other.name not in built]
    return {
        method.delegates[index].data
        for method, needs in zip(chosen.methods, chosen.needs, strict=True)
        for index in needs.spare
    } - {delegate.data for method in others for delegate in method.delegates}


def _start(model: Improved, spare: set[bytes]) -> int:
    """Where the payloads at the end begin."""
    content, layout = model.content, program.layout_of(model.program)
    start = len(content)
    for segment in sorted(layout.segments, key=lambda item: -item.offset):
        at = layout.segment_base + segment.offset
        if content[at : at + segment.size] not in spare:
            break
        start = at
    return start
