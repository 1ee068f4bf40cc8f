# SPDX-License-Identifier: Apache-2.0
"""Figures become docs/performance.md."""

from __future__ import annotations

from benchmarks import hvx, report_hexagon
from benchmarks.core import BOARDS, FIGURES, Figures
from benchmarks.int8 import Cost
from benchmarks.markdown import number, table
from benchmarks.models import ModelCost
from benchmarks.sizes import FIGURES as SIZES
from benchmarks.sizes import Sizes
from benchmarks.sme import Product

# ExecuTorch 1.4.1 as measured on the same computer with the same emulator and plugin:
# its own CMake, -Os, newlib-nano, logging off, program verification off (the default).
PEER: dict[str, dict[str, float | None]] = {
    "core": {"m4": 18132, "m55": 17664},
    "dispatch": {"m4": 124, "m55": 124},
    "load_per_call": {"m4": 2776.5, "m55": 2740.5},
    "method_arena_resnet8": {"m4": None, "m55": None},
}
PEER_SIZES: dict[str, dict[str, float | None]] = {
    "mlp": {"m4": 47780, "m55": 47372},
    "ds_cnn": {"m4": 45812, "m55": 39724},
}
# Execution and code at its fastest: portable kernels of float32 at -O3; of the
# convolutional models only int8 ones with CMSIS-NN were measured (code at -Os).
PEER_MODELS: dict[tuple[str, str], tuple[int, int, str]] = {
    ("mlp", "m4"): (7_044_121, 60_732, "float32, -O2"),
    ("mlp", "m55"): (6_128_902, 97_956, "float32, -O3"),
    ("mlp_folded", "m4"): (823_672, 85_144, "float32, -O3"),
    ("mlp_folded", "m55"): (621_352, 90_136, "float32, -O3"),
    ("resnet8", "m4"): (30_020_426, 37_936, "int8, CMSIS-NN"),
    ("resnet8", "m55"): (4_814_651, 30_808, "int8, CMSIS-NN"),
    ("ds_cnn", "m4"): (8_485_280, 45_812, "int8, CMSIS-NN"),
    ("ds_cnn", "m55"): (1_812_796, 39_724, "int8, CMSIS-NN"),
    ("mobilenet_v1", "m4"): (26_089_448, 42_816, "int8, CMSIS-NN"),
    ("mobilenet_v1", "m55"): (6_545_876, 36_616, "int8, CMSIS-NN"),
}
# The fastest build of GCC and clang; code, RAM and load at -Os, newlib-nano.
PEER_INT8: dict[tuple[str, str], tuple[int, int, int, int]] = {
    ("resnet8", "m4"): (30_007_116, 37_936, 63_484, 150_506),
    ("resnet8", "m55"): (4_428_427, 30_808, 63_540, 152_353),
    ("ds_cnn", "m4"): (8_330_894, 45_812, 30_160, 154_215),
    ("ds_cnn", "m55"): (1_768_435, 39_724, 34_736, 156_535),
    ("mobilenet_v1", "m4"): (25_470_380, 42_816, 169_684, 374_158),
    ("mobilenet_v1", "m55"): (6_090_142, 36_616, 169_740, 377_323),
    ("autoencoder", "m4"): (618_601, 24_428, 10_565, 69_725),
    ("autoencoder", "m55"): (66_132, 22_300, 11_126, 77_309),
}
# Bytes of its programs.
PEER_PROGRAMS: dict[tuple[str, str], int] = {
    ("resnet8", "m4"): 173_192,
    ("resnet8", "m55"): 173_368,
    ("ds_cnn", "m4"): 54_192,
    ("ds_cnn", "m55"): 54_240,
    ("mobilenet_v1", "m4"): 313_000,
    ("mobilenet_v1", "m55"): 313_144,
    ("autoencoder", "m4"): 278_048,
    ("autoencoder", "m55"): 284_864,
}
_NAMES = {"m4": "Cortex-M4", "m55": "Cortex-M55"}
_HEAD = """\
# Performance

Written by `tools/bench report`; do not edit. Everything is measured on firmware as
`ember build` makes it, in QEMU. Instructions are exact counts,
[not cycles](measuring.md).

"""
_RUNTIME = """\
## The runtime

"""
_NOTES = """
- *core* is all code, constants and `.data` of the runtime and of the C library parts it
  calls, without application, port and kernels. It checks every program. ExecuTorch's
  has verification off, its default in a release; with it on, it takes about 22.9 kB.
  Error sentences and events are off on both sides. Firmware of a method in which
  nothing can change links a third less of it ([runtime.md](runtime.md)).
- *core and accessors* adds all that a kernel may ask the core of its arguments, lists,
  strings and dynamic shapes included. Firmware links what its kernels ask.
- *dispatch* and *loading* are slopes between programs of 100 and 200 additions of one
  float, so that what a program costs once falls out. For dispatch the kernel is one
  that does nothing; loading has the real one, checks the program and prepares every
  node. ExecuTorch's loading checks nothing here.
- *method arena* holds values and node states of the float32 ResNet8 as exported: 29
  calls, 260 values. ExecuTorch's takes 100 bytes a call in the chains; float32 ResNet8
  was not measured with it.
- ExecuTorch 1.4.1: unmodified, its own CMake files, GCC 12.2 at -Os, newlib-nano,
  logging off. Same emulator, same machines.

`tools/bench core --check` fails when a figure is more than 2 % worse than
[the baseline](../tools/benchmarks/baseline.json).

"""
_MODELS_HEAD = """
## Small models

Firmware of committed models in float32 (`tests/cases/model_*_small`), as exported, with
the application that `ember run` uses. Bytes: *code* has constants of the code and
`.data`; *tensors* is planned memory and scratch of kernels; *stack* is what was used.

"""
_WHOLE = """
## Whole models

The 784-128-10 perceptron and the models of MLPerf Tiny at their own sizes, float32 with
batch norms as they are exported, built as by default. *mlp_folded* went through
ExecuTorch's `constant_prop_pass` when it was exported. *MACs each* is multiplications
per instruction.

"""
_WHOLE_NOTES = """
- On Cortex-M55 matrix products, convolutions, batch norms and sums run in Helium's
  float32 lanes.
- ExecuTorch's float32 rows are its fastest of -Os, -O2 and -O3. It has no float32
  kernels for Cortex-M beside the portable ones, with which the convolutional models
  were not measured. Beside ours stand its int8 models of the same shape, batch norms
  folded, with CMSIS-NN: what can be had there today, not like for like.
"""
_INT8 = """
## int8 models

Networks out of ExecuTorch's Cortex-M flow (CortexMQuantizer, CortexMPassManager), as
they are exported: for M55 with its target, for M3 with M0's, for the others with M4's.
The four of MLPerf Tiny at their own sizes, MobileNetV2 0.35 on 64 x 64, an LSTM and a
GRU of 32 over 8 steps. *code* has constants and `.data`; *RAM* is `.data`, `.bss`,
tensors, states and the stack that was used; *load* is once, *execute* each time.

"""
_INT8_NOTES = """
- ExecuTorch's cells are *execute / code / RAM / load* with CMSIS-NN; execution is the
  fastest of its builds with GCC and clang at -Os, -O2 and -O3, the rest is at -Os. It
  was measured on M4 and M55.
- `tools/bench int8 --check` fails when a figure of the small models of `tests/cases` is
  more than 2 % worse than [the baseline](../tools/benchmarks/int8.json), and names the
  kernel.
"""

_FLASH = """
### Flash

Bytes of code, with constants and `.data`, and of the whole firmware with its model;
*prepared* is with `--prepared` ([runtime.md](runtime.md#prepared-firmware)), which
executes in as many instructions.

"""
_SME = """
## Matrix products with SME

Of (m, k) by (k, n) on `qemu-a64-sme`, `-256` and `-128`, by the bits of a vector: what
nodes of XNNPACK delegates execute, packing of rows and quantising to int8 included.

"""
_SME_NOTES = """
- *of the limit*: instructions that only outer products of whole tiles would be, to
  those executed; for one row, vectors of FMLA, FMLALB or SDOT.
- *SMOPA*: outer products of int8 as the architecture has them. QEMU 7.2 computes them
  wrong; a node tries one, and where it is wrong takes half of each (*half*). Both ways
  give the same numbers where both are right.
- *int4* is the weights; their input is quantised to int8 row by row. Sums of groups are
  added in XNNPACK's order.
- KleidiAI 1.30's SME kernels, counted the same way: rows packed and quantised at run
  time, weights before. It has none for int4 in groups: that is its fastest with i8mm,
  for one row with dot products.
"""
SME_COLUMNS = (
    *("numbers", "m, k, n", "way", "bits", "instructions", "MACs each"),
    *("of the limit", "KleidiAI"),
)


_SIZES_HEAD = """
## Code size

Bytes of code, constants and `.data` with `--optimize size`.

"""
_SIZES_NOTES = """
- *all kernels* is the library with every kernel and its engines. A firmware links what
  its model calls.
- *add*, *addmm*: the kernel that takes every dtype, with all that it calls of the
  engines. A float32 program links a smaller one.
- *firmware* is everything but the model, of the small models below; *balanced* is
  without the option. ExecuTorch's are for a larger perceptron, and for a DS-CNN in
  int8.
"""


def page(
    figures: Figures,
    accessors: dict[str, int],
    sizes: Sizes,
    costs: list[ModelCost],
    whole: list[ModelCost],
    int8: list[Cost],
    products: list[Product],
) -> str:
    """The whole page."""
    return (
        _HEAD
        + core_section(figures, accessors)
        + _SIZES_HEAD
        + _sizes(sizes)
        + _SIZES_NOTES
        + _MODELS_HEAD
        + _models(costs)
        + _WHOLE
        + _whole_models(whole)
        + _WHOLE_NOTES
        + int8_section(int8)
        + _SME
        + table(SME_COLUMNS, sme_rows(products), left=3)
        + _SME_NOTES
        + report_hexagon.section(hvx.baseline())
    )


def core_section(figures: Figures, accessors: dict[str, int]) -> str:
    return _RUNTIME + _runtime(figures, accessors) + _NOTES


def int8_section(costs: list[Cost]) -> str:
    models = _INT8 + _int8_models(costs) + _INT8_NOTES
    return models + _FLASH + _flash(costs)


def sme_rows(products: list[Product]) -> list[list[str]]:
    """Cells of SME_COLUMNS."""
    return [
        [
            product.kind.title,
            "x".join(map(str, product.shape)),
            product.kind.way,
            str(product.bits),
            number(product.instructions),
            f"{product.each:.1f}",
            f"{product.of_limit:.3f}",
            number(product.peer),
        ]
        for product in products
    ]


def _sizes(sizes: Sizes) -> str:
    names = [_NAMES[core] for core in BOARDS]
    head = ["bytes", *names, *(f"ExecuTorch, {name}" for name in names)]
    rows = []
    for name, title in SIZES.items():
        ours = [number(sizes[core][name]) for core in BOARDS]
        peer = PEER_SIZES.get(name, {})
        rows.append([title, *ours, *(number(peer.get(core)) for core in BOARDS)])
    return table(head, rows, left=1)


def _runtime(figures: Figures, accessors: dict[str, int]) -> str:
    names = [_NAMES[core] for core in BOARDS]
    head = ["", *names, *(f"ExecuTorch, {name}" for name in names)]
    rows: list[list[str]] = []
    for name, title in FIGURES.items():
        ours = [number(figures[core][name]) for core in BOARDS]
        rows.append([title, *ours, *(number(PEER[name][core]) for core in BOARDS)])
        if name == "core":
            extra = [number(accessors[core]) for core in BOARDS]
            rows.append(["core and accessors, bytes", *extra, "", ""])
    return table(head, rows, left=1)


def _models(costs: list[ModelCost]) -> str:
    head = ["model", "core", "calls", "program", "code", "method arena", "tensors"]
    head += ["stack", "load, instructions", "execute, instructions"]
    rows = []
    for cost in costs:
        sizes = (cost.program, cost.code, cost.arena, cost.planned, cost.stack)
        numbers = (cost.calls, *sizes, cost.load, cost.execute)
        rows.append([cost.name, cost.core.upper(), *map(number, numbers)])
    return table(head, rows, left=2)


def _whole_models(costs: list[ModelCost]) -> str:
    head = ["model", "core", "MACs", "execute, instructions", "MACs each", "code"]
    head += ["tensors", "ExecuTorch: execute", "code", "what"]
    rows = []
    for cost in costs:
        peer = PEER_MODELS.get((cost.name, cost.core))
        numbers = [number(cost.macs), number(cost.execute)]
        numbers += [f"{cost.macs / cost.execute:.2f}", number(cost.code)]
        numbers += [number(cost.planned)]
        theirs = [number(peer[0]), number(peer[1]), peer[2]] if peer else ["-"] * 3
        rows.append([cost.name, cost.core.upper(), *numbers, *theirs])
    return table(head, rows, left=2)


def _int8_models(costs: list[Cost]) -> str:
    head = ["model", "core", "MACs", "execute", "MACs each", "code", "program", "RAM"]
    head += ["load", "ExecuTorch"]
    rows = []
    for cost in costs:
        peer = PEER_INT8.get((cost.name, cost.core))
        numbers = [number(cost.macs), number(cost.execute)]
        numbers += [f"{cost.macs / cost.execute:.2f}"]
        numbers += map(number, (cost.code, cost.program, cost.ram, cost.load))
        theirs = " / ".join(map(number, peer)) if peer else "-"
        rows.append([cost.name, cost.core.upper(), *numbers, theirs])
    return table(head, rows, left=2)


def _flash(costs: list[Cost]) -> str:
    head = ["model", "core", "code", "flash", "code, prepared", "flash, prepared"]
    head += ["ExecuTorch: code", "flash", "prepared, of that"]
    rows = []
    for cost in costs:
        key = cost.name, cost.core
        if key not in PEER_PROGRAMS:
            continue
        flash, theirs = cost.prepared + cost.prepared_program, PEER_INT8[key][1]
        whole = theirs + PEER_PROGRAMS[key]
        numbers = (
            cost.code,
            cost.code + cost.program,
            cost.prepared,
            flash,
            theirs,
            whole,
        )
        share = f"{100 * flash / whole:.0f} %"
        rows.append([cost.name, cost.core.upper(), *map(number, numbers), share])
    return table(head, rows, left=2)
