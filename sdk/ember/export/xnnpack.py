"""A graph becomes one whose layers are delegates of XNNPACK.

Those are the layers that its partitioner takes, except some that the exporter then
writes wrongly or fails on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from ember.export import faults
from ember.export.graph import first, named
from ember.export.packages import need

_COPIES = ("CloneConfig", "CloneDimOrderConfig")
Rule = Callable[[Any], bool]  # of a node of the graph


def delegated(
    exported: Any,
    constants: dict[str, Any],
    config: Any,
    *,
    dynamic: bool,
    recorded: bool,
) -> Any:
    """The graph with XNNPACK's delegates.

    A copy at the edge of a delegate, which XNNPACK leaves out, would return one tensor
    twice, or an input as an output: it fails on both. Then copies stay outside.
    """
    parts = need("executorch.backends.xnnpack.partition.xnnpack_partitioner")

    def lowered(configs: list[type]) -> Any:
        partitioners = [parts.XnnpackPartitioner(configs=configs)]
        if dynamic:
            partitioners.insert(0, parts.XnnpackDynamicallyQuantizedPartitioner())
        return need("executorch.exir").to_edge_transform_and_lower(
            exported,
            partitioner=partitioners,
            constant_methods=constants or None,
            compile_config=config,
            generate_etrecord=recorded,
        )

    configs = _configs(parts)
    try:
        return lowered(configs)
    except RuntimeError as error:
        if "is already in the inputs" not in str(error) or not faults.has("copies"):
            raise
    return lowered([each for each in configs if each.__name__ not in _COPIES])


def kept_orders() -> Any:
    """A pass for operators outside of delegates that ExecuTorch computes only in the
    default dim order: it copies their inputs to it, and their results back.

    The exporter's own pass copies only inputs, although delegates have been written for
    results in the dim order that PyTorch gives them.
    """
    passes = need("executorch.exir.passes")

    class KeptOrders(passes.LegalizePortableDimOrderPass):  # type: ignore[misc, name-defined]
        def call_operator(self, op: Any, args: Any, kwargs: Any, meta: Any) -> Any:
            result = super().call_operator(op, args, kwargs, meta)
            if not faults.has("kept orders") or op not in self._target_ops:
                return result
            order = list(meta["val"].dim_order())
            if order == list(result.to_tensor().dim_order()):
                return result
            kwargs = {"dim_order": order}
            return super().call_operator(self._copy_op, (result,), kwargs, meta)

    return KeptOrders()


def left_out(nodes: Sequence[Any]) -> Iterator[str]:
    """Notes about layers that stay outside; `nodes` are those of ATen."""
    aten = need("torch").ops.aten
    for limit in _limits():
        if limit.operator is None:
            continue
        target = getattr(aten, limit.operator).default
        count = sum(node.target == target and not limit.rule(node) for node in nodes)
        if count:
            yield f"{count} {limit.layer} stay outside XNNPACK, which {limit.reason}"


def _configs(parts: Any) -> list[type]:
    """The partitioner's rules, stricter where the exporter is wrong."""
    rules = {limit.config: limit.rule for limit in _limits()}
    return [
        _stricter(config, rules[config.__name__])
        if config.__name__ in rules
        else config
        for config in parts.ALL_PARTITIONER_CONFIGS
    ]


def _stricter(config: Any, rule: Rule) -> type:
    class Stricter(config):  # type: ignore[misc]
        def check_constraints(self, node: Any, program: Any) -> bool:
            return bool(rule(node) and super().check_constraints(node, program))

    return Stricter


# ---- what XNNPACK may take -----------------------------------------------------------


def _is_image(node: Any) -> bool:
    return len(node.meta["val"].shape) == 4


def _is_linear(node: Any) -> bool:
    """Whether an addmm is a linear layer: no factors, and a row as its bias."""
    given = named(node)
    if given["alpha"] != 1 or given["beta"] != 1:
        return False
    return bool(given["self"].meta["val"].dim() == 1)


def _has_elements(node: Any) -> bool:
    """Whether its result has any elements."""
    return 0 not in node.meta["val"].shape


def _is_exact(node: Any) -> bool:
    return bool(named(node)["approximate"] == "none")


def _keeps_type(node: Any) -> bool:
    """Whether input and output are both quantised, or neither."""
    names = [str(user.target) for user in node.users]
    to_int8 = any("quantize" in name and "dequantize" not in name for name in names)
    return to_int8 == ("dequantize" in str(first(node).target))


def _limits() -> list[Limit]:
    return [limit for limit in _LIMITS if faults.has(limit.fault)]


@dataclass(frozen=True)
class Limit:
    """A restriction of a config of the partitioner, and, if the user is told of what
    stays outside, ATen's operator, its name and the reason."""

    fault: str
    config: str
    rule: Rule
    operator: str | None = None
    layer: str = ""
    reason: str = ""


_LIMITS = (
    Limit(  # the exporter fails on others
        *("prelu", "PreluConfig", _is_image, "prelu", "PReLU"),
        "supports 4 dimensions only",
    ),
    Limit(  # the exporter ignores alpha and beta
        *("addmm", "AddmmConfig", _is_linear, "addmm", "addmm"),
        "adds a row to the product and scales nothing",
    ),
    Limit(  # the exporter ignores the formula
        *("gelu", "GeluConfig", _is_exact, "gelu", "GELU by tanh"),
        "has the exact one only",
    ),
    Limit("pad types", "ConstantPadConfig", _keeps_type),
    Limit("no elements", "ConvolutionConfig", _has_elements),
)
