"""Methods become the memory that they need: names and bytes, before any board."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from ember import program
from ember.plan.improved import Improved
from ember.program import Method
from ember.program.types import VIEWS


def model_bytes(model: Improved) -> int:
    return len(model.content) + sum(map(len, model.data))


def prefixes(methods: Sequence[Method]) -> list[str]:
    """A C identifier per method; numbered where names collide."""
    texts: list[str] = []
    for index, method in enumerate(methods):
        text = re.sub(r"\W", "_", method.name, flags=re.ASCII) or "method"
        text = text if text[0].isalpha() else f"m_{text}"
        texts.append(text if text not in texts else f"{text}_{index}")
    return texts


def shared_memories(model: Improved, methods: Sequence[Method]) -> dict[int, int]:
    """Bytes, by id, of memories in which several methods of a model keep state."""
    sizes: dict[int, int] = {}
    for method in methods if len(methods) > 1 else ():
        replanned = model.replanned.get(method.name)
        planned = (*replanned.packed, *replanned.copied) if replanned else ()
        for number, size in enumerate(method.planned_sizes):
            if replanned and number > 0 and number not in planned and size:
                sizes[number] = max(sizes.get(number, 0), size)
    return sizes


def unbound_inputs(method: Method, caller_io: bool) -> list[int | None]:
    """Per input the value that needs memory, or None."""
    seen: set[int] = set()
    return [_unbound(method, index, seen, caller_io) for index in method.inputs]


def unbound_outputs(method: Method, caller_io: bool) -> list[int | None]:
    """The same for outputs."""
    seen = {*method.inputs, *_viewed(method)}
    return [_unbound(method, index, seen, caller_io) for index in method.outputs]


def _unbound(method: Method, index: int, seen: set[int], caller_io: bool) -> int | None:
    value = method.values[index]
    unbound = isinstance(value, program.Tensor) and value.role == "unbound"
    if caller_io or not unbound or index in seen:
        return None
    seen.add(index)
    return index


def _viewed(method: Method) -> Iterable[int]:
    """Values that a view points at other memory."""
    for _, name, call in method.kernel_calls():
        if name in VIEWS:
            yield call.args[-1]
