"""Regions of rows become where their nodes do not find what they must find.

The table of a region is executed on a map of bytes (row_machine.py), and what its nodes
find is compared with what their calls read (row_reads.py).
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence, Set

from ember.kernels import KernelList
from ember.kernels.schemas import NamedCall
from ember.plan.check import row_reads
from ember.plan.check.row_machine import (
    ENDS,
    ENTER,
    ROWS,
    CheckedRegion,
    all_windows,
    region_of,
    result_of,
    tensor_of,
    trace,
)
from ember.plan.check.row_reads import NodePair
from ember.program import KernelCall, Method, Program, types

__all__ = ["ENDS", "ENTER"]


def of(program: Program, method: Method, known: KernelList) -> list[CheckedRegion]:
    """The regions of a method, by their calls of rows."""
    return [
        region_of(program, index, known.named(method, call))
        for index, name, call in method.kernel_calls()
        if name in ENDS
    ]


def inputs(call: NamedCall) -> frozenset[int]:
    """Of the region that a call ends; none where it ends none."""
    if call.operator not in ENDS:
        return frozenset()
    given = call.value("inputs")
    return frozenset(given.items if isinstance(given, types.TensorList) else ())


def in_slabs(
    program: Program, method: Method, known: KernelList
) -> Mapping[int, tuple[int, int]]:
    """Values in slabs: which slab, and at what byte of it."""
    inside: dict[int, tuple[int, int]] = {}
    for region in of(program, method, known):
        slab = tensor_of(method, region.slab)
        for index in region.nodes:
            for value in all_windows(method, index, region.slab):
                place = tensor_of(method, value).allocation
                assert place is not None and slab.allocation is not None
                inside[value] = region.slab, place.offset - slab.allocation.offset
    return inside


def problems(first: Program, second: Program, known: KernelList) -> Iterator[str]:
    """Where the regions of `second` do not find what those of `first` find."""
    for method, other in zip(first.methods, second.methods, strict=True):
        pairs = zip(of(first, method, known), of(second, other, known), strict=True)
        for region, placed in pairs:
            where = f"{method.name}, instruction {region.nodes.stop}"
            wanted, got = trace(method, region), trace(other, placed)
            for fault in (*wanted.faults, *got.faults):
                yield f"{where}: {fault}"
            if wanted.runs != got.runs:
                yield f"{where}: a node finds other rows than without this plan"
            if wanted.outputs != got.outputs:
                yield f"{where}: an output has other rows than without this plan"
            if placed.image_rows is not None:
                yield from (f"{where}: {fault}" for fault in _kept_over(other, placed))


# ---- a row of the input at a time ----------------------------------------------------


def fed_problems(
    before: Program,
    after: Program,
    writes: Mapping[str, Sequence[Set[int]]],
    known: KernelList,
) -> Iterator[str]:
    """Where a method of `after`, whose input comes row by row, does not do what the one
    of `before` does with the whole; `writes` are values, by method and instruction.

    An execution that wants another row ends with the region. So the region must begin
    the method, and what it keeps until the next row must lie where nothing else is.
    """
    for method, other in zip(before.methods, after.methods, strict=True):
        pairs = zip(of(before, method, known), of(after, other, known), strict=True)
        for region, changed in pairs:
            if changed.image_rows is None:
                continue
            where = f"{other.name}, instruction {changed.nodes.stop}"
            wanted, got = trace(method, region), trace(other, changed)
            yield from (f"{where}: {fault}" for fault in got.faults)
            if (wanted.runs, wanted.outputs) != (got.runs, got.outputs):
                yield f"{where}: row by row, its nodes find other rows"
            (value,) = changed.inputs
            image = tensor_of(method, value)
            if changed.image_rows != image.sizes[ROWS] or value not in other.inputs:
                yield f"{where}: its input is another image"
            for fault in _kept_faults(other, changed, writes[other.name]):
                yield f"{where}: {fault}"


def _kept_faults(
    method: Method, region: CheckedRegion, writes: Sequence[Set[int]]
) -> Iterator[str]:
    """What is wrong with what a region keeps until the next row comes."""
    enter = region.nodes.start - 1
    for index in range(enter):
        call = method.instructions[index]
        assert isinstance(call, KernelCall)
        if method.operators[call.op_index].full_name != "ember::scratch.out":
            yield "it does not begin the method"
    assert region.cursor is not None
    for index, written in enumerate(writes):
        if index != region.nodes.stop and region.cursor in written:
            yield "another call writes its cursor"
    yield from _kept_over(method, region)


def _kept_over(method: Method, region: CheckedRegion) -> Iterator[str]:
    """What lies over each other and must be there while rows come."""
    assert region.cursor is not None
    (value,) = region.inputs
    together = (region.slab, region.cursor, value, *region.outputs)
    for a, b in itertools.combinations(together, 2):
        if _meet(tensor_of(method, a), tensor_of(method, b)):
            yield f"values {a} and {b} share memory while rows come"


def _meet(a: types.Tensor, b: types.Tensor) -> bool:
    here, there = a.allocation, b.allocation
    assert here is not None and there is not None
    return (
        here.memory_id == there.memory_id
        and here.offset < there.offset + b.nbytes
        and there.offset < here.offset + a.nbytes
    )


def differences(
    before: Method,
    program: Program,
    method: Method,
    order: tuple[int, ...],
    known: KernelList,
) -> Iterator[str]:
    """Where regions of `method` read or give other rows than the calls of `before` that
    they stand for; `order` says which instruction each one came from."""
    for region in of(program, method, known):
        where = f"{method.name}, instruction {region.nodes.stop}"
        same = row_reads.same_places(before)
        calls = []
        for number, index in enumerate(region.nodes):
            call = known.named_at(before, order[index])
            pair = NodePair(call, known.named_at(method, index), index)
            readings, fault = row_reads.of_node(pair, region, same)
            calls.append(readings)
            if fault:
                yield f"{where}: node {number} {fault}"
        maker = {
            same[result_of(before, order[n])]: k for k, n in enumerate(region.nodes)
        }
        walked = trace(method, region, same)
        yield from (f"{where}: {fault}" for fault in walked.faults)
        runs = [0] * len(calls)
        for node, windows in walked.runs:
            at = node, runs[node]
            wanted = row_reads.wanted_rows(
                before, calls[node], at, maker, region.pieces
            )
            if wanted != windows:
                yield f"{where}: node {node} reads other rows for row {runs[node]}"
                break
            runs[node] += 1
        for value, rows in walked.outputs.items():
            whole = tuple(("row", maker[same[value]], n) for n in range(len(rows)))
            if rows != whole:
                yield f"{where}: value {value} is not whole"
