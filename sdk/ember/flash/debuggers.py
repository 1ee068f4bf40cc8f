"""An order becomes the files and command lines of a debugger, a section a tool."""

from __future__ import annotations

import json
from pathlib import Path

from ember.boards.keys import Gdb, JLink, OpenOcd, PyOcd, StFlash
from ember.errors import SdkError, UsageError
from ember.flash import plans
from ember.flash.plans import FlashOrder, FlashPlan, Read, ToolRun

IMAGE = "firmware.hex"


# ---- pyOCD: over any CMSIS-DAP, ST-LINK or J-Link probe ------------------------------


def pyocd(order: FlashOrder, facts: PyOcd) -> FlashPlan:
    steps = []
    chip = plans.chip_read(order)
    if chip:
        steps.append(
            ToolRun("identify", _pyocd_saves(order, facts, chip), chip, chip=True)
        )
    if order.program:
        load = [*_pyocd_words(order, facts, "load"), "--erase", "sector", "--no-reset"]
        steps.append(ToolRun("program", (*load, IMAGE)))
    reads = plans.read_back(order)
    steps.append(ToolRun("read back", _pyocd_saves(order, facts, reads), reads))
    steps.append(ToolRun("start", tuple(_pyocd_words(order, facts, "reset"))))
    return FlashPlan("pyocd", tuple(steps), {IMAGE: order.image.hex()})


def _pyocd_words(order: FlashOrder, facts: PyOcd, verb: str) -> list[str]:
    words = ["pyocd", verb, "--no-wait", "--target", facts.target]
    words += ["--probe", order.probe] if order.probe else []
    words += ["--frequency", str(facts.frequency)] if facts.frequency else []
    # A locked chip is reported, never unlocked: that would erase all of it.
    words += ["-O", "auto_unlock=false"]
    words += ["--script", facts.script] if facts.script else []
    for name, value in facts.options.items():
        words += ["-O", f"{name}={value}"]
    return [*words, *order.extra]


def _pyocd_saves(
    order: FlashOrder, facts: PyOcd, reads: tuple[plans.Read, ...]
) -> tuple[str, ...]:
    words = [*_pyocd_words(order, facts, "commander"), "-c", "halt"]
    for read in reads:
        file, address, size = read.command
        words += ["-c", f"savemem {address} {size} {file}"]
    return tuple(words)


# ---- OpenOCD: over the probes that its configuration names ---------------------------


_OPENOCD_PORTS = ("gdb_port disabled", "tcl_port disabled", "telnet_port disabled")


def openocd(order: FlashOrder, facts: OpenOcd) -> FlashPlan:
    chip, reads = plans.chip_read(order), plans.read_back(order)
    steps = []
    if chip:
        words = _openocd_words(order, facts, _openocd_dumps(chip))
        steps.append(ToolRun("identify", words, chip, chip=True))
    load = _openocd_write(facts, IMAGE)
    commands = [*([load] if order.program else []), *_openocd_dumps(reads)]
    words = _openocd_words(order, facts, commands)
    steps.append(ToolRun(plans.verb(order), words, reads))
    # `reset run` would let the CPU go on for a moment before it is reset.
    steps.append(ToolRun("start", _openocd_words(order, facts, ["resume"])))
    return FlashPlan("openocd", tuple(steps), {IMAGE: order.image.hex()})


def _openocd_write(facts: OpenOcd, image: str) -> str:
    """The command that writes the file `image`."""
    command = {"program": "flash write_image erase", "image": "load_image"}
    return f"{command[facts.load]} {image}"


def _openocd_dumps(reads: tuple[plans.Read, ...]) -> list[str]:
    return [f"dump_image {' '.join(read.command)}" for read in reads]


def _openocd_words(
    order: FlashOrder, facts: OpenOcd, commands: list[str]
) -> tuple[str, ...]:
    words = ["openocd", "-f", facts.config[0]]
    words += ["-c", f"transport select {facts.transport}"] if facts.transport else []
    for name in facts.config[1:]:
        words += ["-f", name]
    first = [facts.serial.format(probe=order.probe)] if order.probe else []
    before = [*_OPENOCD_PORTS, *first, *facts.commands, "init", "reset halt"]
    for command in [*before, *commands, "shutdown"]:
        words += ["-c", command]
    return (*words, *order.extra)


# ---- OpenOCD on the exporter of a labgrid place, by labgrid's driver -----------------


_PLACE_FILE = "place.yaml"
_EXPORTED = "{filename}"  # labgrid puts the image's path on the exporter there


def at_place(order: FlashOrder, facts: OpenOcd, place: str) -> FlashPlan:
    """`labgrid-client bootstrap` with an environment made for the board."""
    configs, sources = _exporter_configuration(facts)
    before = [*_OPENOCD_PORTS, *sources, *facts.commands, "init", "reset halt"]
    commands = [
        _labgrid_escaped(command) for command in (*before, *_openocd_identify(order))
    ]
    commands += [_openocd_write(facts, _EXPORTED)] if order.program else []
    commands += [f"verify_image {_EXPORTED}", "reset halt", "resume", "shutdown"]
    driver = {"config": configs, "load_commands": commands}
    target = {
        "resources": {"RemotePlace": {"name": place}},
        "drivers": {"OpenOCDDriver": driver},
    }
    # YAML reads JSON.
    text = json.dumps({"targets": {"main": target}}, indent=1)
    files = {IMAGE: order.image.hex(), _PLACE_FILE: text.encode()}
    what = "program and verify" if order.program else "verify"
    words = ("labgrid-client", "-c", _PLACE_FILE, "-p", place, "bootstrap", IMAGE)
    return FlashPlan("labgrid", (ToolRun(what, words),), files)


def at_place_as_configured(
    order: FlashOrder, configuration: Path, place: str
) -> FlashPlan:
    """`labgrid-client bootstrap` with the driver that the user's own file names."""
    words = ("labgrid-client", "-c", str(configuration), "-p", place)
    step = ToolRun("program", (*words, "bootstrap", IMAGE))
    files = {IMAGE: order.image.hex()}
    return FlashPlan("labgrid", (step,), files, verifies=False)


def _exporter_configuration(facts: OpenOcd) -> tuple[list[str], list[str]]:
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


def _openocd_identify(order: FlashOrder) -> list[str]:
    chip = order.board.identity
    if chip is None:
        return []
    word = f"([read_memory {chip.at:#x} 32 1] & {chip.mask:#x})"
    return [f"if {{{word} != {chip.value:#x}}} {{error {{wrong chip}}}}"]


def _labgrid_escaped(command: str) -> str:
    """A command in which labgrid's driver replaces only {filename}."""
    return command.replace("{", "{{").replace("}", "}}")


# ---- J-Link: scripts for SEGGER's Commander ------------------------------------------


def jlink(order: FlashOrder, facts: JLink) -> FlashPlan:
    chip, reads = plans.chip_read(order), plans.read_back(order)
    files = {IMAGE: order.image.hex()}
    steps = []
    if chip:
        files["chip.jlink"] = _jlink_script(_jlink_saves(chip))
        words = _jlink_words(order, facts, "chip.jlink")
        steps.append(ToolRun("identify", words, chip, chip=True))
    load = [f"loadfile {IMAGE}"] if order.program else []
    files["flash.jlink"] = _jlink_script(["r", "h", *load, *_jlink_saves(reads)])
    words = _jlink_words(order, facts, "flash.jlink")
    steps.append(ToolRun(plans.verb(order), words, reads))
    files["start.jlink"] = _jlink_script(["r", "g"])
    steps.append(ToolRun("start", _jlink_words(order, facts, "start.jlink")))
    return FlashPlan("jlink", tuple(steps), files)


def _jlink_saves(reads: tuple[Read, ...]) -> list[str]:
    return [
        f"savebin {read.file} {read.address:#010x} {len(read.data):#x}"
        for read in reads
    ]


def _jlink_script(lines: list[str]) -> bytes:
    return "\n".join([*lines, "qc", ""]).encode()


def _jlink_words(order: FlashOrder, facts: JLink, script: str) -> tuple[str, ...]:
    words = ["JLinkExe", "-NoGui", "1", "-ExitOnError", "1", "-AutoConnect", "1"]
    words += ["-Device", facts.device, "-If", facts.interface.upper()]
    words += ["-Speed", str(facts.speed)]
    words += ["-SelectEmuBySN", order.probe] if order.probe else []
    return (*words, *order.extra, "-CommandFile", script)


# ---- st-flash: STM32 through an ST-LINK ----------------------------------------------


def st_flash(order: FlashOrder, facts: StFlash) -> FlashPlan:
    steps = []
    for chip in plans.chip_read(order):
        words = (*_st_flash_words(order, facts), "read", *chip.command)
        steps.append(ToolRun("identify", words, (chip,), chip=True))
    files = {}
    for index, block in enumerate(order.image.blocks if order.program else ()):
        name = f"block{index}.bin"
        files[name] = block.data
        words = (
            *_st_flash_words(order, facts),
            "write",
            name,
            f"{block.address:#010x}",
        )
        steps.append(ToolRun("program", words))
    for read in plans.read_back(order):
        words = (*_st_flash_words(order, facts), "read", *read.command)
        steps.append(ToolRun("read back", words, (read,)))
    steps.append(ToolRun("start", (*_st_flash_words(order, facts), "reset")))
    return FlashPlan("st-flash", tuple(steps), files)


def _st_flash_words(order: FlashOrder, facts: StFlash) -> list[str]:
    words = ["st-flash"]
    words += ["--serial", order.probe] if order.probe else []
    words += ["--connect-under-reset"] if facts.connect_under_reset else []
    return [*words, *order.extra]


# ---- gdb: through the server of a probe or an emulator -------------------------------


def gdb(order: FlashOrder, facts: Gdb) -> FlashPlan:
    remote = order.probe or facts.remote
    if remote is None:
        raise UsageError(
            "gdb needs the address of a server", hint="give --probe HOST:PORT"
        )
    reads = plans.read_back(order)
    load = ["load"] if order.program else []
    # Not every server can reset the CPU: load what a reset takes from the vectors.
    start = [
        f"set $sp = {{unsigned int}}{order.image.start:#x}",
        f"set $pc = {{unsigned int}}{order.image.start + 4:#x}",
    ]
    lines = [*_gdb_identify(order), *load, *_gdb_dumps(reads), *start]
    files = {IMAGE: order.image.hex(), "flash.gdb": _gdb_script(remote, lines)}
    words = ("gdb-multiarch", "-nx", "-batch", *order.extra, "-x", "flash.gdb")
    return FlashPlan(
        "gdb", (ToolRun(f"{plans.verb(order)}, start", words, reads),), files
    )


def _gdb_identify(order: FlashOrder) -> list[str]:
    """In the session that flashes, because the CPU runs when a session ends."""
    chip = order.board.identity
    if chip is None:
        return []
    word = f"({{unsigned int}}{chip.at:#x} & {chip.mask:#x})"
    return [f"if {word} != {chip.value:#x}", "echo wrong chip\\n", "quit 3", "end"]


def _gdb_dumps(reads: tuple[Read, ...]) -> list[str]:
    return [
        f"dump binary memory {read.file} {read.address:#x}"
        f" {read.address + len(read.data):#x}"
        for read in reads
    ]


def _gdb_script(remote: str, lines: list[str]) -> bytes:
    before = ["set confirm off", "set architecture arm", "set tcp connect-timeout 3"]
    before += [f"file {IMAGE}", f"target remote {remote}"]
    return "\n".join([*before, *lines, "detach", ""]).encode()
