# SPDX-License-Identifier: Apache-2.0
"""What the network says of cells -> boxes, as firmware/boxes.h has it, and their score.

Boxes are in sixteenths of a pixel of the network's input.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scenes
from numpy.typing import NDArray

CELLS, SIDES = 12, 4
SIXTEENTHS = 16
CELL = 8 * SIXTEENTHS
MOST = 32  # candidates, those with the highest scores
THRESHOLD = 0.0  # of a score
SAME = 0.45  # the overlap from which on two boxes of a class are one
RIGHT = 0.5  # the overlap with an object from which on a box is right

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Found:
    kind: int  # of scenes.CLASSES
    left: int
    top: int
    right: int
    bottom: int
    score: float = 0.0

    @property
    def area(self) -> int:
        return max(self.right - self.left, 0) * max(self.bottom - self.top, 0)


def decode(scores: Floats, sides: Floats, threshold: float = THRESHOLD) -> list[Found]:
    """(classes, CELLS, CELLS) and (SIDES, CELLS, CELLS) of a frame, best first."""
    candidates = [
        _box(kind, row, column, sides[:, row, column], float(scores[kind, row, column]))
        for kind, row, column in np.argwhere(scores > threshold).tolist()
    ]
    # of equal scores the first cell comes first, as in C
    best = sorted(candidates, key=lambda box: -box.score)[:MOST]
    kept: list[Found] = []
    for box in best:
        if not any(x.kind == box.kind and overlap(x, box) > SAME for x in kept):
            kept.append(box)
    return kept


def _box(kind: int, row: int, column: int, sides: Floats, score: float) -> Found:
    left, top, right, bottom = (int(np.floor(side * CELL + 0.5)) for side in sides)
    x, y = column * CELL + CELL // 2, row * CELL + CELL // 2
    edges = (x - left, y - top, x + right, y + bottom)
    limit = scenes.SIDE * SIXTEENTHS
    return Found(kind, *(min(max(edge, 0), limit) for edge in edges), score)


def of_scene(scene: scenes.Scene) -> list[Found]:
    """Its objects."""
    return [
        Found(
            box.kind,
            *(
                round(edge * SIXTEENTHS)
                for edge in (box.left, box.top, box.right, box.bottom)
            ),
        )
        for box in scene.boxes
    ]


def overlap(a: Found, b: Found) -> float:
    """The area of both over that of either (IoU), 0 to 1."""
    width = min(a.right, b.right) - max(a.left, b.left)
    height = min(a.bottom, b.bottom) - max(a.top, b.top)
    both = max(width, 0) * max(height, 0)
    either = a.area + b.area - both
    return both / either if either else 0.0


@dataclass(frozen=True)
class Score:
    right: int  # boxes with an object of their class
    reported: int  # boxes
    objects: int

    @property
    def f1(self) -> float:
        return 2 * self.right / max(self.reported + self.objects, 1)


def score(
    reported: Sequence[Sequence[Found]], objects: Sequence[Sequence[Found]]
) -> Score:
    """Of frames. Each object counts once, with the best box that has it."""
    right = sum(
        sum(_right(boxes, there))
        for boxes, there in zip(reported, objects, strict=True)
    )
    return Score(right, sum(map(len, reported)), sum(map(len, objects)))


def average_precision(
    reported: Sequence[Sequence[Found]], objects: Sequence[Sequence[Found]]
) -> float:
    """The area below precision over recall, each precision the best from there on;
    the mean of both classes."""
    areas = []
    for kind in range(len(scenes.CLASSES)):
        of_kind = [[x for x in boxes if x.kind == kind] for boxes in reported]
        there = [[x for x in boxes if x.kind == kind] for boxes in objects]
        pairs = [
            (box.score, right)
            for boxes, wanted in zip(of_kind, there, strict=True)
            for box, right in zip(boxes, _right(boxes, wanted), strict=True)
        ]
        pairs.sort(key=lambda pair: -pair[0])
        right = np.array([right for _, right in pairs], float)
        precision = np.cumsum(right) / np.arange(1, len(right) + 1)
        best = np.maximum.accumulate(precision[::-1])[::-1]
        areas.append(float((best * right).sum()) / max(sum(map(len, there)), 1))
    return float(np.mean(areas))


def _right(boxes: Sequence[Found], objects: Sequence[Found]) -> list[bool]:
    """Whether each, best first, has an object that none before it has."""
    left, right = list(objects), []
    for box in boxes:
        near = [x for x in left if x.kind == box.kind and overlap(x, box) >= RIGHT]
        right.append(bool(near))
        if near:
            left.remove(max(near, key=lambda x: overlap(x, box)))
    return right
