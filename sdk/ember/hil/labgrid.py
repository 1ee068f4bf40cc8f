"""`labgrid-client` says who has a place of a lab and what is in it: a `LabPlace`.

labgrid documents its command for this, not the Python modules behind it. They may be in
another environment: they bring their own pyserial.
"""

from __future__ import annotations

import ast
import getpass
import os
import re
import shutil
import socket
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ember.errors import SdkError

LIMIT_S = 30.0  # of one call; the coordinator is asked, and answers at once
_PROGRAM = "labgrid-client"
_USUAL_ADDRESS = "127.0.0.1:20408"
_CONFIGURATION = ("LG_ENV", "LG_STATE", "STATE", "LG_INITIAL_STATE")
_RESOURCE = re.compile(
    r"^(?:Acquired|Matching) resource '(?P<name>.*)' \((?P<path>.*)\):\n"
    r"(?P<facts>(?:  .*\n?)+)",
    re.MULTILINE,
)
_TAKEN = r"already acquired|not idle|not reserved for"  # labgrid 26, 25, both
_ORPHAN = re.compile(r"^Orphaned resource '.*' \((.*)\)$", re.MULTILINE)


class PlaceTakenError(SdkError):
    """Somebody else has the place."""


@dataclass(frozen=True)
class LabResource:
    """What an exporter offers at a place: a serial port, a power switch, a probe."""

    name: str
    kind: str  # labgrid's class, such as NetworkSerialPort
    exporter: str
    is_available: bool
    params: Mapping[str, Any]


@dataclass(frozen=True)
class LabPlace:
    """A place as the coordinator knows it now."""

    name: str
    aliases: tuple[str, ...]
    tags: Mapping[str, str]
    holder: str | None  # host/user
    resources: tuple[LabResource, ...]
    lost: tuple[str, ...]  # exporters that went away while it was acquired

    def of_kind(self, kind: str) -> tuple[LabResource, ...]:
        return tuple(item for item in self.resources if item.kind == kind)


def myself() -> str:
    """This user's name for the coordinator: host/user."""
    host = os.environ.get("LG_HOSTNAME") or socket.gethostname()
    return f"{host}/{os.environ.get('LG_USERNAME') or getpass.getuser()}"


def program() -> str:
    """The path of the command. Raises SdkError with what installs it."""
    beside = shutil.which(_PROGRAM, path=str(Path(sys.executable).parent))
    path = beside or shutil.which(_PROGRAM)
    if path is None:
        raise SdkError(
            f"{_PROGRAM} is not installed: it reaches the boards of a lab",
            hint="pip install 'ember[labgrid]'; or pipx install labgrid",
        )
    return path


def environment(*, with_configuration: bool = False) -> dict[str, str]:
    """Environment variables for the command, without those of a configuration: with the
    file of LG_ENV it would acquire every place in it; only drivers (power, flashing)
    need it."""
    kept = dict(os.environ)
    if not with_configuration:
        for name in _CONFIGURATION:
            kept.pop(name, None)
    return kept


def look_up(name: str) -> LabPlace:
    """The place with a name, an alias or the +TOKEN of a reservation. Raises SdkError
    if there is no such place or no coordinator."""
    shown = shown_place(call(name, "show"))
    # labgrid takes a part of a name, too: board-1 would be board-10.
    if name.startswith("+") or name == shown.name:
        return shown
    if any(name == alias.split(":")[-1] for alias in shown.aliases):
        return shown
    raise _unknown(name, f"did you mean {shown.name}?")


def call(
    place: str,
    *words: str,
    limit_s: float = LIMIT_S,
    configuration: Path | None = None,
    with_configuration: bool = False,
) -> str:
    """What `labgrid-client -p PLACE WORDS` prints. Raises SdkError if it fails."""
    line = [program(), *(("-c", str(configuration)) if configuration else ())]
    try:
        done = subprocess.run(
            [*line, "-p", place, *words],
            check=False,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            timeout=limit_s,
            env=environment(with_configuration=with_configuration),
        )
    except OSError as error:
        raise SdkError(f"cannot start {line[0]}: {error.strerror}") from error
    except subprocess.TimeoutExpired:
        raise SdkError(
            f"`{_PROGRAM} {words[0]}` for place {place} was not done after"
            f" {limit_s:g} s",
            hint=f"check the coordinator at {_address()} and the exporter",
        ) from None
    if done.returncode != 0:
        raise explain(place, words, done.stderr + done.stdout)
    return done.stdout


def explain(place: str, words: Sequence[str], said: str) -> SdkError:
    """The error for a command that failed, from what it printed."""
    if "connect to coordinator" in said or "coordinator is unavailable" in said:
        return SdkError(
            f"no labgrid coordinator answers at {_address()}",
            hint="start it (labgrid-coordinator), or set LG_COORDINATOR=HOST:PORT",
        )
    if words[0] == "acquire" and re.search(_TAKEN, said):
        return PlaceTakenError(f"place {place} is taken{_by(said)}")
    missing = re.search(r"Match (\S+) has no matching remote resource", said)
    if missing:
        return SdkError(
            f"place {place}: no exporter offers {missing[1]}",
            hint="start labgrid-exporter on the host of the board, or check the name:"
            f" {_PROGRAM} -p {place} show",
        )
    if "matches nothing" in said or "does not exist" in said:
        return _unknown(place, f"see `{_PROGRAM} places`")
    lost = re.search(r"exporter (\S+) disconnected", said)
    if lost:
        return exporter_lost(place, [lost[1]])
    lines = [line for line in said.splitlines() if line.strip()]
    last = lines[-1].strip() if lines else "it says nothing"
    last = re.sub(r"^(labgrid-client: |Server error: )?(Error: )?", "", last)
    return SdkError(
        f"place {place}: `{_PROGRAM} {words[0]}` failed: {last.rstrip('.')}"
    )


def exporter_lost(place: str, exporters: Sequence[str]) -> SdkError:
    names = ", ".join(dict.fromkeys(exporters))
    return SdkError(
        f"place {place}: exporter {names} went away",
        hint="check the host of the board: its network, its power, labgrid-exporter",
    )


def shown_place(text: str) -> LabPlace:
    """What `labgrid-client show` prints becomes a place."""
    first = re.match(r"Place '(.*)':", text)
    if first is None:
        raise SdkError(f"`{_PROGRAM} show` printed no place: {text[:80]!r}")
    holder = _field(text, "acquired")
    tags = (tag.partition("=") for tag in _field(text, "tags").split(", ") if tag)
    aliases = _field(text, "aliases")
    return LabPlace(
        name=first[1],
        aliases=tuple(aliases.split(", ")) if aliases else (),
        tags={key: value for key, _, value in tags},
        holder=None if holder in ("", "None") else holder,
        resources=tuple(map(_resource, _RESOURCE.finditer(text))),
        lost=tuple(path.split("/")[0] for path in _ORPHAN.findall(text)),
    )


# What literal_eval() raises, also of text that is nested too deeply, and what is there.
_UNREADABLE = (
    *(ValueError, SyntaxError, KeyError, TypeError),
    *(MemoryError, RecursionError),
)


def _field(text: str, name: str) -> str:
    match = re.search(rf"^  {name}: (.*)$", text, re.MULTILINE)
    return match[1] if match else ""


def _resource(match: re.Match[str]) -> LabResource:
    try:
        facts = ast.literal_eval(match["facts"].strip())
        return LabResource(
            name=match["name"],
            kind=facts["cls"],
            exporter=match["path"].split("/")[0],
            is_available=bool(facts["avail"]),
            params=dict(facts["params"]),
        )
    except _UNREADABLE as error:
        raise SdkError(
            f"`{_PROGRAM} show` printed resource '{match['name']}' in an unknown form",
            hint="ember knows labgrid 25 and 26: pip install 'ember[labgrid]'",
        ) from error


def _by(said: str) -> str:
    if "You have already" in said:
        return f" by yourself ({myself()})"
    if "not reserved for" in said:
        return " by a reservation"
    by = re.search(r"acquired by (place '\S+'|[^\s/]+/[^\s)]+?)[.)]*(\s|$)", said)
    if by and by[1] == myself():
        return f" by yourself ({by[1]})"
    return f" by {by[1]}" if by else ""


def _unknown(name: str, hint: str) -> SdkError:
    return SdkError(f"the lab has no place '{name}'", hint=hint)


def _address() -> str:
    return os.environ.get("LG_COORDINATOR", _USUAL_ADDRESS)
