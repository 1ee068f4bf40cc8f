"""The records of a model on its way: improved by passes, then with chosen kernels.

Each holds the one before: a Model (as read) becomes an Improved, that a Chosen.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import NamedTuple, Self

from ember.model import Model
from ember.plan.passes import PassOutcome
from ember.plan.replan import Replanned
from ember.plan.rows import row_regions
from ember.program import Method, Program
from ember.select.selection import Selection


@dataclass(frozen=True)
class Improved(Model):
    """A model after passes, with its memory planned again and nothing unused."""

    stock: Program | None = None  # as it was read; None: it has its exporter's plan
    replanned: Mapping[str, Replanned] = field(default_factory=dict)  # by method
    # By method: the index that each instruction had in the program as it was read.
    origins: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    passes: tuple[PassOutcome, ...] = ()
    pass_seconds: float = 0.0  # CPU time of the passes
    # Weights that are packed in the image as kernels read them: bytes, by name.
    packed: Mapping[str, int] = field(default_factory=dict)

    @property
    def has_rows(self) -> bool:
        """Whether layers run row by row."""
        return row_regions.has_regions(self.program)

    def fed_inputs(self, method: Method) -> Mapping[int, int]:
        """The inputs that come row by row, by their index: rows of the whole image."""
        return row_regions.fed_inputs(method) if self.has_rows else {}

    @classmethod
    def of(cls, model: Model) -> Self:
        """The model as it was read, with its exporter's plan."""
        return cls(**{part.name: getattr(model, part.name) for part in fields(Model)})


class Chosen(NamedTuple):
    """An improved model with a kernel for each call."""

    model: Improved
    selection: Selection
