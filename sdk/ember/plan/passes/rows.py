"""rows: layers run row by row over line buffers, where that lowers the peak.

The program needs Ember's runtime from then on: it has calls of ember::rows. A plan in
which outputs overlap inputs is made here and stays (replan.py); it is proposed too
where it is smaller.

Before that every storage gets a place of its own, also those of results that calls
wrote over what they read. A row of such a result overlaps the row before it anyway
(cascade.py); whole tensors share a place again where they are not in a region.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace

from ember.errors import SdkError, problem_list
from ember.kernels import KernelList
from ember.plan import check as plan_check
from ember.plan import effects, lifetimes
from ember.plan.check import rows as check_rows
from ember.plan.effects import Effects
from ember.plan.lifetimes import Storage
from ember.plan.passes.execute import Computer
from ember.plan.passes.join import is_straight
from ember.plan.replan import replan
from ember.plan.rows import choose, placing, rewrite, row_regions
from ember.plan.rows.lives import RowLives
from ember.program import Method, Program, types
from ember.program.edit import Draft, with_values
from ember.program.types import ALIGN


def apply(draft: Draft, here: Computer, keep: frozenset[int]) -> list[Draft]:
    """The smallest of the proposals first."""
    return _proposals(draft, here, keep, is_fed=False)


def for_feeding(draft: Draft, here: Computer, keep: frozenset[int]) -> list[Draft]:
    """The same where all that reads an image that is an input is in one region, which
    begins the method: as small as they can be with one row of it at a time."""
    return _proposals(draft, here, keep, is_fed=True)


def _proposals(
    draft: Draft, here: Computer, keep: frozenset[int], *, is_fed: bool
) -> list[Draft]:
    drafts = []
    for over in (False, True):
        after = draft
        for index, method in enumerate(draft.program.methods):
            value = rewrite.fed_input(method) if is_fed else None
            if is_fed and value is None:
                continue
            if is_fixed(draft.program, method) and is_straight(method, here):
                after = _changed(after, index, here, keep, over=over, fed_value=value)
        if after is not draft:
            drafts.append(after)
    return sorted(
        drafts, key=lambda proposal: _planned(proposal, here, keep, is_fed=is_fed)
    )


def is_fixed(program: Program, method: Method) -> bool:
    """Whether nothing in the method can change but the bytes of planned tensors."""
    calls = all(isinstance(i, types.KernelCall) for i in method.instructions)
    edges = (method.values[value] for value in (*method.inputs, *method.outputs))
    planned = all(
        isinstance(value, types.Tensor)
        and value.allocation is not None
        and not value.is_dynamic
        for value in edges
    )
    fixed = calls and planned and not program.mutable_data and not method.delegates
    return fixed and not row_regions.regions(method)


def _planned(
    draft: Draft, here: Computer, keep: frozenset[int], *, is_fed: bool
) -> int:
    methods = draft.program.methods
    if is_fed:
        methods = tuple(
            rewrite.placed_fed(m, rewrite.fed(m), here.known) for m in methods
        )
    return sum(
        replan(method, here.known, keep, check=False).planned for method in methods
    )


def _changed(
    draft: Draft,
    index: int,
    here: Computer,
    keep: frozenset[int],
    *,
    over: bool,
    fed_value: int | None,
) -> Draft:
    method = draft.program.methods[index]
    memories = [size for size in method.planned_sizes if size > 0]
    if over and (len(memories) != 1 or keep):
        return draft  # one memory at a time
    apart = separated(method, here, keep)
    lives = RowLives(apart, here.known, fed_value)
    scratch, sided = (
        [by_origin.get(origin, 0) for origin in draft.origins[method.name]]
        for by_origin in (
            here.scratch.get(method.name, {}),
            here.sided.get(method.name, {}),
        )
    )
    chooser = choose.Chooser(lives, scratch, sided, over=over)
    choice = chooser.choice()
    if not choice.regions and not choice.over:
        return draft
    apart = placing.in_place(apart, lives, choice.over)
    constants = draft.program.constants
    new = rewrite.rewritten(apart, choice.regions, len(constants), fed_value)
    program = replace(draft.program, constants=(*constants, *new.tables))
    after = replace(draft, program=program)
    after = after.with_method(index, new.method, new.order)
    wrong = list(
        check_rows.differences(apart, program, new.method, new.order, here.known)
    )
    if over and not wrong:
        method = placing.placed(after.program.methods[index], here.known)
        placed = after.with_method(index, method, range(len(new.order)))
        wrong = plan_check.problems(after.program, placed.program, here.known)
        after = placed
    if wrong:
        raise SdkError(
            problem_list("the schedule of rows is wrong", wrong),
            hint="this is a bug in Ember: please report it with the model, and go on"
            " with --rows off",
        )
    return after


def separated(method: Method, here: Computer, keep: frozenset[int]) -> Method:
    """The method with every storage at a place of its own, and what was written in
    place, too."""
    storages = lifetimes.of(method, here.known, check=False).storages
    free = [store for store in storages if store.memory_id not in keep]
    stores = list(split(method, free, here.known))
    sizes = list(method.planned_sizes)
    offsets = []
    for store in stores:
        offsets.append(-(-sizes[store.memory_id] // ALIGN) * ALIGN)
        sizes[store.memory_id] = offsets[-1] + store.size
    moved = placing.moved(method, stores, offsets)
    return replace(with_values(method, moved), planned_sizes=tuple(sizes))


def split(
    method: Method, stores: Sequence[Storage], known: KernelList
) -> Iterator[Storage]:
    """The storages, in place of those that have several whole results one for each."""
    store_of = {value: n for n, store in enumerate(stores) for value in store.values}
    touching: list[list[Effects]] = [[] for _ in stores]
    for effect in effects.of(method, known):
        for number in {store_of[v] for v in effect.touched if v in store_of}:
            touching[number].append(effect)
    edges = {*method.inputs}, {*method.outputs}
    for store, touched in zip(stores, touching, strict=True):
        yield from _split(method, store, touched, *edges)


def _split(
    method: Method,
    store: Storage,
    touching: Sequence[Effects],
    inputs: set[int],
    outputs: set[int],
) -> Sequence[Storage]:
    """The storage itself, if it has one result, or others than whole ones."""
    written = {value for each in touching for value in each.writes}
    if len(written & store.values.keys()) < 2 or store.is_state:
        return (store,)
    homes = None
    if _is_whole(method, store):
        homes = _homes(store, touching, inputs, outputs)
    if homes is None:
        return (store,)
    groups: defaultdict[int, dict[int, int]] = defaultdict(dict)
    for value, number in homes.items():
        groups[number][value] = 0
    return tuple(replace(store, values=groups[number]) for number in sorted(groups))


def _is_whole(method: Method, store: Storage) -> bool:
    tensors = (method.values[value] for value in store.values)
    return not any(store.values.values()) and all(
        isinstance(tensor, types.Tensor) and tensor.nbytes == store.size
        for tensor in tensors
    )


def _homes(
    store: Storage,
    touching: Sequence[Effects],
    inputs: set[int],
    outputs: set[int],
) -> dict[int, int] | None:
    """Of each value, the number of the result that it is, or a view of; None where
    values are more than one of them."""
    homes = dict.fromkeys(store.values.keys() & inputs, 0)
    now = 0
    for effect in touching:
        if effect.updates & store.values.keys():
            return None
        for value in effect.reads & store.values.keys():
            if homes.setdefault(value, now) != now:
                return None
        results = effect.writes & store.values.keys()
        now += len(results)
        if len(results) > 1 or results & homes.keys():
            return None
        homes.update(dict.fromkeys(results, now))
    for value in store.values.keys() & outputs:
        if homes.setdefault(value, now) != now:
            return None
    return homes if homes.keys() == store.values.keys() else None
