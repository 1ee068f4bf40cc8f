"""A plan is run in a folder of its own; what it reads back is compared."""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path

from ember.boards.flash_facts import Flasher, Uf2
from ember.errors import SdkError
from ember.flash import drives, messages, probes, programs
from ember.flash.plans import FlashPlan, Read, ToolRun

_START_S = 60.0  # what a step takes at most, and what a byte of the image adds
_BYTE_S = 1 / 500
Say = Callable[[str], None]


def need(facts: Flasher, probe: str | None) -> None:
    """An SdkError when the tool is missing, or would have to guess the probe."""
    if facts.tool in programs.PROGRAMS:
        programs.path(facts.tool)
    probes.need_one(facts.tool, probe)


def run(
    plan: FlashPlan,
    facts: Flasher,
    say: Say,
    probe: str | None = None,
    limit: float | None = None,
) -> None:
    """Do every step of `plan`; an SdkError says which one failed, and why.

    `limit` is what a step may take, in seconds; else it follows the image's size.
    """
    with tempfile.TemporaryDirectory(prefix="ember-flash-") as name:
        folder = Path(name)
        for file, data in plan.files.items():
            (folder / file).write_bytes(data)
        size = sum(len(read.data) for step in plan.steps for read in step.reads)
        limit = limit or _START_S + size * _BYTE_S
        for step in plan.steps:
            say(f"{plan.tool}: {step.what}")
            if isinstance(facts, Uf2):
                data = plan.files[step.argv[1]]
                drives.copy(data, step.argv[1], drives.choose(facts, probe))
                continue
            output = _start(plan, step, folder, limit)
            for read in step.reads:
                _compare(plan, step, read, folder, output)


def _start(plan: FlashPlan, step: ToolRun, folder: Path, limit: float) -> str:
    words = [programs.path(plan.tool), *step.argv[1:]]
    try:
        done = subprocess.run(
            words,
            check=False,
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=limit,
        )
    except subprocess.TimeoutExpired:
        raise SdkError(
            f"{plan.tool}, {step.what}: not done after {limit:.0f} s; the flash may"
            " be partly written",
            hint="check the connection with `ember probes`, or wait longer with"
            " --timeout",
        ) from None
    output = done.stdout.decode("utf-8", "replace")
    # gdb -batch and pyocd commander end with 0 after some failures.
    if done.returncode != 0 or messages.failed(plan.tool, output):
        raise messages.explain(plan.tool, step, output, done.returncode)
    return output


def _compare(
    plan: FlashPlan, step: ToolRun, read: Read, folder: Path, output: str
) -> None:
    path = folder / read.file
    content = path.read_bytes() if path.is_file() else b""
    if len(content) != len(read.data):
        raise messages.explain(plan.tool, step, output, 0)
    mask = read.mask or b"\xff" * len(content)
    wrong = [
        at
        for at, (is_, want, bits) in enumerate(
            zip(content, read.data, mask, strict=True)
        )
        if (is_ ^ want) & bits
    ]
    if not wrong:
        return
    if step.chip:
        is_ = int.from_bytes(content, "little") & int.from_bytes(mask, "little")
        want = int.from_bytes(read.data, "little")
        raise SdkError(
            f"wrong chip: its identity at {read.address:#010x} is {is_:#x}, not"
            f" {want:#x}; nothing was written",
            hint="check --board and which board the probe is connected to",
        )
    at = wrong[0]
    raise SdkError(
        f"verify failed: {len(wrong)} of {len(content)} bytes differ, the first at"
        f" {read.address + at:#010x}: {content[at]:#04x}, not {read.data[at]:#04x}",
        hint="flash again; if it still differs, the flash is worn or locked, or holds"
        " another firmware",
    )
