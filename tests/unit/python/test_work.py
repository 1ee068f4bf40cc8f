"""Programs -> a bound of the steps of one execution, which a budget is charged with."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import case_tables
import one_call
import pytest
from benchmarks import work as factors
from committed_cases import path_of

from ember import boards, cases, cli
from ember.run import testing
from ember.select import work
from ember.toolchain import footprint

# Calls with much to walk over and nothing to compute.
EMPTY = {
    "a kernel without channels": "aten::convolution.out(f32[1,0,20100,20100],"
    " f32[1,0,20000,20000], none, [1,1], [0,0], [1,1], false, [0,0], 1,"
    " f32[1,1,101,101])",
    "rows without columns": "aten::mm.out(f32[2147483647,0], f32[0,0],"
    " f32[2147483647,0])",
    "batches of nothing": "aten::bmm.out(f32[2147483647,0,1], f32[2147483647,1,0],"
    " f32[2147483647,0,0])",
}
WINDOW = 1 << 27
FAR = (
    f"aten::max_pool2d_with_indices.out(f32[1,1,1,{{w}}], [1,{WINDOW}], [1,1],"
    f" [0,{WINDOW // 2}], [1,1], false, f32[1,1,1,{{out}}], s64[1,1,1,{{out}}])"
)


def one(path: Path, **settings: Any) -> testing.Outcome:
    board, asked = boards.load("host"), testing.Settings(**settings)
    (outcome,) = testing.test(cases.find([path]), [board], jobs=1, settings=asked)
    return outcome


@pytest.mark.parametrize(
    ("line", "least", "most"),
    [
        ("aten::mm.out(f32[8,16], f32[16,4], f32[8,4])", 1024, 1312),
        ("aten::bmm.out(f32[3,8,16], f32[3,16,4], f32[3,8,4])", 3072, 3936),
        (
            "aten::convolution.out(f32[1,4,9,9], f32[8,4,3,3], none, [1,1], [0,0],"
            " [1,1], false, [0,0], 1, f32[1,8,7,7])",
            14112,
            15500,
        ),
        (  # what is in the padding is not looked at
            FAR.format(w=4, out=5),
            4,
            200,
        ),
        ("aten::exp.out(f32[100], f32[100])", 100, 240),
        (  # a window has two elements each way, each of which is added to
            "aten::_adaptive_avg_pool2d_backward.out(f32[1,2,3,3], f32[1,2,6,6],"
            " f32[1,2,6,6])",
            18 * 4 * 8,
            18 * (16 * 8 + 24) + 300,  # and each window is found by divisions
        ),
    ],
)
def test_the_bound_is_what_is_multiplied_and_touched(
    line: str, least: int, most: int
) -> None:
    assert least <= one_call.steps(line) <= most


@pytest.mark.parametrize("line", EMPTY.values(), ids=EMPTY)
def test_loops_over_nothing_are_not_walked(line: str, tmp_path: Path) -> None:
    folder = case_tables.folder_of(case_tables.zeros_of(line), tmp_path / "case")
    outcome = one(folder, timeout_s=20)
    assert outcome.status == "passed", outcome.message


def test_a_budget_ends_a_long_call_before_it_runs() -> None:
    path = path_of("op_mm")
    known = one(path)
    assert known.status == "passed"
    assert known.work is not None
    assert one(path, budget=known.work).status == "passed"
    ended = one(path, budget=known.work - 1)
    assert ended.status == "error"
    assert "more steps than its budget" in ended.message


def test_the_plan_states_the_work(tmp_path: Path) -> None:
    to = tmp_path / "plan.json"
    model = path_of("op_mm")
    assert cli.main(["plan", str(model), "--board", "host", "--json", str(to)]) == 0
    stated = json.loads(to.read_text())["work"]
    assert stated["steps"] == one(path_of("op_mm")).work
    (row,) = stated["methods"]
    assert row["method"] == "forward"
    assert row["nodes"][0]["operator"] == "aten::mm.out"
    assert sum(node["steps"] for node in row["nodes"]) == stated["steps"]


@pytest.mark.parametrize(
    "case", ["special_scan", "special_cond", "xnnpack_mlp", "special_dynamic_batch"]
)
def test_steps_of_instructions_add_up(case: str, tmp_path: Path) -> None:
    to = tmp_path / "plan.json"
    model = path_of(case)
    assert cli.main(["plan", str(model), "--board", "host", "--json", str(to)]) == 0
    (row,) = json.loads(to.read_text())["work"]["methods"]
    assert all(node["steps"] >= work.CALL_STEPS for node in row["nodes"])
    assert sum(node["steps"] for node in row["nodes"]) == row["one_pass"]


def test_work_without_bound_exceeds_every_ceiling() -> None:
    nodes = (work.NodeWork(0, "aten::mm.out", 7), work.NodeWork(1, "move", 3))
    known = work.Work("m", "forward", 10, 10, nodes=nodes)
    endless = work.Work("m", "other", None, 10, "it has a loop")
    sizes = dict.fromkeys(("code", "rodata", "data", "bss", "arena", "stack"), 0)
    nothing: dict[str, Any] = {"libraries": {}, "operators": {}}
    facts: dict[str, Any] = {"size": sizes, "footprint": nothing}
    assert work.to_json([known, known])["steps"] == 10
    assert work.to_json([known, endless])["steps"] is None
    for works, ceiling, problems in (
        ([known], 10, 0),
        ([known], 9, 1),
        ([known, endless], 1 << 60, 1),
    ):
        facts["work"] = work.to_json(works)
        sentences = footprint.over({"work": ceiling}, facts)
        assert len(sentences) == problems
        for sentence in sentences:
            assert (
                "unbounded (it has a loop)" in sentence or "(aten::mm.out)" in sentence
            )


def outcome(case: str, instructions: int, steps: int) -> testing.Outcome:
    return testing.Outcome(
        *(case, "mps2-an386", "passed", "", path_of(case)),
        instructions=instructions,
        work=steps,
    )


def test_a_kernel_has_the_factor_of_its_slowest_program() -> None:
    known = [
        outcome("op_add", 5000, 100),
        outcome("op_mm", 200, 100),
        outcome("op_mm_f64", 1000, 100),
        outcome("xnnpack_mlp", 300, 100),  # of a delegate
        outcome("model_mlp_small", 0, 100),  # was not counted
    ]
    slowest = factors.of(known)
    assert slowest == {"aten::add.out": 60, "aten::mm.out": 12, "delegate": 3.6}
    assert factors.over(known, slowest) == []
    more = [outcome("op_mm", 1201, 100), outcome("op_mm", 1200, 100)]
    (sentence,) = factors.over(more, slowest)
    said = "op_mm on mps2-an386: 1,201 instructions for 100 steps"
    assert sentence == f"{said} are more than 12 for each"
    assert (
        len(factors.over([outcome("op_sub", 1, 100)], slowest)) == 1
    )  # nobody measured
    (sentence,) = factors.loose([outcome("op_mm", 100, 10_001)])
    assert "are no bound" in sentence


def test_a_program_of_several_kernels_is_as_slow_as_its_slowest() -> None:
    add, both = outcome("op_add", 500, 100), outcome("op_instance_norm", 900, 100)
    slowest = factors.of([add, both])
    assert slowest["aten::_native_batch_norm_legit.no_stats_out"] == 10.8
    assert factors.over([both], slowest) == []
    slower = factors.of([add, outcome("model_gru_small", 10_000, 100)])
    assert slower["aten::add.out"] == 6.0  # others in it may be to blame
