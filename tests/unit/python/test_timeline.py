"""Traces of profiles: what a step is in a loop, and on a board without steps."""

from __future__ import annotations

from typing import Any

from ember.run.costs import Cost, Step
from ember.run.profile import Profile, Row
from ember.run.views import timeline


def row(node: int, instructions: int, macs: int = 0) -> Row:
    return Row(
        name=f"aten::op{node}.out",
        kernels=(),
        nodes=(node,),
        instructions=instructions,
        macs=macs,
        moved=30,
        share=0.5,
    )


def profile(*rows: Row, **more: Any) -> Profile:
    facts: dict[str, Any] = {"load": 7, "execute": 100, "unit": "packets"}
    return Profile(model="m", board="b", nodes=rows, operators=rows, **facts | more)


def slices(trace: dict[str, Any]) -> list[dict[str, Any]]:
    return [event for event in trace["traceEvents"] if event["ph"] == "X"]


def test_a_step_has_the_work_of_one_execution() -> None:
    steps = [Step(0, Cost(10)), Step(1, Cost(20)), Step(0, Cost(12))]
    trace = timeline.trace(profile(row(0, 22, macs=6), row(1, 20)), steps)
    load, execute, *rest = slices(trace)
    assert (load["ts"], load["dur"]) == (0, 7)
    assert (execute["ts"], execute["dur"]) == (7, 100)
    assert [(e["ts"], e["dur"]) for e in rest] == [(7, 10), (17, 20), (37, 12)]
    assert [e["args"].get("macs") for e in rest] == [3, None, 3]
    assert [e["args"]["bytes"] for e in rest] == [15, 30, 15]
    assert [e["args"]["node"] for e in rest] == [0, 1, 0]
    assert trace["otherData"]["unit"] == "1 us is 1 packet"


def test_a_board_that_counts_has_each_node_once() -> None:
    counted = profile(row(1, 30), row(0, 20), load=None, unit="cycles")
    execute, *rest = slices(timeline.trace(counted))
    assert (execute["ts"], execute["dur"]) == (0, 100)
    assert [(e["name"], e["ts"], e["dur"]) for e in rest] == [
        ("aten::op0.out", 0, 20),
        ("aten::op1.out", 20, 30),
    ]


def test_nodes_inside_are_never_longer_than_their_delegate() -> None:
    inside = (Cost(6), Cost(5))
    outer, first, second = slices(
        timeline.trace(
            profile(
                Row("D", (), (0,), 0, 0, 0, 0.0),
                Row("D Add", (), (0,), 6, 0, 0, 0.5, inside=0),
                Row("D Mul", (), (0,), 5, 0, 0, 0.5, inside=1),
                load=None,
            ),
            [Step(0, Cost(10), inside)],
        )
    )[1:]
    assert (outer["ts"], outer["dur"]) == (0, 11)
    assert [(e["name"], e["ts"], e["dur"]) for e in (first, second)] == [
        ("Add", 0, 6),
        ("Mul", 6, 5),
    ]


def test_nothing_ran() -> None:
    assert [event["name"] for event in slices(timeline.trace(profile()))] == [
        "load",
        "execute",
    ]
