"""The outcome of the passes of a model, as commands report it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Status = Literal["used", "idle", "dropped"]


@dataclass(frozen=True)
class PassOutcome:
    """The outcome of one pass; bytes and instructions are those it saved."""

    name: str
    status: Status  # idle: it found nothing that pays
    planned: int = 0
    constants: int = 0
    instructions: int = 0
    reason: str = ""  # why it was dropped
