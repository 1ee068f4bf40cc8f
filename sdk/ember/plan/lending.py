"""A packed model becomes one whose payloads lie last, so that scratch may overlap them.

These are payloads of delegates that nothing reads once the method is loaded. Where the
whole image lies in RAM, scratch begins at the first of them: decision 0024.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from ember import program
from ember.boards import Board
from ember.plan import check as plan_check
from ember.plan.improved import Chosen, Improved
from ember.plan.regions import Plan
from ember.program.remembered import remembered
from ember.select.selection import Selection
from ember.toolchain import linker

_NO_SCRATCH = "no scratch is in the image's memory"


@dataclass(frozen=True)
class Lending:
    spare: int = 0  # bytes of payloads that nothing reads any more
    start: int = 0  # in the program: what lies from there on
    size: int = 0  # bytes up to its end; 0: the payloads stay
    reason: str = ""  # why they stay

    def to_json(self, plans: Sequence[Plan]) -> dict[str, Any]:
        """The spare bytes and those that scratch uses, or why there are none."""
        temp = plans[0].temp
        used = temp.lent if temp else 0
        reason = self.reason or ("" if used or not self.spare else _NO_SCRATCH)
        return {"spare": self.spare, "reused": used, "reason": reason}


def may_lend(board: Board, methods: int, *, reload: bool) -> str:
    """Why the payloads of a firmware must stay; empty when they may go."""
    if not linker.is_loaded_whole(board):
        return "the image is not in RAM"
    if reload:
        return "methods may be loaded again (`reload:` of the project)"
    if methods > 1:
        return (
            f"{methods} methods share scratch, and one may be loaded after another"
            " has run"
        )
    return ""


def payloads_last(model: Improved, method: str) -> Improved:
    """The model with a file that ends with the payloads of the method's delegates."""
    if all(delegate.inline for delegate in model.method(method).delegates):
        return model
    layout = replace(model.program.layout, payloads_last=(method,))
    reordered = replace(model.program, layout=layout)
    return replace(model, program=reordered, content=program.content(reordered))


def lending(pairs: Sequence[Chosen], board: Board, *, reload: bool) -> Lending:
    """How scratch may use the payloads of a firmware's models."""
    spare = [_spare(*pair) for pair in pairs]
    total = sum(len(payload) for payloads in spare for payload in payloads)
    if not total:
        return Lending()
    methods = sum(len(chosen.methods) for _, chosen in pairs)
    reason = may_lend(board, methods, reload=reload)
    if reason:
        return Lending(total, reason=reason)
    content = pairs[0][0].content
    start = _start(pairs[0][0], spare[0])
    if start == len(content):
        return Lending(total, reason="other data of the program follows them")
    name = pairs[0][1].methods[0].name
    remembered(  # in each round of a build the same
        pairs[0][0].program,
        ("lent", name, start),
        lambda: plan_check.check_lent(content, name, start),
    )
    return Lending(total, start, len(content) - start)


def _spare(model: Improved, chosen: Selection) -> set[bytes]:
    """The payloads that nothing reads and that only built methods have."""
    built = [names.name for names in chosen.methods]
    others = [other for other in model.program.methods if other.name not in built]
    return {
        method.delegates[index].data
        for method, needs in zip(chosen.methods, chosen.needs, strict=True)
        for index in needs.spare
    } - {delegate.data for method in others for delegate in method.delegates}


def _start(model: Improved, spare: set[bytes]) -> int:
    """Where the payloads at the end begin."""
    content, layout = model.content, program.layout_of(model.program)
    start = len(content)
    for segment in sorted(layout.segments, key=lambda item: -item.offset):
        at = layout.segment_base + segment.offset
        if content[at : at + segment.size] not in spare:
            break
        start = at
    return start
