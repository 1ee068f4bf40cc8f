"""pyOCD: its algorithms for flash, over any CMSIS-DAP, ST-LINK or J-Link probe."""

from __future__ import annotations

from ember.boards.flash_facts import PyOcd
from ember.flash import plans
from ember.flash.plans import FlashOrder, FlashPlan, ToolRun

IMAGE = "firmware.hex"


def plan(order: FlashOrder, facts: PyOcd) -> FlashPlan:
    steps = []
    chip = plans.chip_read(order)
    if chip:
        steps.append(
            ToolRun("identify", _commander(order, facts, chip), chip, chip=True)
        )
    if order.program:
        load = [*_connect(order, facts, "load"), "--erase", "sector", "--no-reset"]
        steps.append(ToolRun("program", (*load, IMAGE)))
    reads = plans.read_back(order)
    steps.append(ToolRun("read back", _commander(order, facts, reads), reads))
    steps.append(ToolRun("start", tuple(_connect(order, facts, "reset"))))
    return FlashPlan("pyocd", tuple(steps), {IMAGE: order.image.hex()})


def _connect(order: FlashOrder, facts: PyOcd, verb: str) -> list[str]:
    words = ["pyocd", verb, "--no-wait", "--target", facts.target]
    words += ["--probe", order.probe] if order.probe else []
    words += ["--frequency", str(facts.frequency)] if facts.frequency else []
    # A locked chip is told, never unlocked by erasing all of it.
    words += ["-O", "auto_unlock=false"]
    words += ["--script", facts.script] if facts.script else []
    for name, value in facts.options.items():
        words += ["-O", f"{name}={value}"]
    return [*words, *order.extra]


def _commander(
    order: FlashOrder, facts: PyOcd, reads: tuple[plans.Read, ...]
) -> tuple[str, ...]:
    words = [*_connect(order, facts, "commander"), "-c", "halt"]
    for read in reads:
        file, address, size = read.command
        words += ["-c", f"savemem {address} {size} {file}"]
    return tuple(words)
