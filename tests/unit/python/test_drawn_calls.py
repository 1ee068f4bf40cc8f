"""Committed programs of one call -> the same with other sizes, and their bounds."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import one_call
import pytest
from calls import graphs, sizes
from committed_cases import path_of

from ember import boards, cases, program
from ember.program import types
from ember.run import testing


def committed(name: str) -> sizes.Call:
    (call,) = sizes.committed([path_of(name)])
    return call


def outcomes_of(folder: Path) -> list[testing.Outcome]:
    return testing.test(cases.find([folder]), [boards.load("host")], jobs=1)


def test_equal_sizes_stay_equal() -> None:
    call = committed("op_mm")
    shapes = [tensor.sizes for _, tensor in call.method.tensors]
    inner = shapes[0][1]
    resized = sizes.resized(call, {inner: 50})
    assert resized is not None
    after = [tensor.sizes for _, tensor in resized.method.tensors]
    assert after == [tuple(50 if n == inner else n for n in shape) for shape in shapes]
    for index, array in zip(resized.method.inputs, resized.arrays, strict=True):
        value = resized.method.values[index]
        assert isinstance(value, types.Tensor)
        assert array is not None
        assert array.shape == value.sizes
    assert sizes.resized(call, {inner: 1 << 30}) is None


def test_extremes_are_distinct_and_run(tmp_path: Path) -> None:
    call = committed("op_mm")
    extremes = list(sizes.extremes(call))
    inputs = {
        b"".join(
            a.tobytes() + str(a.shape).encode() for a in extreme.arrays if a is not None
        )
        for extreme in extremes
    }
    assert len(inputs) == len(extremes)
    longest = [
        max(max(t.sizes) for _, t in extreme.method.tensors) for extreme in extremes
    ]
    assert {0, 1, sizes.FEW} <= set(longest)
    assert longest.count(sizes.LONG) >= 2 * len(call.sizes) - 1
    for extreme in extremes:
        sizes.write(tmp_path / extreme.name, extreme)
    outcomes = outcomes_of(tmp_path)
    assert {outcome.status for outcome in outcomes} == {"passed"}


def test_a_kind_of_call_is_taken_twice() -> None:
    call = committed("op_mm")
    other = committed("op_add")
    assert list(sizes.distinct([call, call, other, call])) == [call, call, other]


def test_draws_repeat_by_their_seed() -> None:
    call = committed("op_add")

    def drawn() -> list[list[bytes]]:
        random.seed(3)
        others = [sizes.other(call) for _ in range(20)]
        return [[a.tobytes() for a in m.arrays if a is not None] for m in others if m]

    assert drawn() == drawn()
    assert len({str(contents) for contents in drawn()}) > 5


def test_sizes_of_graphs_change_where_no_weight_has_them() -> None:
    call = committed("xnnpack_layer_depthwise_f16")
    (delegate,) = call.method.delegates
    changing = graphs.sizes(delegate)
    assert changing == {7, 9, 11}  # not of the 3 x 3 x 2 weights, nor one image
    larger = graphs.resized(delegate, {11: 21})
    assert graphs.sizes(larger) == {7, 9, 21}
    assert (
        graphs.resized(larger, {21: 11, 3: 5}).data == graphs.resized(delegate, {}).data
    )


@pytest.mark.parametrize(("images", "fits"), [(1, True), (2, False), (120, False)])
def test_a_delegate_takes_no_more_than_it_charges(
    images: int, fits: bool, tmp_path: Path
) -> None:
    resized = sizes.resized(committed("xnnpack_layer_depthwise_f16"), {1: images})
    assert resized is not None
    sizes.write(tmp_path / "case", resized)
    (outcome,) = outcomes_of(tmp_path)
    if fits:
        assert outcome.status == "passed"
    else:
        assert outcome.status == "error"
        assert "xnnpack: sizes of a node do not fit" in outcome.message


@pytest.mark.parametrize(
    ("line", "least"),
    [  # results of few elements
        ("aten::add.out(s16[100], s16[100], 1, s16[100])", 300 + 100 * 8),
        ("aten::rms_norm.out(f32[90,1], [1], f32[1], 1e-5, f32[90,1])", 90 * (2 + 16)),
        ("aten::gather.out(f32[90], 0, s64[90], false, f32[90])", 90 * (3 + 4)),
        ("aten::scatter_add.out(f32[9], 0, s64[90], f32[90], f32[9])", 90 * 18),
        (
            "aten::avg_pool2d.out(f32[1,1,9,9], [1,1], [1,1], [0,0], false, true,"
            " none, f32[1,1,9,9])",
            81 * (3 + 16),
        ),
    ],
)
def test_results_take_steps_of_their_own(line: str, least: int) -> None:
    assert least <= one_call.steps(line) <= least + 300


def test_written_programs_are_read_again(tmp_path: Path) -> None:
    call = committed("op_embedding_bag_sum")
    sizes.write(tmp_path / "case", call)
    (case,) = [cases.read(listed) for listed in cases.find([tmp_path])]
    assert case.program.methods == program.read(tmp_path / "case/model.pte").methods
    for value, array in zip(case.runs[0].inputs, call.arrays, strict=True):
        if array is not None:
            assert isinstance(value, cases.CaseTensor)
            assert np.array_equal(value.array, array)
