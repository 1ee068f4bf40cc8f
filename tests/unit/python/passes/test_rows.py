# SPDX-License-Identifier: Apache-2.0
"""Regions of rows give the bits of whole tensors, and say truly what they need."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pace
import pytest
from committed_cases import path_of
from float_row_programs import residual_floats
from row_networks import mobilenet_v1, mobilenet_v2, resnet_like
from row_programs import Network, apart, random_network, u_network
from row_regions_of import (
    every_region,
    largest_region,
    some_give_the_same_bits,
    unplaced,
    with_region,
)
from small_programs import KNOWN, general, here

from ember import boards, cli
from ember.errors import SdkError
from ember.firmware import project
from ember.firmware.repack import repack
from ember.model import Model
from ember.plan import passes
from ember.plan.check import rows as check_rows
from ember.plan.passes import rows
from ember.plan.passes.execute import Computer, Executable, compare, scenarios
from ember.plan.replan import replan
from ember.plan.rows import cascade, choose, forms, row_regions, schedule
from ember.plan.rows.cascade import Cascade
from ember.plan.rows.lives import RowLives
from ember.plan.rows.schedule import OutOfStepError, Schedule
from ember.plan.rows.sharing import Action, What
from ember.program import Program, edit, types

ROWS = passes.with_rows(passes.DEFAULT)


@pytest.mark.parametrize("seed", range(32))
def test_every_region_of_a_random_network_gives_the_same_bits(seed: int) -> None:
    some_give_the_same_bits(random_network(seed), seed)


@pytest.mark.parametrize("turn", [(2, 0, 0), (3, 1, 1), (4, 1, 0), (5, 2, 1)])
def test_what_goes_down_and_up_again_is_one_region(turn: tuple[int, int, int]) -> None:
    """Transposed convolutions make two rows at a time, and what they are joined with
    waits in windows."""
    model = u_network(sum(turn), *turn)
    method = apart(model)
    region = largest_region(method)
    assert len(region.cascade.calls) == len(method.instructions)
    rewritten = with_region(model, method, region)
    old = Executable(model.program, model.content)
    assert compare(here(), old, Executable.of(rewritten), scenarios(model)) == "same"


@pytest.mark.parametrize("turn", [(2, 0, 0), (4, 1, 0)])
def test_rows_of_a_transposed_convolution_are_checked(
    turn: tuple[int, int, int],
) -> None:
    """A node with another padding, stride or dilation sees other rows by other taps."""
    model = u_network(4, *turn)
    method = apart(model)
    rewritten, order = unplaced(model, method, largest_region(method))
    (new,) = rewritten.methods
    assert not [*check_rows.differences(method, rewritten, new, order, KNOWN)]
    names = [(i, name) for i, name, _ in new.kernel_calls()]
    index = next(i for i, name in names if "transpose" in name)
    node = new.instructions[index]
    assert isinstance(node, types.KernelCall)
    for arg in (3, 4, 5, 6):
        items = new.int_list(new.values[node.args[arg]])  # type: ignore[arg-type]
        assert items is not None
        for changed_to in ((items[0] + 1, items[1]), (items[0], items[1] + 1)):
            if arg == 5 and changed_to[0] != items[0]:
                continue  # its rows then do not fit, which prepare() finds
            values = list(new.values)
            numbers = tuple(range(len(values), len(values) + 2))
            values += [types.Int(number) for number in changed_to]
            values[node.args[arg]] = types.IntList(numbers)
            wrong = replace(new, values=tuple(values))
            other = replace(rewritten, methods=(wrong,))
            faults = [*check_rows.differences(method, other, wrong, order, KNOWN)]
            assert any("other rows" in fault for fault in faults), (arg, changed_to)


def test_the_pass_saves_memory_and_says_how_much() -> None:
    model = resnet_like()
    whole = repack(model, KNOWN, passes.DEFAULT)
    improved = repack(model, KNOWN, ROWS)
    (before,) = (method.planned_bytes for method in whole.program.methods)
    (after,) = (method.planned_bytes for method in improved.program.methods)
    assert after < before / 2
    outcome = next(result for result in improved.passes if result.name == "rows")
    assert outcome.status == "used"
    assert outcome.planned == before - after
    assert row_regions.has_regions(improved.program)


def test_a_packed_program_stays_as_it_is() -> None:
    improved = repack(resnet_like(), KNOWN, ROWS)
    again = repack(replace(improved, stock=None), KNOWN, ROWS)
    assert (
        again.program.methods[0].planned_bytes
        == improved.program.methods[0].planned_bytes
    )


def test_a_weight_in_a_region_may_be_copied_to_other_memory() -> None:
    """As where the board has a faster one: the runtime then has its parts for what can
    change, though no call of the region does."""
    model = resnet_like()
    packed = repack(model, KNOWN, ROWS).program
    (method,) = packed.methods
    (region,) = row_regions.regions(method)
    node = method.instructions[region.enter + 1]
    assert isinstance(node, types.KernelCall)
    weights = method.values[node.args[1]]
    assert isinstance(weights, types.Tensor)
    place = types.Allocation(len(method.planned_sizes), 0)
    values = list(method.values)
    values[node.args[1]] = replace(weights, allocation=place, data_index=1)
    sizes = (*method.planned_sizes, -(-weights.nbytes // 16) * 16)
    copied = replace(method, values=tuple(values), planned_sizes=sizes)
    state = packed.constants[weights.data_index]
    new = replace(packed, methods=(copied,), mutable_data=((b"", state),))
    old = Executable(model.program, model.content)
    assert compare(here(), old, Executable.of(new), scenarios(model)) == "same"


def test_each_row_is_made_once() -> None:
    for seed in range(8):
        for region in every_region(apart(random_network(seed))):
            runs = [step.which for step in region.steps if step.what == What.RUN]
            for number, call in enumerate(region.cascade.calls):
                image = region.cascade.windows[number].image
                assert runs.count(number) <= image, call


@pytest.mark.parametrize("kind", ["order", "window", "length"])
def test_a_wrong_schedule_is_found(kind: str) -> None:
    """Steps are left out, exchanged, or move another window's rows: what the checker
    does not find does no harm."""
    model = resnet_like()
    method = apart(model)
    region = largest_region(method)
    old = Executable(model.program, model.content)
    harmless = tried = 0
    for at in range(0, len(region.steps) - 1, 11):
        wrong = replace(region, steps=changed(region, at, kind))
        rewritten, order = unplaced(model, method, wrong)
        tried += 1
        if not any(
            check_rows.differences(
                method, rewritten, rewritten.methods[0], order, KNOWN
            )
        ):
            harmless += 1
            new_one = Executable.of(rewritten)
            assert compare(here(), old, new_one, scenarios(model)) == "same", at
    assert tried > 20
    assert harmless == 0 if kind == "length" else harmless < tried


def changed(region: Schedule, at: int, kind: str) -> tuple[Action, ...]:
    steps = list(region.steps)
    if kind == "length":
        del steps[at]
    elif kind == "order":
        steps[at], steps[at + 1] = steps[at + 1], steps[at]
    else:
        deep = [n for n, w in enumerate(region.cascade.windows) if w.rows > 1]
        other = next(n for n in deep if n != steps[at].window)
        steps[at] = replace(steps[at], window=other)
    return tuple(steps)


def test_readers_that_run_out_of_step_are_refused() -> None:
    """Two branches with strides that do not fit each other meet again."""
    net = Network(3, (1, 4, 16, 16))
    x = net.conv(net.input, 4)
    late = net.conv(net.conv(x, 4), 4, 1, 2)
    early = net.conv(net.conv(x, 4, 3, 2), 4)
    model = net.model(net.plus(late, early))
    method = apart(model)
    calls = [forms.of_call(method, KNOWN, n) for n in range(len(method.instructions))]
    whole = cascade.of([call for call in calls if call], frozenset(method.outputs))
    if whole is not None:
        try:
            rewritten = with_region(model, method, schedule.of(whole))
        except OutOfStepError:
            return
        old = Executable(model.program, model.content)
        assert (
            compare(here(), old, Executable.of(rewritten), scenarios(model)) == "same"
        )


@pytest.mark.broad
@pytest.mark.parametrize("model", [resnet_like(), residual_floats(4, 16)])
def test_no_table_harms_the_loader(model: Model) -> None:
    """Bytes of the table, of lists and of numbers of a program are changed: it is
    refused, or runs to its end within its memory."""
    improved = repack(model, KNOWN, ROWS)
    (region,) = row_regions.regions(improved.program.methods[0])
    table = improved.program.methods[0].values[region.table]
    assert isinstance(table, types.Tensor)
    random = np.random.default_rng(7)
    hostile = []
    for number in range(160):
        constants = list(improved.program.constants)
        data = bytearray(constants[table.data_index])
        for at in random.integers(0, len(data), 1 + number % 3):
            place = at % 120 if number % 2 else at  # most of it is steps
            data[place] = int(random.integers(256))
        constants[table.data_index] = bytes(data)
        hostile.append(replace(improved.program, constants=tuple(constants)))
    method = improved.program.methods[0]
    for value, stated in enumerate(method.values):
        if isinstance(stated, types.TensorList):
            for items in (stated.items * 5, stated.items[::-1], ()):
                hostile.append(
                    changed_value(improved.program, value, types.TensorList(items))
                )
    count = method.instructions[region.rows].args[1]  # type: ignore[union-attr]
    for nodes in (-1, 0, 1, 3, 6, 8, 1 << 20, (1 << 31) - 1):
        hostile.append(changed_value(improved.program, count, types.Int(nodes)))
    (runs, *_) = scenarios(model)
    checked = Computer(boards.load("host-asan"), KNOWN, general)
    results = checked.run([(Executable.of(broken), runs[:1]) for broken in hostile])
    assert None not in results  # the sanitizers end a runner that leaves its memory
    refused = [result.status for result in results if result and result.status != 0]
    assert len(refused) > 40


def changed_value(source: Program, value: int, to: types.Value) -> Program:
    (method,) = source.methods
    values = [*method.values]
    values[value] = to
    return replace(source, methods=(replace(method, values=tuple(values)),))


def test_plan_says_what_rows_save(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["plan", str(path_of("int8_mobilenet_small_m4")), "--board", "host"]
    to = tmp_path / "plan.json"
    facts = {}
    for rows_option in ("off", "fit", "smallest"):
        assert cli.main([*words, "--rows", rows_option, "--json", str(to)]) == 0
        facts[rows_option] = json.loads(to.read_text())
    assert facts["off"]["rows"] == []
    (proposed,), (used,) = facts["fit"]["rows"], facts["smallest"]["rows"]
    assert not proposed["used"] and used["used"]
    assert proposed["regions"] == used["regions"]
    before, after = (
        facts[goal]["activations"]["planned"] for goal in ("fit", "smallest")
    )
    assert before - after == proposed["saved"]
    shown = " ".join(capsys.readouterr().out.split())
    assert f"`--rows smallest` would save {proposed['saved']:,} bytes" in shown
    assert "run row by row, with line buffers" in shown


def test_the_project_may_ask_for_rows(tmp_path: Path) -> None:
    file = tmp_path / "ember.yaml"
    for text, wanted in (("off", "off"), ("smallest", "smallest"), ("fit", "fit")):
        file.write_text(f"rows: {text}\n")
        assert project.load(file).rows == wanted
    file.write_text("rows: tiny\n")
    with pytest.raises(SdkError, match="rows: it must be off, fit, smallest or fed"):
        project.load(file)


@pytest.mark.parametrize(
    ("model", "most"),
    [
        (mobilenet_v1(0.25, 96), 30_000),
        (mobilenet_v2(0.35, 96), 33_500),
        (mobilenet_v2(1.0, 224), 215_000),
    ],
    ids=["v1-0.25-96", "v2-0.35-96", "v2-1.0-224"],
)
def test_mobilenets_need_little_memory(model: Model, most: int) -> None:
    """Planned within five seconds, each layer checked to read the rows it needs."""
    packed = replan(model.program.methods[0], KNOWN).method
    start = edit.draft(replace(model.program, methods=(packed,)))
    with pace.within(5):
        best = rows.apply(start, here(), frozenset())[0]
    assert replan(best.program.methods[0], KNOWN, check=False).planned <= most
    tables = sum(map(len, best.program.constants)) - sum(
        map(len, model.program.constants)
    )
    assert tables <= 3000


broad = (pytest.param(seed, marks=pytest.mark.broad) for seed in (4, 7))


@pytest.mark.parametrize("seed", [0, 1, 2, 3, 5, 6, *broad])
def test_a_range_that_grows_needs_about_what_its_cascade_does(seed: int) -> None:
    """What regions are chosen by is near what they take, mostly a little less."""
    lives = RowLives(apart(random_network(seed)), KNOWN)
    for over in (False, True):
        chooser = choose.Chooser(lives, over=over)
        regions = [r for ranges in chooser.ranges() for r in ranges if r.by_rows]
        assert regions
        for each in regions:
            region = chooser.scheduled(each)
            if region is not None:
                assert 0.75 <= each.cost / chooser.cost(region) <= 1.05


def test_only_regions_that_are_chosen_become_cascades(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """MobileNetV2 has 4,000 ranges of calls that may run by rows."""
    lives = RowLives(apart(mobilenet_v2(0.35, 96)), KNOWN)
    chooser = choose.Chooser(lives, over=True)
    assert sum(each.by_rows for ending in chooser.ranges() for each in ending) > 3000
    cascades = []
    of = cascade.of

    def counted(*args: Any, **options: Any) -> Cascade | None:
        cascades.append(1)
        return of(*args, **options)

    monkeypatch.setattr(cascade, "of", counted)
    assert chooser.choice().regions
    assert len(cascades) < 300
