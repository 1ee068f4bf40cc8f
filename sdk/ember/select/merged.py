"""What a program needs on each core that its firmware may run on becomes what it needs
on whichever core that is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from ember.select.delegates import DelegateNeeds, NodeKernel

if TYPE_CHECKING:
    from ember.select.resolve import Call, MethodNeeds


def merged(cores: Sequence[Sequence[MethodNeeds]]) -> tuple[MethodNeeds, ...]:
    """Of each method; the last of `cores` is the one whose kernels are reported."""
    return tuple(_method(needs) for needs in zip(*cores, strict=True))


def _method(needs: Sequence[MethodNeeds]) -> MethodNeeds:
    last = needs[-1]
    for one in needs:
        if one.gaps or one.missing_delegates:
            return one
    return replace(
        last,
        calls=tuple(
            _call(calls) for calls in zip(*(n.calls for n in needs), strict=True)
        ),
        arena=max(one.arena for one in needs),
        temp=max(one.temp for one in needs),
        slots=max(one.slots for one in needs),
        changing=any(one.changing for one in needs),
        delegates=_delegates([one.delegates for one in needs]),
        spare=tuple(i for i in last.spare if all(i in one.spare for one in needs)),
    )


def _call(calls: Sequence[Call]) -> Call:
    return replace(
        calls[-1],
        state=max(one.state for one in calls),
        scratch=max(one.scratch for one in calls),
    )


def _delegates(
    found: Sequence[Mapping[int, DelegateNeeds]],
) -> dict[int, DelegateNeeds]:
    return {index: _delegate([one[index] for one in found]) for index in found[-1]}


def _delegate(needs: Sequence[DelegateNeeds]) -> DelegateNeeds:
    return DelegateNeeds(
        nodes=tuple(
            _node(nodes) for nodes in zip(*(one.nodes for one in needs), strict=True)
        ),
        values=max(one.values for one in needs),
        bound=max(one.bound for one in needs),
        work=max(one.work for one in needs),
    )


def _node(nodes: Sequence[NodeKernel]) -> NodeKernel:
    """Each core packs weights in its own way, so the program keeps them as they are."""
    best = nodes[-1]
    others = dict.fromkeys(one.kernel for one in nodes)
    others.pop(best.kernel)
    return replace(best, packed=None, others=tuple(others))
