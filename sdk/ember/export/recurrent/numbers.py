"""Numbers of recurrent layers in float become those of their operators of int8."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ember.errors import SdkError
from ember.export.packages import need
from ember.export.recurrent.operators import FRACTION, MORE, ONE

_BITS = FRACTION + MORE  # fraction bits of a sum
_WIDE = 30  # bits of the largest multiplier
_HEAD = 2.0  # how much larger than in calibration cells may be
_PRODUCT = 14  # bits of the largest product of two int8
_LEAST_SCALE = 2.0**-ONE  # of outputs
_HALF = 1 << (MORE - 1)


@dataclass(frozen=True)
class Scale:
    """What an integer stands for: (integer - zero_point) * scale."""

    scale: float
    zero_point: int
    bits: int = 8

    @property
    def arguments(self) -> tuple[Any, ...]:
        """Those of quantize_per_tensor and its inverse, after the tensor."""
        torch = need("torch")
        half = 1 << (self.bits - 1)
        dtype = torch.int8 if self.bits == 8 else torch.int16
        return self.scale, self.zero_point, -half, half - 1, dtype


@dataclass(frozen=True)
class Integers:
    """A call of an operator: inputs, constants, and numbers, in this order."""

    inputs: Sequence[Scale]
    tensors: dict[str, Any]
    words: tuple[Any, ...]
    outputs: Sequence[Scale]


def of_layer(
    kind: str, most: float, values: list[Any], flags: tuple[bool, bool], *edges: Scale
) -> Integers:
    """Of an LSTM or a GRU with the weights and biases `values`.

    most -- the largest cell in calibration
    flags -- batch_first, is_reverse
    edges -- of x and y
    """
    of_x, of_y = edges
    cell_bits = _cell_bits(most)
    is_lstm = kind == "lstm"
    of_c = Scale(2.0**-cell_bits, 0, 16)
    states = [of_y, of_c] if is_lstm else [Scale(2.0**-ONE, 0, 16)]
    tensors, shifts = _weights(kind, values, of_x, of_y)
    bits = (cell_bits,) if is_lstm else ()
    words = (*shifts, *bits, *_result_scale(of_y), of_y.zero_point, *flags)
    return Integers([of_x, *states], tensors, words, [of_y, *states])


def of_svdf(most: float, values: list[Any], rank: int, *edges: Scale) -> Integers:
    """Of an SVDF with weights, times and a bias; `most` is the largest number held."""
    torch = need("torch")
    of_x, of_y = edges
    weights, times, bias = values
    of_held = Scale(max(_HEAD * most, 1e-9) / 32767, 0, 16)
    rows, by = _rows(weights)
    factors = by * of_x.scale / of_held.scale * 2**MORE
    biases = -of_x.zero_point * rows.double().sum(1) * factors
    wide = times.double().unflatten(0, (-1, rank)) * of_held.scale
    scales = (wide.abs().amax((1, 2)) / 32767).clamp(min=1e-20)
    whole = (wide / scales[:, None, None]).round().to(torch.int16).flatten(0, 1)
    factors_y = scales * 2**ONE / of_y.scale * 2**MORE
    biases_y = torch.full_like(scales, of_y.zero_point * 2**MORE)
    if bias is not None:
        biases_y += bias.double() / of_y.scale * 2**MORE
    shift, by_x = _multipliers(factors, _PRODUCT, weights.shape[1])
    shift_y, by_y = _multipliers(factors_y, ONE, rank * times.shape[1])
    numbers = torch.cat([by_x, _whole(biases), by_y, _whole(biases_y)]).to(torch.int32)
    tensors = {"weights": rows, "times": whole, "scales": numbers}
    return Integers([of_x, of_held], tensors, (shift, shift_y, rank), [of_y, of_held])


def _weights(
    kind: str, values: list[Any], of_x: Scale, of_y: Scale
) -> tuple[dict[str, Any], tuple[int, int]]:
    """Weights of a layer, and how their sums become those of sigmoid and tanh.

    Sums of tanh stand for twice their number, since that is how it is computed.
    """
    torch = need("torch")
    w_x, w_h, b_x, b_h = values
    size = w_h.shape[1]
    twice = torch.ones(len(w_x), dtype=torch.float64)
    twice[2 * size : 3 * size] = 2
    rows_x, by_x = _rows(w_x)
    rows_h, by_h = _rows(w_h)
    factors_x = by_x * of_x.scale * twice * 2**_BITS
    factors_h = by_h * of_y.scale * twice * 2**_BITS
    bias_x = _bias(b_x, rows_x, of_x, factors_x, twice)
    bias_h = _bias(b_h, rows_h, of_y, factors_h, twice)
    if kind == "lstm":
        biases = [bias_x + bias_h]
    else:
        both = slice(0, 2 * size)
        biases = [bias_x[both] + bias_h[both], bias_x[2 * size :], bias_h[2 * size :]]
    shift_x, multipliers_x = _multipliers(factors_x, _PRODUCT, w_x.shape[1])
    shift_h, multipliers_h = _multipliers(factors_h, _PRODUCT, size)
    scales = torch.cat([multipliers_x, multipliers_h, _whole(torch.cat(biases))])
    tensors = {
        "weights_x": rows_x,
        "weights_h": rows_h,
        "scales": scales.to(torch.int32),
    }
    return tensors, (shift_x, shift_h)


def _whole(biases: Any) -> Any:
    """With the half that rounds sums."""
    return (biases.round() + _HALF).clamp(-(2**29), 2**29)


def _rows(weights: Any) -> tuple[Any, Any]:
    """int8, and the scale of each row."""
    torch = need("torch")
    wide = weights.double()
    scales = (wide.abs().amax(1) / 127).clamp(min=1e-12)
    return (wide / scales[:, None]).round().to(torch.int8), scales


def _bias(bias: Any, rows: Any, of: Scale, factors: Any, twice: Any) -> Any:
    """With what the zero point of the inputs adds, in the unit of sums."""
    moved = -of.zero_point * rows.double().sum(1) * factors
    return moved if bias is None else moved + bias.double() * twice * 2**_BITS


def _multipliers(factors: Any, bits: int, inner: int) -> tuple[int, Any]:
    """The shift to the left of sums, and what they are multiplied with then, of which
    the upper 32 bits are the result. Sums of `inner` numbers of `bits` stay within 32
    bits."""
    room = 31 - bits - math.ceil(math.log2(inner + 1))
    most = float(factors.max()) if len(factors) else 0.0
    shift = max(math.ceil(math.log2(max(most, 2.0**-30))) + 32 - _WIDE, 0)
    if shift > room:
        raise SdkError(
            "the inputs of a recurrent layer are too large for int8: sums overflow",
            hint="normalise them, to values between -10 and 10 for example",
        )
    return shift, (factors * 2.0 ** (32 - shift)).round().clamp(max=2**_WIDE)


def _cell_bits(most: float) -> int:
    """Fraction bits of an int16 that holds cells of this size."""
    return min(max(ONE - math.ceil(math.log2(max(_HEAD * most, 1e-9))), 0), ONE)


def _result_scale(of: Scale) -> tuple[int, int]:
    """What takes int16 of 15 fraction bits to outputs: a multiplier of as many, and a
    shift to the right."""
    factor = 1 / (max(of.scale, _LEAST_SCALE) * 2**ONE)
    shift = max(-math.ceil(math.log2(factor)), 0)
    return min(round(factor * 2 ** (ONE + shift)), 2**ONE - 1), shift
