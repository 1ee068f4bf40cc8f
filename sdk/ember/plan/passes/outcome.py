"""What became of the passes of a model, as commands tell it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Status = Literal["used", "idle", "dropped"]


@dataclass(frozen=True)
class Outcome:
    """Of one pass. Bytes and instructions are how many fewer there are."""

    name: str
    status: Status  # idle: it found nothing that pays
    planned: int = 0
    constants: int = 0
    instructions: int = 0
    reason: str = ""  # why it was dropped
