"""Two programs that should compute the same become the faults of the second's plan.

Under both plans each method is executed with definitions in place of numbers. Then
every instruction must find in each of its arguments, byte by byte, what it found under
the first plan, constants included. It looks at no lifetimes and shares no code with
what makes plans, except the schemas of operators.
"""

from __future__ import annotations

from collections.abc import Iterator

from ember.errors import SdkError, problem_list
from ember.kernels import KernelList
from ember.plan.check import rows
from ember.plan.check.execution import Execution, Moves, changing_values
from ember.plan.check.lent import check_lent, lent_problems
from ember.program import KernelCall, Method, Program, types

__all__ = ["check", "check_lent", "lent_problems", "problems"]


def check(before: Program, after: Program, known: KernelList) -> None:
    """SdkError when the plan of `after` is wrong."""
    wrong = problems(before, after, known)
    if wrong:
        raise SdkError(
            problem_list("the memory plan is wrong", wrong),
            hint="this is a bug in Ember: please report it with the model",
        )


def problems(before: Program, after: Program, known: KernelList) -> list[str]:
    """What is wrong with the plans of `after`; empty when nothing is.

    In `before` a move copies, as in Ember; `after` must serve a move of the handle as
    well, as in ExecuTorch. Where a plan of `before` destroys a value that has a
    definition under its own name, that definition counts. SdkError for an operator that
    is not known.
    """
    names = [method.name for method in before.methods]
    if names != [method.name for method in after.methods]:
        return ["the methods differ"]
    pairs = zip(before.methods, after.methods, strict=True)
    wrong = [
        problem
        for method, other in pairs
        for problem in _of_method(before, method, after, other, known)
    ]
    return wrong or list(rows.problems(before, after))


def _of_method(
    before: Program, method: Method, after: Program, other: Method, known: KernelList
) -> list[str]:
    if _skeleton(method) != _skeleton(other):
        return [f"{method.name}: the instructions differ"]
    outside = list(_outside(other))
    if outside:
        return outside
    first = Execution(before, method, known, "copy")
    hows: tuple[Moves, ...] = ("copy", "handle") if first.has_moves else ("copy",)
    differing: dict[str, None] = {}
    for how in hows:
        second = Execution(after, other, known, how, first)
        differing.update(dict.fromkeys(_differences(first, second)))
        differing.update(dict.fromkeys(_overlaps(first, second)))
    return list(differing)


def _skeleton(method: Method) -> object:
    changing = changing_values(method)
    calls = {
        index: (name, [_argument(method, arg, changing) for arg in call.args])
        for index, name, call in method.kernel_calls()
    }
    others = [
        instruction
        for instruction in method.instructions
        if not isinstance(instruction, KernelCall)
    ]
    return calls, others, method.inputs, method.outputs


def _argument(method: Method, index: int, changing: frozenset[int]) -> object:
    """What a call is given: the content of what stays as it is stated, no tensor."""
    value = method.values[index]
    if index in changing or isinstance(value, types.Tensor):
        return index
    match value:
        case types.IntList(items):
            return [_argument(method, item, changing) for item in items]
        case types.TensorList(items) | types.OptionalTensorList(items):
            return type(value), items
    return value


def _outside(method: Method) -> Iterator[str]:
    for value, tensor in method.tensors:
        place = tensor.allocation
        if place is None:
            continue
        known = 0 < place.memory_id < len(method.planned_sizes)
        end = place.offset + tensor.nbytes
        if not known or end > method.planned_sizes[place.memory_id]:
            yield f"{method.name}: value {value} is outside its memory"
        if place.offset % tensor.dtype.itemsize:
            yield f"{method.name}: value {value} is unaligned"


def _differences(first: Execution, second: Execution) -> Iterator[str]:
    for (index, value), content in first.reads.items():
        if first.is_delegate(index) and not first.is_whole(content):
            continue  # an output: nothing is read there
        if first.is_rows(index) and value in first.inputs_of_rows(index):
            continue  # rows_enter found it; the rest is for rows.problems()
        wanted = first.expected(index, value)
        if second.reads.get((index, value)) != wanted:
            yield f"{first.where(index)}: value {value} is not what was written for it"


def _overlaps(first: Execution, second: Execution) -> Iterator[str]:
    for (index, written, other), bytes_ in second.overlaps.items():
        if first.is_rows(index):
            continue  # what lies over what is seen when the table is executed
        if not bytes_ <= first.overlaps.get((index, written, other), frozenset()):
            yield (
                f"{first.where(index)}: value {written} is written over value {other},"
                " which the same instruction uses"
            )
