"""A quantised graph -> a sentence about its weights: how many are integers, and which
stay floating point."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from ember.export.int4.operators import are_int4
from ember.export.packages import need
from ember.export.states import is_in_place
from ember.output import counted

_NAMED = 5  # of those that stay


def note(exported: Any, model: Any, bits: int, *, narrow: bool = False) -> str:
    """What became of the tensors of two dimensions and more, biases aside.

    model -- has the names of weights, which quantising may lose
    bits -- of an integer weight
    narrow -- those that 4 bits can say have 4
    """
    floats: dict[str, int] = {}
    whole = {4: 0, bits: 0}  # bits of all weights of a width
    for name, tensor in _weights(exported):
        if _is_quantised(tensor):
            width = 4 if narrow and are_int4(tensor) else bits
            whole[width] += tensor.numel() * width
        else:
            floats[_named(name, tensor, model)] = tensor.numel() * tensor.element_size()
    said = "; in ".join(
        f"int{width}: {counted(math.ceil(size / 8), 'byte')}"
        for width, size in whole.items()
        if size or (width == bits and not any(whole.values()))
    )
    said = f"weights in {said}"
    if not floats:
        return f"{said}, all there are"
    names = sorted(floats, key=lambda name: -floats[name])
    listed = ", ".join(names[:_NAMED])
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return f"{said}; in float: {counted(sum(floats.values()), 'byte')}, {listed}{more}"


def _weights(exported: Any) -> Iterator[tuple[str, Any]]:
    """What the graph reads and never writes."""
    kinds = need("torch.export.graph_signature").InputKind
    signature = exported.graph_signature
    written = set(signature.buffers_to_mutate.values())
    used = {
        node.name
        for node in exported.graph.nodes
        if node.op == "placeholder" and node.users and not _is_changed(node)
    }
    tensors = {**exported.state_dict, **exported.constants}
    for spec in signature.input_specs:
        is_input = spec.kind == kinds.USER_INPUT
        if is_input or spec.arg.name not in used or spec.target in written:
            continue
        tensor = tensors.get(spec.target)
        if tensor is not None and tensor.dim() > 1:
            yield spec.target, tensor


def _is_changed(node: Any) -> bool:
    """Whether an operator writes to it."""
    return any(is_in_place(user) and user.args[0] is node for user in node.users)


def _named(name: str, tensor: Any, model: Any) -> str:
    same = need("torch").equal
    known = model.state_dict()
    if name in known:
        return name
    return next((own for own in known if same(known[own], tensor)), name)


def _is_quantised(tensor: Any) -> bool:
    """Integers; or a class of torchao's, which says float32 of itself."""
    torch = need("torch")
    plain = type(tensor) in (torch.Tensor, torch.nn.Parameter)
    return not plain or not tensor.is_floating_point()
