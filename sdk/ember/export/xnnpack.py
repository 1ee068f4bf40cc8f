"""What of a graph becomes delegates of XNNPACK.

That is what its partitioner takes, but for layers that the exporter then writes wrongly
or fails on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

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
    """The graph in which XNNPACK has what it takes.

    A copy on its edge, which it leaves out, gives one tensor twice, or an input as an
    output: it fails on both. Then copies stay outside.
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
        if "is already in the inputs" not in str(error):
            raise
    return lowered([each for each in configs if each.__name__ not in _COPIES])


def kept_orders() -> Any:
    """A pass for operators outside that ExecuTorch computes only in the default dim
    order: it copies their inputs to that order, and their results back.

    The exporter's own pass copies inputs only, although delegates have been written for
    results in the dim order that PyTorch gives them.
    """
    passes = need("executorch.exir.passes")

    class KeptOrders(passes.LegalizePortableDimOrderPass):  # type: ignore[misc, name-defined]
        def call_operator(self, op: Any, args: Any, kwargs: Any, meta: Any) -> Any:
            result = super().call_operator(op, args, kwargs, meta)
            if op not in self._target_ops:
                return result
            order = list(meta["val"].dim_order())
            if order == list(result.to_tensor().dim_order()):
                return result
            kwargs = {"dim_order": order}
            return super().call_operator(self._copy_op, (result,), kwargs, meta)

    return KeptOrders()


def left_out(nodes: Sequence[Any]) -> Iterator[str]:
    """What is told of layers that stay outside; `nodes` are those of ATen."""
    aten = need("torch").ops.aten
    for limit in _LIMITS:
        if limit.operator is None:
            continue
        target = getattr(aten, limit.operator).default
        count = sum(node.target == target and not limit.rule(node) for node in nodes)
        if count:
            yield f"{count} {limit.layer} stay outside XNNPACK, which {limit.reason}"


def _configs(parts: Any) -> list[type]:
    """The partitioner's rules, stricter where the exporter is wrong."""
    rules = {limit.config: limit.rule for limit in _LIMITS}
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
    """Whether an addmm is a linear layer: without factors, its bias a row."""
    factors = [node.kwargs.get(name, 1) for name in ("alpha", "beta")]
    return factors == [1, 1] and node.args[0].meta["val"].dim() == 1


def _has_elements(node: Any) -> bool:
    """Whether its result has any."""
    return 0 not in node.meta["val"].shape


def _is_exact(node: Any) -> bool:
    return bool(node.kwargs.get("approximate", "none") == "none")


def _keeps_type(node: Any) -> bool:
    """Whether what goes in and what comes out are both quantised, or neither."""
    names = [str(user.target) for user in node.users]
    to_int8 = any("quantize" in name and "dequantize" not in name for name in names)
    return to_int8 == ("dequantize" in str(node.args[0].target))


@dataclass(frozen=True)
class Limit:
    """A rule for what a config of the partitioner takes. If the user is told of what
    stays outside: ATen's operator, what to call it and why."""

    config: str
    rule: Rule
    operator: str | None = None
    layer: str = ""
    reason: str = ""


_LIMITS = (
    Limit(  # the exporter fails on others
        *("PreluConfig", _is_image, "prelu", "PReLU"), "supports 4 dimensions only"
    ),
    Limit(  # the exporter ignores alpha and beta
        *("AddmmConfig", _is_linear, "addmm", "addmm"),
        "adds a row to the product and scales nothing",
    ),
    Limit(  # the exporter ignores the formula
        *("GeluConfig", _is_exact, "gelu", "GELU by tanh"), "has the exact one only"
    ),
    Limit("ConstantPadConfig", _keeps_type),  # XNNPACK does not pad float32 to int8
    Limit("ConvolutionConfig", _has_elements),  # XNNPACK refuses others
)
