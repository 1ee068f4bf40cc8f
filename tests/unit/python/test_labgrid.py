"""Places of a lab: what labgrid-client prints, who holds a place, plans for probes."""

from __future__ import annotations

import io
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from ember import boards, cli
from ember.boards.keys import OpenOcd
from ember.errors import SdkError
from ember.flash import debuggers
from ember.flash.plans import FlashOrder, Image
from ember.hil import keeper, labgrid, places
from ember.hil.labgrid import LabPlace, LabResource, PlaceTakenError
from ember.hil.places import PlaceOrder
from ember.toolchain.image import ImageSegment

# What labgrid 26.0.1 prints.
SHOWN = """\
Place 'board-10':
  aliases: root:mine, ten
  tags: board=mps2-an386, probe=remote:lab:55
  matches:
    lab1/desk/*/*
  acquired: vm/root
  acquired resources:
    lab1/desk/NetworkSerialPort/uart
  created: 2026-11-23 18:35:24.065369
  changed: 2026-11-23 18:35:28.905642
Acquired resource 'probe' (lab1/desk/NetworkUSBDebugger/probe):
  {'acquired': 'board-10',
   'avail': True,
   'cls': 'NetworkUSBDebugger',
   'params': {'busnum': 1,
              'extra': {'proxy': 'localhost', 'proxy_required': False},
              'host': '127.0.0.1'}}
Acquired resource 'uart' (lab1/desk/NetworkSerialPort/uart):
  {'acquired': 'board-10',
   'avail': False,
   'cls': 'NetworkSerialPort',
   'params': {'extra': {'proxy': 'localhost', 'proxy_required': False},
              'host': '127.0.0.1',
              'port': None,
              'speed': 115200}}
"""
ORPHANED = """\
Place 'tty':
  matches:
    lab1/desk/*/*
  acquired: vm/root
  acquired resources:
Orphaned resource 'uart' (lab1/desk/NetworkSerialPort/uart)
"""
# A command that holds one place, `board`, for whom LG_USERNAME names.
CLIENT = """\
#!{python}
import os, sys, time
words = sys.argv[1:]
folder = {folder!r}
place, words = words[1], words[2:]
with open(folder + "/log", "a") as log:
    log.write(" ".join(words) + "\\n")
holder = folder + "/holder"
me = "desk/" + os.environ["LG_USERNAME"]
held = open(holder).read() if os.path.exists(holder) else ""
if words[0] == "acquire":
    if held:
        sys.exit(f"Error: Place {{place}} is already acquired by {{held}}. To work ..")
    time.sleep(float(os.environ.get("SLOW", 0)))
    open(holder, "w").write(me)
elif words[0] == "release-from":
    if held == words[1]:
        os.remove(holder)
elif words[0] == "show":
    print(f"Place {{place!r}}:\\n  acquired: {{held or None}}")
"""


# ---- what it prints ------------------------------------------------------------------


def test_a_place() -> None:
    place = labgrid.shown_place(SHOWN)
    assert place.name == "board-10"
    assert place.aliases == ("root:mine", "ten")
    assert place.tags == {"board": "mps2-an386", "probe": "remote:lab:55"}
    assert place.holder == "vm/root"
    assert place.lost == ()
    probe, uart = place.resources
    assert (probe.kind, probe.exporter, probe.is_available) == (
        *("NetworkUSBDebugger", "lab1"),
        True,
    )
    assert place.of_kind("NetworkSerialPort") == (uart,)
    assert not uart.is_available
    assert uart.params["port"] is None


def test_a_place_whose_exporter_went_away() -> None:
    place = labgrid.shown_place(ORPHANED)
    assert (place.lost, place.resources, place.tags) == (("lab1",), (), {})


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "printed no place"),
        (SHOWN.replace("'avail': True,", "'avail' True,"), "in an unknown form"),
        (SHOWN.replace("'cls'", "'class'"), "in an unknown form"),
        (SHOWN.replace("'cls'", f"{'-' * 5000}1: 0, 'cls'"), "in an unknown form"),
        (SHOWN.replace("'params': ", "'params': 5, '': "), "in an unknown form"),
    ],
)
def test_what_another_version_may_print(text: str, says: str) -> None:
    with pytest.raises(SdkError, match=says):
        labgrid.shown_place(text)


@pytest.mark.parametrize(
    ("said", "says"),
    [
        ("Server error: Error: Could not connect to coordinator", "no labgrid coordin"),
        ("Error: You have already acquired place b.\n", "b is taken by yourself"),
        (
            "Error: Place b is already acquired by vm/bob. To work simultaneously, ..",
            "place b is taken by vm/bob$",
        ),
        ("Server error: Error: Place b is already acquired", "place b is taken$"),
        ("error: place b is not idle (acquired by vm/bob). To ..", "taken by vm/bob$"),
        ("error: place b is not idle (acquired by desk/me).", "taken by yourself"),
        (
            "Matching resource 'u' (lab1/desk/X/u) already acquired by place 'other'\n"
            "Server error: Error: Failed to acquire resources for place b",
            "place b is taken by place 'other'$",
        ),
        ("Place b was not reserved for vm/root", "place b is taken by a reservation"),
        (
            "Error: Match lab1/desk/*/* has no matching remote resource",
            r"no exporter offers lab1/desk/\*/\*",
        ),
        ("Error: place pattern b matches nothing", "the lab has no place 'b'"),
        ("(exporter lab1 disconnected?)", "exporter lab1 went away"),
        ("labgrid-client: Error: it is broken.", "acquire` failed: it is broken$"),
        ("", "it says nothing"),
    ],
)
def test_why_it_failed(said: str, says: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LG_HOSTNAME", "desk")
    monkeypatch.setenv("LG_USERNAME", "me")
    error = labgrid.explain("b", ["acquire"], said)
    with pytest.raises(SdkError, match=says):
        raise error
    assert isinstance(error, PlaceTakenError) == ("taken" in says)


# ---- holding -------------------------------------------------------------------------


@pytest.fixture
def client(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of a labgrid-client that keeps one place."""
    script = tmp_path / "labgrid-client"
    script.write_text(CLIENT.format(python=sys.executable, folder=str(tmp_path)))
    script.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.setenv("PYTHONPATH", str(Path(cli.__file__).parents[2]))
    monkeypatch.setenv("LG_HOSTNAME", "desk")
    monkeypatch.setenv("LG_USERNAME", "me")
    monkeypatch.delenv("LG_ENV", raising=False)
    monkeypatch.setattr(labgrid, "program", lambda: str(script))
    return tmp_path


def holder(folder: Path) -> str | None:
    path = folder / "holder"
    return path.read_text() if path.exists() else None


def calls(folder: Path) -> list[str]:
    return (folder / "log").read_text().splitlines()


def test_a_place_is_held_while_the_block_lasts(client: Path) -> None:
    with places.held(PlaceOrder("board")) as line:
        assert holder(client) == "desk/me"
        assert line.options == "--place board"
    assert holder(client) is None
    assert calls(client) == ["show", "acquire", "release-from desk/me"]


def test_an_error_inside_releases(client: Path) -> None:
    with pytest.raises(KeyboardInterrupt), places.held(PlaceOrder("board")):
        raise KeyboardInterrupt
    assert holder(client) is None


def test_a_place_of_others_stays_theirs(client: Path) -> None:
    (client / "holder").write_text("vm/bob")
    with (
        pytest.raises(PlaceTakenError, match=r"taken by vm/bob$"),
        places.held(PlaceOrder("board")),
    ):
        pass
    assert holder(client) == "vm/bob"


def test_waiting_ends(client: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(places, "_TURN_S", 0.1)
    (client / "holder").write_text("vm/bob")
    with (
        pytest.raises(PlaceTakenError, match=r"taken by vm/bob \(waited 0.5 s\)"),
        places.held(PlaceOrder("board", 0.5)),
    ):
        pass
    assert calls(client).count("acquire") > 1


def test_what_is_acquired_by_hand_is_left_alone(client: Path) -> None:
    (client / "holder").write_text("desk/me")
    with places.held(PlaceOrder("board", is_acquired=True)) as line:
        assert line.options == "--place board --acquired"
    assert holder(client) == "desk/me"
    assert calls(client) == ["show"]


def test_a_parent_that_ends_while_it_is_acquired(
    client: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody is there to hear of it, and the place is released all the same."""
    monkeypatch.setenv("SLOW", "0.5")
    words = [sys.executable, "-m", "ember.hil.keeper", str(client / "labgrid-client")]
    process = subprocess.Popen(
        [*words, "board", "desk/me"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.close()
    process.stdout.close()
    deadline = time.monotonic() + 30
    while "release-from desk/me" not in calls_or_none(client):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    process.wait(30)
    assert holder(client) is None


def calls_or_none(folder: Path) -> list[str]:
    return calls(folder) if (folder / "log").exists() else []


def test_the_keeper_tries_again(monkeypatch: pytest.MonkeyPatch) -> None:
    answers = [(0, ""), (1, "coordinator is unavailable"), (0, "")]
    asked = []

    def ask(client: str, place: str, *words: str) -> tuple[int, str]:
        asked.append(words)
        return answers[len(asked) - 1]

    monkeypatch.setattr(keeper, "_ask", ask)
    monkeypatch.setattr(signal, "signal", lambda *_: None)
    monkeypatch.setattr(time, "sleep", lambda _: None)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO()))
    assert keeper.main("client", "board", "desk/me") == 0
    assert asked == [("acquire",), *[("release-from", "desk/me")] * 2]


# ---- the serial port -----------------------------------------------------------------


def port(name: str = "uart", **params: object) -> LabResource:
    facts = {"host": "lab1", "port": 4001} | params
    return LabResource(name, "NetworkSerialPort", "lab1", True, facts)


def place_of(*resources: LabResource) -> LabPlace:
    return LabPlace("board", (), {}, "desk/me", resources, ())


def test_addresses() -> None:
    assert places._url(port(protocol="raw")) == "socket://lab1:4001"
    assert places._url(port(host="::1", protocol="raw")) == "socket://[::1]:4001"
    rfc2217 = "rfc2217://lab1:4001?ign_set_control&timeout=3"
    assert places._url(port()) == rfc2217


def test_an_isolated_exporter_is_refused() -> None:
    extra = {"proxy": "gate", "proxy_required": True}
    with pytest.raises(SdkError, match="exporter lab1 is isolated"):
        places._url(port(extra=extra))


def test_the_port_of_several() -> None:
    ports = [port("a"), port("console")]
    assert places._chosen(place_of(*ports), ports) == ports[1]
    with pytest.raises(SdkError, match="has 2 serial ports: a, b"):
        places._chosen(place_of(), [port("a"), port("b")])
    probe = LabResource("p", "NetworkUSBDebugger", "lab1", True, {})
    with pytest.raises(SdkError, match="no serial port: it has NetworkUSBDebugger"):
        places._chosen(place_of(probe), [])


# ---- flashing ------------------------------------------------------------------------


def order(program: bool = True) -> FlashOrder:
    board = boards.load("nucleo-f446re")
    image = Image((ImageSegment(0x0800_0000, b"1234"),), 0x0800_0000)
    return FlashOrder(board, image, program=program)


def commands(program: bool = True) -> list[str]:
    facts = order().board.flasher("openocd")
    assert isinstance(facts, OpenOcd)
    plan = debuggers.at_place(order(program), facts, "board-7")
    assert plan.steps[0].argv[-2:] == ("bootstrap", "firmware.hex")
    target = json.loads(plan.files["place.yaml"])["targets"]["main"]
    assert target["resources"] == {"RemotePlace": {"name": "board-7"}}
    return [
        command.format(filename="/there/firmware.hex")  # as labgrid does it
        for command in target["drivers"]["OpenOCDDriver"]["load_commands"]
    ]


def test_commands_for_the_exporter() -> None:
    said = commands()
    assert said[3:5] == [
        "source [find interface/stlink.cfg]",
        "source [find target/stm32f4x.cfg]",
    ]
    assert said[-5:] == [
        "flash write_image erase /there/firmware.hex",
        "verify_image /there/firmware.hex",
        *("reset halt", "resume", "shutdown"),
    ]
    check = next(line for line in said if line.startswith("if "))
    assert check.endswith("{error {wrong chip}}")
    assert said.index(check) < said.index("flash write_image erase /there/firmware.hex")
    only = commands(program=False)
    assert not [line for line in only if "write" in line]
    assert "verify_image /there/firmware.hex" in only


def test_files_that_the_exporter_does_not_have(tmp_path: Path) -> None:
    mine = tmp_path / "mine.cfg"
    mine.touch()
    facts = OpenOcd(tool="openocd", config=("interface/stlink.cfg", str(mine)))
    with pytest.raises(SdkError, match="OpenOCD on the exporter has no"):
        debuggers.at_place(order(), facts, "b")


# ---- mistakes ------------------------------------------------------------------------

TEST = ["test", "CASE", "--board", "mps2-an386"]
FLASH = ["flash", "FILE", "--board", "nucleo-f446re"]


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ([*TEST, "--wait", "3"], "--wait needs --place"),
        ([*TEST, "--acquired"], "--acquired needs --place"),
        ([*TEST, "--flash"], "--flash needs --place"),
        ([*TEST, "--place", "b", "--acquired", "--wait", "3"], "not both"),
        ([*TEST, "--place", "-p"], "is not the name of a place"),
        ([*TEST, "--place", "b", "--port", "/dev/x"], "not both"),
        ([*TEST, "--place", "b", "--transport", "uart"], "not both"),
        ([*TEST, "--place", "b", "--board", "host"], "exactly one --board"),
        ([*FLASH, "--place", "b", "--probe", "1"], "are not for --place"),
        ([*FLASH, "--place", "b", "--method", "pyocd"], "by OpenOCD, not by pyocd"),
        (["flash", "F", "--board", "nrf54l15-dk", "--place", "b"], "openocd"),
    ],
)
def test_options_that_make_no_sense(
    words: list[str], says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(words) in (1, 2)
    assert says in " ".join(capsys.readouterr().err.split())


def test_another_board_than_the_tag_says() -> None:
    line = places.PlaceLine("b", "nucleo-f446re")
    line.check_board("nucleo-f446re")
    places.PlaceLine("b", None).check_board("host")
    with pytest.raises(SdkError, match="place b has a nucleo-f446re, not a host"):
        line.check_board("host")


def test_labgrid_is_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda *_, **__: None)
    with pytest.raises(SdkError, match="labgrid-client is not installed"):
        labgrid.program()
