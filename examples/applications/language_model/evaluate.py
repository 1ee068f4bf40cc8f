#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prompts into an emulated board -> the text that it writes, beside PyTorch's.

    evaluate.py [--board NAME]

Prints a line of JSON. `accuracy` is the share of tokens of held-out text that the model
predicted as the best ones; `same_predicted` and `same_as_executorch`, of those that
PyTorch's module and ExecuTorch's runtime predict, too; `same_tokens`, of those that it
wrote, that are PyTorch's.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent))

import on_board  # noqa: E402

from ember.firmware import (  # noqa: E402
    Built,
    Options,
    build,
)

PROGRAM = HERE / "language_model.pte"
BOARDS = ("qemu-a64-sme",)
EXECUTE = 1  # EMBER_MARK_EXECUTE
_ANSWER = re.compile(
    r"prompt([ \d]*)\ntokens([ \d]*)\ntext (.*?)\nend(?=\n|$)", re.DOTALL
)


def references() -> dict[str, Any]:
    stored: dict[str, Any] = json.loads((HERE / "references.json").read_text())
    return stored


def built_for(board: str, folder: Path) -> Built:
    """Not prepared when it is built: positions change what calls read and write."""
    options = Options(app=HERE / "firmware" / "main.c")
    return build(PROGRAM, board, out=folder / board, options=options)


def request(
    prompt: str, count: int = 0, thousandths: int = 0, best: int = 1, seed: int = 1
) -> bytes:
    """As firmware/requests.h reads it."""
    return f"{count} {thousandths} {best} {seed} {prompt}\0".encode()


def requests(facts: dict[str, Any]) -> bytes:
    """All that references.json has: text to predict, then prompts."""
    keys = ("prompt", "count", "thousandths", "best", "seed")
    asked = [request(*(answer[key] for key in keys)) for answer in facts["answers"]]
    return b"".join([request(facts["text"]), *asked])


def parse(text: str) -> list[tuple[list[int], list[int], str]]:
    """Tokens of each prompt, those that were written, and their text."""
    return [
        ([int(x) for x in given.split()], [int(x) for x in said.split()], written)
        for given, said, written in _ANSWER.findall(text)
    ]


def share(said: Sequence[int], wanted: Sequence[int]) -> float:
    same = sum(a == b for a, b in zip(said, wanted, strict=True))
    return same / len(wanted)


def evaluate(board: str, folder: Path) -> tuple[dict[str, Any], list[str]]:
    """The line of JSON, and what is not as it should be."""
    facts = references()
    built = built_for(board, folder)
    ran = on_board.run(built, {"requests.txt": requests(facts)}, cycles=False)
    predicted, *answers = parse("\n".join(ran.lines))
    wanted = facts["answers"]
    if len(answers) != len(wanted):
        raise on_board.SdkError(f"{len(answers)} of {len(wanted)} prompts are answered")
    true = facts["tokens"][1:]
    said = [token for answer in answers for token in answer[1]]
    from_torch = [token for answer in wanted for token in answer["tokens"]]
    row = {
        "application": "language_model",
        "board": board,
        "accuracy": round(share(predicted[1][:-1], true), 5),
        "float_accuracy": round(share(facts["float_predicted"][:-1], true), 5),
        "same_tokens": round(share(said, from_torch), 5),
        "same_predicted": round(share(predicted[1], facts["predicted"]), 5),
        "same_as_executorch": round(
            share(predicted[1], facts["predicted_by_executorch"]), 5
        ),
        **on_board.sizes(built),
        **on_board.counted(ran.regions(EXECUTE)),
    }
    prompts = [predicted[0] == facts["tokens"]]
    prompts += [a[0] == b["given"] for a, b in zip(answers, wanted, strict=True)]
    return row, wrong(row, all(prompts))


def wrong(row: dict[str, Any], same_prompts: bool) -> list[str]:
    """Promises that it breaks, a sentence each."""
    said = []
    if not same_prompts:
        said.append("the board makes other tokens of a prompt than Python")
    if row["same_tokens"] < 1:
        said.append("the board writes other tokens than PyTorch")
    if row["accuracy"] < row["float_accuracy"] - 0.05:
        said.append("it predicts text less well than in floating point")
    return said


if __name__ == "__main__":
    sys.exit(on_board.main(evaluate, BOARDS, __doc__))
