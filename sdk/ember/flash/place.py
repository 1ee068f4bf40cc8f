"""The probe of a labgrid place: OpenOCD runs on its exporter, by labgrid's driver.

labgrid copies the image there by ssh and chooses the probe by its USB path.
"""

from __future__ import annotations

import json
from pathlib import Path

from ember.boards.flash_facts import OpenOcd
from ember.errors import SdkError
from ember.flash import openocd
from ember.flash.plans import FlashOrder, FlashPlan, ToolRun

IMAGE = openocd.IMAGE
CONFIGURATION = "place.yaml"
_FILE = "{filename}"  # labgrid puts the image's path on the exporter there


def plan(order: FlashOrder, facts: OpenOcd, place: str) -> FlashPlan:
    """`labgrid-client bootstrap` with an environment made for the board."""
    configs, sources = _configurations(facts)
    before = [*openocd.PORTS, *sources, *facts.commands, "init", "reset halt"]
    commands = [_escaped(command) for command in (*before, *_identify(order))]
    commands += [openocd.write(facts, _FILE)] if order.program else []
    commands += [f"verify_image {_FILE}", "reset halt", "resume", "shutdown"]
    driver = {"config": configs, "load_commands": commands}
    target = {
        "resources": {"RemotePlace": {"name": place}},
        "drivers": {"OpenOCDDriver": driver},
    }
    # YAML reads JSON.
    text = json.dumps({"targets": {"main": target}}, indent=1)
    files = {IMAGE: order.image.hex(), CONFIGURATION: text.encode()}
    what = "program and verify" if order.program else "verify"
    words = ("labgrid-client", "-c", CONFIGURATION, "-p", place, "bootstrap", IMAGE)
    return FlashPlan("labgrid", (ToolRun(what, words),), files)


def configured(order: FlashOrder, configuration: Path, place: str) -> FlashPlan:
    """`labgrid-client bootstrap` with the driver that the user's own file names."""
    words = ("labgrid-client", "-c", str(configuration), "-p", place)
    step = ToolRun("program", (*words, "bootstrap", IMAGE))
    files = {IMAGE: order.image.hex()}
    return FlashPlan("labgrid", (step,), files, verifies=False)


def _configurations(facts: OpenOcd) -> tuple[list[str], list[str]]:
    """Files for labgrid to copy, and commands that read those of the exporter."""
    local = [name for name in facts.config if Path(name).is_file()]
    if local and (len(local) < len(facts.config) or facts.transport):
        raise SdkError(
            f"OpenOCD on the exporter has no {local[0]}",
            hint="name files of OpenOCD's own scripts, or only your own files",
        )
    if local:
        return [str(Path(name).resolve()) for name in local], []
    sources = [f"source [find {name}]" for name in facts.config]
    if facts.transport:
        sources.insert(1, f"transport select {facts.transport}")
    return [], sources


def _identify(order: FlashOrder) -> list[str]:
    chip = order.board.identity
    if chip is None:
        return []
    word = f"([read_memory {chip.at:#x} 32 1] & {chip.mask:#x})"
    return [f"if {{{word} != {chip.value:#x}}} {{error {{wrong chip}}}}"]


def _escaped(command: str) -> str:
    """As labgrid's driver takes it, which knows {filename}."""
    return command.replace("{", "{{").replace("}", "}}")
