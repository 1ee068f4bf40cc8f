"""A lab of labgrid on the host: coordinator, exporters, places, as processes."""

from __future__ import annotations

import contextlib
import os
import re
import subprocess
import time
from collections.abc import Mapping
from pathlib import Path

import yaml

PACKAGES = ("labgrid==26.0.1", "pytest==8.4.2")
START_S = 60
Resource = Mapping[str, str | int]  # what an exporter's file says of it


class Lab:
    """A coordinator at 127.0.0.1, and what belongs to it."""

    def __init__(self, folder: Path, programs: Path) -> None:
        self.folder = folder
        self.programs = programs  # folder of labgrid's
        self.exporters: dict[str, subprocess.Popen[bytes]] = {}
        folder.mkdir(parents=True, exist_ok=True)
        self.log = folder / "coordinator.txt"
        self.coordinator = self._start(
            self.log, "labgrid-coordinator", "-l", "127.0.0.1:0"
        )
        port = self._wait(self.log, r"listening on 127\.0\.0\.1:(\d+)")[1]
        self.address = f"127.0.0.1:{port}"

    def export(self, name: str, resources: Mapping[str, Resource]) -> None:
        """An exporter of `resources`, a group `desk` of name: {cls: .., ..}."""
        config = self.folder / f"{name}.yaml"
        config.write_text(yaml.safe_dump({"desk": resources}))
        log = self.folder / f"{name}.txt"
        words = ["-c", self.address, "-n", name, "--hostname", "127.0.0.1", config]
        self.exporters[name] = self._start(log, "labgrid-exporter", *words)
        self._wait(log, "Exporter ready")
        for _ in range(100):  # until the coordinator has heard of all
            if self.client("resources", name_of=None).count(name) >= len(resources):
                return
            time.sleep(0.1)
        raise AssertionError(log.read_text())

    def place(self, name: str, exporter: str, **tags: str) -> None:
        self.client("create", name_of=name)
        self.client("add-match", f"{exporter}/desk/*/*", name_of=name)
        if tags:
            words = [f"{key}={value}" for key, value in tags.items()]
            self.client("set-tags", *words, name_of=name)

    def client(
        self,
        *words: str,
        name_of: str | None,
        check: bool = True,
        user: str | None = None,
    ) -> str:
        """What labgrid-client prints."""
        place = ["-p", name_of] if name_of else []
        done = subprocess.run(
            [self.programs / "labgrid-client", *place, *words],
            check=False,
            env=self.environment(user),
            capture_output=True,
            text=True,
            timeout=60,
        )
        assert done.returncode == 0 or not check, done.stderr
        return done.stdout

    def environment(self, user: str | None = None) -> dict[str, str]:
        variables = {k: v for k, v in os.environ.items() if not k.startswith("LG_")}
        variables["LG_COORDINATOR"] = self.address
        variables["PATH"] = f"{self.programs}:{variables['PATH']}"
        return variables | ({"LG_USERNAME": user} if user else {})

    def holder(self, name: str) -> str | None:
        """Who has the place."""
        shown = self.client("show", name_of=name)
        holder = re.search(r"acquired: (.*)", shown)
        assert holder is not None, shown
        return None if holder[1] == "None" else holder[1]

    def wait_for_holder(self, name: str, is_held: bool, seconds: float = 120) -> None:
        deadline = time.monotonic() + seconds
        while (self.holder(name) is not None) != is_held:
            assert time.monotonic() < deadline, f"{name}: {self.holder(name)}"
            time.sleep(0.3)

    def close(self) -> None:
        for process in (*self.exporters.values(), self.coordinator):
            stop(process)

    def _start(
        self, log: Path, program: str, *words: object
    ) -> subprocess.Popen[bytes]:
        with log.open("wb") as file:
            return subprocess.Popen(
                [self.programs / program, *map(str, words)],
                cwd=self.folder,
                stdin=subprocess.DEVNULL,
                stdout=file,
                stderr=file,
                env={**os.environ, "PYTHONUNBUFFERED": "1"},
            )

    def _wait(self, log: Path, pattern: str) -> re.Match[str]:
        deadline = time.monotonic() + START_S
        while time.monotonic() < deadline:
            if match := re.search(pattern, log.read_text(errors="replace")):
                return match
            time.sleep(0.1)
        raise AssertionError(log.read_text(errors="replace"))


def stop(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(5)
    if process.poll() is None:
        process.kill()
        process.wait()


def serial_port(number: int, protocol: str = "raw") -> Resource:
    """A resource: a serial port that something else serves."""
    return {
        "cls": "NetworkSerialPort",
        "host": "127.0.0.1",
        "port": number,
        "speed": 115200,
        "protocol": protocol,
    }


def probe() -> Resource:
    """A resource: a debug probe on USB at 127.0.0.1."""
    place: Resource = {"busnum": 1, "devnum": 2, "path": "1-1"}
    product: Resource = {"vendor_id": 1, "model_id": 2}
    return {"cls": "NetworkUSBDebugger", "host": "127.0.0.1", **place, **product}


# In place of ssh to the exporter: this host's shell, as labgrid calls it.
SSH = """\
#!/bin/sh
[ "$1" = -O ] && exit 0
while :; do
    case $1 in
        -x | -n | -tt) shift ;;
        -o) shift 2 ;;
        *) break ;;
    esac
done
shift
[ "$1" = -- ] && shift
echo "$*" >>{folder}/said-to-the-exporter
exec sh -c "$*"
"""


def stand_in_for_ssh(folder: Path) -> Path:
    """A folder with an `ssh` that runs commands here."""
    folder.mkdir(exist_ok=True)
    script = folder / "ssh"
    script.write_text(SSH.format(folder=folder))
    script.chmod(0o755)
    return folder
