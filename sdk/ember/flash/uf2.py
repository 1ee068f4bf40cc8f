"""UF2: a file copied to the drive that a boot loader shows. Cannot be read back."""

from __future__ import annotations

from ember.boards.flash_facts import Uf2
from ember.errors import UsageError
from ember.flash import uf2_file
from ember.flash.plans import FlashOrder, FlashPlan, ToolRun

IMAGE = "firmware.uf2"


def plan(order: FlashOrder, facts: Uf2) -> FlashPlan:
    if not order.program:
        raise UsageError(
            "uf2 cannot read flash back, so it cannot verify",
            hint="verify with a debug probe: --method pyocd",
        )
    data = uf2_file.pack(order.image.blocks, facts.family)
    words = ("copy", IMAGE, order.probe or facts.volume)
    return FlashPlan(
        "uf2", (ToolRun("program and start", words),), {IMAGE: data}, False
    )
