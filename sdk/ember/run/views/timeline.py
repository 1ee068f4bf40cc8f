"""A profile and its steps become a trace for Perfetto and Chrome, or data on a graph.

The trace event format counts in microseconds; here one of them is an instruction, or a
cycle where cycles were estimated or counted by a board. Every number is exact.

Node data are costs that Model Explorer draws on a graph, with the keys of Arm's adapter
for programs (pte-adapter-model-explorer): a graph is named as its method, its nodes
`<method>_<chain>_<instruction>`; the graph inside a delegate `<file>::<node>`, its
nodes by their place.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ember.cycles.estimate import Cycles
from ember.program import Method
from ember.run.costs import Cost, Step
from ember.run.profile import Profile, Row

_PROCESS, _THREAD = 1, 1
Event = dict[str, Any]


def trace(profile: Profile, steps: Sequence[Step] = ()) -> dict[str, Any]:
    """The whole file. Without steps, each node stands once, with all that it took."""
    unit = unit_of(profile)
    known = steps or tuple(_once_each(profile))
    return {
        "displayTimeUnit": "ms",
        "otherData": {
            "model": profile.model,
            "board": profile.board,
            "unit": f"1 us is 1 {unit.removesuffix('s')}",
        },
        "traceEvents": [
            _named("process_name", f"{profile.model} on {profile.board}"),
            _named("thread_name", f"1 us is 1 {unit.removesuffix('s')}"),
            *_events(profile, known),
        ],
    }


def unit_of(profile: Profile) -> str:
    """What the time of a trace is."""
    return "cycles" if profile.execute_board_cycles is not None else profile.unit


def _events(profile: Profile, steps: Sequence[Step]) -> Iterator[Event]:
    rows = {(row.nodes[0], row.inside): row for row in profile.nodes}
    times = Counter(step.index for step in steps)
    began = 0
    if profile.load is not None:
        began = _first(profile.load_board_cycles, profile.load)
        yield _slice("load", 0, began, {})
    places = _places(steps, began)
    end = places[-1] if places else began
    whole = _first(profile.execute_board_cycles, profile.execute)
    yield _slice("execute", began, max(whole, end - began), {})
    alive = _Alive(profile.details)
    for step, at in zip(steps, places, strict=False):
        yield from alive.at(step.index, at)
        yield from _step(rows, step, at, times[step.index])
    yield from alive.at(None, end)


def _places(steps: Sequence[Step], began: int) -> list[int]:
    """Where each step begins, then the end of the last."""
    places = [began]
    for step in steps:
        places.append(places[-1] + _length(step))
    return places


def _length(step: Step) -> int:
    """Marks inside of a delegate move its figures by a few: they are within it."""
    return max(_time(step.cost), sum(_time(cost) for cost in step.inside))


def _time(cost: Cost) -> int:
    return _first(cost.cycles.board, cost.instructions or 0)


def _first(*figures: int | None) -> int:
    return next(figure for figure in figures if figure is not None)


def _step(
    rows: Mapping[tuple[int, int | None], Row], step: Step, at: int, times: int
) -> Iterator[Event]:
    row = rows.get((step.index, None))
    if row is not None:
        facts = {"node": step.index} | _facts(row, step.cost, times)
        yield _slice(row.name, at, _length(step), facts)
    for place, cost in enumerate(step.inside):
        inner = rows.get((step.index, place))
        if inner is not None:
            node = {"node": f"{step.index}.{place}"}
            facts = node | _facts(inner, cost, times)
            name = inner.name.rpartition(" ")[2]  # without the delegate's
            yield _slice(name, at, _time(cost), facts)
        at += _time(cost)


def _facts(row: Row, cost: Cost, times: int) -> dict[str, Any]:
    """What a click shows, of one execution."""
    facts = {
        "kernel": ", ".join(row.kernels) or None,
        "instructions": cost.instructions,
        "cycles": cost.cycles.core,
        "board_cycles": cost.cycles.board,
        "macs": row.macs // times or None,
        "bytes": row.moved // times or None,
    }
    return {name: value for name, value in facts.items() if value is not None}


def _once_each(profile: Profile) -> Iterator[Step]:
    for row in sorted(profile.nodes, key=lambda row: row.nodes):
        if row.inside is None:
            cost = Cost(row.instructions, Cycles(row.cycles, row.board_cycles))
            yield Step(row.nodes[0], cost)


def _slice(name: str, start: int, length: int, facts: Mapping[str, Any]) -> Event:
    place = {"pid": _PROCESS, "tid": _THREAD, "ts": start, "dur": length}
    return {"name": name, "cat": "ember", "ph": "X", **place, "args": dict(facts)}


def _named(kind: str, name: str) -> Event:
    place = {"pid": _PROCESS, "tid": _THREAD}
    return {"name": kind, "ph": "M", **place, "args": {"name": name}}


class _Alive:
    """A counter for each planned memory: the bytes that matter."""

    def __init__(self, details: Mapping[str, Any] | None) -> None:
        self.memories = details["memories"] if details else []
        self.last: dict[int, int] = {}

    def at(self, index: int | None, time: int) -> Iterator[Event]:
        """Where it changes; None: after the last instruction."""
        for memory in self.memories:
            row = memory["alive"]
            count = row[-1] if index is None else row[index + 1]
            if self.last.get(memory["id"]) != count:
                self.last[memory["id"]] = count
                name = f"planned memory {memory['id']}, bytes in use"
                place = {"pid": _PROCESS, "ts": time}
                yield {"name": name, "ph": "C", **place, "args": {"bytes": count}}


# ---- node data -----------------------------------------------------------------------


_GRADIENT = (("#ffffff", 0), ("#ffd54f", 0.4), ("#d84315", 1))  # cheap to costly
Graphs = dict[str, dict[str, int]]


def node_data(
    profile: Profile, method: Method, origins: Sequence[int], file: str
) -> dict[str, Any]:
    """Node data of the program as it was read, not as passes changed it.

    method  -- as it was read
    origins -- for each instruction of the profile, its index in `method`
    file    -- the name of the program's file
    """
    keys = _keys(method)
    graphs: Graphs = {method.name: {}}
    for row in profile.nodes:
        key = keys[origins[row.nodes[0]]]
        _add(graphs.setdefault(method.name, {}), key, _cost(profile, row))
        if row.inside is not None:
            within = graphs.setdefault(f"{file}::{key}", {})
            _add(within, str(row.inside), _cost(profile, row))
    name = f"{unit_of(profile)} on {profile.board}"
    return {graph: _data(name, costs) for graph, costs in graphs.items()}


def _keys(method: Method) -> list[str]:
    return [
        f"{method.name}_{chain}_{index}"
        for chain, content in enumerate(method.chains)
        for index in range(len(content.instructions))
    ]


def _cost(profile: Profile, row: Row) -> int:
    cycles = profile.execute_board_cycles is not None and row.board_cycles is not None
    return (row.board_cycles or 0) if cycles else row.instructions


def _add(costs: dict[str, int], key: str, cost: int) -> None:
    costs[key] = costs.get(key, 0) + cost


def _data(name: str, costs: dict[str, int]) -> dict[str, Any]:
    return {
        "name": name,
        "results": {key: {"value": cost} for key, cost in costs.items()},
        "gradient": [{"stop": stop, "bgColor": color} for color, stop in _GRADIENT],
    }
