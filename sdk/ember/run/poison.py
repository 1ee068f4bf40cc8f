"""A case becomes the packed case, and the bytes that its plan calls dead, and when.

The test runner overwrites these bytes before every instruction: outputs stay right only
if the plan is. Whole inputs become rows where the packed program takes them row by row.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import replace

from ember.boards import Board
from ember.cases import Case, CaseTensor, Run
from ember.cases.batch import Dead, Poison
from ember.firmware.repack import repack
from ember.kernels import KernelList
from ember.model import Model
from ember.plan.replan import PlacedStorage, Replanned
from ember.plan.rows import row_regions
from ember.program import Method, types


def packed(
    case: Case, known: KernelList, passes: Sequence[str], board: Board
) -> tuple[Case, Poison]:
    """The case as `ember build` would pack it, and what is dead in its methods."""
    model = Model(case.name, case.path, case.pte, case.data, case.program)
    after = repack(model, known, passes, board)
    repacked = replace(
        case, content=after.content, program=after.program, bundled=False
    )
    plans = [after.replanned.get(name) for name in case.methods]
    dead = tuple(tuple(_of(plan)) if plan else () for plan in plans)
    return row_by_row(repacked), dead


def _of(plan: Replanned) -> Iterator[Dead]:
    sizes = plan.method.planned_sizes
    before = _predecessors(plan.method)
    kept = [r.rows for r in row_regions.regions(plan.method) if r.image_rows]
    for memory in plan.packed:
        inside = [placed for placed in plan.placed if placed.memory_id == memory]
        masks = [(placed, _alive(placed.storage.points, before)) for placed in inside]
        for last in kept:  # what is there when a row is done stays until the next one
            stays = (1 << last + 1) - 1 | 1 << len(before) - 1
            masks = [
                (placed, mask | stays if last in placed.storage.points else mask)
                for placed, mask in masks
            ]
        for start, end, alive in _strips(masks, sizes[memory]):
            for first, last in _gaps(alive, len(before)):
                yield Dead(memory, start, end, first, last)


def _predecessors(method: Method) -> list[list[int]]:
    """Of every instruction, and of the exit, where it may be reached from; -1 is the
    entry. Jumps are taken to go both ways."""
    instructions = method.instructions
    successors = [[index - 1] for index in range(len(instructions) + 1)]
    for index, instruction in enumerate(instructions):
        if isinstance(instruction, types.JumpFalseCall):
            successors[instruction.target].append(index)
    return successors


def _alive(points: Set[int], before: Sequence[Iterable[int]]) -> int:
    """The instructions before which bytes matter, as bits."""
    mask = 0
    for index, reached_from in enumerate(before):
        if index in points and any(point in points for point in reached_from):
            mask |= 1 << index
    return mask


def _strips(
    masks: Sequence[tuple[PlacedStorage, int]], size: int
) -> Iterator[tuple[int, int, int]]:
    """Ranges of a memory, each with the instructions before which it matters."""
    edges = {0, size}
    for placed, _ in masks:
        edges |= {placed.offset, placed.offset + placed.storage.size}
    ordered = sorted(edges)
    at = {edge: number for number, edge in enumerate(ordered)}
    alive = [0] * len(ordered)
    for placed, mask in masks:
        for number in range(at[placed.offset], at[placed.offset + placed.storage.size]):
            alive[number] |= mask
    start = 0
    for number in range(1, len(ordered)):
        last = number == len(ordered) - 1
        if last or alive[number] != alive[number - 1]:
            if ordered[number] > start:
                yield start, ordered[number], alive[number - 1]
            start = ordered[number]


def _gaps(alive: int, count: int) -> Iterator[tuple[int, int]]:
    """First and last of every run of zeros among the lowest `count` bits."""
    first = None
    for index in range(count + 1):
        dead = index < count and not alive >> index & 1
        if dead and first is None:
            first = index
        elif not dead and first is not None:
            yield first, index - 1
            first = None


# ---- inputs that come row by row -----------------------------------------------------


_ROWS = 2  # the dimension


def row_by_row(case: Case) -> Case:
    """A packed case with a run for each row of an input that comes so; only the last
    one of an image says which outputs are expected."""
    fed = {
        method.name: row_regions.fed_inputs(method) for method in case.program.methods
    }
    runs = [part for run in case.runs for part in _parts(run, fed.get(run.method, {}))]
    return replace(case, runs=tuple(runs))


def _parts(run: Run, fed: Mapping[int, int]) -> Iterator[Run]:
    if not fed:
        yield run
        return
    ((index, rows),) = fed.items()
    image = run.inputs[index]
    assert isinstance(image, CaseTensor)
    for row in range(rows):
        array = image.array[:, :, row : row + 1, :]
        inputs = list(run.inputs)
        inputs[index] = CaseTensor(image.dtype, array)
        last = row == rows - 1
        yield replace(run, inputs=tuple(inputs), says_outputs=last and run.says_outputs)
