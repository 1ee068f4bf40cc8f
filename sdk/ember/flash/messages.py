"""What a flash tool prints when it fails becomes one sentence and its remedy."""

from __future__ import annotations

import re

from ember.errors import SdkError
from ember.flash.plans import ToolRun

_NO_PROBE = (
    "no debug probe is connected",
    "connect the board; `ember probes` lists what is connected",
)
_NO_BOOT_LOADER = (
    "no matching boot loader is connected",
    "start it: set BOOT0 high, then reset; `ember probes` lists what is connected",
)
_NO_SUCH_ID = (
    "--probe matches no probe of this kind",
    "`ember probes` lists what is connected",
)
_TWO_PROBES = (
    "several probes are connected",
    "choose one with --probe; `ember probes` lists them",
)
_GONE = (
    "the connection to the probe or the chip was lost; the flash may be partly written",
    "reconnect it and retry",
)
_LOCKED = (
    "the chip is locked: debug access is disabled",
    "unlocking erases it: `pyocd erase --mass --target TARGET`, or the vendor's tool",
)
_WRONG_CHIP = (
    "wrong chip: the probe finds another than the board's file describes",
    "check --board and which board the probe is connected to",
)
_NO_TARGET = (
    "the probe cannot reach the chip",
    "check power and the debug cable, or retry while holding reset",
)
_UNKNOWN_TARGET = (
    "this pyOCD does not know the board's target",
    "install its CMSIS-Pack: `pyocd pack install TARGET`, or give a file with"
    " --tool-arg --pack --tool-arg FILE.pack",
)
_NO_CONFIGURATION = (
    "OpenOCD lacks a configuration file that the board names",
    "install a newer OpenOCD, or choose another tool: --method",
)
_NO_SERVER = (
    "nothing answers at the address of the gdb server",
    "start the server, or give its address: --probe HOST:PORT",
)
_DIFFERS = (
    "verify failed: the flash differs from the image",
    "flash again; if it still differs, the flash is worn or locked, or holds another"
    " firmware",
)
_NO_LOGIN = (
    "the exporter refuses the ssh login that labgrid copies the image by",
    "set up a key (ssh-copy-id HOST) and check that `ssh HOST true` works",
)
_ALGORITHM = (
    "the flash could not be erased or programmed",
    "check write protection; power-cycle the board and retry",
)

# Words of the tools. The first that matches says it; specific ones first.
_SAYINGS: tuple[tuple[tuple[str, ...], tuple[str, str]], ...] = (
    (
        (
            "APPROTECT enabled",
            "permanently locked",
            "in secured state",
            "secured MCU",
            "[Dd]evice (is )?(locked|secured|protected)",
            "(Flash|sector \\d+|pages) (is )?protected",
            "write protected",
            "[Rr]ead.?(out )?protect",
            "unlock flash",
            "errVENDOR",
        ),
        _LOCKED,
    ),
    (("Target type .* not recognized",), _UNKNOWN_TARGET),
    (("contents differ",), _DIFFERS),
    (("Permission denied \\(|Host key verification failed",), _NO_LOGIN),
    (("More than one DFU",), _TWO_PROBES),
    (("No DFU capable",), _NO_BOOT_LOADER),
    (("Invalid serial number",), _NO_SUCH_ID),
    (("Can't find \\S+\\.cfg",), _NO_CONFIGURATION),
    (
        (
            "No target device available",
            "No (available|connected) debug probe",
            "Error: open failed",
            "unable to find a matching CMSIS-DAP",
            "No J-Link device found",
            "Couldn't find any ST-Link",
            "Failed to connect",
            "Errno 111",
            "Cannot connect to (J-Link|the probe)",
        ),
        _NO_PROBE,
    ),
    (("Connection (timed out|refused)\\.",), _NO_SERVER),
    (
        (
            "[Pp]robe.*disconnected",
            "status code 2",
            "Connection reset",
            "Broken pipe",
            "Remote connection closed",
            "Remote communication error",
            "remote_bitbang.*(lost|failed|closed)",
            "socket closed",
            "LIBUSB_ERROR_(NO_DEVICE|IO|PIPE)",
            "Expecting value",
            "Lost device",
            "Error during (down|up)load|Error during special command",
            r"Programming\.\.\.[\s\S]*Memory transfer fault",
        ),
        _GONE,
    ),
    (
        ("UNEXPECTED", "wrong chip", "unknown chip id", "expected \\d+ of \\d+: 0x"),
        _WRONG_CHIP,
    ),
    (
        (
            "flash (erase|program|init|uninit)\\w*.* (failure|failed|timed out)",
            "failed erasing",
            "error writing to flash",
        ),
        _ALGORITHM,
    ),
    (
        (
            "Target not detected",
            "No ACK",
            "Memory transfer fault",
            "all (ones|zeroes)",
            "Examination failed",
            "init mode failed",
        ),
        _NO_TARGET,
    ),
)
# What reports a failure, for tools that exit with status 0 all the same.
_FAILED = {
    "gdb": "^(Error|Cannot|Load failed|Remote)|: Connection (timed out|refused)",
    "pyocd": r"^\d+ [EC] ",
}


def failed(tool: str, output: str) -> bool:
    """Whether the output of a tool that exited with status 0 reports a failure."""
    pattern = _FAILED.get(tool)
    return pattern is not None and re.search(pattern, output, re.M) is not None


def explain(tool: str, step: ToolRun, output: str, code: int) -> SdkError:
    """The error for the user: what failed, and the remedy."""
    for patterns, (what, hint) in _SAYINGS:
        if any(re.search(pattern, output) for pattern in patterns):
            return SdkError(f"{tool}, {step.what}: {what}", hint=_filled(hint, step))
    lines = re.split(r"[\r\n]", output)
    last = next((line for line in reversed(lines) if line.strip()), "")
    said = f": {last.strip()[:200]}" if last else ", without output"
    return SdkError(f"{tool}, {step.what}: exited with status {code}{said}")


def _filled(hint: str, step: ToolRun) -> str:
    """The hint with the target's own name in place of TARGET."""
    if "--target" not in step.argv:
        return hint
    return hint.replace("TARGET", step.argv[step.argv.index("--target") + 1])
