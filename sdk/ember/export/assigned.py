"""What a call of a model assigns becomes states, or a refusal that names it.

The exporter records what is changed in place. It forgets a buffer that is assigned and
given back, and takes any other attribute for a constant.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

from ember.errors import SdkError
from ember.export.packages import need
from ember.export.source import Sample
from ember.export.states import kept, run_of

Attributes = dict[tuple[str, str], Any]  # by the names of module and attribute


def settled(model: Any, sample: Sample) -> Any:
    """The model, its buffers changed in place; SdkError for other attributes."""
    _refuse_random(model, sample)
    copied = copy.deepcopy(model)
    buffers = dict(copied.named_buffers())
    before = _attributes(copied)
    copied(*copy.deepcopy(sample))
    changed = [
        key for key, value in _attributes(copied).items() if _new(before, key, value)
    ]
    if changed and _matters(copied, before, changed, sample):
        raise SdkError(
            f"a call of the model changes {_listed(changed)}, which the exporter"
            " treats as a constant",
            hint="make it a buffer with self.register_buffer() and change it in place",
        )
    now = dict(copied.named_buffers())
    names = [name for name, tensor in buffers.items() if now[name] is not tensor]
    return _in_place(model, names) if names else model


def _refuse_random(model: Any, sample: Sample) -> None:
    run = run_of(model)
    if not _same(run([sample]), run([sample])):
        raise SdkError(
            "two calls of the model with the same inputs give different outputs: it"
            " uses random numbers",
            hint="F.dropout needs training=self.training",
        )


def _attributes(model: Any) -> Attributes:
    """Copies of what modules hold beside parameters, buffers and modules."""
    usual = vars(need("torch").nn.Module())
    return {
        (name, key): copy.deepcopy(value)
        for name, module in model.named_modules()
        for key, value in vars(module).items()
        if key not in usual and _is_data(value)
    }


def _is_data(value: Any) -> bool:
    leaves = need("torch.utils._pytree").tree_flatten(value)[0]
    tensor = need("torch").Tensor
    return all(isinstance(leaf, tensor | int | float | None) for leaf in leaves)


def _new(before: Attributes, key: tuple[str, str], value: Any) -> bool:
    return key in before and not _same(before[key], value)


def _same(old: Any, new: Any) -> bool:
    torch, trees = need("torch"), need("torch.utils._pytree")
    first, shape = trees.tree_flatten(old)
    second, other = trees.tree_flatten(new)
    if shape != other or len(first) != len(second):
        return False
    return all(
        _same_tensor(x, y)
        if isinstance(x, torch.Tensor) and isinstance(y, torch.Tensor)
        else type(x) is type(y) and x == y
        for x, y in zip(first, second, strict=True)
    )


def _same_tensor(old: Any, new: Any) -> bool:
    if old.shape != new.shape or old.dtype != new.dtype:
        return False
    return bool(((old == new) | (old.isnan() & new.isnan())).all())


def _matters(
    called: Any, before: Attributes, changed: Sequence[tuple[str, str]], sample: Sample
) -> bool:
    """Whether another call gives something else with the attributes as they were."""
    again = copy.deepcopy(called)
    for name, key in changed:
        setattr(again.get_submodule(name), key, before[name, key])
    outputs = [kept(module(*copy.deepcopy(sample))) for module in (called, again)]
    return not _same(*outputs)


def _listed(changed: Sequence[tuple[str, str]]) -> str:
    names = (f"{name}.{key}" if name else f"self.{key}" for name, key in changed)
    return ", ".join(names)


def _in_place(model: Any, names: Sequence[str]) -> Any:
    """A module around the model that copies what it assigns into its buffers."""
    torch = need("torch")

    class InPlace(torch.nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.model = model

        def forward(self, *inputs: Any) -> Any:
            buffers = dict(self.model.named_buffers())
            states = {name: buffers[name] for name in names}
            held = dict(states)  # functional_call puts what is assigned into it
            outputs = torch.func.functional_call(self.model, held, inputs)
            for name, state in states.items():
                state.copy_(held[name])
            return outputs

    return InPlace()
