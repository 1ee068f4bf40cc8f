"""XNNPACK delegates with Hexagon's vectors: bits of portable C in fewer packets."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pytest
from delegate_graphs import Delegate
from delegate_layers import (
    Convolution,
    Linear,
    Mean,
    Pair,
    Pool,
    Single,
    Transpose,
)
from vector_packets import outcomes, packets, slower, with_and_without

from ember import boards, cases
from ember.cases import inputs
from ember.files.tensors import Array, DType
from ember.firmware import build
from ember.run import run

Layer: TypeAlias = Convolution | Linear | Mean | Pair | Pool | Single | Transpose
pytestmark = [pytest.mark.qemu, pytest.mark.slow, pytest.mark.broad]

_NO_PADDING = (0, 0, 0, 0)
_EVERY = ("qs8", "qd8", "qc4")
_IMAGES: tuple[dict[str, Any], ...] = (
    {"kernel": (1, 1), "padding": _NO_PADDING},
    {"kernel": (5, 3), "padding": (2, 1, 0, 3)},
    {"stride": (2, 2), "images": 2},
    {"dilation": (2, 2)},
    {"kind": "ConvTranspose2d", "kernel": (2, 4), "stride": (2, 3)},
    {"kind": "ConvTranspose2d", "stride": (2, 1), "images": 2},
)
_DEPTHWISE: tuple[tuple[int, int, dict[str, Any]], ...] = (
    (8, 8, {}),
    (130, 130, {"stride": (2, 2), "padding": (0, 1, 1, 0)}),
    (6, 12, {"stride": (2, 1)}),
    (40, 40, {"kernel": (5, 5), "padding": (2, 2, 2, 2), "dilation": (1, 2)}),
)
_UNARY = "Clamp Tanh Sigmoid Hardswish ELU LeakyReLU Gelu Convert Abs Negate Exp"

# Sizes around those of vectors, and tiny ones.
LAYERS: list[Layer] = [
    *(
        Linear(form, *sizes)
        for form in _EVERY
        for sizes in ((1, 8, 4), (2, 33, 17), (5, 7, 130), (17, 129, 33), (20, 64, 3))
    ),
    *(Linear("qb4", *sizes) for sizes in ((1, 32, 4), (2, 64, 33), (20, 96, 130))),
    *(
        Convolution(form, 8, 6, 7, 9, **options)
        for form in _EVERY[:2]
        for options in _IMAGES
    ),
    *(
        Convolution(form, 12, 18, 9, 7, groups=groups)
        for form in _EVERY[:2]
        for groups in (1, 3)
    ),
    *(Convolution(form, 1, 1, 3, 3) for form in _EVERY[:2]),
    *(
        Convolution(
            "qs8", channels, n, 9, 7, groups=channels, kind="DepthwiseConv2d", **options
        )
        for channels, n, options in _DEPTHWISE
    ),
    *(
        Pair(kind, *sizes)
        for kind in ("Add", "Subtract", "Multiply")
        for sizes in (((1, 1), (1, 1)), ((7, 33), (33,)), ((50, 3), (50, 1)))
    ),
    Pair("Add", (3, 200), (1,), (-1.0, 2.0)),
    *(Single(kind, (count,)) for kind in _UNARY.split() for count in (5, 1000)),
    Single("Clamp", (1000,), bounds=(-0.5, 1.0), same=True),
    *(
        Single("Convert", (count,), form)
        for form in ("f32_s8", "s8_f32")
        for count in (5, 33, 1000)
    ),
    *(
        Transpose(sizes, order, form)
        for form in ("s8", "f32")
        for sizes, order in (
            ((1, 3, 32, 31), (0, 2, 3, 1)),
            ((2, 9, 7, 20), (0, 3, 1, 2)),
            ((1, 1, 5, 3), (0, 3, 1, 2)),
            ((40, 33), (1, 0)),
            ((4, 6, 5, 8), (2, 0, 3, 1)),
        )
    ),
    Pool((1, 3, 3, 1)),
    Pool((2, 9, 7, 130), (3, 2), (2, 1), (1, 1, 0, 1), same=False),
    Mean((1, 1, 1, 1)),
    Mean((2, 3, 5, 7), flat=True),
    Mean((1, 7, 7, 130)),
    Mean((2, 33, 16, 129)),
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A case of each layer, with the outputs of portable C."""
    layers = tmp_path_factory.mktemp("layers")
    for layer in LAYERS:
        write(layer.built(), layers / layer.title)
    return layers


def write(graph: Delegate, folder: Path) -> None:
    folder.mkdir()
    path = folder / "model.pte"
    path.write_bytes(graph.written())
    built = build(path, "host", out=folder.parent / "built" / folder.name)
    method = built.methods[0]
    random = np.random.default_rng(1)
    given: list[Array] = [
        random.integers(-128, 128, value.sizes, np.int8)
        if value.dtype == DType.INT8
        else random.normal(0, 1, value.sizes).astype(np.float32)
        for value in method.input_tensors
    ]
    arrays: dict[str, list[Array]] = {"inputs": given, "outputs": []}
    for output in run.run(built, inputs.lay_out(method, given)).outputs:
        assert isinstance(output, inputs.TensorValue)
        arrays["outputs"].append(output.array())
    names: dict[str, list[str]] = {"inputs": [], "outputs": []}
    for kind, listed in arrays.items():
        for number, array in enumerate(listed):
            names[kind].append(f"{kind}{number}.npy")
            np.save(folder / names[kind][-1], array)
    exact = {"rtol": 0, "atol": 0, "runs": [{"method": "forward", **names}]}
    (folder / "case.json").write_text(json.dumps(exact))


def cases_of(folder: Path) -> list[cases.Found]:
    return [each for each in cases.find([folder]) if "built" not in each.path.parts]


def test_a_model_of_vectors_has_the_bits_of_portable_c(folder: Path) -> None:
    results = outcomes(cases_of(folder), boards.load("host-hvx"))
    assert len(results) == len(LAYERS)


def test_vectors_have_these_bits_and_take_no_more_packets(folder: Path) -> None:
    vectors, portable = with_and_without(cases_of(folder))
    assert slower(vectors, portable, lambda _, before: before) == []
    large = Linear("qd8", 17, 129, 33).title
    assert packets(vectors[large]) * 8 < packets(portable[large])
