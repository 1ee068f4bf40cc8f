"""A profile becomes node data: costs that Model Explorer draws on a graph.

The keys are those of Arm's adapter for programs (pte-adapter-model-explorer): a graph
is named as its method, its nodes `<method>_<chain>_<instruction>`; the graph inside of
a delegate `<file>::<node>`, its nodes by their place.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ember.program import Method
from ember.run.profile import Profile, Row
from ember.run.views.timeline import unit_of

_GRADIENT = (("#ffffff", 0), ("#ffd54f", 0.4), ("#d84315", 1))  # cheap to costly
Graphs = dict[str, dict[str, int]]


def of(
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
