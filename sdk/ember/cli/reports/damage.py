"""What quantising does to each layer becomes JSON, or a page."""

from __future__ import annotations

import html
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ember import writing
from ember.errors import SdkError, UsageError
from ember.export.damage import Damage, LayerDamage
from ember.files import arrays

_SUFFIXES = (".html", ".json")
_PAGE = """<!doctype html>
<html lang="en"><meta charset="utf-8"><title>{title}</title>
<meta name="viewport" content="width=device-width">
<style>
:root {{ color-scheme: light dark; font: 15px/1.5 system-ui, sans-serif }}
body {{ margin: 2rem auto; max-width: 70rem; padding: 0 1rem }}
div {{ overflow-x: auto }}
table {{ border-collapse: collapse; width: 100% }}
th, td {{ border-bottom: 1px solid #8886; padding: .3rem .6rem; text-align: left }}
td.n {{ text-align: right; font-variant-numeric: tabular-nums }}
</style>
<h1>{title}</h1>
{facts}
<p>Signal-to-noise ratios against the float model, in dB: 20 dB is an error of a tenth,
40 dB of a hundredth. <i>Alone</i>: with the inputs that the float model gives the
layer; the worst first.</p>
<div><table><tr>{heads}</tr>
{rows}
</table></div></html>
"""
_HEADS = (
    *("layer", "operators", "alone", "in the model", "saturated", "range used"),
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
    if quantize not in ("int8", "int8-dynamic"):
        raise UsageError("--report needs --quantize int8 or int8-dynamic")
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
    told = [f"{facts['samples']:,} samples", f"output {_db(facts['output_snr_db'])} dB"]
    if facts["accuracy"] is not None:
        before, after = facts["accuracy"]["float"], facts["accuracy"]["quantised"]
        told.append(f"accuracy {before:.2%} in float, {after:.2%} quantised")
    return _PAGE.format(
        title=html.escape(f"{title}: quantised, layer by layer"),
        facts=f"<p>{html.escape('; '.join(told))}.</p>",
        heads="".join(f"<th>{head}</th>" for head in _HEADS),
        rows="\n".join(_row(layer) for layer in facts["layers"]),
    )


def _row(layer: dict[str, Any]) -> str:
    numbers = (
        _db(layer["own_snr_db"]),
        _db(layer["snr_db"]),
        f"{layer['saturated']:.2%}",
        f"{layer['range_used']:.0%}",
    )
    texts = [layer["module"] or layer["name"], layer["operators"]]
    rest = [layer["weights"] or "", "; ".join(layer["advice"])]
    cells = [f"<td>{html.escape(text)}</td>" for text in texts]
    cells += [f'<td class="n">{number}</td>' for number in numbers]
    cells += [f"<td>{html.escape(text)}</td>" for text in rest]
    return f"<tr>{''.join(cells)}</tr>"


def _db(value: float | None) -> str:
    return "exact" if value is None else f"{value:.1f}"
