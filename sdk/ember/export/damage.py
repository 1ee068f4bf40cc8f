"""A quantised graph and samples -> what quantising does to each layer.

Each layer is judged twice: as it runs in the quantised model, with the errors of all
layers before it, and isolated, with the inputs that the float model gives it.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ember.export import blame
from ember.export.graph import by_name, first, rest
from ember.export.graph.states import Explicit
from ember.export.packages import need
from ember.export.source import Sample

_SATURATED = 0.01  # of the numbers: samples reach beyond the range
_UNUSED = 0.5  # of the range
_POOR_DB = 20.0  # a tenth of the signal


@dataclass
class LayerDamage:
    """A layer: what is quantised together, an operator and those fused to it."""

    name: str
    operators: str
    module: str | None  # where it is in the model
    weights: str | None  # per channel, or per tensor; None: it has none
    signal: float = 0.0  # sums of squares
    noise: float = 0.0
    own_noise: float = 0.0
    count: int = 0
    saturated: int = 0
    lowest: int | None = None  # integers that occur
    highest: int | None = None
    levels: int = 0

    @property
    def snr_db(self) -> float | None:
        """The signal-to-noise ratio; None: no error, or no signal."""
        return _db(self.signal, self.noise)

    @property
    def own_snr_db(self) -> float | None:
        return _db(self.signal, self.own_noise)

    @property
    def saturation(self) -> float:
        return self.saturated / self.count if self.count else 0.0

    @property
    def range_used(self) -> float:
        if self.lowest is None or self.highest is None:
            return 0.0
        return (self.highest - self.lowest + 1) / self.levels

    def advice(self) -> list[str]:
        """What may help, most likely first."""
        told = []
        if self.saturation > _SATURATED:
            told.append("calibrate with more samples: numbers lie outside of the range")
        poor = self.own_snr_db is not None and self.own_snr_db < _POOR_DB
        if poor and self.weights == "per tensor":
            told.append("quantise its weights per channel")
        if poor and self.range_used < _UNUSED:
            told.append("calibrate without the rare samples that widen its range")
        if poor:
            told.append("keep it in float")
        elif self.snr_db is not None and self.snr_db < _POOR_DB:
            told.append("its error comes from the layers before it")
        return told


@dataclass
class Damage:
    """The damage to a model: its layers, worst first, and its first output."""

    samples: int = 0
    layers: list[LayerDamage] = field(default_factory=list)
    signal: float = 0.0
    noise: float = 0.0
    floats: list[int] = field(default_factory=list)  # the class that each model says
    integers: list[int] = field(default_factory=list)

    @property
    def snr_db(self) -> float | None:
        return _db(self.signal, self.noise)

    def measure(
        self,
        explicit: Explicit,
        prepared: Any,
        converted: Any,
        samples: Sequence[Sample],
    ) -> None:
        """Runs all samples on the graph with observers, which still computes in float,
        and on the quantised graph."""
        groups = {group.name: group for group in _layers(converted)}
        states = [tensor.clone() for tensor in explicit.states.values()]
        held = [tensor.clone() for tensor in states]
        with need("torch").no_grad():
            for sample in samples:
                given = (sample, states) if explicit.states else sample
                other = (sample, held) if explicit.states else sample
                states, held = self._sample(prepared, converted, given, other, groups)
        self.samples += len(samples)
        self.layers = sorted(groups.values(), key=_harm)

    def _sample(
        self,
        prepared: Any,
        converted: Any,
        given: Any,
        other: Any,
        groups: dict[str, LayerDamage],
    ) -> tuple[list[Any], list[Any]]:
        floats: dict[str, Any] = {}
        exact = recorder(prepared, floats).run(*copy.deepcopy(given))
        _measurer(converted, floats, groups, isolated=True).run(*copy.deepcopy(given))
        got = _measurer(converted, floats, groups, isolated=False).run(
            *copy.deepcopy(other)
        )
        self._output(_first(exact), _first(got))
        stateful = len(given) == len(other) == 2 and isinstance(given[1], list)
        return (exact[1], got[1]) if stateful else ([], [])

    def _output(self, exact: Any, got: Any) -> None:
        exact, got = exact.double(), got.double()
        self.signal += float((exact**2).sum())
        self.noise += float(((exact - got) ** 2).sum())
        self.floats.append(int(exact.reshape(-1).argmax()))
        self.integers.append(int(got.reshape(-1).argmax()))

    def accuracy(self, labels: Sequence[int]) -> tuple[float, float]:
        """The accuracy of the float model and of the quantised one."""
        return tuple(  # type: ignore[return-value]
            sum(a == b for a, b in zip(said, labels, strict=True)) / len(labels)
            for said in (self.floats, self.integers)
        )


def _harm(layer: LayerDamage) -> float:
    """Sorts the worst first, those without any error last."""
    isolated = layer.own_snr_db
    return math.inf if isolated is None else isolated


def _db(signal: float, noise: float) -> float | None:
    if signal <= 0 or noise <= 0:
        return None
    return 10 * math.log10(signal / noise)


def _first(outputs: Any) -> Any:
    torch = need("torch")
    leaves = need("torch.utils._pytree").tree_flatten(outputs)[0]
    return next(leaf for leaf in leaves if isinstance(leaf, torch.Tensor))


# ---- graphs --------------------------------------------------------------------------


def _is_quantise(node: Any) -> bool:
    return (
        node.op == "call_function"
        and "quantize_per_tensor" in str(node.target)
        and ("dequantize" not in str(node.target))
    )


def _is_dequantise(node: Any) -> bool:
    return node.op == "call_function" and "dequantize" in str(node.target)


def _layers(converted: Any) -> Iterator[LayerDamage]:
    for node in converted.graph.nodes:
        if not _is_quantise(node) or _is_again(node):
            continue
        if first(node).op in ("call_function", "placeholder"):
            yield _layer(first(node))


def _is_again(node: Any) -> bool:
    """Whether this quantises what was quantised in the same way."""
    before = first(node)
    return (
        _is_dequantise(before)
        and _is_quantise(first(before))
        and rest(before) == rest(node)
    )


def _layer(last: Any) -> LayerDamage:
    """The nodes from one that is quantised back to those quantised before."""
    if (whole := _whole(last)) is not None:
        name = str(whole.target).split(".")[1].removeprefix("quantized_")
        is_recurrent = first(last) is not whole  # has several results
        weights = "per channel" if is_recurrent else None
        return LayerDamage(last.name, name, _module(whole), weights)
    names, weights, node = [], None, last
    module = _module(last)
    while node is not None and node.op == "call_function":
        names.append(str(node.target).removeprefix("aten.").partition(".")[0])
        weights = weights or _weights(node)
        module = module if weights is None else _module(node) or module
        inner = [each for each in node.all_input_nodes if each.op == "call_function"]
        inner = [each for each in inner if not _is_dequantise(each)]
        node = inner[0] if len(inner) == 1 and len(inner[0].users) == 1 else None
    operators = " + ".join(reversed(names)) or "input"
    return LayerDamage(last.name, operators, module, weights)


def _whole(last: Any) -> Any | None:
    """The operator of integers, a layer, whose result `last` converts to float."""
    if not _is_dequantise(last) or first(last).op != "call_function":
        return None
    for source in (first(last), first(first(last))):
        if str(source.target).startswith("ember.quantized_"):
            return source
    return None


def _weights(node: Any) -> str | None:
    for given in node.all_input_nodes:
        if _is_dequantise(given) and first(given).op == "get_attr":
            return "per channel" if "per_channel" in str(given.target) else "per tensor"
    return None


def _module(node: Any) -> str | None:
    return blame.module_of(node.meta) or None


_COMPUTE = ("call_function", "call_module", "placeholder")


def recorder(graph: Any, floats: dict[str, Any]) -> Any:
    """Runs a graph, of which `floats` then has the results by name."""
    torch = need("torch")

    class Recorder(torch.fx.Interpreter):  # type: ignore[misc, name-defined]
        def run_node(self, n: Any) -> Any:
            value = super().run_node(n)
            if n.op in _COMPUTE and isinstance(value, torch.Tensor):
                floats[n.name] = value.detach().clone()
            return value

    return Recorder(graph)


def isolating(graph: Any, floats: dict[str, Any], results: dict[str, Any]) -> Any:
    """Runs a quantised graph in which each layer gets the inputs of the float model;
    `results` then has what operators return.

    floats -- of a recorder()
    """
    torch = need("torch")

    class Isolating(torch.fx.Interpreter):  # type: ignore[misc, name-defined]
        def run_node(self, n: Any) -> Any:
            if _is_dequantise(n) and _is_quantise(first(n)):
                source = first(first(n)).name
                if source in floats:
                    return floats[source]
            value = results[n.name] = super().run_node(n)
            return value

    return Isolating(graph)


def _measurer(
    graph: Any,
    floats: dict[str, Any],
    layers: dict[str, LayerDamage],
    *,
    isolated: bool,
) -> Any:
    """Runs a quantised graph.

    isolated -- a layer gets the inputs of the float model
    """
    torch = need("torch")
    bases = type(isolating(graph, floats, {})) if isolated else torch.fx.Interpreter

    class Measurer(bases):  # type: ignore[misc, valid-type]
        def run_node(self, n: Any) -> Any:
            value = super().run_node(n)
            name = first(n).name if _is_quantise(n) else None
            if name in floats and name in layers:
                step = by_name(n.target, *self.fetch_args_kwargs_from_env(n))
                _note(layers[name], floats[name], value, step, isolated=isolated)
            return value

    return Measurer(graph)


def _note(
    layer: LayerDamage,
    exact: Any,
    value: Any,
    step: Mapping[str, Any],
    *,
    isolated: bool,
) -> None:
    scale, zero = float(step["scale"]), int(step["zero_point"])
    low, high = int(step["quant_min"]), int(step["quant_max"])
    error = (exact.double() - (value.double() - zero) * scale) ** 2
    if isolated:
        layer.own_noise += float(error.sum())
        return
    place = (exact.double() / scale).round() + zero
    layer.signal += float((exact.double() ** 2).sum())
    layer.noise += float(error.sum())
    layer.count += exact.numel()
    layer.saturated += int(((place < low) | (place > high)).sum())
    lowest, highest = int(value.min()), int(value.max())
    layer.lowest = lowest if layer.lowest is None else min(layer.lowest, lowest)
    layer.highest = highest if layer.highest is None else max(layer.highest, highest)
    layer.levels = high - low + 1
