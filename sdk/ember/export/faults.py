"""Faults of ExecuTorch's exporter -> whether the installed version has them.

Every workaround asks here first. A newer version needs only this list read and each
entry tried: `last` is the last version with the fault, or None if the newest version
that Ember supports has it. tests/unit/python/test_export_faults.py exports without each
workaround and checks what fails.
"""

from __future__ import annotations

import functools
import importlib.metadata
import re
from dataclasses import dataclass


@dataclass(frozen=True)
class Fault:
    what: str
    last: tuple[int, ...] | None = None


FAULTS = {
    # --- every flow ---
    "states": Fault("initial values of states are lost"),
    "strides": Fault("tensors with expanded or odd strides stop the export"),
    "reshapes": Fault("a reshape takes the bytes of an image as they are"),
    "pool strides": Fault(
        "pooling without a stride stops Cortex-M, Cadence and old XNNPACK"
    ),
    # --- Cortex-M ---
    "made constants": Fault("constants made inside stay float32, read as int8"),
    "shared scales": Fault("an activation that shares its scale is not fused"),
    "padding": Fault("padding is written in a dim order that is not the last"),
    "dim orders": Fault("images in any dim order go to kernels for channels_last"),
    "images": Fault("convolutions of images made inside stay float"),
    # --- XNNPACK ---
    "prelu": Fault("XNNPACK stops at a PReLU with other than 4 dimensions"),
    "addmm": Fault("XNNPACK ignores alpha and beta of addmm, and a matrix as its bias"),
    "gelu": Fault("XNNPACK computes GELU by tanh as the exact one"),
    "pad types": Fault("XNNPACK gets padding from float32 to int8"),
    "no elements": Fault("XNNPACK gets convolutions without results"),
    "copies": Fault("XNNPACK stops at a copy between an input and an output"),
    "constant outputs": Fault("XNNPACK keeps constants that are outputs for itself"),
    "kept orders": Fault("a delegate gets another dim order than it was written for"),
    # --- Cadence ---
    "override": Fault("its modules import what Python 3.11 does not have"),
    "signs": Fault("its Python scales sums by the negative multiplier"),
    "constant methods": Fault("its flow drops constant methods"),
}


@functools.cache
def version() -> tuple[int, ...]:
    """The version of the installed package executorch."""
    text = importlib.metadata.version("executorch")
    return tuple(map(int, re.findall(r"\d+", text)[:3]))


def has(name: str) -> bool:
    """Whether the installed ExecuTorch has a fault of FAULTS."""
    last = FAULTS[name].last
    return last is None or version() <= last
