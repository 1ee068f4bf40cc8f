#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Lists of the installed ExecuTorch and PyTorch x kernels.yaml -> what has no entry.

    tools/coverage.py          a line for each list, and the reason of each gap

Exit status 1 when an operator has neither an entry nor a reason, or a reason is not
needed any more.
"""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path

os.environ.setdefault("TORCH_CPP_LOG_LEVEL", "ERROR")
warnings.filterwarnings("ignore")

import executorch  # noqa: E402 - the log level must be set first
import torch  # noqa: E402
import yaml  # noqa: E402
from executorch.exir.passes import dim_order_ops_registry, executorch_prim_ops_registry  # noqa: E402

sys.path.insert(0, str(Path(__file__).parents[1] / "sdk"))

from ember import kernels  # noqa: E402

COMPLEX = "has complex tensors, of which `ember export` makes pairs of real ones"
DECOMPOSED = "the exporter takes it apart into other operators"

# Operators without an entry -> why.
REASONS = {
    "aten::_fft_c2r.out": COMPLEX,
    "aten::_fft_r2c.out": COMPLEX,
    "aten::view_as_real_copy.out": COMPLEX,
    "aten::adaptive_avg_pool1d.out": DECOMPOSED,
    "aten::avg_pool1d.out": DECOMPOSED,
    "aten::resize_": "changes a shape in place, which the exporter refuses",
    "aten::sym_is_contiguous": "True in a program, and written as such",
    "aten::sym_storage_offset": "always 0 in a program, and written as such",
}


def listed(file: str) -> Iterator[str]:
    """Names of the operators in one of ExecuTorch's lists."""
    root = Path(next(iter(executorch.__path__))) / "kernels"
    for entry in yaml.safe_load((root / file).read_text(encoding="utf-8")):
        name = entry.get("op") or entry["func"].split("(")[0]
        yield name if "::" in name else f"aten::{name}"


def name_of(overload: torch._ops.OpOverload) -> str:
    name = overload._schema.overload_name
    return f"{overload._schema.name}.{name}".rstrip(".")


def core() -> Iterator[str]:
    """Names that core ATen operators have in a program."""
    for name in dir(torch.ops.aten):
        packet = getattr(torch.ops.aten, name)
        for overload in packet.overloads() if hasattr(packet, "overloads") else ():
            overload_of = getattr(packet, overload)
            if torch.Tag.core in overload_of.tags:
                yield written(overload_of)


def inputs(overload: torch._ops.OpOverload) -> list[str]:
    """What a call needs that is not an output or an option of tensors."""
    skipped = {"dtype", "layout", "device", "pin_memory", "memory_format"}
    arguments = overload._schema.arguments
    return [
        argument.name
        for argument in arguments
        if not argument.is_out and argument.name not in skipped
    ]


def written(overload: torch._ops.OpOverload) -> str:
    """The name in a program: the out variant's, of the copy for a view."""
    name = name_of(overload)
    if name in kernels.load().operators:
        return name
    base = overload._schema.name.removeprefix("aten::")
    for kind in (base, f"{base}_copy"):
        packet = getattr(torch.ops.aten, kind, None)
        for other in packet.overloads() if packet else ():
            overload_of = getattr(packet, other)
            is_out = any(argument.is_out for argument in overload_of._schema.arguments)
            if is_out and inputs(overload_of) == inputs(overload):
                return name_of(overload_of)
    return name


def defined(library: object) -> Iterator[str]:
    """Names that one of the exporter's own libraries defines."""
    for name in sorted(getattr(library, "_op_defs", ())):
        if name.endswith(".out") or "prim" in name:
            yield name


LISTS = {
    "portable": lambda: listed("portable/functions.yaml"),
    "portable, custom": lambda: listed("portable/custom_ops.yaml"),
    "portable, copies": lambda: listed("portable/et_copy_ops.yaml"),
    "quantized": lambda: listed("quantized/quantized.yaml"),
    "prim": lambda: defined(executorch_prim_ops_registry.executorch_prims_lib),
    "dim_order": lambda: defined(dim_order_ops_registry.lib),
    "core ATen": core,
}


def main() -> int:
    known = set(kernels.load().operators)
    needed: set[str] = set()
    status = 0
    for title, names in LISTS.items():
        wanted = list(names())  # overloads of a view share a name
        gaps = sorted(name for name in wanted if name not in known)
        print(f"{title}: {len(wanted) - len(gaps)} of {len(wanted)}")
        for name in gaps:
            print(f"  {name}: {REASONS.get(name, 'MISSING')}")
            status |= name not in REASONS
        needed.update(gaps)
    for name in sorted(set(REASONS) - needed):
        print(f"{name} needs no reason any more")
        status = 1
    return status


if __name__ == "__main__":
    sys.exit(main())
