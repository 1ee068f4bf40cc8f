"""A model with complex numbers inside becomes one with pairs of real numbers.

ExecuTorch's dialect refuses complex tensors, and no kernel takes them. So what a call
of torch.stft() or torch.fft decomposes into is exported on pairs: tensors with a last
dimension of 2, as torch.view_as_real() has them.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np

from ember.errors import SdkError
from ember.export import blame
from ember.export.graph import arithmetic, by_name, first, rest
from ember.export.graph.arithmetic import ComplexPair, Magnitude, RuleError
from ember.export.operators import library
from ember.export.packages import need
from ember.export.source import Sample
from ember.files.tensors import Array

_HINT = "torch.view_as_real(x) gives the parts, with which a model can compute itself"


def has_complex(model: Any, sample: Sample) -> bool:
    """Whether a call of the model computes complex numbers."""
    try:
        return _computes_complex(model, sample)
    except NotImplementedError:  # nothing can watch torch.cond() and the like
        need("torch._dynamo").reset()  # of what it compiled for being watched
        exported = need("torch").export.export(model, copy.deepcopy(sample))
        return any(
            _holds_complex(node.meta.get("val"))
            for module in exported.graph_module.modules()
            for node in module.graph.nodes
        )


def _holds_complex(value: Any) -> bool:
    tensor, leaves = need("torch").Tensor, need("torch.utils._pytree").tree_leaves
    return any(isinstance(x, tensor) and x.is_complex() for x in leaves(value))


def _computes_complex(model: Any, sample: Sample) -> bool:
    torch = need("torch")
    modes = need("torch.utils._python_dispatch")

    class ComplexWatch(modes.TorchDispatchMode):  # type: ignore[misc, name-defined]
        seen = False

        def __torch_dispatch__(
            self, function: Any, types: Any, args: Any = (), kwargs: Any = None
        ) -> Any:
            given = function(*args, **(kwargs or {}))
            ComplexWatch.seen |= _holds_complex(given)
            return given

    with torch.no_grad(), ComplexWatch():
        copy.deepcopy(model)(*copy.deepcopy(sample))
    return ComplexWatch.seen


def in_pairs(model: Any, sample: Sample, dynamic: Any) -> Any:
    """A module that computes the same without complex numbers.

    Raises SdkError with the operator and the source line of what has no form in pairs.
    """
    torch = need("torch")
    exported = torch.export.export(
        model, copy.deepcopy(sample), dynamic_shapes=dynamic, strict=False
    )
    body = _decomposed(exported).module(check_guards=False)
    fold_ranges(body)
    paired = _module()(body)
    called = copy.deepcopy(paired)  # a call changes states
    with torch.no_grad():
        called(*copy.deepcopy(sample))
    for name, constant in called.named_buffers(recurse=False):
        paired.keep(name, constant)
    return paired


def _decomposed(exported: Any) -> Any:
    """The graph with operators on complex numbers decomposed until each has a rule;
    others stay in the form that quantisers know."""
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
                given = by_name(target, args, kwargs)
                return given["self"].reshape(given["size"])
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
    """The value of a node; raises an error if it is still complex."""
    if not _is_complex(value):
        return value
    if node.op == "placeholder":
        raise SdkError(
            f"the model's input {node.target} is complex, which no program can take",
            hint="take pairs, and call torch.view_as_complex(x)",
        )
    raise RuleError("has no form in pairs")


# ---- constant matrices become the ranges of their columns that are not zero ----------


_DENSE = 0.5  # of a matrix: with more in its ranges it stays one


def ranges(matrix: Array) -> tuple[Array, Array]:
    """First rows and lengths, (columns, 2) int32, and the numbers of all ranges."""
    bands, numbers = [], []
    for column in matrix.T:
        rows = np.flatnonzero(column)
        first, past = (rows[0], rows[-1] + 1) if len(rows) else (0, 0)
        bands.append((first, past - first))
        numbers.append(column[first:past])
    return np.array(bands, np.int32), np.concatenate(numbers)


def ranges_of(matrix: Array) -> tuple[Array, Array] | None:
    """The ranges, or None if they cover most of the matrix."""
    bands, numbers = ranges(matrix)
    return None if numbers.size > _DENSE * matrix.size else (bands, numbers)


def fold_ranges(module: Any) -> None:
    """Replaces such constants, if a graph multiplies by them from the right, by their
    ranges."""
    torch = need("torch")
    products = (torch.ops.aten.mm.default, torch.ops.aten.matmul.default)
    for node in list(module.graph.nodes):
        if node.target not in products:
            continue
        (matrix,) = rest(node)
        if matrix.op != "get_attr":
            continue
        if set(matrix.users) != {node} or matrix.meta["val"].dim() != 2:
            continue
        owner, name = _place(module, matrix.target)
        value = getattr(owner, name).detach()
        bank = ranges_of(value.numpy()) if value.dtype == torch.float32 else None
        if bank is not None:
            _replace_product(module, node, bank)
            delattr(owner, name)
    module.recompile()


def _replace_product(module: Any, node: Any, bank: tuple[Array, Array]) -> None:
    torch = need("torch")
    rows, (matrix,) = first(node), rest(node)
    with module.graph.inserting_before(node):
        parts = []
        for what, array in zip(("bands", "weights"), bank, strict=True):
            name = f"{what}_of_{matrix.target.replace('.', '_')}"
            module.register_buffer(name, torch.from_numpy(array))
            parts.append(module.graph.get_attr(name))
        product = library.defined().band_mm.default
        banded = module.graph.call_function(product, (rows, *parts))
    banded.meta = dict(node.meta)
    node.replace_all_uses_with(banded)
    module.graph.erase_node(node)
    module.graph.erase_node(matrix)


def _place(module: Any, name: str) -> tuple[Any, str]:
    """The module that holds an attribute, and the attribute's name in it."""
    *path, last = name.split(".")
    for part in path:
        module = getattr(module, part)
    return module, last
