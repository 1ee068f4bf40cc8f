# SPDX-License-Identifier: Apache-2.0
"""`ember export --quantize int8` of the networks that people deploy.

Each is compared with PyTorch in float and with plain quantisation, and tested on two
boards.
`python -m pytest -s` prints a line of figures for each network.
"""

from __future__ import annotations

import contextlib
import copy
import io
import json
import math
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import pytest

from ember import boards, cases, cli
from ember.export import job
from ember.program import bundle
from ember.program.bundle import BundledTensor
from ember.run import testing

torch = pytest.importorskip("torch", reason="pip install '.[export]'")
networks = pytest.importorskip("int8_networks")
simulated = pytest.importorskip("int8_simulated")

pytestmark = [pytest.mark.export, pytest.mark.long]

BOARD = "mps2-an386"
# Estimated cycles for each multiply-accumulate on a Cortex-M4.
MOST_CYCLES = {
    "series": 2.2,
    "gated": 3.5,
    "images": 2.9,
    "tables": 4.0,  # norms, and activations by tables
    "recurrent": 3.5,
    "attention": 4.0,
    "grouped": math.inf,
}
LOUD_DB = 15.0  # below, noise of random weights is chance


@dataclass(frozen=True)
class Figures:
    """What a network may have at most."""

    float_macs: float = 0.03  # the share of multiply-accumulates
    float_elements: float = 0.10
    loss_db: float = 1.0  # against plain quantisation
    cycles: float = 0.0  # for each multiply-accumulate; 0: that of its kind
    share: float = 0.20  # of the cycles, for an operator without products
    seconds: float = 120.0  # of the export


NOT_EXPORTED = {
    "denoiser_1d": "reflected and replicated padding of series",
}
# What networks have instead, and why.
MISSES: dict[str, dict[str, float]] = {
    # A pool keeps the scale of its input, of which means need a part only.
    "convnext": {"loss_db": 3.1},
    "ds_cnn_1d": {"loss_db": 2.6, "cycles": 2.5},  # depthwise (1, 9): 9 cycles
    "gates_of_channels": {"loss_db": 4.4},
    "group_norm": {"loss_db": 3.8},
    "keywords_pooled": {"loss_db": 1.4},
    "shufflenet_v2": {"loss_db": 1.3},
    "x_vector": {"loss_db": 6.6},
    # The same; and a mean of 3x3 with stride 1 takes 117 cycles.
    "inception": {"loss_db": 1.3, "cycles": 4.9, "share": 0.36},
    # Weights of a linear layer have one scale.
    "dense_autoencoder": {"loss_db": 1.6},
    # A softmax takes 200 cycles an element; products of 16 numbers, 5 for each.
    "attention_by_hand": {"cycles": 5.1, "share": 0.29},
    "attention_einsum": {"cycles": 5.2, "share": 0.29},
    "conformer": {"cycles": 4.3},
    "multihead": {"loss_db": 1.7, "cycles": 5.2, "share": 0.24},
    # The same; and scores share their range with what a mask adds, -20.
    "attention_masked": {"loss_db": 1.8, "cycles": 6.6, "share": 0.41},
    # States of nn.LSTM stay float between calls.
    "lstm_states": {"float_elements": 0.25},
    "lstm_stream": {"float_elements": 0.40, "cycles": 3.6},
    # Depthwise convolutions of 5x5 and 7x7 take 5 to 6 cycles.
    "efficientnet": {"cycles": 4.2},
    "mcunet": {"cycles": 3.8},
    # To and from one channel: 7 and 13 cycles.
    "autoencoder": {"cycles": 3.7},
    # Its images are scaled by a depthwise convolution of 3 channels: 264 cycles.
    "mobilenet_v2": {"cycles": 4.2},
    # Bilinear upsampling with aligned corners is float; its products are not counted.
    "unet_2d": {"float_macs": 1.0, "float_elements": 0.19},
}


@dataclass(frozen=True)
class Measured:
    figures: Figures
    signal_db: float
    plain_db: float
    slowest: str  # operator without products
    floats: str  # operators

    def __str__(self) -> str:
        f = self.figures
        whole, elements = 100 * (1 - f.float_macs), 100 * (1 - f.float_elements)
        return (
            f"{whole:5.1f} % {elements:5.1f} % {self.signal_db:5.1f} dB,"
            f" plain {self.plain_db:5.1f}, {f.cycles:5.2f} cycles/MAC, {f.share:4.0%} "
            f"{self.slowest}, {f.seconds:3.0f} s {self.floats}"
        )


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("networks")


def exported(name: str, folder: Path) -> tuple[job.Made, float]:
    """The program in FOLDER/NAME.bpte, tested by all samples, and the seconds it took.
    The last sample is none of those that calibrate."""
    source = folder / f"{name}.py"
    source.write_text(
        "import int8_networks\n"
        f"model, samples = int8_networks.NETWORKS['{name}']()\n"
        "*calibration_inputs, example_inputs = samples\n"
    )
    order = job.ExportOrder(source, boards.load(BOARD), "int8")
    start = time.monotonic()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(job, "_TESTS", networks.SAMPLES)
        done = job.run(order)
    seconds = time.monotonic() - start
    (folder / f"{name}.bpte").write_bytes(done.content)
    return done, seconds


def signals(name: str, content: bytes) -> tuple[float, float]:
    """Signal to noise of the program's outputs, and of plain quantisation."""
    leaves = torch.utils._pytree.tree_leaves
    model, (*calibration, example) = networks.NETWORKS[name]()
    given = [example, *calibration]
    plain = simulated.outputs(model, calibration, given)
    exact_model = copy.deepcopy(model)
    with torch.no_grad():
        exact = [leaves(exact_model(*sample)) for sample in given]
    suite = bundle.parse(content).suite("forward")
    assert suite is not None
    got = [
        [value.array for value in case.outputs if isinstance(value, BundledTensor)]
        for case in suite.cases
    ]
    return simulated.ratio_db(exact, got), simulated.ratio_db(exact, plain)


def costs(name: str, folder: Path) -> dict[str, Any]:
    file = folder / "profile.json"
    words = ["--board", BOARD, "--cycles", "--out", str(folder / "build")]
    words += ["--json", str(file)]
    with contextlib.redirect_stdout(io.StringIO()):
        assert cli.main(["profile", str(folder / f"{name}.bpte"), *words]) == 0
    facts: dict[str, Any] = json.loads(file.read_text())
    return facts


def measured(name: str, folder: Path) -> Measured:
    done, seconds = exported(name, folder)
    assert done.shares is not None
    whole, every = done.shares.macs or (0, 1)
    elements, all_elements = done.shares.elements
    signal, plain = signals(name, done.content)
    facts = costs(name, folder)
    products = sum(row["macs"] for row in facts["operators"])
    others = [row for row in facts["operators"] if not row["macs"]]
    slowest = max(others, key=lambda row: int(row["cycles"]))
    figures = Figures(
        float_macs=1 - whole / every,
        float_elements=1 - elements / all_elements,
        loss_db=plain - signal if plain > LOUD_DB else 0.0,
        cycles=facts["execute_cycles"] / products,
        share=slowest["cycles"] / facts["execute_cycles"],
        seconds=seconds,
    )
    floats = ", ".join(sorted({row.operator for row in done.shares.floats}))
    return Measured(figures, signal, plain, slowest["name"], floats)


@pytest.mark.qemu
@pytest.mark.parametrize("name", networks.NETWORKS)
def test_a_network(name: str, folder: Path, request: pytest.FixtureRequest) -> None:
    if name in NOT_EXPORTED:
        mark = pytest.mark.xfail(reason=NOT_EXPORTED[name], strict=True)
        request.applymarker(mark)
    facts = measured(name, folder)
    print(f"\n{name:20} {facts}")
    most = {"cycles": MOST_CYCLES[networks.KINDS[name]], **MISSES.get(name, {})}
    allowed = asdict(Figures(**most))
    figures = asdict(facts.figures)
    misses = {key: figures[key] for key in figures if figures[key] > allowed[key]}
    assert not misses, facts


@pytest.mark.qemu
@pytest.mark.parametrize("board", [BOARD, "mps3-an547"])
def test_on_a_board(board: str, folder: Path) -> None:
    """All programs, one firmware."""
    for name in networks.NETWORKS:
        if name not in NOT_EXPORTED and not (folder / f"{name}.bpte").exists():
            exported(name, folder)
    outcomes = testing.test(list(cases.find([folder])), [boards.load(board)], jobs=1)
    wrong = [
        f"{each.name}: {each.message}" for each in outcomes if each.status != "passed"
    ]
    assert len(outcomes) >= len(networks.NETWORKS) - len(NOT_EXPORTED)
    assert not wrong
