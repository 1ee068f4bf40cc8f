"""A board and the work of a node become the least that its core takes for it.

A roofline: multiply-accumulates at the core's best rate, or bytes at that of the
memories, whichever takes longer. Nothing else is in it: a kernel near the limit has
nothing to gain on this core.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ember.boards import Board, Memory

_TYPES = {  # by what a kernel's name or a tensor's type says
    **dict.fromkeys(("int8", "uint8", "s8", "u8", "s4"), "int8"),
    **dict.fromkeys(("qs8", "qu8", "qd8", "qp8", "pqs8"), "int8"),  # XNNPACK's names
    **dict.fromkeys(("float16", "f16", "pf16"), "float16"),
    **dict.fromkeys(("float32", "f32", "pf32"), "float32"),
}


def of(board: Board) -> dict[str, Any] | None:
    """{"instruction": {"macs"}, "cycle": {"macs", "bytes", "memories"}} or None; bytes
    in a cycle, of the core and of each memory."""
    peak = board.core.peak if board.core else None
    if peak is None:
        return None
    facts: dict[str, Any] = {}
    if peak.instruction:
        facts["instruction"] = {"macs": dict(peak.instruction.macs)}
    if peak.cycle:
        bus = peak.cycle.bytes or 4
        memories = {memory.name: _rate(memory, bus) for memory in board.memories}
        facts["cycle"] = {
            "macs": dict(peak.cycle.macs),
            "bytes": bus,
            "memories": memories,
        }
    return facts


def _rate(memory: Memory, bus: float) -> float:
    """Bytes that a core with such a bus reads in a cycle."""
    widths = [width for width in (1, 2, 4, 8, 16, 32) if width <= bus]
    return max(width / memory.cycles(width) for width in widths)


def type_of(words: Iterable[str]) -> str | None:
    """The type that is multiplied: the first that a word names."""
    return next((_TYPES[word] for word in words if word in _TYPES), None)


def least(
    roof: Mapping[str, Any] | None,
    per: str,
    kind: str | None,
    macs: int,
    moved: Mapping[str | None, int],
) -> float | None:
    """The least cycles, or instructions, as `per` says; None: nobody knows.

    kind  -- of what is multiplied, as type_of() has it
    moved -- bytes by memory; None: somewhere
    """
    rates = (roof or {}).get(per)
    if rates is None:
        return None
    limits = []
    if macs and kind in rates["macs"]:
        limits.append(macs / rates["macs"][kind])
    if "bytes" in rates:
        speed = rates["memories"]
        limits.append(sum(n / speed.get(m, rates["bytes"]) for m, n in moved.items()))
    return max(limits, default=None)
