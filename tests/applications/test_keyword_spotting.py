"""Keyword spotting: its parts on the host, and the recording on boards."""

from __future__ import annotations

import ctypes
import subprocess
import sys
from pathlib import Path
from typing import Any

import application
import numpy as np
import pytest

NAME = "keyword_spotting"
FOLDER = application.FOLDER / NAME
recording = application.module(NAME, "recording")
evaluate = application.module(NAME, "evaluate")
rules = application.module(NAME, "rules")
Word, Decision = recording.Word, recording.Decision

# The headers of the firmware, for the host.
PARTS = """
#include "ring.h"
#include "spotting.h"
static ring_t ring;
static spotting_t spotting;
void put(const int16_t *samples, uint32_t count) { ring_put(&ring, samples, count); }
uint32_t held(void) { return ring_held(&ring); }
void take(int16_t *samples, uint32_t count) { ring_take(&ring, samples, count); }
uint32_t lost(void) { return ring.lost; }
void start_at(uint32_t count) { ring.put = ring.taken = count; ring.lost = 0; }
void start(void) { spotting = (spotting_t){0}; }
int32_t hears(const uint8_t *scores) {
    uint32_t word = 0;
    return spotting_hears(&spotting, scores, &word) ? (int32_t)word : -1;
}
"""


@pytest.fixture(scope="module", name="parts")
def _parts(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    folder = tmp_path_factory.mktemp("parts")
    return ctypes.CDLL(str(application.library(NAME, PARTS, folder)))


def pointer(array: np.ndarray) -> ctypes.c_void_p:
    return array.ctypes.data_as(ctypes.c_void_p)


# ---- the ring ------------------------------------------------------------------------


@pytest.mark.parametrize("first", [0, 2**32 - 700])
def test_the_ring_gives_samples_in_order(parts: ctypes.CDLL, first: int) -> None:
    """Across its own end, and across that of its counters."""
    parts.start_at(ctypes.c_uint32(first))
    samples = np.arange(-6000, 6000, dtype=np.int16)
    came = np.zeros(200, np.int16)
    for at in range(0, len(samples), 200):
        hop = samples[at : at + 200].copy()
        parts.put(pointer(hop), 200)
        assert parts.held() == 200
        parts.take(pointer(came), 200)
        assert np.array_equal(came, hop)
    assert parts.lost() == 0


def test_a_full_ring_loses_what_comes(parts: ctypes.CDLL) -> None:
    parts.start_at(ctypes.c_uint32(5))
    hop, later = np.full(200, 7, np.int16), np.full(200, 9, np.int16)
    for _ in range(10):
        parts.put(pointer(hop), 200)
    assert (parts.held(), parts.lost()) == (2000, 0)
    parts.put(pointer(later), 200)  # 48 samples of room
    assert (parts.held(), parts.lost()) == (2000, 200)
    came = np.zeros(2000, np.int16)
    parts.take(pointer(came), 2000)
    assert set(came) == {7}
    parts.put(pointer(later), 200)
    assert (parts.held(), parts.lost()) == (200, 200)


# ---- the rule ------------------------------------------------------------------------


def row_of(*scores: int) -> list[list[int]]:
    """Results in which the third word has these scores."""
    return [[0, 0, score, *[0] * 7] for score in scores]


def test_a_word_is_heard_when_four_results_agree() -> None:
    assert list(recording.decide(row_of(141, 140, 140, 139), 1200)) == []
    agreeing = row_of(141, 140, 140, 140)
    assert list(recording.decide(agreeing, 1200)) == [Decision("up", 4800)]
    loud = row_of(255, 255, 51)
    assert list(recording.decide(loud, 1200)) == [Decision("up", 3600)]


def test_a_word_counts_once() -> None:
    heard = list(recording.decide(row_of(*[255] * 16), 1))
    assert [decision.at for decision in heard] == [3, 9, 15]


def test_the_firmware_has_the_same_rule(parts: ctypes.CDLL) -> None:
    random = np.random.default_rng(0)
    results = random.integers(0, 150, (4000, 10), np.uint8)
    for at in range(0, 4000, 9):  # words, some of them weak or short
        spoken = slice(at, at + random.integers(1, 7))
        results[spoken, random.integers(10)] = random.integers(100, 256)
    parts.start()
    words = [parts.hears(pointer(result.copy())) for result in results]
    heard = [
        (recording.KEYWORDS[word], i + 1) for i, word in enumerate(words) if word >= 0
    ]
    expected = recording.decide(results.astype(int).tolist(), 1)
    assert heard == [(decision.word, decision.at) for decision in expected]
    assert len(heard) > 100


# ---- the rule that is chosen ---------------------------------------------------------

STEP = 1600


def stream_of(scores: list[int], words: list[Any]) -> Any:
    """What the rules call Heard, with its Words."""
    return rules.Heard(np.array(row_of(*scores), float), STEP, words)


def test_a_rule_hears_words_and_leaves_talk_alone() -> None:
    words = stream_of([0] * 10 + [200] * 5 + [0] * 15, [Word("up", 14400, 20000)])
    talk = stream_of([0] * 10 + [170] * 9 + [0] * 11, [])
    rule, (of_words, of_talk) = rules.best([words, talk])
    assert (of_words.right, of_words.false_alarms, of_talk.false_alarms) == (1, 0, 0)
    assert 170 * rule.row < rule.threshold <= 200 * rule.row
    assert rule.hold == 5  # 0.9 s of 0.2 s each


def test_a_false_alarm_outweighs_a_word() -> None:
    words = stream_of([0] * 10 + [170] * 5 + [0] * 15, [Word("up", 14400, 20000)])
    talk = stream_of([0] * 10 + [200] * 9 + [0] * 11, [])
    _, (of_words, of_talk) = rules.best([words, talk])
    assert (of_words.right, of_talk.false_alarms) == (0, 0)


def test_every_rule_can_be_reached() -> None:
    assert all(0 < x.threshold <= 255 * x.row for x in rules.candidates(STEP))


# ---- the score -----------------------------------------------------------------------

SAID = [Word("yes", 8000, 12000), Word("water", 24000, 28000), Word("no", 40000, 44000)]


@pytest.mark.parametrize(
    ("heard", "right", "alarms"),
    [
        ([("yes", 13000), ("no", 45000)], 3, 0),
        ([("yes", 13000), ("no", 49600)], 3, 0),  # just in time
        ([("yes", 13000), ("no", 49601)], 2, 1),
        ([("yes", 8000), ("no", 45000)], 2, 1),  # before it was said
        ([("no", 13000), ("no", 45000)], 2, 0),
        ([("yes", 11000), ("yes", 17000), ("no", 45000)], 2, 0),  # twice
        ([("yes", 13000), ("go", 29000), ("no", 45000)], 2, 1),
        ([("yes", 13000), ("off", 38000), ("no", 45000)], 3, 1),
        ([], 1, 0),
    ],
)
def test_what_is_right(heard: list[tuple[str, int]], right: int, alarms: int) -> None:
    decisions = [Decision(word, at) for word, at in heard]
    score = recording.score(decisions, SAID, 80000)
    assert (score.right, score.words, score.false_alarms) == (right, 3, alarms)
    assert score.quiet_s == 10 - 2 * (0.5 + 0.7)


# ---- the recording -------------------------------------------------------------------


def test_adpcm_keeps_a_tone() -> None:
    tone = (9000 * np.sin(np.arange(4000) * 0.3)).astype(np.int16)
    content = recording.encode(tone)
    assert len(content) == 2000
    away = recording.decode(content).astype(float) - tone
    assert recording.encode(recording.decode(content)) == content
    assert np.sqrt(np.mean(away[200:] ** 2)) < 0.03 * 9000


def test_adpcm_is_the_standard_s() -> None:
    """Steps and indices worked out by hand from IMA's recommendation."""
    codes = [7, 7, 15, 0, 8]
    content = bytes([codes[0] | codes[1] << 4, codes[2] | codes[3] << 4, codes[4]])
    assert recording.decode(content).tolist() == [11, 41, -22, -13, -21, -14]


def test_the_recording_has_each_keyword_as_often() -> None:
    samples, words = recording.read()
    assert len(samples) < 320 * recording.RATE
    for keyword in recording.KEYWORDS:
        assert sum(word.word == keyword for word in words) == 16
    assert sum(not word.is_keyword for word in words) == 40
    assert words[-1].last < len(samples)


def test_the_firmware_s_constants_are_those_of_python() -> None:
    header = (FOLDER / "firmware" / "spotting.h").read_text()
    _, small, network = header.split("enum {\n")
    for name, text in {"small": small, "network": network}.items():
        rule = recording.RULES[name]
        for word in ("row", "threshold", "hold"):
            assert f"SPOTTING_{word.upper()} = {getattr(rule, word)}" in text
    main = (FOLDER / "firmware" / "main.c").read_text()
    row = ", ".join(f'"{word}"' for word in recording.KEYWORDS)
    assert row in " ".join(main.split())


# ---- boards --------------------------------------------------------------------------

SHORT = 9 * recording.RATE
M4 = "mps2-an386"


@pytest.fixture(scope="module", name="firmware")
def _firmware(tmp_path_factory: pytest.TempPathFactory) -> object:
    return evaluate.built(M4, tmp_path_factory.mktemp("firmware"))


@pytest.mark.qemu
@pytest.mark.slow
def test_a_board_hears_the_first_words(firmware: object) -> None:
    samples, _ = recording.read()
    given = evaluate.sound(samples[:SHORT])
    ran = evaluate.on_board.run(firmware, given, count=False)
    decisions, lost = evaluate.heard(ran.lines)
    assert lost == 0
    expected = [x for x in recording.reference("network") if x.at <= SHORT]
    assert [x.word for x in decisions] == [x.word for x in expected]
    assert len(decisions) >= 3


@pytest.mark.qemu
@pytest.mark.slow
def test_a_core_that_is_too_slow_loses_samples(firmware: object) -> None:
    samples, _ = recording.read()
    given = evaluate.sound(samples[:SHORT])
    ran, again = (evaluate.on_board.run(firmware, given, shift=9) for _ in range(2))
    assert ran.lines == again.lines
    _, lost = evaluate.heard(ran.lines)
    assert lost > 4000


@pytest.mark.qemu
@pytest.mark.slow
def test_a_missing_microphone_ends_the_firmware(firmware: object) -> None:
    with pytest.raises(evaluate.on_board.SdkError, match="no microphone"):
        evaluate.on_board.run(firmware, {})


@pytest.mark.broad
@pytest.mark.qemu
@pytest.mark.parametrize("board", evaluate.BOARDS)
def test_the_promises_hold(board: str) -> None:
    facts = application.evaluated(NAME, board)
    assert facts["words"] == 200
    assert facts["accuracy"] >= facts["float_accuracy"] - 0.005
    assert facts["ram"] < 32_000
    assert facts["load"] < 1
    told = {key: facts[key] for key in ("board", "instructions", "cycles")}
    assert application.untold(told, application.PAGE) == []
    assert facts["lost"] == 0


def test_a_board_without_an_emulator_is_refused() -> None:
    words = [sys.executable, str(FOLDER / "evaluate.py"), "--board", "rpi-pico"]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "no emulator runs rpi-pico" in done.stderr
    assert "Traceback" not in done.stderr


# ---- PyTorch -------------------------------------------------------------------------


@pytest.mark.export
@application.needs_torch
def test_the_reference_is_what_pytorch_decides() -> None:
    train = application.module(NAME, "train")
    spotter = train.trained()
    samples, _ = train.recording.read()
    for name in train.NETWORKS:
        decided = train.decisions(spotter, samples, name)
        assert decided == train.recording.reference(name)


@pytest.mark.export
@application.needs_torch
def test_exports_find_the_sdk_from_any_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    train = application.module(NAME, "train")
    given: list[dict[str, Any]] = []
    monkeypatch.setenv("PYTHONPATH", "sdk")  # as make has it
    monkeypatch.setattr(
        train.subprocess, "run", lambda *_, **options: given.append(options)
    )
    train._ember("small", "-o", "network.pte")
    (options,) = given
    assert Path(options["env"]["PYTHONPATH"], "ember").is_dir()
    assert Path(options["env"]["PYTHONPATH"]).is_absolute()
    assert options["env"]["PROGRAM"] == "small"
