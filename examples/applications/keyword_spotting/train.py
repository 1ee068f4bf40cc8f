# SPDX-License-Identifier: Apache-2.0
"""Makes speech, trains, exports, records what was held out: every file that is here.

    python train.py            five to nine minutes of a processor for both networks

Needs PyTorch and ExecuTorch (docs/export.md) and the program espeak-ng. The voices of
the recording are never learned from; the rules of recording.py are chosen on another
stream, of voices that are (rules.py).
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import false_alarms
import mixing
import numpy as np
import recording
import rules
import speech
import torch
from mixing import Sounds
from model import NETWORKS, Spotter, save, trained
from numpy.typing import NDArray
from recording import CLASSES, FRAMES, HOP, SPAN
from torch.nn import functional

FOLDER = Path(__file__).parent
SDK = FOLDER.parents[2] / "sdk"
# Of each folder of programs: the network, and a board with the core that it is for.
PROGRAMS = {
    "m0": ("small", "mps2-an385-v6m"),
    "m4": ("network", "mps2-an386"),
    "m55": ("network", "mps3-an547"),
}
BATCH = 100
PASSES = 2  # that an epoch's windows are learned from
RATES = (6e-3, 2e-3)  # of learning: the largest, at first and for fine tuning
FINE_TUNING = 6  # epochs of it
TALK = 10  # minutes of it, of which a rule is chosen


def spoken(
    voices: list[str], each: int, of_others: int, random: np.random.Generator
) -> tuple[list[tuple[int, speech.Samples]], list[speech.Samples]]:
    """Keywords with their class, and other words."""
    asked = speech.draw(recording.KEYWORDS, each, voices, random)
    keywords = zip(asked, speech.speak(asked), strict=True)
    others = speech.draw(speech.OTHERS, of_others, voices, random)
    labelled = [(CLASSES.index(x.word), samples) for x, samples in keywords]
    return labelled, speech.speak(others)


def learn(
    spotter: Spotter,
    sounds: Sounds,
    epochs: int,
    rate: float,
    random: np.random.Generator,
) -> Spotter:
    """Both networks, from the same windows; those of an epoch count PASSES times."""
    spotter = spotter.to(memory_format=torch.channels_last)
    networks = [getattr(spotter, name) for name in NETWORKS]
    optimizers = [
        torch.optim.AdamW(x.parameters(), weight_decay=1e-3) for x in networks
    ]
    for epoch in range(epochs * PASSES):
        if epoch % PASSES == 0:
            heard, labels = mixing.windows(sounds, random)
            features, targets = features_of(spotter, heard), torch.from_numpy(labels)
        spotter.train()
        right = np.zeros(len(networks))
        count = len(targets) // BATCH
        batches = np.array_split(random.permutation(len(targets)), count)
        for index, chosen in enumerate(batches):
            now = features[chosen].contiguous(memory_format=torch.channels_last)
            for k, optimizer in enumerate(optimizers):
                set_rate(optimizer, rate, (epoch + index / count) / epochs / PASSES)
                right[k] += step(networks[k], optimizer, now, targets[chosen])
        shares = ", ".join(f"{share:.2%}" for share in right / len(targets))
        print(f"epoch {epoch + 1}: {shares} of {len(targets)} windows", flush=True)
    return spotter.eval()


def step(
    network: torch.nn.Module,
    optimizer: torch.optim.Optimizer,
    features: torch.Tensor,
    target: torch.Tensor,
) -> int:
    """How many it knew before it learned from them."""
    logits = network(features)
    loss = functional.cross_entropy(logits, target, label_smoothing=0.02)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return int((logits.argmax(1) == target).sum())


def set_rate(optimizer: torch.optim.Optimizer, most: float, done: float) -> None:
    """Up for a fifth of the training, then down to nothing; `done` is 0 to 1."""
    for group in optimizer.param_groups:
        group["lr"] = most * min(done / 0.2, (1 - done) / 0.8)


def started(sounds: Sounds, random: np.random.Generator) -> Spotter:
    """Without training, but with mean 0 and deviation 1 of each feature."""
    spotter = Spotter()
    heard, _ = mixing.windows(sounds, random)
    features = features_of(spotter, heard[:1000])
    spotter.features.mean.copy_(features.mean((0, 1, 2)))
    spotter.features.scale.copy_(1 / features.std((0, 1, 2)))
    return spotter


@torch.no_grad()
def features_of(spotter: Spotter, heard: NDArray[np.float32]) -> torch.Tensor:
    parts = torch.from_numpy(heard).split(512)
    return torch.cat([spotter.features(part) for part in parts])[:, None]


# ---- files ---------------------------------------------------------------------------


def decisions(
    spotter: Spotter, samples: NDArray[np.int16], name: str
) -> list[recording.Decision]:
    """What a network in floating point hears."""
    results = results_of(spotter, samples, name)
    step, rule = NETWORKS[name][0] * HOP, recording.RULES[name]
    return list(recording.decide(results.tolist(), step, rule))


@torch.no_grad()
def results_of(
    spotter: Spotter, samples: NDArray[np.int16], name: str
) -> NDArray[np.float64]:
    """Scores from 0 to 255 as on a board: silence came before the first sample."""
    sound = np.concatenate([np.zeros(SPAN - HOP, np.int16), samples]) / 32768
    frames = spotter.features(torch.from_numpy(sound.astype(np.float32)))
    hops = NETWORKS[name][0]
    rows = frames.unfold(0, FRAMES, 1).transpose(1, 2)[hops - 1 :: hops, None]
    network = getattr(spotter, name)
    scores = torch.cat([network(part).softmax(1) for part in rows.split(256)])
    return 255 * scores.double().numpy()


def held_out(
    voices: list[str], each: int, of_others: int, seed: int
) -> tuple[NDArray[np.int16], list[recording.Word]]:
    random = np.random.default_rng(seed)
    keywords, others = spoken(voices, each, of_others, random)
    names = [speech.OTHERS[i // of_others] for i in range(len(others))]
    chosen = random.permutation(len(others))[: len(keywords) // 4]
    words = [(CLASSES[label], samples) for label, samples in keywords]
    words += [(names[i], others[i]) for i in chosen]
    words = [words[i] for i in random.permutation(len(words))]
    return mixing.stream(
        words, mixing.sounds(keywords, others, random, count=60), random
    )


def export(calibration: NDArray[np.float32]) -> None:
    """A network for each kind of core, and the front end that gives what it takes."""
    with tempfile.TemporaryDirectory() as folder:
        samples = str(Path(folder) / "samples.npy")
        np.save(samples, calibration)
        for core, (name, board) in PROGRAMS.items():
            (FOLDER / core).mkdir(exist_ok=True)
            words = ["--quantize", "int8", "--io", "int8", "--calibrate", samples]
            _ember(name, "-o", f"{core}/network.pte", "--board", board, *words)
            _ember(core, "-o", f"{core}/front.pte", "--board", board)


def _ember(program: str, *words: str) -> None:
    command = [sys.executable, "-m", "ember", "export", "model.py", *words]
    variables = {**os.environ, "PYTHONPATH": str(SDK), "PROGRAM": program}
    subprocess.run(command, cwd=FOLDER, env=variables, check=True)


def calibration(
    spotter: Spotter, sounds: Sounds, random: np.random.Generator
) -> NDArray:
    heard, _ = mixing.windows(sounds, random)
    return features_of(spotter, heard[:300]).numpy()


def choose(spotter: Spotter, voices: list[str], sentences: Sequence[str]) -> None:
    """Says what recording.py should have for these weights."""
    random = np.random.default_rng(4)
    samples, words = held_out(voices, 16, 2, seed=1)
    talk = false_alarms.sound(sentences, voices, TALK, random)
    for name, (hops, *_) in NETWORKS.items():
        streams = [
            rules.Heard(results_of(spotter, x, name), hops * HOP, said)
            for x, said in ((samples, words), (talk, []))
        ]
        rule, (of_words, of_talk) = rules.best(streams)
        print(
            f"{name}: {rule} has {of_words.right} of {of_words.words} words right,"
            f" {of_words.false_alarms} and {of_talk.false_alarms} false alarms"
        )


def report(spotter: Spotter, samples: NDArray[np.int16], words: Sequence) -> None:
    for name in NETWORKS:
        told = recording.score(decisions(spotter, samples, name), words, len(samples))
        print(
            f"{name}: {told.accuracy:.2%} of {told.words} words,"
            f" {told.false_alarms} false alarms in {told.quiet_s:.0f} s"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--epochs", type=int, default=16)
    parser.add_argument("--each", type=int, default=300, help="utterances of a keyword")
    options = parser.parse_args()
    torch.manual_seed(0)
    torch.set_num_threads(1)  # so small a network loses time with more
    random = np.random.default_rng(0)
    voices, kept = speech.split(speech.voices())
    print(f"speaking: {len(voices)} voices to learn from, {len(kept)} kept", flush=True)
    keywords, others = spoken(voices, options.each, options.each // 7 + 1, random)
    sentences = random.permutation(speech.language_reference()).tolist()
    heard, unheard = sentences[: 2 * options.each], sentences[2 * options.each :]
    talk = speech.speak(speech.draw(heard, 1, voices, random))
    sounds = mixing.sounds(keywords, others, random, talk=talk)
    spotter = started(sounds, random)
    for epochs, rate in zip((options.epochs, FINE_TUNING), RATES, strict=True):
        learn(spotter, sounds, epochs, rate, random)
    save(spotter)
    spotter = trained()
    choose(spotter, voices, unheard)
    recording.write(*held_out(kept, 16, 2, seed=2))
    samples, words = recording.read()
    report(spotter, samples, words)
    report(spotter, *held_out(kept, 16, 2, seed=6))
    told = {name: decisions(spotter, samples, name) for name in NETWORKS}
    recording.write_reference(told)
    export(calibration(spotter, sounds, random))


if __name__ == "__main__":
    main()
