"""Rows of instructions become cycles by LLVM's scheduling models (llvm-mca).

Many rows go through one call, and what a row took is kept in the cache folder.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import subprocess
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ember import paths
from ember.cycles.assembly import Row
from ember.errors import SdkError
from ember.toolchain import tools

TOOL = "llvm-mca-19"
_NOTHING = "no assembly instructions found"  # that it knows, in all rows together
_REGION = re.compile(
    r"^\[\d+\] Code Region - (\w+)\n\n"
    r"Iterations: +1\nInstructions: +(\d+)\nTotal Cycles: +(\d+)\n",
    re.MULTILINE,
)


@dataclass(frozen=True)
class McaCore:
    """What llvm-mca calls a core."""

    triple: str
    cpu: str
    comment: str  # that begins a comment of its assembler
    bus: int  # bytes that it moves in a cycle


M_CORES = {
    name: McaCore("thumbv8.1m.main-none-eabi", name, "@", 8)
    for name in ("cortex-m7", "cortex-m55")
}
CORES = {
    **M_CORES,
    "cortex-a76": McaCore("aarch64-none-elf", "neoverse-n1", "#", 16),
    "cortex-a510": McaCore("aarch64-none-elf", "cortex-a510", "#", 16),
}


def totals(core: McaCore, rows: Iterable[Row]) -> Mapping[Row, int | None]:
    """The cycles from the first instruction's issue to the last one's end; None for a
    row with an instruction that the model does not know.
    """
    wanted = dict.fromkeys(rows)
    place = _place(core)
    kept = _read(place)
    keys = {row: hashlib.sha256("\n".join(row).encode()).hexdigest() for row in wanted}
    missing = [row for row, key in keys.items() if key not in kept]
    if missing:
        fresh = _measure(core, missing)
        kept |= {keys[row]: cycles for row, cycles in fresh.items()}
        _write(place, kept)
    return {row: kept[key] for row, key in keys.items()}


def _place(core: McaCore) -> Path:
    version = tools.version(TOOL)
    return paths.cache() / "cycles" / f"{core.cpu}-{version}.json"


def _read(place: Path) -> dict[str, int | None]:
    try:
        kept: dict[str, int | None] = json.loads(place.read_bytes())
    except (OSError, ValueError):
        return {}
    return kept


def _write(place: Path, kept: Mapping[str, int | None]) -> None:
    paths.writable_folder(place.parent)
    with tempfile.NamedTemporaryFile("w", dir=place.parent, delete=False) as file:
        json.dump(kept, file)
    os.replace(file.name, place)  # noqa: PTH105 - atomic, also over another's


def _measure(core: McaCore, rows: Sequence[Row]) -> dict[Row, int | None]:
    lines: list[str] = []
    for index, row in enumerate(rows):
        lines.append(f"{core.comment} LLVM-MCA-BEGIN row{index}")
        lines += row
        lines.append(f"{core.comment} LLVM-MCA-END row{index}")
    words = [tools.path(TOOL), f"-mtriple={core.triple}", f"-mcpu={core.cpu}"]
    words += ["-iterations=1", "-resource-pressure=false", "-instruction-info=false"]
    words += ["-skip-unsupported-instructions=any"]
    done = subprocess.run(
        words,
        input="\n".join(lines) + "\n",
        check=False,
        capture_output=True,
        text=True,
    )
    if done.returncode != 0 and _NOTHING not in done.stderr:
        raise SdkError(f"{TOOL} failed: {done.stderr.strip()[-300:]}")
    measured: dict[Row, int | None] = dict.fromkeys(rows)
    if () in measured:
        measured[()] = 0
    for name, count, cycles in _REGION.findall(done.stdout):
        row = rows[int(name.removeprefix("row"))]
        if int(count) == len(row):
            measured[row] = int(cycles)
    return measured
