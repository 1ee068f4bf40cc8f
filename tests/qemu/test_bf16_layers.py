# SPDX-License-Identifier: Apache-2.0
"""Fully connected layers of bfloat16 with each instruction set: products in float32,
rounded once, for every tail of rows, products and columns."""

from __future__ import annotations

import itertools
import json
from pathlib import Path

import numpy as np
import pytest
from delegate_layers import Linear

from ember import boards, cases, cli
from ember.run import testing

pytestmark = [pytest.mark.qemu, pytest.mark.slow]

_KERNEL = "fully_connected_bf16"
_BOARDS = {
    "host": _KERNEL,
    "host-neon": f"{_KERNEL}_neon",
    "qemu-a64": f"{_KERNEL}_neon",
    "qemu-a64-i8mm": f"{_KERNEL}_bf16mm",
    "qemu-a64-sme-128": f"{_KERNEL}_sme",
    "qemu-a64-sme": f"{_KERNEL}_sme",
}
_SIZES = itertools.product((1, 2, 3, 5, 8, 19), (1, 3, 8, 29), (1, 7, 9, 40, 67))
LAYERS = [Linear("bf16", *sizes) for sizes in _SIZES]


def bits_of(numbers: np.ndarray) -> np.ndarray:
    """The nearest bfloat16, as uint16; to even where two are as near."""
    bits = numbers.astype(np.float32).view(np.uint32)
    return ((bits + 0x7FFF + (bits >> 16 & 1)) >> 16).astype(np.uint16)


def numbers_of(bits: np.ndarray) -> np.ndarray:
    return (bits.astype(np.uint32) << 16).view(np.float32).astype(np.float64)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A case of each layer, with NumPy's outputs."""
    layers = tmp_path_factory.mktemp("layers")
    for layer in LAYERS:
        write(layer, layers / layer.title)
    return layers


def write(layer: Linear, folder: Path) -> None:
    graph = layer.built()
    folder.mkdir()
    (folder / "model.pte").write_bytes(graph.written())
    weights = np.frombuffer(graph.constants[1], np.uint16)
    bias = np.frombuffer(graph.constants[2], np.float32).astype(np.float64)
    x = bits_of(np.random.default_rng(1).normal(0, 1, (layer.rows, layer.inner)))
    columns = numbers_of(weights).reshape(layer.columns, layer.inner)
    np.save(folder / "x.npy", x)
    np.save(
        folder / "y.npy", bits_of(np.clip(numbers_of(x) @ columns.T + bias, -20, 20))
    )
    facts = {
        "rtol": 2**-7,  # the next number, where a sum is close to the middle of two
        "atol": 1e-5,
        "runs": [{"method": "forward", "inputs": ["x.npy"], "outputs": ["y.npy"]}],
        "dtypes": {"x.npy": "bfloat16", "y.npy": "bfloat16"},
    }
    (folder / "case.json").write_text(json.dumps(facts))


@pytest.mark.parametrize("board", _BOARDS)
def test_layers_round_once(folder: Path, board: str) -> None:
    results = testing.test(cases.find([folder]), [boards.load(board)], jobs=1)
    assert [
        f"{outcome.name}: {outcome.message}" for outcome in results if outcome.message
    ] == []
    assert len(results) == len(LAYERS)


@pytest.mark.parametrize("board", _BOARDS)
def test_each_board_takes_its_kernel(
    folder: Path, board: str, capsys: pytest.CaptureFixture[str]
) -> None:
    path = folder / LAYERS[-1].title / "model.pte"
    assert cli.main(["inspect", str(path), "--board", board, "--json", "-"]) == 0
    (delegate,) = json.loads(capsys.readouterr().out)["methods"][0]["delegates"]
    assert [node["kernel"] for node in delegate["nodes"]] == [_BOARDS[board]]
