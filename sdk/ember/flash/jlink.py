"""J-Link: a script for SEGGER's Commander."""

from __future__ import annotations

from ember.boards.flash_facts import JLink
from ember.flash import plans
from ember.flash.plans import FlashOrder, FlashPlan, Read, ToolRun

IMAGE = "firmware.hex"


def plan(order: FlashOrder, facts: JLink) -> FlashPlan:
    chip, reads = plans.chip_read(order), plans.read_back(order)
    files = {IMAGE: order.image.hex()}
    steps = []
    if chip:
        files["chip.jlink"] = _script(_saves(chip))
        words = _words(order, facts, "chip.jlink")
        steps.append(ToolRun("identify", words, chip, chip=True))
    load = [f"loadfile {IMAGE}"] if order.program else []
    files["flash.jlink"] = _script(["r", "h", *load, *_saves(reads)])
    words = _words(order, facts, "flash.jlink")
    steps.append(ToolRun(plans.verb(order), words, reads))
    files["start.jlink"] = _script(["r", "g"])
    steps.append(ToolRun("start", _words(order, facts, "start.jlink")))
    return FlashPlan("jlink", tuple(steps), files)


def _saves(reads: tuple[Read, ...]) -> list[str]:
    return [
        f"savebin {read.file} {read.address:#010x} {len(read.data):#x}"
        for read in reads
    ]


def _script(lines: list[str]) -> bytes:
    return "\n".join([*lines, "qc", ""]).encode()


def _words(order: FlashOrder, facts: JLink, script: str) -> tuple[str, ...]:
    words = ["JLinkExe", "-NoGui", "1", "-ExitOnError", "1", "-AutoConnect", "1"]
    words += ["-Device", facts.device, "-If", facts.interface.upper()]
    words += ["-Speed", str(facts.speed)]
    words += ["-SelectEmuBySN", order.probe] if order.probe else []
    return (*words, *order.extra, "-CommandFile", script)
