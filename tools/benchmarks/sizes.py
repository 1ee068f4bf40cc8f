# SPDX-License-Identifier: Apache-2.0
"""What kernels cost in bytes of code, constants and .data at --optimize size.

library   every kernel with its engines
add       aten::add.out for all dtypes: the generic kernel and what it calls of the
          engines; so, too, addmm
mlp       whole firmware without the model, as exported, of a perceptron; so, too,
          ds_cnn
"""

from __future__ import annotations

import subprocess
from pathlib import Path

from benchmarks.core import BOARDS
from ember import boards, build, footprint, libraries, paths, tools
from ember.rules import Rules

# The generic kernel of an operator, and a case that calls nothing else.
_OPERATORS = {
    "add": ("aten::add.out", "op_add"),
    "addmm": ("aten::addmm.out", "op_addmm"),
}
_MODELS = ("mlp", "ds_cnn")
FIGURES = {
    "library": "all kernels",
    "add": "add, all dtypes",
    "addmm": "addmm, all dtypes",
    "mlp": "firmware of mlp",
    "ds_cnn": "firmware of ds_cnn",
}

Sizes = dict[str, dict[str, int]]


def measure(folder: Path) -> Sizes:
    """All figures by core; `folder` takes what is built on the way."""
    return {core: _core(name, folder / core) for core, name in BOARDS.items()}


def _core(board: str, folder: Path) -> dict[str, int]:
    cases = paths.root() / "tests" / "cases"
    found = {"library": _library(board)}
    for kernel, (operator, case) in _OPERATORS.items():
        rules = Rules(pins={operator: kernel})
        options = build.Options(rules=rules, optimize="size")
        built = build.build(cases / case, board, out=folder / case, options=options)
        row = built.sizes["footprint"]["libraries"]["kernels"]
        found[kernel] = footprint.flash(row)
    for name in _MODELS:
        case = f"model_{name}_small"
        options = build.Options(optimize="size")
        built = build.build(cases / case, board, out=folder / case, options=options)
        found[name] = footprint.total(built.sizes["size"])
    return found


def _library(board: str) -> int:
    """Text and data of the archives of kernels."""
    made = libraries.build(boards.load(board), optimize="size")
    names = ("libember_kernels.a", "libember_variants.a")
    archives = [path for path in made.archives if path.name in names]
    words = [tools.path("arm-none-eabi-size"), *map(str, archives)]
    done = subprocess.run(words, check=True, capture_output=True, text=True)
    rows = [line.split() for line in done.stdout.splitlines()]
    return sum(int(row[0]) + int(row[1]) for row in rows if row[0].isdigit())
