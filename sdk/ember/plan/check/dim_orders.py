"""A program as it was exported -> its views that read bytes in another order than they
were written in.

An exporter may take a view of an image in channels_last, whose shape no strides can
tell, without the copy that PyTorch makes: the program computes something else than the
model, on every runtime.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from ember.errors import SdkError
from ember.kernels import KernelList
from ember.output import note
from ember.plan.bases import Bases, Flow
from ember.program import Method, Program, types


def warn(name: str, program: Program, load: Callable[[], KernelList]) -> None:
    """A note for each method of a program that has such views."""
    for method in filter(_has_orders, program.methods):
        for index, value, viewed in wrong_views(method, load()):
            note(
                f"{name}, method {method.name}, instruction {index}: value {value} is a"
                f" view of value {viewed} across dim orders"
                f" ({_order(method, viewed)} as {_order(method, value)}) without a"
                " copy, so outputs may not be those of the model",
                "export the model with `ember export`, or call .contiguous() before the"
                " view or reshape",
            )
            break  # others have the same cause


def wrong_views(method: Method, known: KernelList) -> Iterator[tuple[int, int, int]]:
    """Instruction, value and what the value views; none of a method that cannot be
    followed, such as one with unknown operators."""
    try:
        flow = Flow(method, known)
        bases = Bases(flow)
        views = list(bases.views())
    except SdkError:  # other checks say more of it
        return
    for value, index, writers in views:
        for writer in writers:
            here = bases.places[writer] == bases.places[value]
            if here and _differ(method, value, writer):
                yield index, value, writer
    for index, effect in enumerate(flow.effects):
        for target, source in effect.handles:
            if _differ(method, target, source):
                yield index, target, source


def _has_orders(method: Method) -> bool:
    return any(len(_steps(tensor)) > 1 for _, tensor in method.tensors)


def _differ(method: Method, value: int, viewed: int) -> bool:
    """Whether two tensors of the same bytes have their elements in another order."""
    this, other = method.values[value], method.values[viewed]
    if not isinstance(this, types.Tensor) or not isinstance(other, types.Tensor):
        return False
    same = this.dtype is other.dtype and this.nbytes == other.nbytes
    return same and _steps(this) != _steps(other)


def _steps(tensor: types.Tensor) -> list[tuple[int, int]]:
    """Sizes and strides, first dimension first; those that one stride serves are one
    dimension, so that equal lists are equal orders of elements."""
    steps: list[tuple[int, int]] = []
    for size, stride in zip(tensor.sizes, tensor.strides, strict=True):
        if size == 1:
            continue
        if steps and steps[-1][1] == size * stride:
            steps[-1] = (steps[-1][0] * size, stride)
        else:
            steps.append((size, stride))
    return steps


def _order(method: Method, value: int) -> str:
    tensor = method.values[value]
    order: Sequence[int] = tensor.dim_order if isinstance(tensor, types.Tensor) else ()
    return f"[{','.join(map(str, order))}]"
