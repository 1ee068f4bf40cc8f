#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The installed torch and executorch -> tools/libraries.yaml: operators by library.

Needed again only when the pinned versions change; the documentation is made from the
file, without them.
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
from executorch.runtime import Runtime  # noqa: E402

PAGE = Path(__file__).parent / "libraries.yaml"
HEAD = """\
# Which library of ExecuTorch {version} has which operator, and the out variants of the
# Core ATen operators of torch {torch}. Written by tools/list_libraries.py.
"""


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


def main() -> int:
    portable = listed("portable/functions.yaml", "portable/et_copy_ops.yaml")
    quantized = listed("quantized/quantized.yaml")
    registered = set(Runtime.get().operator_registry.operator_names)
    aten = {"aten::_local_scalar_dense", "aten::sym_numel", "aten::sym_size.int"}
    prim = {name for name in registered if name.startswith("executorch_prim::")} | aten
    data = {
        "portable": sorted(portable),
        "quantized": sorted(quantized),
        "prim": sorted(prim),
        "optimized": sorted(registered - portable - quantized - prim),
        "core": dict(sorted(core().items())),
    }
    version = importlib.metadata.version("executorch")
    head = HEAD.format(version=version, torch=torch.__version__.split("+")[0])
    PAGE.write_text(head + yaml.safe_dump(data, sort_keys=False, width=88))
    return 0


if __name__ == "__main__":
    sys.exit(main())
