"""Branches and loops over functions of PyTorch that are given by name.

While a graph is exported these are operators of control flow, else plain Python: eager
PyTorch compiles what is in them.
"""

from __future__ import annotations

import functools
from collections.abc import Callable

from torch import Tensor

from ember.export.packages import need

torch = need("torch")


def _named(name: str) -> Callable[..., Tensor]:
    space, _, rest = name.partition(".")
    first = {"torch": torch, "F": torch.nn.functional}[space]
    named: Callable[..., Tensor] = functools.reduce(getattr, rest.split("."), first)
    return named


def branch(flag: Tensor, yes: str, no: str, *operands: Tensor) -> Tensor:
    """yes(*operands) if the bool is true, else no(*operands)."""
    if not torch.compiler.is_exporting():
        return _named(yes if bool(flag) else no)(*operands)

    def called(name: str) -> Callable[..., Tensor]:
        # a branch may not give what it was given
        return lambda *given: _named(name)(*given).clone()

    result: Tensor = torch.cond(flag, called(yes), called(no), operands)
    return result


def nested(outer: Tensor, inner: Tensor, names: list[str], x: Tensor) -> Tensor:
    """names[0](x), or where `outer` is false names[1](x) or names[2](x) by `inner`."""
    if not torch.compiler.is_exporting():
        return _named(names[0] if bool(outer) else names[2 - bool(inner)])(x)
    result: Tensor = torch.cond(
        outer,
        lambda inner, x: _named(names[0])(x).clone(),
        lambda inner, x: branch(inner, names[1], names[2], x),
        (inner, x),
    )
    return result


def mapped(name: str, rows: Tensor, *others: Tensor) -> Tensor:
    """The function of each row, and of all of the others."""
    if not torch.compiler.is_exporting():
        return torch.stack([_named(name)(row, *others) for row in rows])
    loop = need("functorch.experimental.control_flow").map
    result: Tensor = loop(
        lambda row, *others: _named(name)(row, *others).clone(), rows, *others
    )
    return result


def scanned(name: str, start: Tensor, rows: Tensor) -> tuple[Tensor, Tensor]:
    """The state after all rows, and that after each: name(half of the state, row)."""

    def step(state: Tensor, row: Tensor) -> tuple[Tensor, Tensor]:
        new = _named(name)(state * 0.5, row)
        return new, new.clone()

    if torch.compiler.is_exporting():
        loop = need("torch._higher_order_ops.scan").scan
        last, gathered = loop(step, start, rows)
        return last, gathered
    states = []
    for row in rows:
        start, state = step(start, row)
        states.append(state)
    return start, torch.stack(states)
