"""What a flash tool prints when it fails becomes one sentence and its remedy."""

from __future__ import annotations

import re

from ember.errors import SdkError
from ember.flash.plans import Step

_NO_PROBE = (
    "no debug probe is connected",
    "connect the board; `ember probes` lists what this computer sees",
)
_TWO_PROBES = (
    "several probes are connected",
    "choose one with --probe: `ember probes` lists them",
)
_GONE = (
    "the probe was lost in the middle; the flash may hold a part of the firmware",
    "connect it again and repeat",
)
_LOCKED = (
    "the chip is locked against debuggers",
    "unlocking erases it: `pyocd erase --mass --target TARGET`, or the vendor's tool",
)
_WRONG_CHIP = (
    "wrong chip: the probe does not find what the board's file says",
    "check --board, and which board the probe is connected to",
)
_NO_TARGET = (
    "the probe does not reach the chip",
    "check power and the debug cable; hold reset while starting",
)
_UNKNOWN_TARGET = (
    "this pyOCD does not know the board's target",
    "fetch its CMSIS-Pack: `pyocd pack install TARGET`, or give a file with"
    " --tool-arg --pack --tool-arg FILE.pack",
)
_NO_SERVER = (
    "nobody answers at the address of the gdb server",
    "start it, or give another address: --probe HOST:PORT",
)
_ALGORITHM = (
    "the flash could not be erased or programmed",
    "is it write-protected? power the board off and on and repeat",
)

# The first that matches says it; specific ones first.
_SAYINGS: tuple[tuple[str, tuple[str, str]], ...] = (
    (r"APPROTECT|access port .*(locked|disabled)|is (read-)?(locked|secured)"
     r"|RDP level [12]|[Dd]evice (is )?(locked|secured)|read.?protect"
     r"|SECURED|Is the device locked|Unable to unlock", _LOCKED),
    (r"[Tt]arget type .* not recognized|unknown target type", _UNKNOWN_TARGET),
    (r"[Mm]ore than one (DFU|ST-?LINK)|multiple (probes|devices)", _TWO_PROBES),
    (r"No available debug probes|No connected debug probes|[Nn]o probe"
     r"|unable to (find|open) (a matching |CMSIS-DAP |ft)|open failed"
     r"|No (DFU|ST-?LINK)|Couldn't find any ST-?Link|No J-Link|Connecting to J-Link.*FAILED"
     r"|remote_bitbang.*connect|[Ff]ailed to connect: Connection refused"
     r"|Failed to connect to \S+ port|ConnectionRefused|\[Errno 111\]"
     r"|no device found|Cannot open DFU", _NO_PROBE),
    (r"ProbeDisconnected|[Pp]robe.*disconnected|Connection reset|BrokenPipe"
     r"|Remote connection closed|Remote communication error|Broken pipe"
     r"|remote_bitbang.*(lost|failed)|LIBUSB_ERROR_(NO_DEVICE|IO|PIPE)"
     r"|unexpected end of|JSONDecodeError|Expecting value", _GONE),
    (r"could not connect: Connection (refused|timed out)|Connection refused", _NO_SERVER),
    (r"UNEXPECTED|expected \d+ of \d+: 0x|[Ww]rong (chip|device|core)"
     r"|unknown chip|[Cc]ould not find (core|device)", _WRONG_CHIP),
    (r"[Ff]lash (erase|program|init|uninit)\w*.* (failure|failed|timed out)"
     r"|failed (erasing|writing)|error writing|[Ee]rror .*erasing", _ALGORITHM),
    (r"No ACK|[Nn]o valid target|Memory transfer fault|Transfer fault|all zeroes|all ones"
     r"|Cannot connect to target|Examination failed|init mode failed", _NO_TARGET),
)  # fmt: skip
_FAILED = {
    "gdb": r"^(.*: )?(Error|Cannot|Load failed|Remote|No symbol|warning: Error).*|"
    r"could not connect",
    "pyocd": r"(?m)^\d+ [EC] |^Error:|^\d+ ERROR",
}


def failed(tool: str, output: str) -> bool:
    """Whether a tool that ended well says that it did not do it."""
    pattern = _FAILED.get(tool)
    return pattern is not None and bool(re.search(pattern, output, re.MULTILINE))


def explain(tool: str, step: Step, output: str, code: int) -> SdkError:
    """What failed, as an error for the user."""
    for pattern, (what, hint) in _SAYINGS:
        if re.search(pattern, output):
            return SdkError(f"{tool}, {step.what}: {what}", hint=hint)
    last = next((line for line in reversed(output.splitlines()) if line.strip()), "")
    said = f": {last.strip()[:200]}" if last else ", without a word"
    return SdkError(f"{tool}, {step.what}: it ended with code {code}{said}")
