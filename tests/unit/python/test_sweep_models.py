# SPDX-License-Identifier: Apache-2.0
"""Models of a sweep: what is multiplied, what is exported again, what is refused."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from ember import cli
from ember.export.job import ExportOrder
from ember.sweep import sources
from ember.sweep.settings import ModelExports

MODEL = """import torch
from torch import nn

model = nn.Linear(4, 2)
example_inputs = (torch.ones(1, 4),)
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("EMBER_CACHE", str(tmp_path / "cache"))
    place = tmp_path / "models"
    place.mkdir()
    (place / "network.py").write_text(MODEL)
    np.save(place / "a.npy", np.zeros((6, 4), np.float32))
    return place


def sweep(folder: Path, model: str, *words: str) -> int:
    path = folder / "sweep.yaml"
    path.write_text(f"models: [{model}]\nboards: [host]\n")
    return cli.main(["sweep", str(path), "--workers", "1", *words])


def orders(folder: Path, **keys: object) -> list[ExportOrder]:
    given = ModelExports.model_validate({"file": "network.py", **keys})
    return list(sources._orders(given, folder))


def test_all_is_multiplied(folder: Path) -> None:
    variants = orders(
        folder, backends=["portable", "xnnpack"], quantize=["float", "int8"]
    )
    assert [sources._name(order) for order in variants] == [
        "network-portable-float",
        "network-portable-int8",
        "network-xnnpack-float",
        "network-xnnpack-int8",
    ]
    (order,) = orders(folder, samples=["a.npy"])
    assert sources._name(order) == "network-portable-float-a"
    assert order.calibrate == folder / "a.npy"


def test_what_makes_a_program_is_in_its_key(folder: Path) -> None:
    def digest() -> str:
        (order,) = orders(folder, samples=["a.npy"])
        return sources._model_digest(order)

    seen = [digest(), digest()]
    (folder / "a.npy").write_bytes(b"b")
    seen.append(digest())
    (folder / "layers.py").write_text("WIDTH = 4")  # network.py may import it
    seen.append(digest())
    (folder / "network.py").write_text(f"{MODEL}# changed")
    seen.append(digest())
    assert len(set(seen)) == 4


@pytest.mark.parametrize(
    ("model", "said"),
    [
        ("{file: no.py}", "no.py does not exist"),
        ("{file: network.py, samples: [no.npy]}", "no.npy does not exist"),
        ("{file: network.py, quantize: [int9]}", "models.0.quantize.0: "),
        ("{file: network.py, backends: []}", "models.0.backends: "),
        ("{quantize: [int8]}", "models.0.file: Field required"),
        # the exporter's sentence; without PyTorch, that it is missing
        (
            "{file: network.py, quantize: [int8]}",
            "network-portable-int8 was not exported",
        ),
    ],
)
def test_what_is_wrong(
    folder: Path, capsys: pytest.CaptureFixture[str], model: str, said: str
) -> None:
    assert sweep(folder, model) != 0
    error = capsys.readouterr().err
    assert said in error and "Traceback" not in error
    assert not (folder / "sweep.sqlite").exists()
    assert not list((folder.parent / "cache").rglob("*.bpte"))


@pytest.mark.export
def test_models_are_exported_once_and_run(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("torch")
    pytest.importorskip("distributed")
    words = ["--json", str(folder / "facts.json")]
    model = "{file: network.py, backends: [portable, xnnpack], samples: [a.npy]}"
    assert sweep(folder, model, *words) == 0
    facts = json.loads((folder / "facts.json").read_text())
    assert facts["summary"] == {"passed": 2, "failed": 0, "error": 0}
    cache = folder.parent / "cache" / "exports"
    files = [path.stat().st_ino for path in cache.rglob("*.bpte")]
    capsys.readouterr()
    assert sweep(folder, model, *words) == 0
    assert "2 points, 2 known already" in capsys.readouterr().out
    again = [path.stat().st_ino for path in cache.rglob("*.bpte")]
    assert len(files) == 2 and files == again
