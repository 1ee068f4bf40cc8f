#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The digit classifier in float32, in int8, with weights of int4 and with activations
of int16: its accuracy, measured on boards.

All 360 images that the network never saw go through the test runner's firmware on each
board; the answers are those of the board.

    tools/accuracy.py [BOARD...] [--json FILE]
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import asdict, dataclass

import numpy as np

from ember import boards, output, paths, program
from ember.cases import Case, CaseTensor, Run
from ember.errors import SdkError
from ember.files.tensors import DType
from ember.run import testing

BOARDS = ("mps3-an547", "mps2-an386")
FOLDER = paths.root() / "examples" / "models" / "digits"


@dataclass(frozen=True)
class Accuracy:
    board: str
    model: str
    right: int
    images: int
    agreeing: int  # answers that are those of float32 on the same board
    bytes: int  # of the program
    instructions: int | None  # of an image


def case_of(name: str, images: np.ndarray) -> Case:
    """A program with a run for each image; nothing is expected."""
    path = FOLDER / f"{name}.pte"
    content = path.read_bytes()
    scaled = images.astype(np.float32)[:, None, None] / 16
    inputs = [(CaseTensor(DType.FLOAT32, image),) for image in scaled]
    runs = tuple(Run("forward", given, ()) for given in inputs)
    return Case(name, path, content, False, program.parse(content), (), runs, 0, 0)


def answers(case: Case, board: str) -> tuple[np.ndarray, int | None]:
    """The digit that the board sees in each image, and instructions of an image."""
    outputs, count = testing.outputs(case, boards.load(board))
    logits = [output[0] for output in outputs]
    digits = [int(np.argmax(x.array)) for x in logits if isinstance(x, CaseTensor)]
    return np.array(digits), None if count is None else count // len(digits)


def measure(board: str) -> list[Accuracy]:
    """float32, int8 as it is exported for the board's core, and other widths."""
    images = np.load(FOLDER / "test_images.npy")
    labels = np.load(FOLDER / "test_labels.npy")
    target = "m55" if "mve" in boards.load(board).isa else "m4"
    accuracies: list[Accuracy] = []
    first: np.ndarray | None = None
    names = ("digits", f"digits_int8_{target}", "digits_int4", "digits_int16")
    for name in names:
        case = case_of(name, images)
        seen, count = answers(case, board)
        first = seen if first is None else first
        right, same = int((seen == labels).sum()), int((seen == first).sum())
        size = len(case.content)
        accuracies.append(Accuracy(board, name, right, len(labels), same, size, count))
    return accuracies


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("boards", nargs="*", metavar="BOARD", default=BOARDS)
    parser.add_argument("--json", metavar="FILE", help="also as JSON; - is stdout")
    options = parser.parse_args()
    try:
        accuracies = [
            accuracy for board in options.boards for accuracy in measure(board)
        ]
    except SdkError as error:
        print(f"accuracy: {error.what}", file=sys.stderr)
        return 1
    columns = (">right", ">accuracy", ">as float32", ">bytes", ">instructions")
    table = output.table("board", "model", *columns)
    for accuracy in accuracies:
        numbers = (
            f"{accuracy.right} of {accuracy.images}",
            f"{accuracy.right / accuracy.images:.2%}",
        )
        count = "-" if accuracy.instructions is None else f"{accuracy.instructions:,}"
        row = (str(accuracy.agreeing), f"{accuracy.bytes:,}", count)
        table.add_row(accuracy.board, accuracy.model, *numbers, *row)
    output.console(options.json).print(table)
    output.write_json([asdict(accuracy) for accuracy in accuracies], options.json)
    return 0


if __name__ == "__main__":
    sys.exit(main())
