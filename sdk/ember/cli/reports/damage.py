"""What quantising does to each layer becomes JSON, or a page."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ember import writing
from ember.cli.reports import pages
from ember.cli.reports.pages import Number
from ember.errors import SdkError, UsageError
from ember.export.damage import Damage, LayerDamage
from ember.files import arrays

_REPORTED = ("int8", "int4w8a", "int16x8", "int8-dynamic")
_SUFFIXES = (".html", ".json")
_MEANING = """<p>Signal-to-noise ratios against the float model, in dB: 20 dB is an
error of a tenth, 40 dB of a hundredth. <i>Alone</i>: with the inputs that the float
model gives the layer.</p>"""
_HEADS = (
    *("layer", "operators", ">alone", ">in the model", ">saturated", ">range used"),
    *("weights", "what may help"),
)


def check(path: Path | None, quantize: str | None, labels: Path | None) -> None:
    """A UsageError for what cannot be reported."""
    if path is None:
        if labels is not None:
            raise UsageError("--labels needs --report")
        return
    if path.suffix not in _SUFFIXES:
        raise UsageError(f"--report {path}: write a .html or a .json file")
    if quantize not in _REPORTED:
        raise UsageError(f"--report needs --quantize {' or '.join(_REPORTED)}")
    writing.need_file(path)


def read_labels(path: Path | None, damage: Damage) -> list[int] | None:
    """The right class of each sample."""
    if path is None:
        return None
    (given,) = arrays.read_all(path)
    if given.ndim != 1 or not np.issubdtype(given.dtype, np.integer):
        raise SdkError(f"{path}: labels are one integer for each sample")
    if len(given) != damage.samples:
        raise SdkError(
            f"{path} has {len(given)} labels, but there are {damage.samples} samples"
        )
    return [int(label) for label in given]


def to_json(damage: Damage, labels: Sequence[int] | None) -> dict[str, Any]:
    accuracy = None
    if labels is not None:
        before, after = damage.accuracy(labels)
        accuracy = {"float": before, "quantised": after}
    return {
        "samples": damage.samples,
        "output_snr_db": damage.snr_db,
        "accuracy": accuracy,
        "layers": [_layer(layer) for layer in damage.layers],
    }


def _layer(layer: LayerDamage) -> dict[str, Any]:
    return {
        "name": layer.name,
        "operators": layer.operators,
        "module": layer.module,
        "weights": layer.weights,
        "own_snr_db": layer.own_snr_db,
        "snr_db": layer.snr_db,
        "saturated": layer.saturation,
        "range_used": layer.range_used,
        "advice": layer.advice(),
    }


def write(path: Path, title: str, facts: dict[str, Any]) -> None:
    if path.suffix == ".json":
        text = json.dumps(facts, indent=1) + "\n"
    else:
        text = _page(title, facts)
    writing.write(path, text.encode())


def _page(title: str, facts: dict[str, Any]) -> str:
    told = [
        f"{facts['samples']:,} samples",
        f"output {_db(facts['output_snr_db']).shown} dB",
    ]
    if facts["accuracy"] is not None:
        before, after = facts["accuracy"]["float"], facts["accuracy"]["quantised"]
        told.append(f"accuracy {before:.2%} in float, {after:.2%} quantised")
    title = f"{title}: quantised, layer by layer"
    body = [
        f"<h1>{pages.text(title)}</h1><p>{pages.text('; '.join(told))}.</p>",
        _MEANING,
        pages.table("Layers, the worst first", _HEADS, map(_row, facts["layers"])),
    ]
    return pages.page(title, body)


def _row(layer: dict[str, Any]) -> tuple[object, ...]:
    return (
        layer["module"] or layer["name"],
        layer["operators"],
        _db(layer["own_snr_db"]),
        _db(layer["snr_db"]),
        Number(layer["saturated"], f"{layer['saturated']:.2%}"),
        Number(layer["range_used"], f"{layer['range_used']:.0%}"),
        layer["weights"],
        "; ".join(layer["advice"]),
    )


def _db(value: float | None) -> Number:
    return Number(math.inf, "exact") if value is None else Number(value, f"{value:.1f}")
