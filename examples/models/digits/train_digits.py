#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""scikit-learn's handwritten digits -> digits.pte, test images and a test case.

Needs torch, executorch and scikit-learn (pip install '.[export]'). Writes beside
itself, the same bytes every time:

    digits.pte         input (1, 1, 8, 8) float32 in [0, 1], output (1, 10) logits
    images/            ten images that the network never saw, one per digit, as
                       image_<i>.npy in the input's shape, and their labels.npy
    test_images.npy    every image held out of training, (n, 8, 8) uint8 in 0..16
    test_labels.npy    their labels, (n,) uint8
    case/              the ten images as a case folder for `ember test`
    digits_int8_m55.pte, digits_int8_m4.pte
                       the same network in int8, by ExecuTorch's Cortex-M flow
    digits_int4.pte    the same with weights of int4
    digits_int16.pte   with activations of int16
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import torch
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from torch import Tensor, nn

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parents[2] / folder) for folder in ("tools", "sdk")]

from corpus import cortex_m  # noqa: E402 - found through the path above
from corpus.case import write_case  # noqa: E402
from corpus.exporting import exported_module  # noqa: E402

from ember.export import flows  # noqa: E402
from ember.export.source import Source  # noqa: E402

EPOCHS = 60
BATCH = 64
CALIBRATION = 200  # images


def network() -> nn.Module:
    """Two convolutions and a linear layer: 6,090 weights."""
    return nn.Sequential(
        nn.Conv2d(1, 16, 3, padding=1),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Conv2d(16, 32, 3, padding=1),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Flatten(),
        nn.Linear(128, 10),
    )


def scaled(images: np.ndarray) -> Tensor:
    """Turn (n, 8, 8) images of 0..16 into the network's input."""
    return torch.from_numpy(images).float().unsqueeze(1) / 16


def train(model: nn.Module, images: Tensor, labels: Tensor) -> None:
    """Adam with a learning rate that falls to zero."""
    optimizer = torch.optim.AdamW(model.parameters(), lr=5e-3, weight_decay=1e-2)
    steps = EPOCHS * -(-len(images) // BATCH)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, steps)
    for _ in range(EPOCHS):
        for chosen in torch.randperm(len(images)).split(BATCH):
            loss = nn.functional.cross_entropy(model(images[chosen]), labels[chosen])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()


def accuracy(model: nn.Module, images: Tensor, labels: Tensor) -> float:
    with torch.no_grad():
        return (model(images).argmax(1) == labels).float().mean().item()


def write_images(shown: Tensor) -> None:
    """Write the ten images of the demo; image i shows the digit i."""
    folder = HERE / "images"
    folder.mkdir(exist_ok=True)
    for i, image in enumerate(shown):
        np.save(folder / f"image_{i}.npy", image.unsqueeze(0).numpy())
    np.save(folder / "labels.npy", np.arange(10))


def write_int8(model: nn.Module, known: Tensor) -> None:
    """Quantise the trained network, for two targets."""
    last = model.to(memory_format=torch.channels_last)
    seen = [(image[None],) for image in known[:CALIBRATION]]
    for target in ("m55", "m4"):
        with torch.no_grad():
            exported = cortex_m.exported(last, seen, seen[:1], target)
        (HERE / f"digits_int8_{target}.pte").write_bytes(exported.files["model.pte"])


def write_other(model: nn.Module, known: Tensor) -> None:
    """Quantise the trained network to int8 with weights of int4, and to int16 with
    weights of int8, for all boards."""
    seen = tuple((image[None],) for image in known[:CALIBRATION])
    source = Source(HERE / "train_digits.py", model.eval(), seen[0])
    widths: dict[str, flows.Quantize] = {"int4": "int4w8a", "int16": "int16x8"}
    for name, quantize in widths.items():
        with torch.no_grad():
            lowered = flows.lower(source, "cortex_m", quantize, "cortex-m4", seen)
        (HERE / f"digits_{name}.pte").write_bytes(lowered.content)


def main() -> None:
    torch.manual_seed(0)
    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True)
    digits = load_digits()
    known, held, known_labels, held_labels = train_test_split(
        digits.images.astype(np.uint8),
        digits.target,
        test_size=0.2,
        random_state=0,
        stratify=digits.target,
    )
    model = network()
    train(model, scaled(known), torch.from_numpy(known_labels))

    np.save(HERE / "test_images.npy", held)
    np.save(HERE / "test_labels.npy", held_labels.astype(np.uint8))
    first = [int(np.argmax(held_labels == digit)) for digit in range(10)]
    shown = scaled(held[first])
    write_images(shown)
    with torch.no_grad():
        exported = exported_module(model, *[(image[None],) for image in shown])
    (HERE / "digits.pte").write_bytes(exported.files["model.pte"])
    write_case(exported, HERE / "case")

    write_int8(model, scaled(known))
    write_other(model, scaled(known))
    right = accuracy(model, scaled(held), torch.from_numpy(held_labels))
    print(f"{len(exported.files['model.pte'])} bytes")
    print(f"accuracy on {len(held)} held-out images: {right:.2%}")


if __name__ == "__main__":
    main()
