"""dfu-util: the boot loader in ROM of STM32, over USB (ST's extension DfuSe)."""

from __future__ import annotations

from ember.boards.flash_facts import DfuUtil
from ember.flash import dfu_file, plans
from ember.flash.plans import FlashOrder, FlashPlan, ToolRun

IMAGE = "firmware.dfu"


def plan(order: FlashOrder, facts: DfuUtil) -> FlashPlan:
    steps = []
    files = {}
    if order.program:
        files[IMAGE] = dfu_file.pack(
            order.image.blocks, facts.vendor, facts.product, facts.alt
        )
        steps.append(ToolRun("program", (*_connect(order, facts), "-D", IMAGE)))
    # The last one leaves the boot loader, which starts what lies at its address.
    reads = sorted(
        plans.read_back(order), key=lambda read: read.address == order.image.start
    )
    for read in reads:
        leave = ":leave" if read is reads[-1] else ""
        place = f"{read.address:#010x}:{len(read.data)}{leave}"
        words = (*_connect(order, facts), "-s", place, "-U", read.file)
        what = "read back and start" if leave else "read back"
        steps.append(ToolRun(what, words, (read,)))
    return FlashPlan("dfu-util", tuple(steps), files)


def _connect(order: FlashOrder, facts: DfuUtil) -> list[str]:
    words = ["dfu-util", "-d", f"{facts.vendor:04x}:{facts.product:04x}"]
    words += ["-S", order.probe] if order.probe else []
    return [*words, "-a", str(facts.alt), *order.extra]
