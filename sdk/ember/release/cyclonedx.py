"""Components become a bill of materials in CycloneDX 1.6, the same bytes each time.

Nothing in it is a date or a random number, unless SOURCE_DATE_EPOCH says when.
"""

from __future__ import annotations

import datetime
import hashlib
import json
import os
import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from ember import __version__
from ember.errors import SdkError

VERSION = "1.6"
Kind = Literal[
    "application",
    "data",
    "device",
    "file",
    "firmware",
    "library",
    "machine-learning-model",
]
_LAST_SECOND = 253_402_300_799  # of the year 9999


@dataclass(frozen=True)
class Component:
    """A part of a product. `parts` are files that it consists of."""

    kind: Kind
    name: str
    version: str | None = None
    sha256: str | None = None
    license: str | None = None  # of SPDX
    purl: str | None = None
    excluded: bool = False  # took part in making the product, but is not in it
    properties: Mapping[str, str] = field(default_factory=dict)
    parts: Sequence[Component] = ()

    @property
    def ref(self) -> str:
        """Its name in the document."""
        return f"{self.kind}:{self.name}"

    def to_json(self, inside: str = "") -> dict[str, Any]:
        """The component, whose parts have names that begin with its own."""
        ref = f"{inside}{self.ref}"
        facts: dict[str, Any] = {"type": self.kind, "bom-ref": ref, "name": self.name}
        if self.version:
            facts["version"] = self.version
        if self.excluded:
            facts["scope"] = "excluded"
        if self.sha256:
            facts["hashes"] = [{"alg": "SHA-256", "content": self.sha256}]
        if self.license:
            facts["licenses"] = [{"license": {"id": self.license}}]
        if self.purl:
            facts["purl"] = self.purl
        if self.properties:
            facts["properties"] = [
                {"name": f"ember:{name}", "value": value}
                for name, value in self.properties.items()
            ]
        if self.parts:
            facts["components"] = [part.to_json(f"{ref}/") for part in self.parts]
        return facts


def sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def document(product: Component, components: Iterable[Component]) -> dict[str, Any]:
    """The bill of materials of a product that consists of `components`."""
    ordered = sorted(components, key=lambda component: component.ref)
    tool = {"type": "application", "name": "ember", "version": __version__}
    metadata: dict[str, Any] = {"tools": {"components": [tool]}}
    moment = _moment()
    if moment:
        metadata = {"timestamp": moment, **metadata}
    metadata["component"] = product.to_json()
    inside = [component.ref for component in ordered if not component.excluded]
    content = {
        "version": 1,
        "metadata": metadata,
        "components": [component.to_json() for component in ordered],
        "dependencies": [
            {"ref": product.ref, "dependsOn": inside},
            *({"ref": ref} for ref in inside),
        ],
    }
    digest = sha256(json.dumps(content, sort_keys=True).encode())
    return {
        "$schema": f"http://cyclonedx.org/schema/bom-{VERSION}.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": VERSION,
        "serialNumber": f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_OID, digest)}",
        **content,
    }


def _moment() -> str | None:
    """The time that SOURCE_DATE_EPOCH says, as reproducible builds do."""
    seconds = os.environ.get("SOURCE_DATE_EPOCH")
    if not seconds:
        return None
    if not (seconds.isascii() and seconds.isdigit()) or int(seconds) > _LAST_SECOND:
        raise SdkError(
            f"SOURCE_DATE_EPOCH is {seconds!r}, not a number of seconds since 1970",
            hint="unset it, or: SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)",
        )
    moment = datetime.datetime.fromtimestamp(int(seconds), datetime.UTC)
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")
