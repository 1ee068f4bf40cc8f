"""tools/bench: the costs of the runtime are measured, and within their bounds."""

from __future__ import annotations

import copy
import dataclasses
import json
import subprocess
import sys
from pathlib import Path

import compilers
import pytest
from benchmarks import core, cycles, hvx, hvx_layers, int8, sizes

from ember import boards, paths
from ember.toolchain import footprint

pytestmark = pytest.mark.qemu
BENCH = paths.root() / "tools" / "bench"
# Hard bounds; the baseline holds what was reached.
BOUNDS = {
    "core": 9900,
    "dispatch": 13,  # 10 that charge nothing, and 3
    "load_per_call": 1240,
    "method_arena_resnet8": 4096,
}
# Bytes with kernels at -Os, on either core.
SIZE_BOUNDS = {
    "library": 290_000,
    "add": 3_112,
    "addmm": 2_500,
    "mlp": 13_700,
    "ds_cnn": 22_200,
    "balanced": 16_650,
}


def bench(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, BENCH, *words], capture_output=True, text=True, check=False
    )


def test_core_figures_are_within_their_bounds() -> None:
    done = bench("core", "--json", "-")
    assert done.returncode == 0, done.stderr
    figures = json.loads(done.stdout)
    assert list(figures) == ["m4", "m55"]
    for values in figures.values():
        assert list(values) == list(core.FIGURES)
        assert values["core"] > 4096
        assert values["dispatch"] > 2
        assert values["load_per_call"] > 100
        assert values["method_arena_resnet8"] > 512
        for name, bound in BOUNDS.items():
            assert values[name] <= bound, name


def test_what_a_core_is_made_of(tmp_path: Path) -> None:
    for name in core.BOARDS.values():
        built = core.firmware(boards.load(name), tmp_path / name, "nothing", 100)
        pieces = footprint.pieces(built.firmware.with_suffix(".map"))
        archives = {piece.archive for piece in pieces}
        # No kernel, and our own memcpy in place of the C library's.
        assert archives == {None, "libember_core", "libember_libc"}
        objects = sum(piece.size for piece in pieces if piece.archive is None)
        assert sum(built.archives.values()) - built.core - objects < 64
        assert any(piece.section == ".text.memcpy" for piece in pieces)


@pytest.mark.parametrize("board", core.BOARDS.values())
def test_sizes_are_within_their_bounds(board: str, tmp_path: Path) -> None:
    figures = sizes.firmware(board, tmp_path)
    assert ["library", *figures] == list(sizes.FIGURES) == list(SIZE_BOUNDS)
    for name, size in figures.items():
        bound = SIZE_BOUNDS[name] * compilers.slack()
        assert bound / 4 < size <= bound, name


@pytest.mark.long  # compiles every kernel for firmware, without sentences
@pytest.mark.parametrize("board", core.BOARDS.values())
def test_all_kernels_are_within_their_bound(board: str) -> None:
    bound = SIZE_BOUNDS["library"]
    assert bound / 4 < sizes.library(board) <= bound


def test_a_worse_figure_is_named() -> None:
    before = core.baseline()
    assert core.worse(before, before) == []
    after = copy.deepcopy(before)
    after["m55"]["core"] = round(before["m55"]["core"] * 1.03)
    after["m4"]["dispatch"] = before["m4"]["dispatch"] * 1.01
    (sentence,) = core.worse(after, before)
    assert sentence.startswith("runtime core, bytes, on m55: ")


def test_without_arguments_it_helps() -> None:
    done = bench()
    assert done.returncode == 0
    assert "core" in done.stdout
    assert "report" in done.stdout


# ---- int8 models ---------------------------------------------------------------------


@pytest.mark.long  # builds seven models on two cores, twice
def test_int8_models_are_no_worse_than_their_baseline() -> None:
    done = bench("int8", "--check", "--json", "-")
    assert done.returncode == 0, done.stderr
    costs = json.loads(done.stdout)
    assert {cost["name"] for cost in costs} == set(int8.SMALL)
    assert {cost["core"] for cost in costs} == set(int8.CHECKED)


def test_what_got_worse_names_the_kernel() -> None:
    before = int8.baseline()
    on_m4, on_m55, *rest = before
    name = next(name for name in on_m4.kernels if "conv2d" in name)
    slow = dataclasses.replace(
        on_m4,
        kernels={**on_m4.kernels, name: int(1.1 * on_m4.kernels[name])},
        execute=int(1.05 * on_m4.execute),
    )
    large = dataclasses.replace(on_m55, code=2 * on_m55.code)
    first, second = int8.worse([slow, large, *rest], before)
    assert first.startswith("int8 resnet8 on M4: execute is ")
    assert f"{name} takes" in first
    assert second.startswith("int8 resnet8 on M55: code is ")
    assert int8.worse(before, before) == []


@pytest.mark.long
def test_cycles_are_no_worse_than_their_baseline() -> None:
    done = bench("cycles", "--check", "--json", "-")
    assert done.returncode == 0, done.stderr
    costs = json.loads(done.stdout)
    assert {(cost["name"], cost["core"]) for cost in costs} == {
        (f"{name}_small", core) for name, core in cycles.SMALL
    }
    for cost in costs:  # M55 issues no more than one instruction a cycle here
        assert cost["execute"] > 0.9 * cost["instructions"]
        assert cost["here"] >= cost["execute"]


def test_more_cycles_with_as_many_instructions_are_worse() -> None:
    before = cycles.baseline()
    assert {(cost.name, cost.core) for cost in before} > set(cycles.WHOLE)
    assert cycles.worse(before, before) == []
    cost = before[0]
    name = max(cost.kernels, key=lambda key: cost.kernels[key])
    slow = dataclasses.replace(
        cost,
        kernels={**cost.kernels, name: int(1.1 * cost.kernels[name])},
        execute=int(1.05 * cost.execute),
    )
    (sentence,) = cycles.worse([slow], before)
    assert f"execute is {slow.execute:,}" in sentence
    assert f"{name} takes" in sentence
    new = dataclasses.replace(slow, name="new")
    assert "the baseline lacks them" in cycles.worse([new], before)[0]


# ---- Hexagon -------------------------------------------------------------------------


@pytest.mark.long  # builds 21 programs, most of them for two boards
def test_hexagon_is_no_worse_than_its_baseline() -> None:
    done = bench("hvx", "--check", "--json", "-")
    assert done.returncode == 0, done.stderr
    each = {
        cost["name"]: cost["macs"] / cost["packets"] for cost in json.loads(done.stdout)
    }
    layers, models = len(hvx_layers.LAYERS), len(int8.SMALL)
    assert len(each) == layers + models + len(hvx.DELEGATES)
    assert each["linear 128x1024x1024"] >= 205
    assert each["conv 3x3 64->64 on 8x8"] >= 131
    assert each["depthwise 3x3 128->128 on 24x24"] >= 28


@pytest.mark.broad
@pytest.mark.slow
@pytest.mark.parametrize("layer", hvx_layers.LAYERS[-4:], ids=lambda each: each.title)
def test_a_layer_has_the_same_bits_and_takes_fewer_packets(
    layer: hvx_layers.Layer, tmp_path: Path
) -> None:
    cost = hvx.layer_cost(layer, tmp_path)  # compares the bits
    assert cost.packets < 3 * cost.macs  # portable C takes more


def test_more_packets_are_worse() -> None:
    before = hvx.baseline()
    assert hvx.worse(before, before) == []
    first = dataclasses.replace(before[0], packets=round(before[0].packets * 1.03))
    (sentence,) = hvx.worse([first, *before[1:]], before)
    assert sentence.startswith(f"{before[0].name} on Hexagon takes ")
