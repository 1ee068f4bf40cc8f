"""gdb: through the server of a probe or an emulator."""

from __future__ import annotations

from ember.errors import UsageError
from ember.flash import plans
from ember.flash.plans import Order, Plan, Read, Step
from ember.flash_facts import Gdb

IMAGE = "firmware.hex"


def plan(order: Order, facts: Gdb) -> Plan:
    remote = order.probe or facts.remote
    if remote is None:
        raise UsageError(
            "gdb needs the address of a server", hint="give it: --probe HOST:PORT"
        )
    chip, reads = plans.chip_read(order), plans.read_back(order)
    files = {IMAGE: order.image.hex()}
    steps = []
    if chip:
        files["chip.gdb"] = _script(remote, _dumps(chip))
        steps.append(Step("identify", _words(order, "chip.gdb"), chip, chip=True))
    load = ["load"] if order.program else []
    # The table of vectors gives what a reset would: not every server knows one.
    start = [
        f"set $sp = {{unsigned int}}{order.image.start:#x}",
        f"set $pc = {{unsigned int}}{order.image.start + 4:#x}",
    ]
    files["flash.gdb"] = _script(remote, [*load, *_dumps(reads), *start])
    words = _words(order, "flash.gdb")
    steps.append(Step(f"{plans.verb(order)}, start", words, reads))
    return Plan("gdb", tuple(steps), files)


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


def _words(order: Order, script: str) -> tuple[str, ...]:
    return ("gdb-multiarch", "-nx", "-batch", *order.extra, "-x", script)
