"""`ember export`: a PyTorch model becomes an ExecuTorch program for a board."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from ember import boards, output, progress, writing
from ember.build import project as projects
from ember.cli.options import KernelsOption, ProjectOption
from ember.cli.reports import damage as damages
from ember.errors import UsageError
from ember.export import job
from ember.export.flows import Backend, Quantize

_SUFFIXES = (".bpte", ".pte")


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
            help="Default: floating point.",
        ),
    ] = None,
    io: Annotated[
        Literal["float", "int8", "int16"],
        typer.Option(
            "--io",
            metavar="float|int8|int16",
            help="Inputs and outputs of quantised models; default: float.",
        ),
    ] = "float",
    calibrate: Annotated[
        Path | None,
        typer.Option(metavar="DATA", help="Samples for int8: .npy, .npz, or a folder."),
    ] = None,
    backend: Annotated[
        Backend | None,
        typer.Option(
            metavar="portable|cortex_m|cadence|xnnpack",
            help="Default: what suits the board.",
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            metavar="FILE",
            help=".bpte has test inputs and outputs, .pte only the program.",
        ),
    ] = None,
    report: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="What int8 does to each layer, the worst first: .html or .json.",
        ),
    ] = None,
    labels: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE.npy",
            help="The class of each sample: accuracies for the report.",
        ),
    ] = None,
    etrecord: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Also write an ETRecord, for ExecuTorch's Inspector.",
        ),
    ] = None,
    kernels: KernelsOption = None,
    project: ProjectOption = None,
    json_to: output.JsonOption = None,
) -> None:
    target = out or Path(f"{source.stem}.bpte")
    if target.suffix not in _SUFFIXES:
        raise UsageError(f"-o {target}: write a .bpte or a .pte file")
    if calibrate is not None and quantize is None:
        raise UsageError("--calibrate needs --quantize int8")
    damages.check(report, quantize, labels)
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
    )
    with progress.doing(f"exporting {source}"):
        exported = job.run(order)
    if report is not None and exported.damage is not None:
        named = damages.read_labels(labels, exported.damage)
        damages.write(report, source.name, damages.to_json(exported.damage, named))
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
            "tests": exported.tests,
            "distance": exported.distance,
            "notes": exported.notes,
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
    for note in exported.notes:
        console.print(output.plain(note))
    if exported.tests:
        console.print(f"tests inside: {exported.tests}, for `ember test {name}`")
    console.print(
        f"largest difference from the model in PyTorch: {exported.distance:.3g}"
    )
