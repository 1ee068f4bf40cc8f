"""Changed fields of a program become a crafted file and what the loader must answer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import positions

from ember import program
from ember.program import Program

BAD, UNSUPPORTED, NO_MEMORY, BUDGET, NOT_FOUND = -1, -2, -3, -7, -6
OPEN, LOAD, EXECUTE = "open", "load", "execute"


@dataclass(frozen=True)
class Crafted:
    name: str
    data: bytes
    stage: str
    status: int

    @property
    def file(self) -> str:
        return self.name if self.name.endswith(".ptd") else f"{self.name}.pte"


written: list[Crafted] = []


def craft(name: str, data: bytes, stage: str = LOAD, status: int = BAD) -> None:
    """What is wrong in a method is refused when the method is loaded."""
    written.append(Crafted(name, data, stage, status))


def craft_file(name: str, data: bytes, status: int = BAD) -> None:
    """What is wrong in what methods share is refused when the file is opened."""
    written.append(Crafted(name, data, OPEN, status))


def patched(data: bytes, *changes: tuple[str, int]) -> bytes:
    """`data` with fields, by their paths, set to other numbers."""
    places = _places(data)
    changed = bytearray(data)
    for path, number in changes:
        position = places[path]
        bits = number & ((1 << 8 * position.width) - 1)
        changed[position.at : position.at + position.width] = bits.to_bytes(
            position.width, "little"
        )
    return bytes(changed)


@cache
def _places(data: bytes) -> dict[str, positions.Position]:
    return {position.path: position for position in positions.walk(data)}


def of(build: Callable[[], Program], *changes: tuple[str, int]) -> bytes:
    return patched(_written(build), *changes)


@cache
def _written(build: Callable[[], Program]) -> bytes:
    return program.write(build())


PLAN = "execution_plan[0]"
CALL = f"{PLAN}.chains[0].instructions"
