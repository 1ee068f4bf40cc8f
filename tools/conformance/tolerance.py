# SPDX-License-Identifier: Apache-2.0
"""dtypes: short names, and how far from PyTorch a result may be."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import torch

TAGS = {
    torch.float64: "f64",
    torch.float32: "f32",
    torch.float16: "f16",
    torch.bfloat16: "bf16",
    torch.int64: "s64",
    torch.int32: "s32",
    torch.int16: "s16",
    torch.int8: "s8",
    torch.uint8: "u8",
    torch.bool: "b1",
}
# About 1.5 units in the last place of the short types: both sides compute in float32
# and round once, so that they differ only where the rounding does.
TOLERANCE = {
    torch.float64: (1e-9, 1e-11),
    torch.float32: (1e-5, 2e-6),
    torch.float16: (1.5e-3, 1e-4),
    torch.bfloat16: (1.2e-2, 1e-3),
}


def tag(dtype: torch.dtype) -> str:
    return TAGS.get(dtype, str(dtype).removeprefix("torch."))


def tolerance(values: Iterable[Any]) -> tuple[float, float]:
    """Return rtol and atol for the coarsest dtype among inputs and outputs."""
    dtypes = {x.dtype for x in values if isinstance(x, torch.Tensor)}
    known = [TOLERANCE[dtype] for dtype in dtypes if dtype in TOLERANCE]
    return max(known, default=(0.0, 0.0))
