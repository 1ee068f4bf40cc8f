"""A plan's figures on a model's bytes: constants, and memory of activations."""

from __future__ import annotations

from collections.abc import Sequence

from ember.plan import trim
from ember.plan.improved import Improved
from ember.program import Method, Program


def constants(model: Improved) -> dict[str, int]:
    """Bytes in the image, taken out as unused or equal, and in it for nothing."""
    kept = model.program.constants
    unused = model.program.unused_constants()
    before = model.stock or model.program
    copied = _states(model.program) - _states(before)
    needed = sum(map(len, trim.trimmed(before).constants))
    dead = sum(len(kept[index]) for index in unused)
    return {
        "bytes": sum(map(len, kept)) + copied - dead,
        "dropped": sum(map(len, before.constants)) - needed,
        "unreferenced": dead,
        "copied": copied,  # to other memory, when a method is loaded
    }


def _states(program: Program) -> int:
    """Bytes that the image holds to fill planned memory with."""
    return sum(len(piece) for segment in program.mutable_data for piece in segment)


def activations(model: Improved, methods: Sequence[Method]) -> dict[str, int]:
    """Bytes of the memory that programs plan: ours, the least possible, theirs."""
    plans = [model.replanned.get(method.name) for method in methods]
    pairs = list(zip(methods, plans, strict=True))
    return {
        "planned": sum(p.planned if p else m.planned_bytes for m, p in pairs),
        "lower_bound": sum(p.lower_bound if p else m.planned_bytes for m, p in pairs),
        "stock": sum(p.stock if p else m.planned_bytes for m, p in pairs),
    }
