"""gdb: through the server of a probe or an emulator."""

from __future__ import annotations

from ember.boards.flash_facts import Gdb
from ember.errors import UsageError
from ember.flash import plans
from ember.flash.plans import FlashOrder, FlashPlan, Read, ToolRun

IMAGE = "firmware.hex"


def plan(order: FlashOrder, facts: Gdb) -> FlashPlan:
    remote = order.probe or facts.remote
    if remote is None:
        raise UsageError(
            "gdb needs the address of a server", hint="give --probe HOST:PORT"
        )
    reads = plans.read_back(order)
    load = ["load"] if order.program else []
    # The table of vectors gives what a reset would: not every server knows one.
    start = [
        f"set $sp = {{unsigned int}}{order.image.start:#x}",
        f"set $pc = {{unsigned int}}{order.image.start + 4:#x}",
    ]
    lines = [*_identify(order), *load, *_dumps(reads), *start]
    files = {IMAGE: order.image.hex(), "flash.gdb": _script(remote, lines)}
    words = ("gdb-multiarch", "-nx", "-batch", *order.extra, "-x", "flash.gdb")
    return FlashPlan(
        "gdb", (ToolRun(f"{plans.verb(order)}, start", words, reads),), files
    )


def _identify(order: FlashOrder) -> list[str]:
    """In the same session: at its end the CPU runs, with whatever is in the flash."""
    chip = order.board.identity
    if chip is None:
        return []
    word = f"({{unsigned int}}{chip.at:#x} & {chip.mask:#x})"
    return [f"if {word} != {chip.value:#x}", "echo wrong chip\\n", "quit 3", "end"]


def _dumps(reads: tuple[Read, ...]) -> list[str]:
    return [
        f"dump binary memory {read.file} {read.address:#x}"
        f" {read.address + len(read.data):#x}"
        for read in reads
    ]


def _script(remote: str, lines: list[str]) -> bytes:
    before = ["set confirm off", "set architecture arm", "set tcp connect-timeout 3"]
    before += [f"file {IMAGE}", f"target remote {remote}"]
    return "\n".join([*before, *lines, "detach", ""]).encode()
