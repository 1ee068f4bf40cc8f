"""st-flash: STM32 through an ST-LINK."""

from __future__ import annotations

from ember.boards.flash_facts import StFlash
from ember.flash import plans
from ember.flash.plans import FlashOrder, FlashPlan, ToolRun


def plan(order: FlashOrder, facts: StFlash) -> FlashPlan:
    steps = []
    for chip in plans.chip_read(order):
        words = (*_connect(order, facts), "read", *chip.command)
        steps.append(ToolRun("identify", words, (chip,), chip=True))
    files = {}
    for index, block in enumerate(order.image.blocks if order.program else ()):
        name = f"block{index}.bin"
        files[name] = block.data
        words = (*_connect(order, facts), "write", name, f"{block.address:#010x}")
        steps.append(ToolRun("program", words))
    for read in plans.read_back(order):
        words = (*_connect(order, facts), "read", *read.command)
        steps.append(ToolRun("read back", words, (read,)))
    steps.append(ToolRun("start", (*_connect(order, facts), "reset")))
    return FlashPlan("st-flash", tuple(steps), files)


def _connect(order: FlashOrder, facts: StFlash) -> list[str]:
    words = ["st-flash"]
    words += ["--serial", order.probe] if order.probe else []
    words += ["--connect-under-reset"] if facts.connect_under_reset else []
    return [*words, *order.extra]
