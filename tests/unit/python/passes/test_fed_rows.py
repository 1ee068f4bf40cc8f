# SPDX-License-Identifier: Apache-2.0
"""An image that comes row by row gives the bits of the whole one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from row_networks import mobilenet_v1, mobilenet_v2, resnet_like
from row_programs import Network, random_network, u_network
from small_programs import KNOWN, here

from ember.cases import Case, Run
from ember.errors import SdkError
from ember.firmware import Options, build
from ember.firmware.repack import repack
from ember.model import Model
from ember.plan import check, effects, passes
from ember.plan.check import rows as check_rows
from ember.plan.improved import Improved
from ember.plan.passes.execute import Executable, scenarios
from ember.plan.rows import row_regions
from ember.program import KernelCall, Program, types
from ember.program.edit import with_values
from ember.run.poison import row_by_row
from ember.toolchain import emulator

FED = passes.with_rows(passes.DEFAULT, "fed")


def packed(model: Model) -> Improved:
    return repack(model, KNOWN, FED)


def split(program: Program, runs: Sequence[Run]) -> tuple[Run, ...]:
    case = Case("fed", Path(), b"", False, program, (), tuple(runs), 0, 0)
    return row_by_row(case).runs


def outputs(model: Model, improved: Improved) -> tuple[list[object], list[object]]:
    """Of the whole images, and of those that come row by row, one after the other."""
    pairs = []
    for runs in scenarios(model):
        pairs.append((Executable(model.program, model.content), runs))
        pairs.append((Executable.of(improved.program), split(improved.program, runs)))
    results = here().run(pairs)
    rows = len(pairs[1][1]) // len(pairs[0][1])
    whole, fed = list[object](), list[object]()
    for before, after in zip(results[::2], results[1::2], strict=True):
        assert before is not None
        assert after is not None
        assert before.status == after.status == 0
        whole += [output.values for output in before.outputs]
        fed += [output.values for output in after.outputs[rows - 1 :: rows]]
    return whole, fed


@pytest.mark.parametrize("seed", range(12))
def test_rows_of_random_networks_give_the_same_bits(seed: int) -> None:
    model = random_network(seed)
    try:
        improved = packed(model)
    except SdkError as error:  # two layers read the input
        assert "can come row by row" in error.what
        return
    whole, fed = outputs(model, improved)
    assert len(whole) > 1
    assert whole == fed


def test_most_random_networks_can_be_fed() -> None:
    refused = 0
    for seed in range(12):
        try:
            packed(random_network(seed))
        except SdkError:
            refused += 1
    assert refused < 5


@pytest.mark.parametrize(
    "model",
    [resnet_like(), u_network(2, 3, 1, 1)],
    ids=["resnet", "u"],
)
def test_networks_with_branches_give_the_same_bits(model: Model) -> None:
    whole, fed = outputs(model, packed(model))
    assert whole == fed


def test_rows_that_nobody_reads_are_taken() -> None:
    """The last row of 16, of which windows of three by two without padding reach 15."""
    net = Network(5, (1, 4, 16, 16))
    model = net.model(net.conv(net.conv(net.input, 8, 3, 2, 0), 4, 1))
    whole, fed = outputs(model, packed(model))
    assert whole == fed


@pytest.mark.parametrize(
    ("model", "most"),
    [(mobilenet_v1(0.25, 96), 16_500), (mobilenet_v2(1.0, 224), 138_000)],
    ids=["v1-0.25-96", "v2-1.0-224"],
)
def test_mobilenets_need_little_without_their_image(model: Model, most: int) -> None:
    (method,) = packed(model).program.methods
    assert method.planned_bytes <= most


def test_layers_that_read_the_input_in_step_have_a_window_together() -> None:
    net = Network(3, (1, 4, 13, 12))
    parts = [net.conv(net.input, 4), net.conv(net.input, 4, 1), net.input]
    model = net.model(net.plus(net.plus(parts[0], parts[1]), parts[2]))
    whole, fed = outputs(model, packed(model))
    assert whole == fed


def test_an_input_with_two_kinds_of_edges_is_refused() -> None:
    """Outside of it, one layer finds zeros and the other the least number."""
    net = Network(3, (1, 4, 12, 12))
    pooled = net.max_pool(net.input, 3, 1, 1)
    model = net.model(net.plus(net.conv(net.input, 4), pooled))
    with pytest.raises(SdkError, match="no input of made can come row by row"):
        packed(model)


# ---- the check -----------------------------------------------------------------------


def faults(before: Program, after: Program) -> list[str]:
    writes = {
        method.name: [e.writes | e.updates for e in effects.of(method, KNOWN)]
        for method in after.methods
    }
    return list(check_rows.fed_problems(before, after, writes, KNOWN))


def whole_of(improved: Improved) -> Program:
    """The program with its image as a whole, at memory of its own."""
    (method,) = improved.program.methods
    (region, *_) = row_regions.regions(method)
    (value,) = region.inputs
    row = method.values[value]
    assert isinstance(row, types.Tensor)
    n, c, _, w = row.sizes
    image = replace(
        row,
        sizes=(n, c, region.image_rows or 0, w),
        allocation=types.Allocation(1, -(-method.planned_sizes[1] // 16) * 16),
    )
    sizes = (0, method.planned_sizes[1] + image.nbytes + 16)
    call = method.instructions[region.rows]
    assert isinstance(call, KernelCall)
    args = call.args[: row_regions.CURSOR] + call.args[row_regions.CURSOR + 2 :]
    (chain,) = method.chains
    instructions = list(chain.instructions)
    instructions[region.rows] = KernelCall(len(method.operators), args)
    whole = replace(
        with_values(method, {value: image}),
        chains=(replace(chain, instructions=tuple(instructions)),),
        operators=(*method.operators, row_regions.ROWS),
        planned_sizes=sizes,
    )
    return replace(improved.program, methods=(whole,))


def edited(improved: Improved, change: Callable[[list[types.Value]], None]) -> Program:
    (method,) = improved.program.methods
    values = list(method.values)
    change(values)
    return replace(improved.program, methods=(replace(method, values=tuple(values)),))


def test_the_check_finds_what_is_wrong() -> None:
    improved = packed(resnet_like())
    before = whole_of(improved)
    assert faults(before, improved.program) == []
    (method,) = improved.program.methods
    (region, *_) = row_regions.regions(method)
    call = method.instructions[region.rows]
    assert isinstance(call, KernelCall)
    cursor, rows = call.args[row_regions.CURSOR :][:2]
    slab, (value,) = region.slab, region.inputs

    def moved_to(other: int, number: int) -> Callable[[list[types.Value]], None]:
        def change(values: list[types.Value]) -> None:
            here, there = values[number], values[other]
            assert isinstance(here, types.Tensor)
            assert isinstance(there, types.Tensor)
            values[number] = replace(here, allocation=there.allocation)

        return change

    def fewer(values: list[types.Value]) -> None:
        values[rows] = types.Int(31)

    for change, said in (
        (fewer, "more or fewer rows"),
        (moved_to(slab, cursor), "share memory while rows come"),
        (moved_to(value, cursor), "share memory while rows come"),
        (moved_to(slab, value), "share memory while rows come"),
    ):
        wrong = edited(improved, change)
        assert any(said in fault for fault in faults(before, wrong)), said
        if change is not fewer:  # after memory was planned again, too
            assert check.problems(improved.program, wrong, KNOWN)


@pytest.mark.parametrize("kind", ["in", "skip"])
def test_tables_that_take_other_rows_are_found(kind: str) -> None:
    improved = packed(resnet_like())
    before = whole_of(improved)
    (method,) = improved.program.methods
    (region, *_) = row_regions.regions(method)
    table = method.values[region.table]
    assert isinstance(table, types.Tensor)
    constants = list(improved.program.constants)
    data = bytearray(constants[table.data_index])
    windows, actions = int.from_bytes(data[:2], "little"), data[2]
    first = 8 + 12 * windows
    kinds = [data[first + 4 * n] for n in range(actions)]
    wanted = 2 if kind == "in" else 3  # EMBER_ROWS_IN, EMBER_ROWS_RUN
    steps = range(first + 4 * actions, len(data))
    at = [n for n in steps if kinds[data[n]] == wanted][5]
    data[at] = data[at + 1]
    constants[table.data_index] = bytes(data)
    assert faults(before, replace(improved.program, constants=tuple(constants)))


def test_what_comes_before_the_region_is_found() -> None:
    improved = packed(resnet_like())
    (method,) = improved.program.methods
    (chain,) = method.chains
    node = chain.instructions[1]
    instructions = (node, *chain.instructions)
    late = replace(method, chains=(replace(chain, instructions=instructions),))
    said = faults(
        replace(improved.program, methods=(late,)),
        replace(improved.program, methods=(late,)),
    )
    assert any("does not begin the method" in fault for fault in said)


# ---- applications --------------------------------------------------------------------

APPLICATION = """
#include "ember/feed.h"
#include "ember/model.h"
#include "ember/port.h"
#include <string.h>
static ember_program_t program;
static ember_method_t method;
static int8_t rows[33 * 96];
static void say(int is_right) { ember_port_log(is_right ? "y" : "n"); }
static void result(int8_t *to) {
    ember_value_t output;
    ember_status_t status = ember_method_output(&method, 0, &output);
    say(status == EMBER_OK && output.as_tensor.numel == 32);
    memcpy(to, output.as_tensor.data, 32);
}
int main(void) {
    uint32_t missing = 7;
    int8_t first[32], second[32], third[32];
    for (uint32_t i = 0; i < sizeof(rows); i++) {
        rows[i] = (int8_t)(i * i / 7);
    }
    say(ember_model_open(&program, NULL) == EMBER_OK);
    say(ember_model_load(&method, &program, NULL, NULL) == EMBER_OK);
    if (FED) {
        say(ember_method_feed(&method, rows, 33, &missing, NULL) ==
            EMBER_BAD_ARGUMENT);
        say(ember_method_feed(&method, rows, 0, &missing, NULL) == EMBER_OK);
        say(missing == 32);
        say(ember_method_feed(&method, rows, 32, &missing, NULL) == EMBER_OK);
        say(missing == 0);
        result(first);
        say(ember_method_feed(&method, rows + 96, 20, &missing, NULL) == EMBER_OK);
        say(missing == 12);
        say(ember_method_feed(&method, rows, 13, &missing, NULL) ==
            EMBER_BAD_ARGUMENT);
        say(ember_method_feed_anew(&method, NULL) == EMBER_OK);
        for (uint32_t i = 0; i < 32; i += 8) {
            say(ember_method_feed(&method, rows + i * 96, 8, &missing, NULL) ==
                EMBER_OK);
            say(missing == 24 - i);
        }
        result(second);
        say(memcmp(first, second, 32) == 0);
        say(ember_method_feed(&method, rows + 96, 32, &missing, NULL) == EMBER_OK);
        result(third);
        say(memcmp(first, third, 32) != 0);
    } else {
        say(ember_method_feed(&method, rows, 1, &missing, NULL) ==
            EMBER_UNSUPPORTED);
        say(ember_method_feed_anew(&method, NULL) == EMBER_UNSUPPORTED);
    }
    return 0;
}
"""


@pytest.mark.slow
@pytest.mark.parametrize("rows", ["fed", "smallest"])
def test_applications_that_feed_too_much_or_begin_anew(
    rows: passes.Rows, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    app, model = tmp_path / "app.c", tmp_path / "model.pte"
    app.write_text(APPLICATION.replace("FED", str(int(rows == "fed"))))
    model.write_bytes(resnet_like().content)
    options = Options(app=app, rows=rows)
    built = build(model, "host", options=options)
    said = emulator.run(built.board, built.firmware).check("app").text
    assert set(said) == {"y"}, said
    assert len(said) == (25 if rows == "fed" else 4)
