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
    for need in needs:
        if need.gaps or need.missing_delegates:
            return need
    return replace(
        last,
        calls=tuple(
            _call(calls) for calls in zip(*(n.calls for n in needs), strict=True)
        ),
        arena=max(need.arena for need in needs),
        temp=max(need.temp for need in needs),
        slots=max(need.slots for need in needs),
        steps=max(need.steps for need in needs),
        delegate_steps=tuple(map(max, *(need.delegate_steps for need in needs))),
        changing=any(need.changing for need in needs),
        delegates=_delegates([need.delegates for need in needs]),
        spare=tuple(i for i in last.spare if all(i in need.spare for need in needs)),
    )


def _call(calls: Sequence[Call]) -> Call:
    return replace(
        calls[-1],
        state=max(call.state for call in calls),
        scratch=max(call.scratch for call in calls),
    )


def _delegates(
    delegates: Sequence[Mapping[int, DelegateNeeds]],
) -> dict[int, DelegateNeeds]:
    return {
        index: _delegate([by_index[index] for by_index in delegates])
        for index in delegates[-1]
    }


def _delegate(needs: Sequence[DelegateNeeds]) -> DelegateNeeds:
    return DelegateNeeds(
        nodes=tuple(
            _node(nodes) for nodes in zip(*(need.nodes for need in needs), strict=True)
        ),
        values=max(need.values for need in needs),
        bound=max(need.bound for need in needs),
        work=max(need.work for need in needs),
    )


def _node(nodes: Sequence[NodeKernel]) -> NodeKernel:
    """Each core packs weights in its own way, so the program keeps them as they are."""
    best = nodes[-1]
    others = dict.fromkeys(node.kernel for node in nodes)
    others.pop(best.kernel)
    return replace(best, packed=None, others=tuple(others))
