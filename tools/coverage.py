#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Lists of the installed ExecuTorch and PyTorch x kernels.yaml -> what has no entry.

    tools/coverage.py          a line for each list, and the reason of each gap
    tools/coverage.py --write  tools/libraries.yaml: operators by library

Exit status 1 when an operator has neither an entry nor a reason, or a reason is not
needed any more. The file is written again only when the pinned versions change: the
documentation is made from it, without them.
"""

from __future__ import annotations

import importlib.metadata
import importlib.resources
import os
import sys
import warnings
from pathlib import Path

os.environ.setdefault("TORCH_CPP_LOG_LEVEL", "ERROR")
warnings.filterwarnings("ignore")

import torch  # noqa: E402 - the log level must be set first
import yaml  # noqa: E402
from executorch.exir.operator.convert import to_out_variant  # noqa: E402
from executorch.exir.passes import dim_order_ops_registry  # noqa: E402
from executorch.runtime import Runtime  # noqa: E402

from ember import kernels  # noqa: E402

PAGE = Path(__file__).parent / "libraries.yaml"
HEAD = """\
# Which library of ExecuTorch {version} has which operator, and the out variants of the
# Core ATen operators of torch {torch}. Written by tools/coverage.py.
"""
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


def listed(*files: str) -> set[str]:
    """Operators of kernel lists of the executorch package."""
    folder = importlib.resources.files("executorch") / "kernels"
    names = set()
    for file in files:
        for entry in yaml.safe_load((folder / file).read_text(encoding="utf-8")):
            name = (entry.get("op") or entry["func"]).split("(")[0]
            names.add(name if "::" in name else f"aten::{name}")
    return names


def core() -> dict[str, str]:
    """Core ATen overloads, each with the name that programs have for it."""
    names = {}
    for name in dir(torch.ops.aten):
        packet = getattr(torch.ops.aten, name)
        for overload in getattr(packet, "overloads", list)():
            operator = getattr(packet, overload)
            if torch.Tag.core in operator.tags:
                short = operator._schema.overload_name
                names[f"aten::{name}" + (f".{short}" if short else "")] = out(operator)
    return names


def out(operator: torch._ops.OpOverload) -> str:
    """The out variant of an operator (of its copying form, for a view), or itself."""
    name = operator._schema.name.removeprefix("aten::")
    copy = getattr(torch.ops.aten, f"{name}_copy", None)
    overload = operator._overloadname
    if copy is not None and overload in copy.overloads():
        operator = getattr(copy, overload)
    try:
        schema = to_out_variant(operator)[0]._schema
        return f"{schema.name}.{schema.overload_name}".rstrip(".")
    except Exception:  # it finds several, or none
        return sibling(operator) or f"aten::{name}.{overload}".removesuffix(".default")


def sibling(operator: torch._ops.OpOverload) -> str | None:
    """An out variant with the same arguments."""
    wanted = [str(argument.type) for argument in operator._schema.arguments]
    for other in operator.overloadpacket.overloads():
        schema = getattr(operator.overloadpacket, other)._schema
        given = [argument for argument in schema.arguments if not argument.is_out]
        named = len(given) < len(schema.arguments) and not schema.name.endswith("_")
        if named and [str(argument.type) for argument in given] == wanted:
            return f"{schema.name}.{schema.overload_name}"
    return None


def libraries() -> dict[str, list[str] | dict[str, str]]:
    """As libraries.yaml has them."""
    portable = listed("portable/functions.yaml", "portable/et_copy_ops.yaml")
    quantized = listed("quantized/quantized.yaml")
    registered = set(Runtime.get().operator_registry.operator_names)
    aten = {"aten::_local_scalar_dense", "aten::sym_numel", "aten::sym_size.int"}
    prim = {name for name in registered if name.startswith("executorch_prim::")} | aten
    return {
        "portable": sorted(portable),
        "quantized": sorted(quantized),
        "prim": sorted(prim),
        "optimized": sorted(registered - portable - quantized - prim),
        "core": dict(sorted(core().items())),
    }


def write() -> None:
    version = importlib.metadata.version("executorch")
    head = HEAD.format(version=version, torch=torch.__version__.split("+")[0])
    text = yaml.safe_dump(libraries(), sort_keys=False, width=88)
    PAGE.write_text(head + text, encoding="utf-8")


def main() -> int:
    if "--write" in sys.argv[1:]:
        write()
        return 0
    known = set(kernels.load().operators)
    defined = getattr(dim_order_ops_registry.lib, "_op_defs", ())
    lists = {
        **libraries(),
        "portable, custom": listed("portable/custom_ops.yaml"),
        "dim_order": [name for name in defined if name.endswith(".out")],
    }
    needed: set[str] = set()
    status = 0
    for title, names in lists.items():
        wanted = list(names.values() if isinstance(names, dict) else names)
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
