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
from ember.export.signal import arithmetic
from ember.export.signal.arithmetic import Constants, Magnitude, Pair, RuleError
from ember.export.source import Sample


_HINT = "torch.view_as_real(x) gives the parts, with which a model can compute itself"


def has_complex(model: Any, sample: Sample) -> bool:
    """Whether a call of the model computes complex numbers."""
    torch = need("torch")
    modes = need("torch.utils._python_dispatch")
    leaves = need("torch.utils._pytree").tree_leaves

    class Watch(modes.TorchDispatchMode):  # type: ignore[misc, name-defined]
        seen = False

        def __torch_dispatch__(
            self, function: Any, types: Any, args: Any = (), kwargs: Any = None
        ) -> Any:
            given = function(*args, **(kwargs or {}))
            for leaf in leaves(given):
                if isinstance(leaf, torch.Tensor) and leaf.is_complex():
                    Watch.seen = True
            return given

    with torch.no_grad(), Watch():
        copy.deepcopy(model)(*copy.deepcopy(sample))
    return Watch.seen


def in_pairs(model: Any, sample: Sample, dynamic: Any) -> Any:
    """A module that computes the same without complex numbers.

    SdkError names the operator and the source line of what has no form in pairs.
    """
    torch = need("torch")
    exported = torch.export.export(
        model, copy.deepcopy(sample), dynamic_shapes=dynamic, strict=False
    )
    kept = {torch.ops.aten.unfold.default, *_cells()}
    table = {
        operator: rule
        for operator, rule in torch.export.default_decompositions().items()
        if operator not in kept
    }
    body = exported.run_decompositions(table).module(check_guards=False)
    made = _module()(body)
    with torch.no_grad():
        made(*copy.deepcopy(sample))  # collects the constants
    return made


def _cells() -> list[Any]:
    """What the flows decompose themselves, or keep."""
    aten = need("torch").ops.aten
    names = ("linear", "lstm_cell", "gru_cell", "rnn_tanh_cell", "rnn_relu_cell")
    return [getattr(aten, name).default for name in names]


def _module() -> type:
    torch = need("torch")

    class InPairs(torch.nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self, body: Any) -> None:
            super().__init__()
            self.body = body
            self.training = False  # eval() would reach the body, which refuses it

        def constant(self, name: str, make: Callable[[], Any]) -> Any:
            if name not in dict(self.named_buffers(recurse=False)):
                self.register_buffer(name, torch.from_numpy(make()))
            return getattr(self, name)

        def forward(self, *inputs: Any) -> Any:
            with torch.fx.traceback.preserve_node_meta():  # lines of the source
                return _interpreter(self.body, self.constant).run(*inputs)

    return InPairs


def _interpreter(body: Any, constants: Constants) -> Any:
    torch = need("torch")
    trees = need("torch.utils._pytree")
    rules = arithmetic.rules()

    class Interpreter(torch.fx.Interpreter):  # type: ignore[misc, name-defined]
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
            held = super().get_attr(target, args, kwargs)
            if not _is_complex(held):
                return held
            value = torch.view_as_real(held.detach()).contiguous().numpy()
            return Pair(constants("pairs_" + target.replace(".", "_"), lambda: value))

        def call_function(self, target: Any, args: Any, kwargs: Any) -> Any:
            given = (args, kwargs)
            if target in rules and not (
                arithmetic.plain(given) and target not in arithmetic.sources()
            ):
                return rules[target](constants, *args, **kwargs)
            args, kwargs = trees.tree_map_only(Magnitude, _root, given)
            if not arithmetic.plain(args, kwargs):
                raise RuleError("has no form in pairs")
            if target is torch.ops.aten.view.default:  # strides are others than they were
                return args[0].reshape(args[1])
            return super().call_function(target, args, kwargs)

        def output(self, target: Any, args: Any, kwargs: Any) -> Any:
            args = trees.tree_map_only(Magnitude, _root, args)
            if not arithmetic.plain(args):
                raise SdkError(
                    "an output of the model is complex, which no program can return",
                    hint="return torch.view_as_real(x)",
                )
            return super().output(target, args, kwargs)

    return Interpreter(body)


def _root(magnitude: Magnitude) -> Any:
    return magnitude.root


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
