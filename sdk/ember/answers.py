"""Models and a board become an answer: does it fit, what is largest, what would help.

A plan that fits says what 3-plan.json of a build does. One that does not says what
lacks room, by how much, which tensors make the peak, and which changes were tried with
what result. Where kernels are missing or cannot be asked for their needs, the plan
covers what the program itself says, and `resolved` is false.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from ember import boards, build, linker, occupancy, offsets, passes, plan
from ember import model as models
from ember.boards import Board
from ember.build import Options
from ember.errors import SdkError, UsageError
from ember.model import Model
from ember.plan import NoRoomError, Shortage
from ember.program import types
from ember.repack import repack
from ember.replan import Replanned
from ember.resolve import MethodNeeds
from ember.selection import Selection
from ember.steering import Steering
from ember.tensors import DType

_SHRINKS = 4  # int8 instead of float32


def of(files: Sequence[Path], board: Board, options: Options) -> dict[str, Any]:
    """The answer, as JSON."""
    found = [models.read(path) for path in files]  # what cannot be read is no answer
    answer = _attempt(files, board, options)
    if "methods" not in answer:
        known = options.rules.known
        packed = [repack(one, known, options.passes, board) for one in found]
        pairs = [(one, method) for one in packed for method in one.program.methods]
        answer["methods"] = occupancy.of_all(pairs, known)
        answer["int8"] = _as_int8(packed)
    if not answer["fits"]:
        answer["boards_that_fit"] = _fitting(files, board, options)
        answer["helps"] = list(_helps(files, board, options, answer))
    return answer


def _attempt(files: Sequence[Path], board: Board, options: Options) -> dict[str, Any]:
    """A plan, or what stands against it."""
    try:
        return build.plan_of(files, board, options) | {"resolved": True}
    except NoRoomError as error:
        return _refused(board, error.shortages) | {"resolved": True}
    except UsageError:
        raise
    except SdkError as error:
        return _bare(files, board, options) | {
            "resolved": False,
            "reason": error.what,
            "hint": error.hint,
        }


def _refused(board: Board, shortages: Sequence[Shortage]) -> dict[str, Any]:
    facts = [asdict(one) | {"over": one.over} for one in shortages]
    return {
        "board": board.name,
        "fits": False,
        "over": sum(one.over for one in shortages),
        "shortages": facts,
    }


def _bare(files: Sequence[Path], board: Board, options: Options) -> dict[str, Any]:
    """A plan of what programs say by themselves: no method arena, no scratch."""
    pairs = []
    for path in files:
        packed = repack(models.read(path), options.rules.known, options.passes, board)
        methods = packed.program.methods
        needs = [
            MethodNeeds(index, (), (), arena=0, temp=0, slots=0, changing=False)
            for index in range(len(methods))
        ]
        pairs.append((packed, Selection(methods, tuple(needs), {}, (), {})))
    try:
        plans = plan.make_all(
            pairs,
            board,
            stack=options.stack or linker.DEFAULT_STACK,
            caller_io=options.caller_io,
        )
    except NoRoomError as error:
        return _refused(board, error.shortages)
    return plan.to_json(plans)


# ---- what would help -----------------------------------------------------------------


def _fitting(files: Sequence[Path], board: Board, options: Options) -> list[str]:
    """Other boards on which the models fit."""
    return [
        name
        for name in boards.names()
        if name != board.name
        and _attempt(files, options.rules.narrowed(boards.load(name)), options)["fits"]
    ]


def _helps(
    files: Sequence[Path], board: Board, options: Options, answer: Mapping[str, Any]
) -> Iterator[dict[str, Any]]:
    """Changes that were tried, and by how many bytes too many it is then."""
    for change, changed in _changes(options):
        tried = _attempt(files, board, changed)
        over = 0 if tried["fits"] else tried["over"]
        if over < answer.get("over", 0):
            yield {"change": change, "fits": tried["fits"], "over": over}


def _changes(options: Options) -> Iterator[tuple[str, Options]]:
    """What can be asked for on a command line or in ember.yaml."""
    left_out = [name for name in passes.DEFAULT if name not in options.passes]
    if len(left_out) > 1:
        every = passes.wanted((*options.passes, *left_out))
        yield f"the passes {', '.join(left_out)}", replace(options, passes=every)
    for name in passes.NAMES:
        if name not in options.passes:
            more = passes.wanted((*options.passes, name))
            yield f"the pass {name}", replace(options, passes=more)
    if options.steering:
        yield (
            "the memory part of ember.yaml left out",
            replace(options, steering=Steering()),
        )
    if not options.caller_io:
        yield "--caller-io", replace(options, caller_io=True)


def _as_int8(packed: Sequence[Model]) -> dict[str, int]:
    """Activations and constants if all that is float32 were int8, as far as the plan
    can tell: the instructions stay."""
    plans = [one for model in packed for one in model.replanned.values()]
    constants = 0
    for model in packed:
        sizes = {
            value.data_index: value.nbytes // _shrinks(value)
            for method in model.program.methods
            for _, value in method.tensors
            if value.is_constant
        }
        constants += sum(sizes.values())
    return {
        "activations": sum(map(_planned_as_int8, plans)),
        "constants": constants,
    }


def _planned_as_int8(plan: Replanned) -> int:
    total = sum(plan.method.planned_sizes)
    for number in plan.packed:
        buffers = []
        for one in plan.placed:
            if one.memory_id == number:
                values = (plan.method.values[value] for value in one.storage.values)
                least = min(map(_shrinks, values))
                buffer = one.storage.buffer()
                buffers.append(replace(buffer, size=-(-buffer.size // least)))
        total += offsets.place(buffers).height - plan.method.planned_sizes[number]
    return total


def _shrinks(value: types.Value) -> int:
    is_float = isinstance(value, types.Tensor) and value.dtype is DType.FLOAT32
    return _SHRINKS if is_float else 1
