# SPDX-License-Identifier: Apache-2.0
"""Figures become the tables of docs/performance.md."""

from __future__ import annotations

from collections.abc import Mapping

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
# The fastest build of GCC and clang; code, RAM and load at -Os, newlib-nano; bytes of
# the program.
PEER_INT8: dict[tuple[str, str], tuple[int, int, int, int, int]] = {
    ("resnet8", "m4"): (30_007_116, 37_936, 63_484, 150_506, 173_192),
    ("resnet8", "m55"): (4_428_427, 30_808, 63_540, 152_353, 173_368),
    ("ds_cnn", "m4"): (8_330_894, 45_812, 30_160, 154_215, 54_192),
    ("ds_cnn", "m55"): (1_768_435, 39_724, 34_736, 156_535, 54_240),
    ("mobilenet_v1", "m4"): (25_470_380, 42_816, 169_684, 374_158, 313_000),
    ("mobilenet_v1", "m55"): (6_090_142, 36_616, 169_740, 377_323, 313_144),
    ("autoencoder", "m4"): (618_601, 24_428, 10_565, 69_725, 278_048),
    ("autoencoder", "m55"): (66_132, 22_300, 11_126, 77_309, 284_864),
}
_NAMES = {"m4": "Cortex-M4", "m55": "Cortex-M55"}
SME_COLUMNS = (
    *("numbers", "m, k, n", "way", "bits", "instructions", "MACs each"),
    *("of the limit", "KleidiAI"),
)


def tables(
    sizes: Sizes, costs: list[ModelCost], whole: list[ModelCost], int8: list[Cost]
) -> dict[str, str]:
    """Those of models and kernels, by the titles that they stand under."""
    return {
        "## Code size": _sizes(sizes),
        "## Small models": _models(costs),
        "## Whole models": _whole_models(whole),
        "## int8 models": _int8_models(int8),
        "### Flash": _flash(int8),
    }


def tables_of_core(figures: Figures, accessors: dict[str, int]) -> dict[str, str]:
    rows: list[list[str]] = []
    for name, title in FIGURES.items():
        ours = [number(figures[core][name]) for core in BOARDS]
        rows.append([title, *ours, *_peer(PEER[name])])
        if name == "core":
            extra = [number(accessors[core]) for core in BOARDS]
            rows.append(["core and accessors, bytes", *extra, "", ""])
    return {"## The runtime": table(_head(""), rows, left=1)}


def tables_of_sme(products: list[Product]) -> dict[str, str]:
    rows = sme_rows(products)
    return {"## Matrix products with SME": table(SME_COLUMNS, rows, left=3)}


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
    rows = []
    for name, title in SIZES.items():
        ours = [number(sizes[core][name]) for core in BOARDS]
        rows.append([title, *ours, *_peer(PEER_SIZES.get(name, {}))])
    return table(_head("bytes"), rows, left=1)


def _head(first: str) -> list[str]:
    names = [_NAMES[core] for core in BOARDS]
    return [first, *names, *(f"ExecuTorch, {name}" for name in names)]


def _peer(figures: Mapping[str, float | None]) -> list[str]:
    return [number(figures.get(core)) for core in BOARDS]


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
        theirs = " / ".join(map(number, peer[:4])) if peer else "-"
        rows.append([cost.name, cost.core.upper(), *numbers, theirs])
    return table(head, rows, left=2)


def _flash(costs: list[Cost]) -> str:
    head = ["model", "core", "code", "flash", "code, prepared", "flash, prepared"]
    head += ["ExecuTorch: code", "flash", "prepared, of that"]
    rows = []
    for cost in costs:
        key = cost.name, cost.core
        if key not in PEER_INT8:
            continue
        _, theirs, *_, program = PEER_INT8[key]
        flash, whole = cost.prepared + cost.prepared_program, theirs + program
        ours = (cost.code, cost.code + cost.program, cost.prepared, flash)
        numbers = (*ours, theirs, whole)
        share = f"{100 * flash / whole:.0f} %"
        rows.append([cost.name, cost.core.upper(), *map(number, numbers), share])
    return table(head, rows, left=2)
