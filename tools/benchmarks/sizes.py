# SPDX-License-Identifier: Apache-2.0
"""What firmware costs in bytes of code, constants and .data, at --optimize size.

library   every kernel with its engines
add       aten::add.out for all dtypes: the generic kernel and what it calls of the
          engines; so, too, addmm
mlp       whole firmware without the model, as exported, of a perceptron; so, too,
          ds_cnn
balanced  the same of the perceptron as `ember build` makes it unless asked otherwise
"""

from __future__ import annotations

import subprocess
from pathlib import Path

from committed_cases import path_of

from benchmarks.core import BOARDS
from ember import boards
from ember.firmware import Options, build
from ember.select.rules import Rules
from ember.toolchain import footprint, libraries, tools

# The generic kernel of an operator, and a case that calls nothing else.
_OPERATORS = {
    "add": ("aten::add.out", "op_add"),
    "addmm": ("aten::addmm.out", "op_addmm"),
}
_MODELS: dict[str, tuple[str, libraries.Optimize]] = {  # case and option
    "mlp": ("model_mlp_small", "size"),
    "ds_cnn": ("model_ds_cnn_small", "size"),
    "balanced": ("model_mlp_small", "balanced"),
}
FIGURES = {
    "library": "all kernels",
    "add": "add, all dtypes",
    "addmm": "addmm, all dtypes",
    "mlp": "firmware of mlp",
    "ds_cnn": "firmware of ds_cnn",
    "balanced": "firmware of mlp, balanced",
}

Sizes = dict[str, dict[str, int]]


def measure(folder: Path) -> Sizes:
    """All figures by core; `folder` takes what is built on the way."""
    return {
        core: {"library": library(name), **firmware(name, folder / core)}
        for core, name in BOARDS.items()
    }


def firmware(board: str, folder: Path) -> dict[str, int]:
    """All but the library, for which every kernel is compiled."""
    sizes = {}
    for kernel, (operator, case) in _OPERATORS.items():
        rules = Rules(pins={operator: kernel})
        options = Options(rules=rules, optimize="size")
        built = build(path_of(case), board, out=folder / case, options=options)
        row = built.sizes["footprint"]["libraries"]["kernels"]
        sizes[kernel] = footprint.flash(row)
    for name, (case, optimize) in _MODELS.items():
        options = Options(optimize=optimize)
        built = build(path_of(case), board, out=folder / name, options=options)
        sizes[name] = footprint.total(built.sizes["size"])
    return sizes


def library(board: str) -> int:
    """Text and data of the archives of kernels."""
    built = libraries.build(boards.load(board), optimize="size")
    names = ("libember_kernels.a", "libember_variants.a")
    archives = [path for path in built.archives if path.name in names]
    words = [tools.path("arm-none-eabi-size"), *map(str, archives)]
    done = subprocess.run(words, check=True, capture_output=True, text=True)
    rows = [line.split() for line in done.stdout.splitlines()]
    return sum(int(row[0]) + int(row[1]) for row in rows if row[0].isdigit())
