#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A wheel of Ember becomes its bill of materials, CycloneDX 1.6.

    tools/sbom.py dist/ember-0.1.0-py3-none-any.whl --out ember.cdx.json

Components are the Python packages that an installation needs, those that they need
included, in the versions of tools/requirements.lock, by the hashes there.
"""

from __future__ import annotations

import argparse
import email
import re
import sys
import zipfile
from email.message import Message
from pathlib import Path

from ember import output
from ember.errors import SdkError
from ember.release import cyclonedx
from ember.release.cyclonedx import Component

ROOT = Path(__file__).resolve().parent.parent
LOCK = ROOT / "tools" / "requirements.lock"
PINNED = re.compile(r"^([\w.-]+)==([^\s;\\]+)(.*?)(?=^\S|\Z)", re.MULTILINE | re.DOTALL)
NAME = re.compile(r"[\w.-]+")


def metadata(wheel: Path) -> Message:
    """What a wheel says of itself."""
    try:
        with zipfile.ZipFile(wheel) as archive:
            (name,) = (
                name
                for name in archive.namelist()
                if name.endswith(".dist-info/METADATA")
            )
            return email.message_from_bytes(archive.read(name))
    except (OSError, ValueError, zipfile.BadZipFile) as error:
        raise SdkError(f"{wheel} is not a wheel: {error}") from None


def required(facts: Message) -> list[str]:
    """The packages that are needed without any extra."""
    packages = []
    for line in facts.get_all("Requires-Dist") or []:
        match = NAME.match(line)
        if match is not None and "extra ==" not in line:
            packages.append(match[0].lower())
    return packages


def locked(text: str) -> dict[str, tuple[str, list[str], list[str]]]:
    """Version, hashes of files and users of each package of a lock file."""
    return {
        name.lower(): (
            version,
            re.findall(r"--hash=sha256:([0-9a-f]{64})", rest),
            [
                user.lower()
                for user in re.findall(r"^    #\s+(?:via )?([\w.-]+)", rest, re.M)
            ],
        )
        for name, version, rest in PINNED.findall(text)
    }


def needed(
    first: list[str], packages: dict[str, tuple[str, list[str], list[str]]]
) -> list[str]:
    """These packages and all that they need."""
    known = set(first)
    while True:
        more = {name for name, (_, _, users) in packages.items() if known & {*users}}
        if more <= known:
            return sorted(known)
        known |= more


def component(name: str, version: str, hashes: list[str]) -> Component:
    """A package; the hashes are of its files for all platforms."""
    return Component(
        "library",
        name,
        version=version,
        purl=f"pkg:pypi/{name}@{version}",
        properties={"files of sha256": " ".join(hashes)},
    )


def document(wheel: Path) -> dict[str, object]:
    facts = metadata(wheel)
    packages = locked(LOCK.read_text(encoding="utf-8"))
    first = required(facts)
    missing = sorted(set(first) - set(packages))
    if missing:
        raise SdkError(
            f"{LOCK.name} has no {', '.join(missing)}", hint="run tools/lock.sh"
        )
    product = Component(
        "application",
        facts["Name"],
        version=facts["Version"],
        sha256=cyclonedx.sha256(wheel.read_bytes()),
        license=facts["License-Expression"],
        purl=f"pkg:pypi/{facts['Name']}@{facts['Version']}",
    )
    components = (
        component(name, *packages[name][:2]) for name in needed(first, packages)
    )
    return cyclonedx.document(product, components)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("wheel", type=Path)
    parser.add_argument("--out", default="-", metavar="FILE", help="default: -, here")
    arguments = parser.parse_args()
    try:
        output.write_json(document(arguments.wheel), arguments.out)
    except SdkError as error:
        print(f"sbom: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
