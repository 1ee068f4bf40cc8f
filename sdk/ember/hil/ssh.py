"""A stream of cases becomes results, on a computer that is reached by ssh.

The computer needs Linux, a POSIX shell and the board's kind of core. The runner and the
cases go to a new folder in its $TMPDIR, which is removed afterwards; results come back
as they are written. The system's ssh resolves host, port, user and keys from the name.
"""

from __future__ import annotations

import secrets
import shutil
import subprocess
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from ember.boards import Board
from ember.errors import SdkError
from ember.progress import doing
from ember.toolchain import emulator
from ember.toolchain.emulator import RunResult

_CONNECT_S = 10
_COPY_S = 120  # without a byte that moves
_OPTIONS = ("-T", "-o", "BatchMode=yes", "-o", f"ConnectTimeout={_CONNECT_S}")
_SSH_FAILED = 255
_NOT_ALLOWED, _NOT_STARTED = 126, 127  # a shell's exit status
_MACHINES = ("aarch64", "arm64")
_BLOCK = 1 << 16
_LOOK_S = 0.1

# What ssh says, what that means, and the remedy.
_REASONS = (
    ("Could not resolve hostname", "unknown host", "check its name"),
    (
        "Permission denied",
        "it refuses the login",
        "ember asks for no password: set up a key (ssh-copy-id {host}) and check that"
        " `ssh {host} true` works",
    ),
    (
        "Host key verification failed",
        "its key is not the known one",
        "connect once by hand, `ssh {host}`, and compare the fingerprint",
    ),
    ("Connection refused", "no ssh server listens there", "start sshd on it"),
    ("timed out", "it does not answer", "check that it is switched on and connected"),
    ("No route to host", "it cannot be reached", "check the network"),
)


@dataclass(frozen=True)
class Ssh:
    """A computer with Linux, as ssh calls it: user@host, a Host of ssh's configuration,
    or ssh://user@host:port."""

    host: str
    needs_firmware: bool = True
    takes_files: bool = True
    is_flashed: bool = False

    @property
    def options(self) -> str:
        return f"--ssh {self.host}"

    def run(
        self, board: Board, firmware: Path | None, stream: bytes, limit_s: float
    ) -> tuple[RunResult, bytes]:
        assert firmware is not None
        folder = f"${{TMPDIR:-/tmp}}/ember-{secrets.token_hex(8)}"
        with doing(f"copying the test runner to {self.host}"):
            self._copy(board, firmware, folder)
        started = time.monotonic()
        with doing(f"running on {self.host}"):
            done = self._ask(_running(folder), stream, limit_s)
        if done.timed_out:
            self._ask(_ending(folder), b"", _CONNECT_S)
        elif done.code == _SSH_FAILED and b"EMBER" not in done.said:
            raise self._refusal(done)
        text = done.said.decode("utf-8", "replace")
        if done.code in (_NOT_ALLOWED, _NOT_STARTED):
            raise SdkError(
                f"{self.host} does not run the test runner: {_last(text)}",
                hint="set TMPDIR there to a folder in which programs may be run",
            )
        timed_out = done.timed_out
        fault = emulator.fault(board, firmware, text, done.code)
        return RunResult(
            exit_code=None if timed_out else done.code,
            text=text,
            fault=None if timed_out else fault,
            marks=(),
            total=None,
            timed_out=timed_out,
            seconds=time.monotonic() - started,
        ), done.output

    def _copy(self, board: Board, firmware: Path, folder: str) -> None:
        done = self._ask(_copying(folder), firmware.read_bytes(), _COPY_S)
        if done.timed_out or done.code == _SSH_FAILED:
            raise self._refusal(done)
        system, _, machine = (
            done.output.decode("utf-8", "replace").strip().partition(" ")
        )
        if system != "Linux" or machine not in _MACHINES:
            raise SdkError(
                f"{self.host} is {machine or 'a machine'} with {system or 'no uname'},"
                f" and {board.name} is aarch64 with Linux",
                hint="name a computer with a 64-bit Arm core and Linux",
            )
        if done.code != 0:
            said = _last(done.said.decode("utf-8", "replace"))
            raise SdkError(
                f"cannot copy the test runner to {self.host}: {said}",
                hint="set TMPDIR there to a folder with room that can be written",
            )

    def _ask(self, script: str, given: bytes, limit_s: float) -> _Done:
        """Runs a shell script there; it must not contain a '."""
        if self.host.startswith("-"):
            raise SdkError(f"'{self.host}' is not a valid host name")
        ssh = shutil.which("ssh")
        if ssh is None:
            raise SdkError(
                "ssh is missing: it reaches the board",
                hint="install it: apt-get install openssh-client",
            )
        return _run(
            [ssh, *_OPTIONS, self.host, f"exec sh -c '{script}'"], given, limit_s
        )

    def _refusal(self, done: _Done) -> SdkError:
        said = done.said.decode("utf-8", "replace")
        if done.timed_out:
            said = "timed out"
        for words, why, remedy in _REASONS:
            if words in said:
                return SdkError(
                    f"cannot reach {self.host}: {why}", remedy.format(host=self.host)
                )
        return SdkError(
            f"cannot reach {self.host}: {_last(said)}",
            hint=f"try `ssh {self.host} true`",
        )


def _last(text: str) -> str:
    """The last line, without its full stop."""
    return (text.strip().rsplit("\n", 1)[-1].strip() or "it says nothing").rstrip(".")


# ---- what the shell there does -------------------------------------------------------


def _copying(folder: str) -> str:
    """Prints the kind of computer, then reads the runner from its input."""
    return (
        'echo "$(uname -s) $(uname -m)"; umask 077; '
        f'd="{folder}"; mkdir "$d" && cat >"$d/runner" && chmod 700 "$d/runner"'
        ' && case $(uname -m) in aarch64|arm64) ;; *) rm -rf "$d" ;; esac'
    )


def _running(folder: str) -> str:
    """Reads the cases from its input and writes the results to its output: a pipe,
    because not every output can be opened by name."""
    return (
        f'd="{folder}"; cd "$d" && cat >cases.bin && '
        "{ ./runner cases.bin /proc/self/fd/1 & echo $! >pid; wait $!; echo $? >code; }"
        ' | cat; c=$(cat code 2>/dev/null || echo 1); cd /; rm -rf "$d"; exit $c'
    )


def _ending(folder: str) -> str:
    return f'd="{folder}"; kill $(cat "$d/pid"); rm -rf "$d"'


# ---- ssh -----------------------------------------------------------------------------


@dataclass
class _Done:
    code: int
    output: bytes
    said: bytes
    timed_out: bool


@dataclass
class _Moved:
    """Counts bytes in all directions."""

    count: int = 0
    output: bytearray = field(default_factory=bytearray)
    said: bytearray = field(default_factory=bytearray)

    def read(self, source: IO[bytes], into: bytearray) -> None:
        while block := source.read1(_BLOCK):  # type: ignore[attr-defined]
            into += block
            self.count += len(block)

    def write(self, to: IO[bytes], data: bytes) -> None:
        try:
            for at in range(0, len(data), _BLOCK):
                self.count += to.write(data[at : at + _BLOCK])
                to.flush()
            to.close()
        except OSError:  # it ended, and says why
            return


def _run(words: Sequence[str], given: bytes, limit_s: float) -> _Done:
    """Runs until the process ends, or until no byte has moved for `limit_s`."""
    moved = _Moved()
    try:
        process = subprocess.Popen(
            words,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
    except OSError as error:
        raise SdkError(f"cannot start {words[0]}: {error.strerror}") from error
    assert process.stdin and process.stdout and process.stderr
    threads = [
        threading.Thread(target=moved.write, args=(process.stdin, given), daemon=True),
        threading.Thread(target=moved.read, args=(process.stdout, moved.output)),
        threading.Thread(target=moved.read, args=(process.stderr, moved.said)),
    ]
    for thread in threads:
        thread.daemon = True
        thread.start()
    try:
        timed_out = not _ends(process, moved, limit_s)
    finally:
        emulator.stop(process)
    for thread in threads[1:]:
        thread.join(5)
    return _Done(process.returncode, bytes(moved.output), bytes(moved.said), timed_out)


def _ends(process: subprocess.Popen[bytes], moved: _Moved, limit_s: float) -> bool:
    seen, deadline = moved.count, time.monotonic() + limit_s
    while process.poll() is None:
        if moved.count != seen:
            seen, deadline = moved.count, time.monotonic() + limit_s
        elif time.monotonic() >= deadline:
            return False
        time.sleep(_LOOK_S)
    return True
