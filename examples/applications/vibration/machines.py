# SPDX-License-Identifier: Apache-2.0
"""A machine and a fault of its bearing -> what an accelerometer on its housing reads.

A motor turns at 24 to 30 revolutions a second, drifting. The housing swings with the
shaft (harmonics), with the blades of a fan, and with noise that its own resonance
colours. A fault of a bearing hits that resonance once for each ball that passes it.
Every machine has its own levels, resonance and mounting. Needs only NumPy.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

RATE = 3200  # samples a second
LSB = 16 / 32768  # g of one step of the sensor, 16 bits for +-16 g
BLADES = 9
FAULTS = ("outer", "inner", "ball", "unbalance", "looseness")
# Hits of a bearing with nine balls, for each turn of the shaft, and their modulation.
_HITS = {"outer": 3.58, "inner": 5.42, "ball": 4.64}
_MODULATED = {"outer": 0.0, "inner": 1.0, "ball": 0.4}  # by turns of the shaft

Samples = NDArray[np.int16]
Signal = NDArray[np.float64]


@dataclass(frozen=True)
class Machine:
    """Properties that stay the same for a machine; accelerations in g."""

    gain: float  # of the mounting
    resonance: float  # Hz
    ringing: float  # s until a swing of the housing is 1 / e
    shaft: tuple[float, ...]  # of the harmonics, the first is once a turn
    blades: float
    noise: float
    coloured: float  # noise through the resonance


@dataclass(frozen=True)
class Part:
    """Of a recording."""

    name: str  # of FAULTS, or "sound"
    seconds: float
    severity: float = 0.0  # 1 is a clear fault


def machine(random: np.random.Generator) -> Machine:
    levels = np.array([0.05, 0.025, 0.012, 0.006])
    spread = np.exp(random.normal(0, 0.25, levels.size))
    return Machine(
        gain=float(np.exp(random.normal(0, 0.2))),
        resonance=float(random.uniform(800, 1200)),
        ringing=float(random.uniform(1.5e-3, 3e-3)),
        shaft=tuple((levels * spread).tolist()),
        blades=float(0.03 * np.exp(random.normal(0, 0.25))),
        noise=float(0.012 * np.exp(random.normal(0, 0.15))),
        coloured=float(0.02 * np.exp(random.normal(0, 0.2))),
    )


def record(
    source: Machine, parts: Sequence[Part], random: np.random.Generator
) -> Samples:
    """What the sensor gives while the parts follow one another."""
    strength = _strengths(parts)
    count = len(strength["outer"])
    speed = _speed(count, random)
    turns = np.cumsum(speed) / RATE + random.uniform()
    load = (speed / 27) ** 2
    swings = _rung(source, random.normal(0, 1, count))
    signal = random.normal(0, source.noise, count)
    signal += source.coloured * swings / float(swings.std())
    for number, level in enumerate(source.shaft, 1):
        grown = 1 + 2.0 * strength["unbalance"] * (number == 1)
        signal += level * grown * load * np.sin(2 * np.pi * number * turns + number)
    signal += source.blades * load * np.sin(2 * np.pi * BLADES * turns)
    for half in (0.5, 1.5, 2.5, 3.5):
        loose = 0.03 * strength["looseness"] * load
        signal += loose * np.sin(2 * np.pi * half * turns)
    for fault in _HITS:
        hits = _hits(fault, turns, random) * strength[fault] * load
        signal += _rung(source, hits)
    counts = np.rint(source.gain * signal / LSB)
    return np.clip(counts, -32768, 32767).astype(np.int16)


def _strengths(parts: Sequence[Part]) -> dict[str, Signal]:
    """The severity of each fault in each sample."""
    return {
        fault: np.concatenate(
            [
                np.full(
                    round(part.seconds * RATE), part.severity * (part.name == fault)
                )
                for part in parts
            ]
        )
        for fault in FAULTS
    }


def _speed(count: int, random: np.random.Generator) -> Signal:
    """Turns a second that drift between stations two seconds apart."""
    stations = 2 + count // (2 * RATE)
    at = np.arange(stations) * 2 * RATE
    return np.interp(np.arange(count), at, random.uniform(24, 30, stations))


def _hits(fault: str, turns: Signal, random: np.random.Generator) -> Signal:
    """An impulse where a ball passes the fault; balls slip by a hundredth."""
    passed = np.floor(turns * _HITS[fault] + 0.3 * np.sin(turns))
    hit = np.diff(passed, prepend=passed[0]) > 0
    around = 1 + np.cos(2 * np.pi * turns * _MODULATED[fault])
    modulation = 1.0 if fault == "outer" else around / 2
    return 0.15 * hit * modulation * np.exp(random.normal(0, 0.3, hit.size))


def _rung(source: Machine, hits: Signal) -> Signal:
    """The housing's swings after `hits`."""
    time = np.arange(round(6 * source.ringing * RATE)) / RATE
    swing = np.exp(-time / source.ringing) * np.sin(2 * np.pi * source.resonance * time)
    rung: Signal = np.convolve(hits, swing)[: hits.size]
    return rung
