"""A board whose firmware detects what its core has becomes the cores it may find."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ember.boards import Board

# ember_cpu_t of runtime_c/include/ember/port.h.
_BITS = {"neon": 1, "dot": 4, "i8mm": 8, "sme": 16, "fhm": 64, "bf16mm": 256}
# Each with those before it, as runtime_c/port/linux_user/features_aarch64.h has it.
_STEPS = ("neon", "dot", "fhm", "i8mm", "bf16mm", "sme")
_LENGTHS = (128, 256, 512, 1024, 2048)


@dataclass(frozen=True)
class Level:
    """A core that firmware of a board may find."""

    isa: tuple[str, ...]
    svl: int | None  # bits of a streaming vector; with SME

    @property
    def cpu(self) -> int:
        return sum(_BITS[name] for name in self.isa)

    @property
    def name(self) -> str:
        """Its best instruction set, as a user would say it."""
        if not self.isa:
            return "none"
        return f"{self.isa[-1]}-{self.svl}" if self.svl else self.isa[-1]


def of(board: Board) -> tuple[Level, ...]:
    """From the least core to the one with all that the board lists; () where the
    board's core is known."""
    return tuple(_ladder(board)) if board.detects else ()


def _ladder(board: Board) -> Iterator[Level]:
    for count in range(1, len(_STEPS) + 1):
        sets = tuple(name for name in _STEPS[:count] if name in board.isa)
        if _STEPS[count - 1] not in board.isa:
            continue
        if sets[-1] != "sme":
            yield Level(sets, None)
            continue
        for svl in _LENGTHS:
            if board.svl is not None and svl <= board.svl:
                yield Level(sets, svl)
