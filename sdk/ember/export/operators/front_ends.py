"""The operators ember::* of front ends, as PyTorch computes them: as kernels, exactly.

ember::rfft_s16(x, window, roots, n)       (.., width) -> (.., n / 2 + 1, 2), (..)
ember::log_bands_s16(z, exponents, bands, weights, floor)
                                           (.., bins, 2), (..) -> (.., m)
ember::affine_s16(x, weights, bias, shift, bits)
                                           (.., n) -> (.., m), int16 or int8
ember::resample(window, taps, up, down)    (.., reach - 1 + n) -> (.., n up / down)
ember::biquads(x, held, sections)          (.., n) -> (.., n), (.., sections, 2)
ember::gray_bayer(pixels, red)             (.., 2 h, 2 w) -> (.., h, w)
ember::rgb_bayer(pixels, red)              (.., 2 h, 2 w) -> (.., 3, h, w)
ember::gray_rgb565(pixels)                 (..) -> (..)              luma of BT.601
ember::rgb_rgb565(pixels)                  (.., h, w) -> (.., 3, h, w)
ember::rgb_yuv422(pixels)                  (.., h, 2 w) -> (.., 3, h, w)
ember::resize_bilinear(image, h, w)        (.., rows, columns) -> (.., h, w)

The headers in kernels/signal have the formulas. resample takes float32, or int16 with
taps of 15 fraction bits. Pixels are the 16 bits of RGB565, red highest, as int16, or
bytes Y U Y V of two pixels, or those of a Bayer sensor, where `red` is 2 row + column
of red in cells of 2 x 2; images are uint8, computed only in integers.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ember.export.operators.roots import radices
from ember.export.packages import need

# ---- features in fixed point ---------------------------------------------------------


SCHEMAS = {
    "rfft_s16": "Tensor x, Tensor window, Tensor roots, int n",
    "log_bands_s16": (
        "Tensor z, Tensor exponents, Tensor bands, Tensor weights, int floor"
    ),
    "affine_s16": "Tensor x, Tensor weights, Tensor bias, int shift, int bits",
    "gray_bayer": "Tensor pixels, int red",
    "rgb_bayer": "Tensor pixels, int red",
    "gray_rgb565": "Tensor pixels",
    "rgb_rgb565": "Tensor pixels",
    "rgb_yuv422": "Tensor pixels",
    "resize_bilinear": "Tensor image, int height, int width",
    "resample": "Tensor window, Tensor taps, int up, int down",
    "biquads": "Tensor x, Tensor held, Tensor sections",
}
RESULTS = {"rfft_s16": 2, "biquads": 2}  # others have one
FRACTION = 15  # bits of windows, roots, weights of bands and integer taps
LOG_FRACTION = 10  # bits of a logarithm
FLOOR_FRACTION = 45  # bits of a floor
INTERVALS = 32  # of the table of logarithms
_LOG2 = np.round(2**15 * np.log2(1 + np.arange(INTERVALS + 1) / INTERVALS))


# ---- spectra -------------------------------------------------------------------------


def rfft_s16(x: Any, window: Any, roots: Any, n: int) -> tuple[Any, Any]:
    torch = need("torch")
    products = x.reshape(-1, x.shape[-1]).to(torch.int64) * window
    shift = (_bits(products) - 14).clamp(min=0)
    shifted = (products + (1 << shift[:, None] >> 1)) >> shift[:, None]
    shifted = torch.nn.functional.pad(shifted, (0, n - x.shape[-1]))
    z = shifted.reshape(len(products), n // 2, 2).unbind(-1)
    z, exponents = _spectrum(z, roots.to(torch.int64), n // 2, shift - FRACTION)
    shape = x.shape[:-1]
    pairs = torch.stack(z, dim=-1).to(torch.int16).reshape(*shape, n // 2 + 1, 2)
    return pairs, exponents.to(torch.int32).reshape(shape)


def rfft_s16_shape(x: Any, window: Any, roots: Any, n: int) -> tuple[Any, Any]:
    torch = need("torch")
    shape = x.shape[:-1]
    pairs = x.new_empty((*shape, n // 2 + 1, 2))
    return pairs, x.new_empty(shape, dtype=torch.int32)


def _spectrum(z: Any, roots: Any, half: int, exponents: Any) -> tuple[Any, Any]:
    """All passes over rows of complex numbers, and the split."""
    torch = need("torch")
    step, left, at = 1, half, 0
    for radix in radices(half):
        left //= radix
        halvings = _halvings(z, 2 if radix == 4 else 1)
        exponents = exponents + halvings
        count = (left - 1) * (radix - 1)
        twist = roots[at : at + count].reshape(left - 1, radix - 1, 2)
        parts = [part.reshape(-1, radix, left, step) for part in z]
        butterfly = _four if radix == 4 else _two
        outputs = _twisted(butterfly(parts, halvings[:, None, None]), twist)
        stacked = [
            torch.stack(list(column), dim=2) for column in zip(*outputs, strict=True)
        ]
        z = [part.reshape(len(exponents), half) for part in stacked]
        step, at = step * radix, at + count
    halvings = _halvings(z, 1)
    return _split(z, roots[at:], halvings[:, None]), exponents + halvings


def _four(parts: Any, halvings: Any) -> list[tuple[Any, Any]]:
    first, second = halvings.clamp(max=1), (halvings - 1).clamp(min=0)
    (a, b, c, d), (ai, bi, ci, di) = (part.unbind(1) for part in parts)
    even, half = _sums((a, ai), (c, ci), first)
    odd, back = _sums((b, bi), (d, di), first)
    zeroth, two = _sums(even, odd, second)
    quarter, three = _sums(half, (back[1], -back[0]), second)
    return [zeroth, quarter, two, three]


def _two(parts: Any, halvings: Any) -> list[tuple[Any, Any]]:
    (a, b), (ai, bi) = (part.unbind(1) for part in parts)
    return list(_sums((a, ai), (b, bi), halvings))


def _sums(a: Any, b: Any, halvings: Any) -> tuple[Any, Any]:
    """a + b and a - b, perhaps halved, rounded down."""
    plus = tuple((x + y) >> halvings for x, y in zip(a, b, strict=True))
    minus = tuple((x - y) >> halvings for x, y in zip(a, b, strict=True))
    return plus, minus


def _twisted(outputs: list[Any], twist: Any) -> list[Any]:
    """All but the first output of all but the first butterfly, times their roots."""
    torch = need("torch")
    turned = [outputs[0]]
    for index, (re, im) in enumerate(outputs[1:]):
        product = _product((re[:, 1:], im[:, 1:]), twist[:, index, None, :])
        both = zip((re, im), product, strict=True)
        turned.append(tuple(torch.cat([x[:, :1], y], dim=1) for x, y in both))
    return turned


def _product(a: Any, w: Any) -> tuple[Any, Any]:
    half = 1 << (FRACTION - 1)
    re, im = a[0] * w[..., 0] - a[1] * w[..., 1], a[0] * w[..., 1] + a[1] * w[..., 0]
    return (re + half) >> FRACTION, (im + half) >> FRACTION


def _split(z: Any, roots: Any, halvings: Any) -> tuple[Any, Any]:
    torch = need("torch")
    re, im = z
    h = re.shape[1]
    k, back = torch.arange(1, h // 2), torch.arange(h - 1, h // 2, -1)
    even = (re[:, k] + re[:, back]) >> 1, (im[:, k] - im[:, back]) >> 1
    odd = (re[:, k] - re[:, back]) >> 1, (im[:, k] + im[:, back]) >> 1
    twisted = _product(odd, roots)
    low = [(x + y) >> halvings for x, y in zip(even, twisted, strict=True)]
    high = (even[0] - twisted[0]) >> halvings, (twisted[1] - even[1]) >> halvings
    first, middle = slice(0, 1), slice(h // 2, h // 2 + 1)
    zero = torch.zeros_like(re[:, first])
    ends = [(re[:, first] + sign * im[:, first]) >> halvings for sign in (1, -1)]
    turned = re[:, middle] >> halvings, -im[:, middle] >> halvings
    whole = [ends[0], low[0], turned[0], high[0].flip(1), ends[1]]
    return (
        torch.cat(whole, dim=1),
        torch.cat([zero, low[1], turned[1], high[1].flip(1), zero], dim=1),
    )


def _bits(numbers: Any) -> Any:
    """For each row the least k with all numbers in [-2^k, 2^k)."""
    torch = need("torch")
    most = torch.where(numbers < 0, ~numbers, numbers).amax(-1)
    return (most[:, None] >= 2 ** torch.arange(31, device=most.device)).sum(-1)


def _halvings(z: Any, most: int) -> Any:
    """How often each row is halved so that no number of a pass exceeds 16 bits."""
    torch = need("torch")
    return (_bits(torch.cat(list(z), dim=-1)) - (14 - most)).clamp(0, most)


# ---- bands and features --------------------------------------------------------------


def log_bands_s16(z: Any, exponents: Any, bands: Any, weights: Any, floor: int) -> Any:
    torch = need("torch")
    matrix, at = torch.zeros(z.shape[-2], len(bands), dtype=torch.int64), 0
    for column, (first, length) in enumerate(bands.tolist()):
        matrix[first : first + length, column] = weights[at : at + length]
        at += length
    sums = z.to(torch.int64).square().sum(-1) @ matrix
    twice = 2 * exponents.to(torch.int64)[..., None]
    small, large = (-twice).clamp(min=0), twice.clamp(min=0)
    total = (sums >> small) + (torch.tensor(floor) >> large)
    log = _log2(total.clamp(min=1)) + ((large - FLOOR_FRACTION) << 15)
    return _rounded(log, torch.tensor(15 - LOG_FRACTION)).to(torch.int16)


def log_bands_s16_shape(
    z: Any, exponents: Any, bands: Any, weights: Any, floor: int
) -> Any:
    return z.new_empty([*z.shape[:-2], bands.shape[0]])


def _log2(total: Any) -> Any:
    """The logarithm with 15 fraction bits, by a table and straight lines."""
    torch = need("torch")
    table = torch.from_numpy(_LOG2.astype(np.int64))
    whole = (total[..., None] >= 2 ** torch.arange(1, 63)).sum(-1)
    mantissa = total << (62 - whole)
    index, rest = (mantissa >> 57) & (INTERVALS - 1), (mantissa >> 46) & 2047
    low, high = table[index], table[index + 1]
    return (whole << 15) + low + (((high - low) * rest + 1024) >> 11)


def affine_s16(x: Any, weights: Any, bias: Any, shift: int, bits: int) -> Any:
    torch = need("torch")
    wide, factors = x.to(torch.int64), weights.to(torch.int64)
    sums = wide * factors if weights.dim() == 1 else wide @ factors.T
    return _rounded(sums + bias, torch.tensor(shift), bits).to(_type(bits))


def affine_s16_shape(x: Any, weights: Any, bias: Any, shift: int, bits: int) -> Any:
    return x.new_empty([*x.shape[:-1], len(bias)], dtype=_type(bits))


def _type(bits: int) -> Any:
    torch = need("torch")
    return torch.int16 if bits == 16 else torch.int8


def _rounded(numbers: Any, shift: Any, bits: int = 16) -> Any:
    most = 1 << (bits - 1)
    return ((numbers + (1 << (shift - 1))) >> shift).clamp(-most, most - 1)


# ---- filters -------------------------------------------------------------------------


def resample(window: Any, taps: Any, up: int, down: int) -> Any:
    torch = need("torch")
    reach = taps.shape[1]
    count = (window.shape[-1] - reach + 1) * up // down
    steps = torch.arange(count, device=window.device) * down
    samples, phases = steps // up, taps[steps % up]
    integers = not window.is_floating_point()
    wide = window.to(torch.int64) if integers else window
    total = wide.new_zeros((*window.shape[:-1], count))
    for k in range(reach):
        total = total + wide[..., samples + k] * phases[:, k]
    if not integers:
        return total
    rounded = (total + (1 << (FRACTION - 1))) >> FRACTION
    return rounded.clamp(-32768, 32767).to(torch.int16)


def biquads(x: Any, held: Any, sections: Any) -> tuple[Any, Any]:
    torch = need("torch")
    y, states = x, []
    for index, section in enumerate(sections):
        b0, b1, b2, a1, a2 = section.unbind()
        p, q = held[..., index, :].unbind(-1)
        outputs = []
        for sample in y.unbind(-1):
            out = b0 * sample + p
            p = (b1 * sample - a1 * out) + q
            q = b2 * sample - a2 * out
            outputs.append(out)
        y = torch.stack(outputs, dim=-1) if outputs else y.clone()
        states.append(torch.stack([p, q], dim=-1))
    return y, torch.stack(states, dim=-2)


def biquads_shape(x: Any, held: Any, sections: Any) -> tuple[Any, Any]:
    return x.new_empty(x.shape), held.new_empty(held.shape)


# ---- images --------------------------------------------------------------------------


def gray_bayer(pixels: Any, red: int) -> Any:
    cell = _cells(pixels, red)
    green = 75 * cell[1] + 75 * cell[2]
    mixed = 77 * cell[0] + green + 29 * cell[3] + 128
    return (mixed >> 8).to(need("torch").uint8)


def rgb_bayer(pixels: Any, red: int) -> Any:
    torch = need("torch")
    cell = _cells(pixels, red)
    colours = [cell[0], (cell[1] + cell[2] + 1) >> 1, cell[3]]
    return torch.stack(colours, dim=-3).to(torch.uint8)


def gray_rgb565(pixels: Any) -> Any:
    red, green, blue = _channels(pixels)
    return ((77 * red + 150 * green + 29 * blue + 128) >> 8).to(need("torch").uint8)


def rgb_rgb565(pixels: Any) -> Any:
    torch = need("torch")
    return torch.stack(_channels(pixels), dim=-3).to(torch.uint8)


def rgb_yuv422(pixels: Any) -> Any:
    """BT.601 of numbers from 0 to 255, with factors in 256ths."""
    torch = need("torch")
    pairs = pixels.to(torch.int32).unflatten(-1, (-1, 4))
    u, v = pairs[..., 1, None] - 128, pairs[..., 3, None] - 128
    colours = [359 * v + 128, -88 * u - 183 * v + 128, 454 * u + 128]
    planes = [(pairs[..., ::2] + (colour >> 8)).flatten(-2) for colour in colours]
    return torch.stack(planes, dim=-3).clamp(0, 255).to(torch.uint8)


def resize_bilinear(image: Any, height: int, width: int) -> Any:
    """Like upsampling with align_corners=False, with weights of 8 bits."""
    torch = need("torch")
    top, bottom, down = _neighbours(image.shape[-2], height, image.device)
    left, right, across = _neighbours(image.shape[-1], width, image.device)
    wide = image.to(torch.int32)
    tall = (
        wide[..., top, :] * (256 - down[:, None]) + wide[..., bottom, :] * down[:, None]
    )
    mixed = tall[..., left] * (256 - across) + tall[..., right] * across
    return ((mixed + 32768) >> 16).to(torch.uint8)


def _cells(pixels: Any, red: int) -> list[Any]:
    """Red, green, the other green, and blue of each cell, int32."""
    wide = pixels.to(need("torch").int32)
    places = [red, red ^ 1, red ^ 2, red ^ 3]
    return [wide[..., place >> 1 :: 2, place & 1 :: 2] for place in places]


def _channels(pixels: Any) -> tuple[Any, Any, Any]:
    """Red, green and blue, int32 from 0 to 255: the highest bits follow the lowest."""
    bits = pixels.to(need("torch").int32)
    red, green, blue = bits >> 11 & 31, bits >> 5 & 63, bits & 31
    return red << 3 | red >> 2, green << 2 | green >> 4, blue << 3 | blue >> 2


def _neighbours(size: int, wanted: int, device: Any) -> tuple[Any, Any, Any]:
    """The two nearest pixels, and the second one's weight in 256ths."""
    torch = need("torch")
    steps = 2 * wanted  # to a pixel
    at = (2 * torch.arange(wanted, device=device) + 1) * size - wanted
    at = at.clamp(0, (size - 1) * steps)
    first = at // steps
    share = (at - first * steps) * 256 // steps
    return first, (first + 1).clamp(max=size - 1), share.to(torch.int32)


SHAPES: dict[str, Callable[..., Any]] = {
    "biquads": biquads_shape,
    "rfft_s16": rfft_s16_shape,
    "log_bands_s16": log_bands_s16_shape,
    "affine_s16": affine_s16_shape,
}
