# SPDX-License-Identifier: Apache-2.0
"""The cost of the runtime itself, on a Cortex-M4 and a Cortex-M55.

core                  bytes of code, constants and .data of the runtime, in a firmware
                      of the libraries that `ember build` links. All that came out of
                      an archive counts, the C library's and the compiler's parts too,
                      unless it is the archive of kernels or backends. Objects do not:
                      they are the application with its tables, and the port.
dispatch              instructions that a call of a kernel that does nothing takes in
                      execute, as the slope between chains of 100 and 200 of them
load_per_call         instructions that a call takes in open and load, as the slope
                      between chains of 100 and 200 additions built by `ember build`
method_arena_resnet8  bytes of RAM for values and node states of ResNet8 in float32,
                      29 calls and 260 values, as exported
"""

from __future__ import annotations

import json
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from committed_cases import PROGRAMS, path_of

from ember import boards
from ember.boards import Board
from ember.cases import inputs
from ember.errors import SdkError
from ember.firmware import build
from ember.run import run
from ember.toolchain import emulator, footprint, libraries, linker, parts
from ember.toolchain.emulator import Mark

BOARDS = {"m4": "mps2-an386", "m55": "mps3-an547"}
FIGURES = {
    "core": "runtime core, bytes",
    "dispatch": "dispatch of an empty kernel, instructions",
    "load_per_call": "loading, instructions per call",
    "method_arena_resnet8": "method arena of ResNet8, bytes",
}
TOLERANCE = 0.02  # of the baseline
_FOLDER = Path(__file__).parent
_BASELINE = _FOLDER / "baseline.json"
_CHAINS = (100, 200)
_RESNET8_CALLS, _RESNET8_VALUES = 29, 260
_LOAD, _EXECUTE = 0, 1  # EMBER_MARK_*

Figures = dict[str, dict[str, float]]


@dataclass(frozen=True)
class Bench:
    """A linked bench firmware."""

    board: Board
    firmware: Path

    @property
    def archives(self) -> dict[str, int]:
        return footprint.archive_bytes(self.firmware.with_suffix(".map"))

    @property
    def core(self) -> int:
        """Bytes of the core and of the C library parts that it calls."""
        ours = ("libember_kernels", "libember_backends", "")
        return sum(size for name, size in self.archives.items() if name not in ours)

    def marks(self) -> tuple[Mark, ...]:
        result = emulator.run(self.board, self.firmware)
        return result.check(f"the bench on {self.board.name}").marks


def measure(folder: Path) -> Figures:
    """All figures; `folder` takes what is built on the way."""
    return {
        core: {
            "core": firmware(boards.load(name), folder / core, "nothing", 100).core,
            "dispatch": _dispatch(boards.load(name), folder / core),
            "load_per_call": _load_per_call(name, folder / core),
            "method_arena_resnet8": _method_arena(name, folder / core),
        }
        for core, name in BOARDS.items()
    }


def firmware(board: Board, folder: Path, kernel: str, length: int) -> Bench:
    """The bench firmware with a kernel of firmware/ and the chain of `length` calls."""
    place = folder / f"{kernel}{length}"
    place.mkdir(parents=True, exist_ok=True)
    shutil.copy(_FOLDER / "programs" / f"add{length}.pte", place / "program.pte")
    data = PROGRAMS / "special_ptd.ptd"
    shutil.copy(data, place / "data.ptd")
    script = place / "linker.ld"
    script.write_text(linker.script(board), encoding="utf-8")
    built = libraries.build(board, whole=False)
    names = ("core.c", "images.S", f"{kernel}.c")
    sources = [_FOLDER / "firmware" / name for name in names]
    target = place / "firmware.elf"
    objects = built.compile(sources, place, [f"-I{place}"])
    parts.of(built, objects).link(
        objects,
        target,
        script=script,
        map_file=target.with_suffix(".map"),
    )
    return Bench(board, target)


def with_accessors(folder: Path) -> dict[str, int]:
    """The core's bytes when kernels ask it for arguments of every kind."""
    return {
        core: firmware(boards.load(name), folder / core, "accessors", 100).core
        for core, name in BOARDS.items()
    }


def _dispatch(board: Board, folder: Path) -> float:
    counts = []
    for length in _CHAINS:
        marks = firmware(board, folder, "nothing", length).marks()
        begin, end = (mark.count for mark in marks if mark.word == _EXECUTE)
        counts.append(end - begin)
    return _slope(counts)


def _load_per_call(board: str, folder: Path) -> float:
    counts = []
    for length in _CHAINS:
        path = _FOLDER / "programs" / f"add{length}.pte"
        built = build(path, board, out=folder / path.stem)
        zeros = inputs.zeros(built.methods[0])
        counts.append(run.run(built, zeros, trace=False).load or 0)
    return _slope(counts)


def _slope(counts: list[int]) -> float:
    short, long = counts
    slope = (long - short) / (_CHAINS[1] - _CHAINS[0])
    return int(slope) if slope.is_integer() else slope


def _method_arena(board: str, folder: Path) -> int:
    case = path_of("model_resnet8_small")
    built = build(case, board, out=folder / case.stem)
    method = built.methods[0]
    calls = sum(len(chain.instructions) for chain in method.chains)
    if (calls, len(method.values)) != (_RESNET8_CALLS, _RESNET8_VALUES):
        raise SdkError(f"{case} is not ResNet8 as exported: {calls} calls")
    return int(built.sizes["method_arena"])


# ---- the baseline --------------------------------------------------------------------


def baseline() -> Figures:
    figures: Figures = json.loads(_BASELINE.read_text(encoding="utf-8"))
    return figures


def write_baseline(figures: Figures) -> None:
    _BASELINE.write_text(json.dumps(figures, indent=2) + "\n", encoding="utf-8")


def worse(figures: Figures, before: Figures) -> list[str]:
    """A sentence for each figure that is more than TOLERANCE above `before`."""
    sentences = []
    for core, values in before.items():
        for name, old in values.items():
            new: Any = figures[core][name]
            if new > old * (1 + TOLERANCE):
                sentences.append(
                    f"{FIGURES[name]}, on {core}: {new:,} is {new / old - 1:.1%} more"
                    f" than the {old:,} of the baseline"
                )
    return sentences
