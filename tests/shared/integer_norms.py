"""Normalisation and PReLU of int8 in integers, number by number, as
kernels/norm/norm_s8.h and kernels/cortex_m/prelu_s8.h have them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


def wrapped(x: int) -> int:
    return ((x + (1 << 31)) & 0xFFFFFFFF) - (1 << 31)


def limited(x: int) -> int:
    return max(-128, min(127, x))


def upper(a: int, b: int) -> int:
    return (a * b + (1 << 31)) >> 32


def inverse_root(m: int) -> int:
    """2^30 / sqrt(m / 2^30), of m from 2^30 on."""
    y = 1145023541 - (m * 654299166 >> 32)
    for _ in range(3):
        away = (1 << 26) - ((y * y >> 32) * m >> 32)
        y += y * away * 32 >> 32
    return y


@dataclass(frozen=True)
class Normal:
    multiplier: int
    mean: int
    rest: int


def normal(group: Sequence[int], epsilon: int, about: int | None = None) -> Normal:
    """How a group is normalised; `about` is an RMS norm's zero point."""
    count = len(group)
    if about is None:
        total = sum(group)
        variance = count * sum(q * q for q in group) - total * total
    else:
        total = count * about
        variance = count * sum((q - about) ** 2 for q in group)
    away = (2 * abs(total) + count) // (2 * count)
    mean = -away if total < 0 else away
    if variance == 0:
        return Normal(0, mean, 0)
    wide = variance * 256 + epsilon
    left = (64 - wide.bit_length()) // 2 * 2
    inverse = inverse_root(wide << left >> 32)
    fraction = 29 - ((count - 1).bit_length() + 1) // 2
    right = 57 - fraction - left // 2
    half = 1 << (right - 1)
    multiplier = count * inverse + half >> right
    return Normal(multiplier, mean, (total - mean * count) * inverse + half >> right)


def layer_row(
    row: Sequence[int],
    g: Sequence[int],
    b: Sequence[int],
    epsilon: int,
    about: int | None = None,
) -> list[int]:
    by = normal(row, epsilon, about)
    numbers = [wrapped((q - by.mean) * by.multiplier - by.rest) for q in row]
    terms = zip(numbers, g, b, strict=True)
    return [limited(wrapped(upper(n, of) + more) >> 8) for n, of, more in terms]


def group(
    channels: Sequence[Sequence[int]],
    g: Sequence[int],
    b: Sequence[int],
    epsilon: int,
    shift: int,
) -> list[list[int]]:
    """Channels that are normalised together."""
    by = normal([q for channel in channels for q in channel], epsilon)
    results = []
    for channel, of, more in zip(channels, g, b, strict=True):
        slope = upper(by.multiplier, of)
        start = more - upper(by.rest, of) - by.mean * slope
        results.append([limited(wrapped(q * slope + start) >> shift) for q in channel])
    return results


def prelu(x: int, positive: int, slope: int, ends: tuple[int, int, int]) -> int:
    """ends -- zero point, shift, zero point of the result"""
    zero, shift, zero_y = ends
    moved = x - zero
    product = moved * (slope if moved < 0 else positive)
    return limited((product + (1 << shift >> 1) >> shift) + zero_y)
