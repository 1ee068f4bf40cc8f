# SPDX-License-Identifier: Apache-2.0
"""Makes speech, trains, exports, records what was held out: every file that is here.

    python train.py            six to nine minutes of two processors

Needs PyTorch and ExecuTorch (docs/export.md) and the program espeak-ng. The voices of
the recording are never learned from; the threshold of recording.py is chosen on
another stream, of voices that are.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import mixing
import numpy as np
import recording
import speech
import torch
from mixing import Sounds
from model import CLASSES, FRAMES, HOP, SPAN, STEPS, WINDOW, Spotter, save, trained
from numpy.typing import NDArray
from torch.nn import functional

FOLDER = Path(__file__).parent
TARGETS = {"m4": "mps2-an386", "m55": "mps3-an547"}  # cores that programs are for
BATCH = 128


def spoken(
    voices: list[str], each: int, of_others: int, random: np.random.Generator
) -> tuple[list[tuple[int, speech.Samples]], list[speech.Samples]]:
    """Keywords with their class, and other words."""
    asked = speech.draw(speech.KEYWORDS, each, voices, random)
    keywords = zip(asked, speech.speak(asked), strict=True)
    others = speech.draw(speech.OTHERS, of_others, voices, random)
    labelled = [(CLASSES.index(x.word), samples) for x, samples in keywords]
    return labelled, speech.speak(others)


def learn(sounds: Sounds, epochs: int, random: np.random.Generator) -> Spotter:
    spotter = Spotter()
    set_range(spotter, sounds, random)
    best = torch.optim.AdamW(spotter.network.parameters(), weight_decay=1e-3)
    count = 7 * len(sounds.keywords) // 3 // BATCH * epochs
    rate = torch.optim.lr_scheduler.OneCycleLR(best, 6e-3, total_steps=2 * count)
    for epoch in range(epochs):
        heard, labels = mixing.windows(sounds, random)
        features = features_of(spotter, heard)
        spotter.train()
        total = right = 0
        for chosen in np.array_split(random.permutation(len(heard)), len(heard) // BATCH):
            target = torch.from_numpy(labels[chosen])
            logits = spotter.network(features[chosen])
            loss = functional.cross_entropy(logits, target, label_smoothing=0.02)
            best.zero_grad()
            loss.backward()
            best.step()
            rate.step()
            right += int((logits.argmax(1) == target).sum())
            total += len(chosen)
        print(f"epoch {epoch + 1}: {right / total:.2%} of {total} windows", flush=True)
    return spotter.eval()


def set_range(spotter: Spotter, sounds: Sounds, random: np.random.Generator) -> None:
    """Mean 0 and deviation 1 of each feature."""
    heard, _ = mixing.windows(sounds, random)
    features = features_of(spotter, heard[:1000])
    spotter.features.mean.copy_(features.mean((0, 1, 2)))
    spotter.features.scale.copy_(1 / features.std((0, 1, 2)))


@torch.no_grad()
def features_of(spotter: Spotter, heard: NDArray[np.float32]) -> torch.Tensor:
    parts = torch.from_numpy(heard).split(512)
    return torch.cat([spotter.features(part) for part in parts])[:, None]


# ---- files ---------------------------------------------------------------------------


@torch.no_grad()
def decisions(
    spotter: Spotter, samples: NDArray[np.int16], hops: int
) -> list[recording.Decision]:
    """What the model in floating point hears, a result every `hops` hops."""
    results = results_of(spotter, samples, hops)
    return list(recording.decide(results.tolist(), hops * HOP))


@torch.no_grad()
def results_of(
    spotter: Spotter, samples: NDArray[np.int16], hops: int
) -> NDArray[np.float64]:
    """Scores from 0 to 255 as on a board: silence came before the first sample."""
    sound = np.concatenate([np.zeros(SPAN - HOP, np.int16), samples]) / 32768
    frames = spotter.features(torch.from_numpy(sound.astype(np.float32)))
    rows = frames.unfold(0, FRAMES, 1).transpose(1, 2)[hops - 1 :: hops, None]
    scores = torch.cat([spotter.network(part).softmax(1) for part in rows.split(256)])
    return 255 * scores.double().numpy()


def held_out(
    voices: list[str], each: int, of_others: int, seed: int
) -> tuple[NDArray[np.int16], list[recording.Word]]:
    random = np.random.default_rng(seed)
    keywords, others = spoken(voices, each, of_others, random)
    names = [speech.OTHERS[i // of_others] for i in range(len(others))]
    chosen = random.permutation(len(others))[: len(keywords) // 3]
    words = [(CLASSES[label], samples) for label, samples in keywords]
    words += [(names[i], others[i]) for i in chosen]
    words = [words[i] for i in random.permutation(len(words))]
    return mixing.stream(words, mixing.sounds(keywords, others, random, 60), random)


def export(calibration: NDArray[np.float32]) -> None:
    """front.pte, which every board runs, and a network for each kind of core."""
    _ember({"FRONT": "1"}, "-o", "front.pte", "--board", TARGETS["m4"])
    with tempfile.TemporaryDirectory() as folder:
        samples = str(Path(folder) / "samples.npy")
        np.save(samples, calibration)
        for core, board in TARGETS.items():
            words = ["--quantize", "int8", "--io", "int8", "--calibrate", samples]
            _ember({}, "-o", f"network_{core}.pte", "--board", board, *words)


def _ember(variables: dict[str, str], *words: str) -> None:
    command = [sys.executable, "-m", "ember", "export", "model.py", *words]
    subprocess.run(command, cwd=FOLDER, env={**os.environ, **variables}, check=True)


def calibration(spotter: Spotter, sounds: Sounds, random: np.random.Generator) -> NDArray:
    heard, _ = mixing.windows(sounds, random)
    return features_of(spotter, heard[:300]).numpy()


def report(spotter: Spotter, samples: NDArray[np.int16], words: Sequence) -> None:
    for hops in STEPS:
        told = recording.score(decisions(spotter, samples, hops), words, len(samples))
        print(f"a result every {hops} hops: {told.accuracy:.2%} of {told.words} words,"
              f" {told.false_alarms} false alarms in {told.quiet_s:.0f} s")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--epochs", type=int, default=30)
    parser.add_argument("--each", type=int, default=300, help="utterances of a keyword")
    options = parser.parse_args()
    torch.manual_seed(0)
    random = np.random.default_rng(0)
    voices, kept = speech.split(speech.voices())
    print(f"speaking: {len(voices)} voices to learn from, {len(kept)} kept", flush=True)
    keywords, others = spoken(voices, options.each, options.each // 7 + 1, random)
    sounds = mixing.sounds(keywords, others, random)
    spotter = learn(sounds, options.epochs, random)
    save(spotter)
    spotter = trained()
    report(spotter, *held_out(voices, 20, 2, seed=1))
    samples, words = held_out(kept, 20, 2, seed=2)
    recording.write(samples, words)
    samples, words = recording.read()
    report(spotter, samples, words)
    recording.write_reference({hops: decisions(spotter, samples, hops) for hops in STEPS})
    export(calibration(spotter, sounds, random))


if __name__ == "__main__":
    main()
