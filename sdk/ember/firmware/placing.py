"""Chosen models become placed ones: an address for every byte on a board.

Placing comes before the link, so it assumes (`Assumed`) sizes that only the link tells.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from ember.firmware.jobs import Job
from ember.plan import kernel_scratch, memories, placements, regions
from ember.plan.improved import Chosen
from ember.plan.memories import Spread
from ember.select import work


@dataclass(frozen=True)
class Assumed:
    """Bytes that are known only once the code is linked."""

    stack: int
    # Code and variables, by memory; None: as much as a board usually needs.
    linked: Mapping[str, int] | None = None
    spread: bool = True  # over the memories of the board, with copies of constants

    def covers(self, linked: Mapping[str, int]) -> bool:
        """Whether the linked firmware takes no more than this."""
        known = self.linked
        return known is not None and all(
            size <= known.get(name, 0) for name, size in linked.items()
        )

    def grown(self, linked: Mapping[str, int]) -> Assumed:
        """A copy that assumes at least the linked sizes."""
        known = self.linked or {}
        most = {name: max(size, known.get(name, 0)) for name, size in linked.items()}
        return replace(self, linked=most)


@dataclass(frozen=True)
class Placed:
    """Models with addresses, and what lacks room; `facts` are the plan's JSON."""

    selected: Spread
    plans: list[regions.Plan]
    shortages: list[regions.RegionShortage]
    facts: dict[str, Any]
    seconds: float = 0.0  # of the processor, for placing it

    def check(self) -> Placed:
        """Itself; SdkError when something lacks room."""
        if self.shortages:
            names = ", ".join(model.name for model, _ in self.selected.pairs)
            raise regions.NoRoomError(names, self.plans[0].board, self.shortages)
        return self


def place(job: Job, chosen: Sequence[Chosen], assumed: Assumed) -> Placed:
    """The models spread over the board's memories by how often bytes are accessed."""
    began = time.process_time()
    options = job.options
    selected = Spread(list(chosen))
    if assumed.spread:
        selected = memories.spread(
            chosen,
            job.board,
            options.rules,
            options.steering,
            stack=assumed.stack,
            caller_io=options.caller_io,
            linked=assumed.linked,
        )
    lent = kernel_scratch.lending(
        selected.pairs, job.board, reload=options.steering.reload
    )
    plans, shortages = regions.placed(
        selected.pairs,
        job.board,
        stack=assumed.stack,
        caller_io=options.caller_io,
        homes=selected.homes,
        lent=lent.size,
        linked=assumed.linked,
    )
    placed = Placed(selected, plans, shortages, _facts(selected, plans, lent))
    return replace(placed, seconds=time.process_time() - began)


def _facts(
    selected: Spread, plans: list[regions.Plan], lent: kernel_scratch.Lending
) -> dict[str, Any]:
    conflicts = [
        replanned.conflict
        for model, _ in selected.pairs
        for replanned in model.replanned.values()
        if replanned.conflict
    ]
    done = [
        {"model": model.name, **asdict(change)}
        for model, _ in selected.pairs
        for change in model.passes
    ]
    facts = {"traffic": selected.facts, "conflicts": conflicts, "passes": done}
    facts |= _delegates(selected.pairs) | {"payloads": lent.to_json(plans)}
    facts |= {"work": work.to_json(_works(selected.pairs))}
    facts |= {"copies": placements.copies_to_json(selected.copies)}
    apart = list(regions.kept_apart(selected.pairs, selected.homes))
    return regions.to_json(plans) | facts | {"kept_apart": apart}


def _works(chosen: Sequence[Chosen]) -> Iterator[work.Work]:
    for model, selection in chosen:
        for method, needs in zip(selection.methods, selection.needs, strict=True):
            yield work.of(model.name, method, needs)


def _delegates(chosen: Sequence[Chosen]) -> dict[str, Any]:
    """Bytes of scratch and constants that belong to delegates."""
    rows: list[dict[str, Any]] = [
        {"model": model.name, "method": method.name, "index": index}
        | delegate.to_json()
        for model, selection in chosen
        for method, needs in zip(selection.methods, selection.needs, strict=True)
        for index, delegate in needs.delegates.items()
    ]
    most = max((row["values"] + row["work"] for row in rows), default=0)
    packed = sum(sum(model.packed.values()) for model, _ in chosen)
    return {"delegate": most, "delegates": rows, "packed": packed}
