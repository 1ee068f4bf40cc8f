"""`ember sign`: sign a program and its data files for devices that trust a key."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ember import model, output, writing
from ember.release import signing


def command(
    program: Annotated[
        Path,
        typer.Argument(
            metavar="PROGRAM",
            help="A .pte or .bpte file, or a case folder.",
            show_default=False,
        ),
    ],
    key: Annotated[
        Path,
        typer.Option(metavar="KEY.pem", help="Private key; see `ember keygen`."),
    ],
    version: Annotated[
        int,
        typer.Option(
            metavar="N",
            min=0,
            max=signing.MOST_VERSION,
            help="Version of the model; a device refuses versions below the one it has"
            " stored.",
        ),
    ],
    purpose: Annotated[
        str,
        typer.Option(
            metavar="TEXT",
            help="What the model is for, up to 16 characters; a device refuses others.",
        ),
    ] = "",
    data: Annotated[
        list[Path] | None,
        typer.Option("--data", metavar="FILE.ptd", help="External data; repeatable."),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Output file. Default: PROGRAM.signed."),
    ] = None,
    json_to: output.JsonOption = None,
) -> None:
    subject = model.read(program, data or ())
    beside = program if program.name else program.resolve()
    target = out or beside.with_name(f"{beside.name}.signed")
    writing.need_file(target)
    private = signing.read_key(key)
    content = signing.sign(subject.given, subject.data, private, version, purpose)
    head = signing.read(content, str(target))
    writing.write(target, content)
    if json_to != "-":
        for_what = f" for {output.plain(purpose)}" if purpose else ""
        output.console().print(
            f"{output.plain(str(target))}: version {version}{for_what},"
            f" {len(content):,} bytes, {head.algorithm.name} key {head.key.hex()}",
            soft_wrap=True,
        )
    output.write_json(
        {
            "signed": str(target),
            "version": head.version,
            "purpose": head.purpose,
            "bytes": head.size,
            "algorithm": head.algorithm.name,
            "key": head.key.hex(),
        },
        json_to,
    )
