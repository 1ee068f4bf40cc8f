"""A model with complex numbers inside becomes one with pairs of real numbers.

ExecuTorch's dialect refuses complex tensors, and no kernel takes them. What a call of
torch.stft() or torch.fft decomposes into is therefore run, while it is exported, on
pairs: tensors with a last dimension of 2, as torch.view_as_real() has them.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

from ember.errors import SdkError
from ember.export import blame
from ember.export.packages import need
from ember.export.signal import arithmetic, banks
from ember.export.signal.arithmetic import ComplexPair, Magnitude, RuleError
from ember.export.source import Sample

_HINT = "torch.view_as_real(x) gives the parts, with which a model can compute itself"


def has_complex(model: Any, sample: Sample) -> bool:
    """Whether a call of the model computes complex numbers."""
    torch = need("torch")
    modes = need("torch.utils._python_dispatch")
    leaves = need("torch.utils._pytree").tree_leaves

    class ComplexWatch(modes.TorchDispatchMode):  # type: ignore[misc, name-defined]
        seen = False

        def __torch_dispatch__(
            self, function: Any, types: Any, args: Any = (), kwargs: Any = None
        ) -> Any:
            given = function(*args, **(kwargs or {}))
            for leaf in leaves(given):
                if isinstance(leaf, torch.Tensor) and leaf.is_complex():
                    ComplexWatch.seen = True
            return given

    with torch.no_grad(), ComplexWatch():
        copy.deepcopy(model)(*copy.deepcopy(sample))
    return ComplexWatch.seen


def in_pairs(model: Any, sample: Sample, dynamic: Any) -> Any:
    """A module that computes the same without complex numbers.

    SdkError names the operator and the source line of what has no form in pairs.
    """
    torch = need("torch")
    exported = torch.export.export(
        model, copy.deepcopy(sample), dynamic_shapes=dynamic, strict=False
    )
    body = _decomposed(exported).module(check_guards=False)
    banks.fold(body)
    paired = _module()(body)
    called = copy.deepcopy(paired)  # a call changes states
    with torch.no_grad():
        called(*copy.deepcopy(sample))
    for name, constant in called.named_buffers(recurse=False):
        paired.keep(name, constant)
    return paired


def _decomposed(exported: Any) -> Any:
    """The graph with operators on complex numbers taken apart, until each has a rule;
    all others stay as quantisers know them."""
    known = need("torch.export").default_decompositions()
    rules = arithmetic.rules()
    while True:
        composed = {
            node.target
            for node in exported.graph.nodes
            if node.op == "call_function" and _touches_complex(node)
        }
        table = {op: known[op] for op in composed if op in known and op not in rules}
        if not table:
            return exported.run_decompositions({})  # in-place operators go
        exported = exported.run_decompositions(table)


def _touches_complex(node: Any) -> bool:
    leaves = need("torch.utils._pytree").tree_leaves
    nodes = [node, *node.all_input_nodes]
    return any(
        _is_complex(leaf) for near in nodes for leaf in leaves(near.meta.get("val"))
    )


def _module() -> type:
    torch = need("torch")

    class InPairs(torch.nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self, body: Any) -> None:
            super().__init__()
            self.body = body
            self.training = False  # eval() would reach the body, which refuses it

        def keep(self, name: str, value: Any) -> None:
            if name not in self._buffers:
                self.register_buffer(name, value)

        def constant(self, name: str, make: Callable[[], Any]) -> Any:
            if name not in self._buffers:
                self.keep(name, torch.from_numpy(make()))
            return self._buffers[name]

        def forward(self, *inputs: Any) -> Any:
            with torch.fx.traceback.preserve_node_meta():  # lines of the source
                return _interpreter(self).run(*inputs)

    return InPairs


def _interpreter(held: Any) -> Any:
    torch = need("torch")
    trees = need("torch.utils._pytree")
    rules = arithmetic.rules()
    aten = torch.ops.aten

    class Interpreter(torch.fx.Interpreter):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__(held.body)
            self.extra_traceback = False  # it would follow our sentences

        def run_node(self, node: Any) -> Any:
            try:
                return _checked(super().run_node(node), node)
            except RuleError as error:
                place = blame.line_in(node.meta.get("stack_trace") or "")
                at = f" at {place}" if place else ""
                raise SdkError(
                    f"complex numbers{at}: {node.target} {error}", _HINT
                ) from error

        def get_attr(self, target: Any, args: Any, kwargs: Any) -> Any:
            value = super().get_attr(target, args, kwargs)
            if not _is_complex(value):
                return value
            pairs = torch.view_as_real(value.detach()).contiguous()
            return ComplexPair(
                held.constant("pairs_" + target.replace(".", "_"), pairs.numpy)
            )

        def call_function(self, target: Any, args: Any, kwargs: Any) -> Any:
            real = arithmetic.plain(args, kwargs)
            if target in rules and (
                not real or arithmetic.makes_complex(target, kwargs)
            ):
                return rules[target](held.constant, *args, **kwargs)
            args, kwargs = trees.tree_map(_real, (args, kwargs))
            if not arithmetic.plain(args, kwargs):
                raise RuleError("has no form in pairs")
            if target is aten.view.default:  # strides are others than they were
                return args[0].reshape(args[1])
            return super().call_function(target, args, kwargs)

        def output(self, target: Any, args: Any, kwargs: Any) -> Any:
            args = trees.tree_map(_real, args)
            if not arithmetic.plain(args):
                raise SdkError(
                    "an output of the model is complex, which no program can return",
                    hint="return torch.view_as_real(x)",
                )
            return super().output(target, args, kwargs)

    return Interpreter()


def _real(value: Any) -> Any:
    return value.root if isinstance(value, Magnitude) else value


def _is_complex(value: Any) -> bool:
    return isinstance(value, need("torch").Tensor) and bool(value.is_complex())


def _checked(value: Any, node: Any) -> Any:
    """What a node gives; an error where that is complex all the same."""
    if not _is_complex(value):
        return value
    if node.op == "placeholder":
        raise SdkError(
            f"the model's input {node.target} is complex, which no program can take",
            hint="take pairs, and call torch.view_as_complex(x)",
        )
    raise RuleError("has no form in pairs")
