"""A board's facts about a tool choose the module that plans for it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ember.boards.flash_facts import Flasher
from ember.flash import dfu_util, gdb, jlink, openocd, pyocd, st_flash, uf2
from ember.flash.plans import FlashOrder, FlashPlan

# Each takes the facts of its own tool.
_PLANS: dict[str, Callable[[FlashOrder, Any], FlashPlan]] = {
    "pyocd": pyocd.plan,
    "openocd": openocd.plan,
    "jlink": jlink.plan,
    "st-flash": st_flash.plan,
    "dfu-util": dfu_util.plan,
    "uf2": uf2.plan,
    "gdb": gdb.plan,
}


def plan(order: FlashOrder, facts: Flasher) -> FlashPlan:
    """The files and command lines that flash `order.board` as `facts` say."""
    return _PLANS[facts.tool](order, facts)
