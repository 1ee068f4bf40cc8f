"""`ember export`: a PyTorch model becomes an ExecuTorch program for a board."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, get_args

import numpy as np
import typer

from ember import boards, output, progress, writing
from ember.cli.options import KernelsOption, ProjectOption
from ember.cli.reports import pages
from ember.cli.reports.pages import Number
from ember.errors import SdkError, UsageError
from ember.export import job
from ember.export.calibration import Method
from ember.export.damage import Damage, LayerDamage
from ember.export.flows import Backend, Quantize
from ember.files import arrays
from ember.firmware import project as projects

_SUFFIXES = (".bpte", ".pte")
_RANGED = ("int8", "int4w8a")  # whose ranges come from histograms


def command(
    source: Annotated[
        Path,
        typer.Argument(
            metavar="MODULE.py|FILE.pt2",
            help="Python file with `model` and `example_inputs`, or a saved"
            " torch.export.",
        ),
    ],
    board: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Board to export for; see `ember boards`."),
    ] = None,
    quantize: Annotated[
        Quantize | None,
        typer.Option(
            metavar="int8|int4w8a|int16x8|int8-dynamic|int4",
            help="Quantise the model. Default: keep floating point.",
        ),
    ] = None,
    io: Annotated[
        Literal["float", "int8", "int16"],
        typer.Option(
            "--io",
            metavar="float|int8|int16",
            help="Type of the inputs and outputs of a quantised model.",
        ),
    ] = "float",
    calibrate: Annotated[
        Path | None,
        typer.Option(
            metavar="DATA",
            help="Samples that calibrate the quantisation: .npy, .npz, or a folder.",
        ),
    ] = None,
    calibration: Annotated[
        Method,
        typer.Option(
            metavar="|".join(get_args(Method)),
            help="How samples become ranges of integers. Default: the method whose"
            " outputs are nearest to the float model.",
        ),
    ] = "measured",
    backend: Annotated[
        Backend | None,
        typer.Option(
            metavar="portable|cortex_m|cadence|xnnpack",
            help="Backend to export for. Default: what suits the board.",
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            metavar="FILE",
            help="Output file: a .bpte also holds test inputs and outputs, a .pte only"
            " the program. Default: the name of the source with .bpte.",
        ),
    ] = None,
    report: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Also write the quantisation error of each layer, worst first: .html"
            " or .json.",
        ),
    ] = None,
    labels: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE.npy",
            help="Class of each sample, so that the report can state accuracies.",
        ),
    ] = None,
    etrecord: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Also write an ETRecord, for ExecuTorch's Inspector.",
        ),
    ] = None,
    strict: Annotated[
        bool,
        typer.Option(
            "--strict",
            help="Refuse a quantised model of which an operator stays in float.",
        ),
    ] = False,
    kernels: KernelsOption = None,
    project: ProjectOption = None,
    json_to: output.JsonOption = None,
) -> None:
    target = out or Path(f"{source.stem}.bpte")
    if target.suffix not in _SUFFIXES:
        raise UsageError(f"-o {target}: write a .bpte or a .pte file")
    if calibrate is not None and quantize is None:
        raise UsageError("--calibrate needs --quantize int8")
    if calibration != "measured" and quantize not in _RANGED:
        raise UsageError(f"--calibration needs --quantize {' or '.join(_RANGED)}")
    _check_report(report, quantize, labels)
    claim = writing.Claim(target)
    record = writing.Claim(etrecord) if etrecord is not None else None
    plans = projects.load(project, kernels)
    name = board or plans.board
    order = job.ExportOrder(
        path=source,
        board=boards.load(name) if name else None,
        quantize=quantize,
        backend=backend,
        calibrate=calibrate,
        bundled=target.suffix == ".bpte",
        io=io,
        rules=plans.rules,
        measured=report is not None,
        recorded=record is not None,
        strict=strict,
        method=calibration,
    )
    with progress.doing(f"exporting {source}"):
        exported = job.run(order)
    if report is not None and exported.damage is not None:
        named = read_labels(labels, exported.damage)
        write_report(report, source.name, report_facts(exported.damage, named))
    if record is not None and exported.record is not None:
        record.write(exported.record)
    claim.write(exported.content)
    if json_to != "-":
        _show(target, exported)
    output.write_json(
        {
            "file": str(target),
            "bytes": len(exported.content),
            "backend": exported.backend,
            "quantize": quantize,
            "calibration": exported.calibration,
            "ranges": exported.ranges.to_json() if exported.ranges else None,
            "tests": exported.tests,
            "distance": exported.distance,
            "notes": exported.notes,
            "integers": exported.shares.to_json() if exported.shares else None,
            "interface": [edge.to_json() for edge in exported.edges],
        },
        json_to,
    )


def _show(target: Path, exported: job.Made) -> None:
    console = output.console()
    name = output.plain(str(target))
    console.print(f"{name}: {len(exported.content):,} bytes, {exported.backend}")
    if exported.calibration == 0:
        console.print(
            "calibrated with the example inputs only: give real samples with"
            " --calibrate"
        )
    elif exported.calibration:
        console.print(f"calibrated with {exported.calibration:,} samples")
    for edge in exported.edges:
        console.print(str(edge), markup=False)
    if exported.shares is not None:
        console.print(output.plain(str(exported.shares)), soft_wrap=True)
    if exported.ranges is not None and exported.ranges.note:
        console.print(output.plain(exported.ranges.note), soft_wrap=True)
    for note in exported.notes:
        console.print(output.plain(note))
    if exported.tests:
        console.print(f"tests inside: {exported.tests}, for `ember test {name}`")
    console.print(
        f"largest difference from the model in PyTorch: {exported.distance:.3g}"
    )


# ---- --report: what quantising does to each layer ------------------------------------


_REPORTED = ("int8", "int4w8a", "int16x8", "int8-dynamic")
_REPORT_SUFFIXES = (".html", ".json")
_MEANING = """<p>Signal-to-noise ratios against the float model, in dB: 20 dB is an
error of a tenth, 40 dB of a hundredth. <i>Isolated</i>: with the inputs that the float
model gives the layer.</p>"""
_HEADS = (
    *("layer", "operators", ">isolated", ">in the model", ">saturated", ">range used"),
    *("weights", "what may help"),
)


def _check_report(path: Path | None, quantize: str | None, labels: Path | None) -> None:
    """Raises UsageError if no report can be made."""
    if path is None:
        if labels is not None:
            raise UsageError("--labels needs --report")
        return
    if path.suffix not in _REPORT_SUFFIXES:
        raise UsageError(f"--report {path}: write a .html or a .json file")
    if quantize not in _REPORTED:
        raise UsageError(f"--report needs --quantize {' or '.join(_REPORTED)}")
    writing.need_file(path)


def read_labels(path: Path | None, damage: Damage) -> list[int] | None:
    """The correct class of each sample, if there is a file of them."""
    if path is None:
        return None
    (given,) = arrays.read_all(path)
    if given.ndim != 1 or not np.issubdtype(given.dtype, np.integer):
        raise SdkError(f"{path}: labels must be one integer per sample")
    if len(given) != damage.samples:
        raise SdkError(
            f"{path} has {len(given)} labels, but there are {damage.samples} samples"
        )
    return [int(label) for label in given]


def report_facts(damage: Damage, labels: Sequence[int] | None) -> dict[str, Any]:
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


def write_report(path: Path, title: str, facts: dict[str, Any]) -> None:
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
