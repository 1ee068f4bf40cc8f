"""Two programs that should compute the same become the faults of the second's plan.

Under both plans each method is executed with definitions in place of numbers. Then
every instruction must find in each of its arguments, byte by byte, what it found under
the first plan, constants included. The check looks at no lifetimes and shares no code
with what makes plans, except the schemas of operators.

Where scratch overlaps an image, every byte from the start of scratch on is changed. The
file must still say what it said, except for payloads without constants, which are read
only at load. This check uses neither the loader nor the code that chose the place.
"""

from __future__ import annotations

from collections.abc import Iterator

from ember import program
from ember.errors import SdkError, problem_list
from ember.files import xnnpack
from ember.kernels import KernelList
from ember.plan.check import rows
from ember.plan.check.execution import Execution, Moves, changing_values
from ember.program import Delegate, KernelCall, Method, Program, types

__all__ = ["check", "check_lent", "lent_problems", "problems"]


def check(before: Program, after: Program, known: KernelList) -> None:
    """Raises SdkError if the plan of `after` is wrong."""
    wrong = problems(before, after, known)
    if wrong:
        raise SdkError(
            problem_list("the memory plan is wrong", wrong),
            hint="this is a bug in Ember: please report it with the model",
        )


def problems(before: Program, after: Program, known: KernelList) -> list[str]:
    """What is wrong with the plans of `after`; empty if nothing is.

    In `before` a move copies, as in Ember; `after` must serve a move of the handle as
    well, as in ExecuTorch. Where a plan of `before` destroys a value that has a
    definition under its own name, that definition counts. Raises SdkError for an
    unknown operator.
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
    return wrong or list(rows.problems(before, after, known))


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
    """What a call is given: the content of a constant value, else its index."""
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
        exists = 0 < place.memory_id < len(method.planned_sizes)
        end = place.offset + tensor.nbytes
        if not exists or end > method.planned_sizes[place.memory_id]:
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
            continue  # overlaps show when the table is executed
        if not bytes_ <= first.overlaps.get((index, written, other), frozenset()):
            yield (
                f"{first.where(index)}: value {written} is written over value {other},"
                " which the same instruction uses"
            )


# ---- scratch over payloads -----------------------------------------------------------


_ALL_BITS = 0xFF


def check_lent(content: bytes, method: str, start: int) -> None:
    """Raises SdkError if `method`, once loaded, reads a byte from `start` on."""
    overlaps = list(lent_problems(content, method, start))
    if overlaps:
        raise SdkError(
            problem_list("scratch would overlap data that is still needed", overlaps),
            hint="this is a bug in Ember: please report it with the model",
        )


def lent_problems(content: bytes, method: str, start: int) -> Iterator[str]:
    changed = content[:start] + bytes(byte ^ _ALL_BITS for byte in content[start:])
    before = program.parse(content)
    try:
        after = program.parse(changed)
    except SdkError as error:
        yield str(error)
        return
    for name in ("constants", "mutable_data", "named_data"):
        if getattr(before, name) != getattr(after, name):
            yield f"{name.replace('_', ' ')} of the program"
    for old, new in zip(before.methods, after.methods, strict=True):
        yield from _overlapped(old, new, loaded=old.name == method)


def _overlapped(before: Method, after: Method, *, loaded: bool) -> Iterator[str]:
    pairs = zip(before.delegates, after.delegates, strict=True)
    for number, (delegate, other) in enumerate(pairs):
        if delegate != other and not (loaded and _is_copied(delegate)):
            yield f"delegate {number} of {before.name}"


def _is_copied(delegate: Delegate) -> bool:
    """Whether loading copies everything that it needs from the payload."""
    if delegate.id != xnnpack.BACKEND:
        return False
    return not any(_is_inside(value) for value in xnnpack.parse(delegate.data).values)


def _is_inside(value: xnnpack.Value) -> bool:
    """Whether the payload holds a constant, or the scales of one."""
    scaled = "scale_buffer_idx" in (value.quantisation or {})
    return (value.constant and not value.key) or (scaled and not value.scales_key)
