# SPDX-License-Identifier: Apache-2.0
"""A case of the corpus: a name and the recipe of its program, inputs and outputs."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from dataclasses import dataclass, field

import torch

from ember.cases import ATOL, RTOL
from ember.export.cases import ExpectedRun as Run
from ember.export.cases import Exported, npy_bytes, write_case

__all__ = ["ATOL", "RTOL", "Case", "Exported", "Run", "npy_bytes", "write_case"]


@dataclass(frozen=True)
class Case:
    """A named recipe. `committed` cases stand in tests/cases."""

    name: str
    build: Callable[[], Exported] = field(repr=False)
    committed: bool = True

    def exported(self) -> Exported:
        """Run the recipe with random numbers that depend only on the name."""
        torch.manual_seed(zlib.crc32(self.name.encode()))
        with torch.no_grad():
            return self.build()
