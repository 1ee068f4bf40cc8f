"""`ember keygen`: make a key that signs models, and the constant that checks them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from ember import output, writing
from ember.release import signing
from ember.release.signing import Algorithm

_ALGORITHMS = {"ed25519": Algorithm.ED25519, "p256": Algorithm.ECDSA_P256}


def command(
    key: Annotated[
        Path,
        typer.Argument(
            metavar="KEY.pem",
            help="The private key: a new file that only you can read. It is encrypted"
            " if EMBER_KEY_PASSPHRASE is set.",
            show_default=False,
        ),
    ],
    algorithm: Annotated[
        Literal["ed25519", "p256"],
        typer.Option(
            help="Signature algorithm; p256 is for devices whose library lacks Ed25519."
        ),
    ] = "ed25519",
    header: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE.h",
            help="Also write the public key as a C constant; KEY.pem may then exist"
            " already.",
        ),
    ] = None,
    json_to: output.JsonOption = None,
) -> None:
    if header is not None:
        writing.need_file(header)
    is_new = header is None or not key.exists()
    private = (
        signing.generate(_ALGORITHMS[algorithm]) if is_new else signing.read_key(key)
    )
    if is_new:
        signing.write_key(private, key)
    public = private.public
    if header is not None:
        output.write_text(public.header(key.stem), header)
    if json_to != "-":
        console = output.console()
        said = "new private key" if is_new else "private key"
        console.print(
            f"{output.plain(str(key))}: {said}, {public.algorithm.name}, id"
            f" {public.id.hex()}",
            soft_wrap=True,
        )
    output.write_json(
        {
            "key": str(key),
            "new": is_new,
            "algorithm": public.algorithm.name,
            "id": public.id.hex(),
            "public": public.content.hex(),
        },
        json_to,
    )
