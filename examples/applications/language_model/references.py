#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""weights.npz -> language_model.pte, and references.json: what PyTorch writes.

    references.py [--large] [--out FOLDER]

The tokens are those of the module whose graph is exported, run by PyTorch (products of
int8, by the largest of each call, with int4 weights), and those of the program, run by
ExecuTorch's own runtime. train.py runs this at its end. Needs PyTorch.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parents[2] / "sdk"))

import model  # noqa: E402
import text  # noqa: E402
import tokens  # noqa: E402

from ember.export import flows, quantising  # noqa: E402
from ember.export.source import Source  # noqa: E402

PREDICTED = 192  # tokens of held-out text
# Prompt, tokens, temperature in thousandths, best tokens, seed.
REQUESTS = (
    ("The Python ", 64, 0, 1, 1),
    ("You may copy", 64, 0, 1, 1),
    ("A class ", 64, 800, 20, 1),
    ("A class ", 64, 800, 20, 2),
    ("if x is None:\n", 64, 1200, 40, 77),
)
Scores = Callable[[int, int], NDArray[np.float32]]  # of a token at a position


def eager(module: Any) -> Scores:
    def scores(token: int, position: int) -> NDArray[np.float32]:
        with torch.no_grad():
            said = module(torch.tensor([[token]]), torch.tensor([position]))
        scores: NDArray[np.float32] = said.flatten().numpy()
        return scores

    return scores


def lowered(
    writer: model.Writer, quantize: flows.Quantize | None = "int4"
) -> flows.Lowered:
    inputs = model.example_inputs
    source = Source(HERE / "model.py", writer, inputs, ())
    with torch.no_grad():
        return flows.lower(source, "xnnpack", quantize, "cortex-m55", (inputs,))


class Sampler:
    """firmware/sampler.h."""

    def __init__(self, temperature: float, best: int, seed: int) -> None:
        self.temperature, self.best = np.float32(temperature), best
        self.state = seed

    def random(self) -> np.float32:
        x = self.state
        x ^= x << 13 & 0xFFFFFFFF
        x ^= x >> 17
        x ^= x << 5 & 0xFFFFFFFF
        self.state = x
        return np.float32(x >> 8) * np.float32(2**-24)

    def next(self, scores: NDArray[np.float32]) -> int:
        if self.temperature == 0 or self.best == 1:
            return int(scores.argmax())
        best = np.argsort(-scores, kind="stable")[: self.best]
        below = scores[best] - scores[best[0]]
        shares = np.exp(below / self.temperature)
        total = np.float32(0)
        for share in shares:
            total += share
        left = self.random() * total
        for token, share in zip(best.tolist(), shares, strict=True):
            left -= share
            if left < 0:
                return int(token)
        return int(best[-1])


def written(
    scores: Scores, prompt: list[int], count: int, sampler: Sampler
) -> list[int]:
    """The tokens that follow a prompt."""
    for position, token in enumerate(prompt[:-1]):
        scores(token, position)
    following, token = [], prompt[-1]
    for position in range(len(prompt) - 1, len(prompt) - 1 + count):
        token = sampler.next(scores(token, position))
        following.append(token)
    return following


def predicted(scores: Scores, given: list[int]) -> list[int]:
    """The best token after each one."""
    return [int(scores(token, at).argmax()) for at, token in enumerate(given)]


def answers(scores: Scores, pairs: tokens.Pairs) -> list[dict[str, Any]]:
    results = []
    for prompt, count, thousandths, best, seed in REQUESTS:
        given = tokens.encode(prompt, pairs).tolist()
        sampler = Sampler(thousandths / 1000, best, seed)
        request = {"prompt": prompt, "count": count, "thousandths": thousandths}
        more = {"best": best, "seed": seed, "given": given}
        said = written(scores, given, count, sampler)
        print(
            repr(prompt),
            "->",
            repr(tokens.decode(said, pairs).decode("ascii", "replace")),
        )
        results.append({**request, **more, "tokens": said})
    return results


def by_runtime(program: bytes) -> Scores:
    """ExecuTorch's own runtime, whose caches begin empty."""
    runtime = flows.need("executorch.extension.pybindings.portable_lib")
    loaded = runtime._load_for_executorch_from_buffer(program)

    def scores(token: int, position: int) -> NDArray[np.float32]:
        (said,) = loaded.forward((torch.tensor([[token]]), torch.tensor([position])))
        scores: NDArray[np.float32] = said.flatten().numpy().copy()
        return scores

    return scores


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--large", action="store_true")
    parser.add_argument("--out", type=Path, default=HERE)
    options = parser.parse_args()
    sizes = model.LARGE if options.large else model.SMALL
    writer = model.read(options.out / "weights.npz", sizes)
    trained, held_out = text.trained_and_held_out()
    pairs = tokens.learn(trained)
    shown = held_out[: 4 * PREDICTED]
    given = tokens.encode(shown, pairs).tolist()[:PREDICTED]
    shown = tokens.decode(given, pairs).decode()
    given = tokens.encode(shown, pairs).tolist()

    program = lowered(writer)
    scores = eager(quantising.in_groups(writer)[0])
    facts = {
        "answers": answers(scores, pairs),
        "text": shown,
        "tokens": given,
        "predicted": predicted(scores, given),
        "float_predicted": predicted(eager(writer), given),
    }
    writer.reset()
    other = by_runtime(program.content)
    for answer in facts["answers"]:
        sampler = Sampler(answer["thousandths"] / 1000, answer["best"], answer["seed"])
        said = written(other, answer["given"], answer["count"], sampler)
        answer["by_executorch"] = said
        print("ExecuTorch the same:", said == answer["tokens"])
    facts["predicted_by_executorch"] = predicted(other, given)
    (options.out / "language_model.pte").write_bytes(program.content)
    (options.out / "references.json").write_text(json.dumps(facts) + "\n")


if __name__ == "__main__":
    main()
