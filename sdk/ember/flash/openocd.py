"""OpenOCD: its drivers for flash, over the probes that its configuration names."""

from __future__ import annotations

from ember.boards.flash_facts import OpenOcd
from ember.flash import plans
from ember.flash.plans import FlashOrder, FlashPlan, ToolRun

IMAGE = "firmware.hex"
PORTS = ("gdb_port disabled", "tcl_port disabled", "telnet_port disabled")


def plan(order: FlashOrder, facts: OpenOcd) -> FlashPlan:
    chip, reads = plans.chip_read(order), plans.read_back(order)
    steps = []
    if chip:
        words = _words(order, facts, _dumps(chip))
        steps.append(ToolRun("identify", words, chip, chip=True))
    load = write(facts, IMAGE)
    commands = [*([load] if order.program else []), *_dumps(reads)]
    words = _words(order, facts, commands)
    steps.append(ToolRun(plans.verb(order), words, reads))
    # `reset run` would let the CPU go on for a moment before it is reset.
    steps.append(ToolRun("start", _words(order, facts, ["resume"])))
    return FlashPlan("openocd", tuple(steps), {IMAGE: order.image.hex()})


def write(facts: OpenOcd, image: str) -> str:
    """The command that writes the file `image`."""
    command = {"program": "flash write_image erase", "image": "load_image"}
    return f"{command[facts.load]} {image}"


def _dumps(reads: tuple[plans.Read, ...]) -> list[str]:
    return [f"dump_image {' '.join(read.command)}" for read in reads]


def _words(order: FlashOrder, facts: OpenOcd, commands: list[str]) -> tuple[str, ...]:
    words = ["openocd", "-f", facts.config[0]]
    words += ["-c", f"transport select {facts.transport}"] if facts.transport else []
    for name in facts.config[1:]:
        words += ["-f", name]
    first = [facts.serial.format(probe=order.probe)] if order.probe else []
    before = [*PORTS, *first, *facts.commands, "init", "reset halt"]
    for command in [*before, *commands, "shutdown"]:
        words += ["-c", command]
    return (*words, *order.extra)
