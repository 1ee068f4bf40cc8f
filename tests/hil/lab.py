"""A lab of labgrid on this computer: coordinator, exporters, places, as processes."""

import contextlib
import os
import re
import subprocess
import time

import yaml

PACKAGES = ("labgrid==26.0.1", "pytest==8.4.2")
START_S = 60


class Lab:
    """A coordinator at 127.0.0.1, and what belongs to it."""

    def __init__(self, folder, programs):
        self.folder = folder
        self.programs = programs  # folder of labgrid's
        self.exporters = {}
        folder.mkdir(parents=True, exist_ok=True)
        self.log = folder / "coordinator.txt"
        self.coordinator = self._start(
            self.log, "labgrid-coordinator", "-l", "127.0.0.1:0"
        )
        port = self._wait(self.log, r"listening on 127\.0\.0\.1:(\d+)")[1]
        self.address = f"127.0.0.1:{port}"

    def export(self, name, resources):
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

    def place(self, name, exporter, **tags):
        self.client("create", name_of=name)
        self.client("add-match", f"{exporter}/desk/*/*", name_of=name)
        if tags:
            words = [f"{key}={value}" for key, value in tags.items()]
            self.client("set-tags", *words, name_of=name)

    def client(self, *words, name_of, check=True, user=None):
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

    def environment(self, user=None):
        variables = {k: v for k, v in os.environ.items() if not k.startswith("LG_")}
        variables["LG_COORDINATOR"] = self.address
        variables["PATH"] = f"{self.programs}:{variables['PATH']}"
        return variables | ({"LG_USERNAME": user} if user else {})

    def holder(self, name):
        """Who has the place."""
        shown = self.client("show", name_of=name)
        holder = re.search(r"acquired: (.*)", shown)[1]
        return None if holder == "None" else holder

    def wait_for_holder(self, name, is_held, seconds=120):
        deadline = time.monotonic() + seconds
        while (self.holder(name) is not None) != is_held:
            assert time.monotonic() < deadline, f"{name}: {self.holder(name)}"
            time.sleep(0.3)

    def close(self):
        for process in (*self.exporters.values(), self.coordinator):
            stop(process)

    def _start(self, log, program, *words):
        with log.open("wb") as file:
            return subprocess.Popen(
                [self.programs / program, *map(str, words)],
                cwd=self.folder,
                stdin=subprocess.DEVNULL,
                stdout=file,
                stderr=file,
                env={**os.environ, "PYTHONUNBUFFERED": "1"},
            )

    def _wait(self, log, pattern):
        deadline = time.monotonic() + START_S
        while time.monotonic() < deadline:
            if match := re.search(pattern, log.read_text(errors="replace")):
                return match
            time.sleep(0.1)
        raise AssertionError(log.read_text(errors="replace"))


def stop(process):
    process.terminate()
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(5)
    if process.poll() is None:
        process.kill()
        process.wait()


def serial_port(number, protocol="raw"):
    """A resource: a serial port that something else serves."""
    return {
        "cls": "NetworkSerialPort",
        "host": "127.0.0.1",
        "port": number,
        "speed": 115200,
        "protocol": protocol,
    }


def probe():
    """A resource: a debug probe on USB at 127.0.0.1."""
    usb = {"busnum": 1, "devnum": 2, "path": "1-1", "vendor_id": 1, "model_id": 2}
    return {"cls": "NetworkUSBDebugger", "host": "127.0.0.1", **usb}


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


def stand_in_for_ssh(folder):
    """A folder with an `ssh` that runs commands here."""
    folder.mkdir(exist_ok=True)
    script = folder / "ssh"
    script.write_text(SSH.format(folder=folder))
    script.chmod(0o755)
    return folder
