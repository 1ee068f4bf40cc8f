"""The operators ember::*, as PyTorch computes them; library.py defines them."""

from __future__ import annotations

from typing import Any

from ember.export.packages import need


def requantized(sums: Any, multipliers: Any, shifts: Any) -> Any:
    """sums * multipliers * 2^(shifts - 31), rounded twice: ties up, then away from
    zero. All arguments are int64; results are int32 in int64."""
    torch = need("torch")
    right = (-shifts).clamp(min=0)
    high = ((sums << shifts.clamp(min=0)) * multipliers + (1 << 30)) >> 31
    half = (torch.ones_like(right) << right) >> 1
    negative = ((high < 0) & (right > 0)).to(torch.int64)
    return ((high + half - negative) >> right).to(torch.int32).to(torch.int64)
