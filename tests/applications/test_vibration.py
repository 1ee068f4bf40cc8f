"""Vibration: its parts on the host, and recordings streamed into boards."""

from __future__ import annotations

import shutil
import struct
import subprocess
import sys
from pathlib import Path
from typing import Any

import application
import numpy as np
import pytest

from ember.errors import SdkError

NAME = "vibration"
FOLDER = application.FOLDER / NAME
PARTS = Path(__file__).parent / "parts"
M4 = "mps2-an386"
machines = application.module(NAME, "machines")
evaluate = application.module(NAME, "evaluate")


def test_the_ring_and_the_detector(tmp_path: Path) -> None:
    parts = application.compiled(NAME, PARTS / f"{NAME}.c", tmp_path / "parts")
    said = subprocess.check_output([parts], text=True)
    assert said == "right\n"


# ---- the machines --------------------------------------------------------------------


def level(samples: np.ndarray, low: float, high: float) -> float:
    """The root of the energy between two frequencies."""
    energy = np.abs(np.fft.rfft(samples.astype(float))) ** 2
    at = np.fft.rfftfreq(samples.size, 1 / machines.RATE)
    return float(np.sqrt(energy[(at >= low) & (at < high)].sum()))


@pytest.mark.parametrize(
    ("fault", "low", "high", "least"),
    [
        ("outer", 600, 1400, 1.5),
        ("inner", 600, 1400, 1.25),
        ("ball", 600, 1400, 1.15),
        ("unbalance", 22, 32, 2.0),
        ("looseness", 34, 47, 3.0),
    ],
)
def test_a_fault_is_where_it_belongs(
    fault: str, low: float, high: float, least: float
) -> None:
    machine = machines.machine(np.random.default_rng(5))
    levels = [
        level(
            machines.record(
                machine,
                [machines.Part(name, 6, severity)],
                np.random.default_rng(8),
            ),
            low,
            high,
        )
        for name, severity in (("sound", 0), (fault, 1))
    ]
    assert levels[1] > least * levels[0]


def test_recordings_are_the_same_every_time_and_end_where_they_should() -> None:
    parts = [machines.Part("sound", 1.5), machines.Part("outer", 0.5, 1)]
    first, second = (
        machines.record(
            machines.machine(np.random.default_rng(1)), parts, np.random.default_rng(2)
        )
        for _ in range(2)
    )
    assert np.array_equal(first, second)
    assert (first.dtype, first.size) == (np.int16, 2 * machines.RATE)


# ---- decisions -----------------------------------------------------------------------


def test_decisions_of_scores() -> None:
    scores = np.ones(evaluate.LEARNED + 40, np.float32)
    learned = slice(evaluate.FIRST + evaluate.USUAL, evaluate.LEARNED)
    scores[learned] = np.exp(np.where(np.arange(evaluate.SCORES) % 2, 1.0, -1.0))
    scores[: evaluate.FIRST] = 1e9  # counts for nothing
    scores[evaluate.LEARNED + 10 : evaluate.LEARNED + 20] = 1e3
    decided = evaluate.decide(scores)
    deviation = np.sqrt(evaluate.SCORES / (evaluate.SCORES - 1))
    assert decided.threshold == pytest.approx(np.exp(evaluate.DEVIATIONS * deviation))
    alarms = np.flatnonzero(decided.alarms) - evaluate.LEARNED
    first = 10 + evaluate.HIGH - 1
    last = 19 + evaluate.RECENT - evaluate.HIGH
    assert alarms.tolist() == list(range(first, last + 1))


def test_area_under_the_curve() -> None:
    faulty = np.array([False, True, False, True])
    assert evaluate.area(np.array([1.0, 2, 0, 3]), faulty) == 1.0
    assert evaluate.area(np.array([2.0, 2, 0, 1]), faulty) == 0.625


def test_the_log_of_the_firmware() -> None:
    bits = struct.pack(">f", 1.5).hex()
    lines = [f"{bits} over -", f"{bits} - alarm", f"threshold {bits} samples lost"]
    decided, whole = evaluate.parse(lines)
    assert decided.scores.tolist() == [1.5, 1.5]
    assert decided.alarms.tolist() == [False, True]
    assert (decided.threshold, whole) == (1.5, False)
    with pytest.raises(SdkError, match="last line is"):
        evaluate.parse(lines[:2])


def test_broken_promises_are_told() -> None:
    facts = {"auc": 0.9, "float_auc": 0.9, "accuracy": 0.9, "float_accuracy": 0.9}
    assert evaluate.wrong(facts | {"ram": 12000}, whole=True) == []
    worse = facts | {"auc": 0.88, "accuracy": 0.88, "ram": 17000}
    assert len(evaluate.wrong(worse, whole=False)) == 4


# ---- boards --------------------------------------------------------------------------


@pytest.fixture(scope="module", name="firmware")
def _firmware(tmp_path_factory: pytest.TempPathFactory) -> object:
    return evaluate.built_for(M4, tmp_path_factory.mktemp("firmware"))


def streamed(firmware: object, samples: np.ndarray, **options: int) -> tuple[Any, bool]:
    files = {"samples.bin": samples.tobytes()}
    ran = evaluate.on_board.run(firmware, files, count=False, **options)
    decided, whole = evaluate.parse(ran.lines)
    return decided, whole


@pytest.mark.qemu
@pytest.mark.slow
def test_a_board_decides_as_pytorch_does(firmware: object) -> None:
    kept = evaluate.recordings()[0]
    decided, whole = streamed(firmware, kept.samples)
    assert whole
    assert len(decided.scores) == len(kept.scores)
    settled = kept.settled
    assert np.array_equal(decided.alarms[settled], kept.faulty[settled])
    assert evaluate.decide(decided.scores).threshold == pytest.approx(decided.threshold)
    assert np.array_equal(evaluate.decide(decided.scores).alarms, decided.alarms)
    watched = slice(evaluate.LEARNED, None)
    away = np.abs(decided.scores - kept.scores)[watched] / kept.scores[watched]
    assert np.median(away) < 0.05


@pytest.mark.qemu
@pytest.mark.slow
def test_a_core_that_is_too_slow_loses_samples(tmp_path: Path) -> None:
    """A sensor four times as fast, and a million instructions a second."""
    folder = tmp_path / "firmware"
    shutil.copytree(FOLDER / "firmware", folder)
    header = folder / "accelerometer.h"
    text = header.read_text()
    assert "ACCELEROMETER_RATE = 3200," in text
    header.write_text(text.replace("RATE = 3200,", "RATE = 12800,"))
    handlers = evaluate.HANDLERS
    firmware = evaluate.on_board.build_for(
        M4, folder / "main.c", evaluate.PROGRAMS, tmp_path, handlers
    )
    samples = evaluate.recordings()[0].samples[: 4 * machines.RATE]
    assert streamed(firmware, samples)[1]
    assert not streamed(firmware, samples, shift=10)[1]


@pytest.mark.qemu
@pytest.mark.slow
def test_a_missing_sensor_ends_the_firmware(firmware: object) -> None:
    with pytest.raises(SdkError, match="the accelerometer does not answer"):
        evaluate.on_board.run(firmware, {})


@pytest.mark.broad
@pytest.mark.qemu
@pytest.mark.parametrize("board", evaluate.BOARDS)
def test_the_promises_hold(board: str) -> None:
    facts = application.evaluated(NAME, board)
    assert facts["auc"] > 0.99
    assert facts["detected"] == 1
    assert facts["false_alarms"] == 0


# ---- PyTorch -------------------------------------------------------------------------


@pytest.mark.export
@application.needs_torch
def test_the_reference_is_what_pytorch_says() -> None:
    train = application.module(NAME, "train")
    monitor = train.model.trained()
    for kept in evaluate.recordings():
        assert np.allclose(train.scores(monitor, kept.samples), kept.scores, rtol=1e-3)


@pytest.mark.export
@pytest.mark.qemu
@application.needs_torch
@pytest.mark.parametrize("program", ["front", "network"])
def test_programs_are_those_of_the_weights(
    program: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if program == "front":
        monkeypatch.setenv("FRONT", "1")
    quantize = [] if program == "front" else ["--quantize", "int8"]
    out = tmp_path / f"{program}.bpte"
    ember = [sys.executable, "-m", "ember"]
    words = [*ember, "export", "model.py", "--board", M4, *quantize, "-o", str(out)]
    subprocess.run(words, cwd=FOLDER, check=True, capture_output=True)
    assert (FOLDER / f"{program}.pte").read_bytes() in out.read_bytes()
    subprocess.run([*ember, "test", out, "--board", M4], check=True)
