# SPDX-License-Identifier: Apache-2.0
"""Pictures that come with scikit-image and scikit-learn -> what scenes are made of.

Faces, and parts of photographs without one, are the 200 of skimage's lfw_subset, from
Labeled Faces in the Wild; digits those of sklearn. A quarter of the people, some of the
digits and four backgrounds are held out: held_out.npz has them. Nothing is downloaded.
"""

from __future__ import annotations

import importlib.util
from pathlib import Path

import numpy as np
import sklearn.datasets
from numpy.typing import NDArray
from PIL import Image
from scenes import Sources, resized

HERE = Path(__file__).parent
_SKIMAGE = importlib.util.find_spec("skimage")
if _SKIMAGE is None or _SKIMAGE.origin is None:
    raise SystemExit("sources: scikit-image is not installed: pip install scikit-image")
PICTURES = Path(_SKIMAGE.origin).parent / "data"
SKLEARN = Path(sklearn.datasets.__file__).parent / "images"
LEARNED = ("brick.png", "grass.png", "coins.png", "chelsea.png", "moon.png", "ihc.png")
LEARNED += ("hubble_deep_field.jpg", "retina.jpg", "motorcycle_left.png", "flower.jpg")
KEPT = ("gravel.png", "coffee.png", "rocket.jpg", "china.jpg")
HEIGHT = 150  # rows of a background
FACES, DIGITS = 75, 1400  # that are learned from
KEPT_DIGITS = 100


def learned() -> Sources:
    faces, others, digits = _pictures()
    backgrounds = [_background(name) for name in LEARNED]
    return Sources(faces[:FACES], others[:FACES], digits[:DIGITS], backgrounds)


def write_held_out() -> None:
    faces, others, digits = _pictures()
    backgrounds = {f"background{i}": _background(name) for i, name in enumerate(KEPT)}
    np.savez_compressed(
        HERE / "held_out.npz",
        faces=faces[FACES:],
        others=others[FACES:],
        digits=digits[DIGITS : DIGITS + KEPT_DIGITS],
        **backgrounds,
    )


def _pictures() -> tuple[NDArray[np.uint8], NDArray[np.uint8], NDArray[np.uint8]]:
    subset = np.load(PICTURES / "lfw_subset.npy")
    subset = np.rint(255 * subset / subset.max()).astype(np.uint8)
    digits = sklearn.datasets.load_digits().images.astype(np.uint8)
    return subset[:100], subset[100:], digits


def _background(name: str) -> NDArray[np.uint8]:
    folder = PICTURES if (PICTURES / name).is_file() else SKLEARN
    with Image.open(folder / name) as file:
        picture = np.asarray(file.convert("RGB"), np.float64)
    height, width = picture.shape[:2]
    blurred = _blurred(picture, height // HEIGHT)
    return np.rint(resized(blurred, HEIGHT, width * HEIGHT // height)).astype(np.uint8)


def _blurred(picture: NDArray[np.float64], over: int) -> NDArray[np.float64]:
    """The mean of `over` x `over` neighbours, so that shrinking leaves no patterns."""
    over = max(over, 1)
    height, width = (size // over * over for size in picture.shape[:2])
    parts = picture[:height, :width].reshape(
        height // over, over, width // over, over, 3
    )
    return parts.mean((1, 3))


if __name__ == "__main__":
    write_held_out()
