"""Samples run through a model decide which numbers its integers represent.

Observers keep a histogram of each tensor. From it each method takes a range: all
numbers, all but the rarest, or what loses least. Which one suits a network differs, so
by default each is tried, and the one kept whose outputs are nearest to the float model.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

from ember.export import biases
from ember.export.damage import Damage
from ember.export.packages import need
from ember.export.source import Sample

Method = Literal["measured", "minmax", "percentile", "mse", "entropy"]
METHODS: tuple[Method, ...] = get_args(Method)[1:]

_TAIL = 5e-5  # of the numbers, at each end, that a percentile leaves out
_STEPS = 48  # ends of a range that are tried
_LEAST = 0.3  # of the whole range
_MEASURED = 32  # samples that methods are compared on
_CORRECTED = 8  # samples that corrected biases need: half to learn from, half to judge
_CLEARLY = 0.3  # dB by which the less simple must be better


@dataclass
class Calibration:
    """Samples and how to use them; receives what became of them.

    damage -- receives what quantising does to each layer
    ratios -- signal-to-noise ratio of the outputs by method, in dB, where measured
    chosen -- the method used; None where nothing was calibrated by ranges
    """

    samples: Sequence[Sample]
    method: Method = "measured"
    damage: Damage | None = None
    ratios: dict[Method, float] = field(default_factory=dict)
    chosen: Method | None = None
    correction: float | None = None  # dB that other biases gave, if they are kept

    @property
    def note(self) -> str | None:
        """A sentence about the choice of a method."""
        if self.chosen is None or len(self.ratios) < 2:
            return None
        figures = ", ".join(
            f"{name} {ratio:.1f}" for name, ratio in self.ratios.items()
        )
        told = f"ranges by {self.chosen}; outputs against float, in dB: {figures}"
        if self.correction is None:
            return told
        return f"{told}; {self.correction:+.1f} by corrected biases"

    def to_json(self) -> dict[str, Any]:
        """The choice. Without noise, a ratio is null."""
        ratios = {
            name: ratio if math.isfinite(ratio) else None
            for name, ratio in self.ratios.items()
        }
        return {
            "method": self.chosen,
            "snr_db": ratios,
            "biases_db": self.correction,
        }

    def convert(
        self,
        prepared: Any,
        converted: Callable[[Any], Any],
        outputs: Callable[[Any, Sequence[Sample]], list[Any]],
        *,
        stateful: bool,
    ) -> Any:
        """The quantised graph of a graph with observers that saw all samples.

        converted -- quantises a graph with observers, which it may change
        outputs -- the outputs of a graph for calls in a row
        """
        if not any(map(_is_histogram, prepared.modules())):
            return converted(prepared)
        if self.method != "measured":
            self.chosen = self.method
            return converted(ranged(prepared, self.method))
        samples = self.samples[:_MEASURED]
        exact, graphs = outputs(prepared, samples), {}
        for method in METHODS:
            graph = converted(ranged(copy.deepcopy(prepared), method))
            self.ratios[method] = ratio(exact, outputs(graph, samples))
            graphs[method] = graph
        self.chosen = _best(self.ratios)
        graph = graphs[self.chosen]
        if stateful or len(samples) < _CORRECTED:
            return graph
        learnt, judged = samples[::2], samples[1::2]
        other = biases.corrected(graph, prepared, learnt)
        if other is None:
            return graph
        exact = exact[1::2]
        gain = ratio(exact, outputs(other, judged)) - ratio(
            exact, outputs(graph, judged)
        )
        self.correction = gain if gain > _CLEARLY else None
        return graph if self.correction is None else other


def _best(ratios: dict[Method, float]) -> Method:
    """The method with the best outputs; the simpler one of those about as good."""
    best = METHODS[0]
    for method in METHODS[1:]:
        if ratios[method] > ratios[best] + _CLEARLY:
            best = method
    return best


def ratio(exact: Sequence[Any], got: Sequence[Any]) -> float:
    """The signal-to-noise ratio of the worst output over all calls, in dB."""
    flat = need("torch.utils._pytree").tree_leaves
    calls = [
        list(zip(flat(a), flat(b), strict=True))
        for a, b in zip(exact, got, strict=True)
    ]
    return min((_ratio(pairs) for pairs in zip(*calls, strict=True)), default=math.inf)


def _ratio(pairs: Sequence[tuple[Any, Any]]) -> float:
    torch = need("torch")
    signal = noise = 0.0
    for a, b in pairs:
        if isinstance(a, torch.Tensor) and a.is_floating_point():
            signal += float((a.double() ** 2).sum())
            noise += float(((a.double() - b.double()) ** 2).sum())
    if not noise > 0:
        return math.inf if noise == 0 else -math.inf
    return 10 * math.log10(max(signal, 1e-30) / noise)


# ---- ranges --------------------------------------------------------------------------


def ranged(prepared: Any, method: Method) -> Any:
    """The graph, whose observers then have the range of a method."""
    for observer in prepared.modules():
        if _is_histogram(observer) and float(observer.histogram.sum()) > 0:
            low, high = _RANGES[method](_Histogram.of(observer))
            torch = need("torch")
            ends = (torch.tensor(low), torch.tensor(high))
            scales = observer._calculate_qparams(*ends)  # there is no public way
            observer.calculate_qparams = lambda scales=scales: scales
    return prepared


def _is_histogram(module: Any) -> bool:
    return type(module).__name__ == "HistogramObserver"


@dataclass(frozen=True)
class _Histogram:
    """Numbers of a tensor: how many are near each centre.

    levels -- of the integers that shall represent them
    """

    counts: Any
    centres: Any
    low: float
    high: float
    levels: int

    @classmethod
    def of(cls, observer: Any) -> _Histogram:
        torch = need("torch")
        low, high = float(observer.min_val), float(observer.max_val)
        counts = observer.histogram.double()
        width = (high - low) / len(counts)
        centres = low + width * (torch.arange(len(counts), dtype=torch.float64) + 0.5)
        levels = int(observer.quant_max) - int(observer.quant_min)
        return cls(counts, centres, low, high, levels)

    def ends(self) -> tuple[Any, Any]:
        """Low and high ends to try, from the whole range on; both include zero."""
        shares = need("torch").linspace(1, _LEAST, _STEPS, dtype=need("torch").float64)
        return min(self.low, 0.0) * shares, max(self.high, 0.0) * shares


def _minmax(of: _Histogram) -> tuple[float, float]:
    return of.low, of.high


def _percentile(of: _Histogram) -> tuple[float, float]:
    """The range without the rarest numbers at each end."""
    torch = need("torch")
    sums = of.counts.cumsum(0) / of.counts.sum()
    first = int(torch.searchsorted(sums, torch.tensor(_TAIL, dtype=sums.dtype)))
    last = int(torch.searchsorted(sums, torch.tensor(1 - _TAIL, dtype=sums.dtype)))
    half = (of.high - of.low) / len(of.counts) / 2
    last = min(last, len(of.counts) - 1)
    return float(of.centres[first]) - half, float(of.centres[last]) + half


def _mse(of: _Histogram) -> tuple[float, float]:
    """The range with the least squared error, of rounding and of saturation."""
    lows, highs = of.ends()
    below = (lows[:, None] - of.centres).clamp(min=0).square() @ of.counts
    above = (of.centres - highs[:, None]).clamp(min=0).square() @ of.counts
    steps = (highs[None, :] - lows[:, None]) / of.levels
    errors = below[:, None] + above[None, :] + of.counts.sum() * steps.square() / 12
    low, high = divmod(int(errors.argmin()), len(highs))
    return float(lows[low]), float(highs[high])


def _entropy(of: _Histogram) -> tuple[float, float]:
    """The range whose integers have a distribution nearest to that of the numbers, by
    the divergence of Kullback and Leibler."""
    lows, highs = of.ends()
    ranges = list(zip(lows.tolist(), highs.tolist(), strict=True))
    low, high = min(ranges, key=lambda ends: _divergence(of, *ends))
    return low, high


def _divergence(of: _Histogram, low: float, high: float) -> float:
    """Of the numbers, those outside counted at the ends, from their integers, each of
    which is spread evenly over the numbers that it stands for."""
    torch = need("torch")
    step = (high - low) / of.levels
    if step <= 0:
        return math.inf
    inside = (of.centres >= low) & (of.centres <= high)
    places = ((of.centres.clamp(low, high) - low) / step).round().long()
    kept = torch.where(inside, of.counts, 0.0)
    sums = torch.zeros(of.levels + 1, dtype=torch.float64).index_add(0, places, kept)
    used = torch.zeros_like(sums).index_add(0, places, (kept > 0).double())
    spread = torch.where(kept > 0, (sums / used.clamp(min=1))[places], 0.0)
    clipped = kept.clone()
    edges = inside.nonzero().flatten()
    if len(edges) == 0:
        return math.inf
    clipped[edges[0]] += of.counts[: edges[0]].sum()
    clipped[edges[-1]] += of.counts[edges[-1] + 1 :].sum()
    p = clipped / clipped.sum()
    q = (spread / spread.sum().clamp(min=1e-30)).clamp(min=1e-12)
    return float(torch.where(p > 0, p * (p.clamp(min=1e-30) / q).log(), 0.0).sum())


_RANGES: dict[Method, Callable[[_Histogram], tuple[float, float]]] = {
    "minmax": _minmax,
    "percentile": _percentile,
    "mse": _mse,
    "entropy": _entropy,
}
