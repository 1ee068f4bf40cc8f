"""Runs a firmware of a board on the host: an ELF file becomes a `RunResult`."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from ember import paths
from ember.boards import Board
from ember.errors import SdkError
from ember.progress import doing
from ember.toolchain import elf as elf_files
from ember.toolchain import tools, traces
from ember.toolchain.traces import Trace

EXIT_FAULT, EXIT_PANIC = 112, 113  # runtime_c/include/ember/port.h
MARK_WORDS = 8
_LOOK_S = 0.5  # how often to look for progress
WALL = 10  # times the limit of CPU time: of all time, for a program that waits
_MARKS_SYMBOL = "ember_marks"

# How QEMU 7.2 and QEMU 10 end where Hexagon has no such instruction.
_UNDECODED = ("decode_packet: assertion failed", "decode_insns: code should not be")
_FAULT = re.compile(
    r"EMBER FAULT kind=(?P<kind>\S+) address=0x(?P<address>[0-9a-f]+)"
    r" pc=0x(?P<pc>[0-9a-f]+) lr=0x(?P<lr>[0-9a-f]+)"
)
_PANIC = re.compile(r"EMBER PANIC (.*)")

# How a fault kind reads in a sentence.
_KINDS = {
    "data-access": "access to memory that does not exist or is protected",
    "data-bus": "access to an address that does not respond",
    "data-bus-imprecise": "write to an address that does not respond",
    "instruction-access": "jump to memory that holds no code",
    "instruction-bus": "jump to an address that does not respond",
    "stack-overflow": "stack overflow",
    "undefined-instruction": "undefined instruction",
    "unaligned-access": "unaligned access",
    "divide-by-zero": "division by zero",
    "coprocessor-off": "floating-point or vector instruction on a core without it",
    "invalid-state": "jump to an address that is not Thumb code",
    "hard-fault": "HardFault (this core does not report its cause)",
    "sme-state": "SME instruction outside its streaming or ZA state",
}


@dataclass(frozen=True)
class Mark:
    """One access to word `word` of ember_marks: a region began (w) or ended (r)."""

    word: int
    kind: Literal["w", "r"]
    count: int  # instructions (packets) executed before it


@dataclass(frozen=True)
class Accesses:
    """Of a range of addresses, while the method was executed."""

    reads: int
    read_bytes: int
    writes: int
    written_bytes: int


@dataclass(frozen=True)
class RunResult:
    exit_code: int | None  # None: ended by a time-out or a signal
    text: str  # stdout and stderr, interleaved
    fault: str | None  # one sentence
    marks: tuple[Mark, ...]
    total: int | None  # instructions (packets) of the whole run; None: not counted
    timed_out: bool
    seconds: float
    accesses: tuple[Accesses, ...] = ()  # of each range that was asked for
    trace: Trace | None = None  # which blocks ran, when asked for
    restarted: bool = False  # the board was reset during the run
    cpu_s: float | None = None  # of the emulator until a time-out

    @property
    def problem(self) -> str | None:
        """Why the run failed, in one sentence; None if it succeeded."""
        if self.fault is not None:
            return self.fault
        if self.restarted:
            return "the board was reset during the run"
        if self.timed_out:
            cpu = "" if self.cpu_s is None else f" ({self.cpu_s:.0f} s of CPU time)"
            return (
                "time-out: the firmware was still running after"
                f" {self.seconds:.0f} s{cpu}"
            )
        if self.exit_code is None:
            return "the emulator was killed by a signal"
        if self.exit_code != 0:
            last = self.text.strip().rsplit("\n", 1)[-1]
            tail = f": {last}" if last else ""
            return f"the firmware ended with exit status {self.exit_code}{tail}"
        return None

    def check(self, what: str) -> RunResult:
        """Itself; raises SdkError that starts with `what` if the run failed."""
        if self.problem is not None:
            raise SdkError(f"{what}: {self.problem}")
        return self


def run(  # noqa: PLR0913 - one call runs any firmware
    board: Board,
    firmware: Path,
    arguments: Sequence[str] = (),
    *,
    cwd: Path | None = None,
    timeout_s: float | None = None,
    count: bool = True,
    exact: bool = False,
    ranges: Sequence[range] = (),
    blocks: bool = False,
    on_line: Callable[[str], None] | None = None,
    progress: Callable[[], object] | None = None,
) -> RunResult:
    """Run `firmware` to its end, at most `timeout_s` of CPU time (None: the board's).

    With `progress`, the time counts from the last change of what it returns.

    `arguments` are the words that ember_port_arguments() sees; file names in them
    are relative to `cwd`. With `count`, a board whose runner counts gives marks and a
    total; `exact` counts instruction by instruction (only needed where faults or
    interrupts leave blocks half-way). Accesses of `ranges` of addresses are counted.
    With `blocks`, the result has the trace of the blocks of code that ran.
    `on_line` sees each line of text as it comes.
    """
    limit = board.runner.timeout_s if timeout_s is None else timeout_s
    counting = count and unit(board) is not None
    firmware = firmware.resolve()
    with tempfile.TemporaryDirectory(prefix="ember-run-") as folder:
        log = Path(folder) / "marks.txt"
        options = plugin_options(firmware, log, exact, ranges) if counting else []
        if counting and blocks:
            options[-1] += ",edges=1"
        words = command(board, firmware, arguments, options)
        started = time.monotonic()
        with doing(f"running on {board.name}"):
            code, text, cpu_s = _execute(words, cwd, limit, on_line, progress)
        timed_out = cpu_s is not None
        seconds = time.monotonic() - started
        marks, total = read_marks(log)
        accesses = _read_accesses(log)
        trace = traces.read(log) if counting and blocks else None
    return RunResult(
        exit_code=None if timed_out or code < 0 else code,
        text=text,
        fault=None if timed_out else fault(board, firmware, text, code),
        marks=marks,
        total=total,
        timed_out=timed_out,
        seconds=seconds,
        accesses=accesses,
        trace=trace,
        cpu_s=cpu_s,
    )


def command(
    board: Board,
    firmware: Path,
    arguments: Sequence[str] = (),
    options: Sequence[str] = (),
) -> list[str]:
    """The command line that runs `firmware`; `options` go to the emulator."""
    need(board)
    runner = board.runner
    if runner.kind == "native":
        return [str(firmware), *arguments]
    binary = tools.path(str(runner.binary))
    if runner.kind == "qemu-user":
        return [binary, *runner.args, *options, str(firmware), *arguments]
    words = ["firmware", *arguments]
    semihosting = ["enable=on", "target=native"]
    semihosting += [f"arg={word.replace(',', ',,')}" for word in words]
    return [
        *(binary, *runner.args),
        *("-display", "none", "-monitor", "none", "-serial", "null"),
        *("-semihosting-config", ",".join(semihosting)),
        *options,
        *("-kernel", str(firmware)),
    ]


def _execute(
    words: list[str],
    cwd: Path | None,
    limit: float,
    on_line: Callable[[str], None] | None,
    progress: Callable[[], object] | None,
) -> tuple[int, str, float | None]:
    """Its exit status, what it printed, and its CPU time when that was too long."""
    lines: list[str] = []
    try:
        process = subprocess.Popen(
            words,
            cwd=cwd,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            errors="replace",
        )
    except OSError as error:
        raise SdkError(f"cannot start {words[0]}: {error.strerror}") from error

    def read() -> None:
        assert process.stdout is not None
        for line in process.stdout:
            lines.append(line)
            if on_line is not None:
                on_line(line.rstrip("\n"))

    reader = threading.Thread(target=read, daemon=True)
    reader.start()
    try:
        clock = cpu_clock(process.pid)
        timed_out = not _wait(process, reader, limit, clock, progress)
        cpu_s = clock() if timed_out else None
        if timed_out:
            stop(process)
    except BaseException:
        stop(process)
        raise
    reader.join(5)
    return process.returncode, "".join(lines), cpu_s


def _wait(
    process: subprocess.Popen[str],
    reader: threading.Thread,
    limit: float,
    clock: Callable[[], float],
    progress: Callable[[], object] | None,
) -> bool:
    """Whether it ended before `limit` seconds of CPU time passed without progress, or
    WALL times as many of all."""
    seen = progress() if progress is not None else None
    cpu, wall = clock(), time.monotonic()
    while not _ends(process, reader, min(limit, _LOOK_S)):
        now = progress() if progress is not None else None
        if now != seen:
            seen, cpu, wall = now, clock(), time.monotonic()
        elif clock() - cpu >= limit or time.monotonic() - wall >= WALL * limit:
            return False
    return True


def cpu_clock(pid: int) -> Callable[[], float]:
    """Tells the seconds of CPU time of a running program; all seconds where the system
    does not count them."""
    stat, started = Path(f"/proc/{pid}/stat"), time.monotonic()

    def clock() -> float:
        try:
            fields = stat.read_text(encoding="utf-8").rpartition(")")[2].split()
        except OSError:
            return time.monotonic() - started
        return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")

    return clock


def _ends(
    process: subprocess.Popen[str], reader: threading.Thread, seconds: float
) -> bool:
    """Whether it ends within that. Its output ends with it and wakes us at once;
    Popen.wait() sleeps for up to 50 ms at a time.
    """
    deadline = time.monotonic() + seconds
    reader.join(max(seconds, 0))
    try:
        process.wait(max(deadline - time.monotonic(), 0))
    except subprocess.TimeoutExpired:
        return False
    return True


def stop(process: subprocess.Popen[Any]) -> None:
    """Terminate before killing: the emulator then writes its log of counts."""
    process.terminate()
    try:
        process.wait(2)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


# ---- faults -------------------------------------------------------------------------


def fault(board: Board, firmware: Path | None, text: str, code: int) -> str | None:
    """What the log of a run says of its end, in one sentence; functions by name where
    there is a `firmware` to look them up in.
    """
    match = _FAULT.search(text)
    if match is not None:
        kind, *numbers = match.groups()
        return _sentence(board, firmware, kind, *(int(n, 16) for n in numbers))
    panic = _PANIC.search(text)
    if panic is not None:
        return f"panic: {panic[1].strip()}"
    return _end_of_emulator(board, text, code)


def _end_of_emulator(board: Board, text: str, code: int) -> str | None:
    """A fault that the firmware could not report itself."""
    reports = [line.strip() for line in text.splitlines() if _is_report(line)]
    if "qemu: fatal: Lockup" in text:
        return f"fault on {board.name}: lock-up, a fault inside the fault handler"
    if any(end in text for end in _UNDECODED):
        return f"fault on {board.name}: undefined instruction"
    if reports:
        return f"fault on {board.name}: {reports[0]}"
    if code < 0 or (board.runner.kind == "qemu-user" and code in (132, 134, 139)):
        number = -code if code < 0 else code - 128
        return f"fault on {board.name}: the program was killed by signal {number}"
    return None


def _is_report(line: str) -> bool:
    return "Sanitizer: " in line or "runtime error:" in line


def _sentence(
    board: Board, firmware: Path | None, kind: str, address: int, pc: int, lr: int
) -> str:
    words = [_KINDS.get(kind, kind.replace("-", " "))]
    if kind not in ("undefined-instruction", "hard-fault"):
        words.append(f"at address {address:#x}")
    where = caller = None
    if firmware is not None:
        program = elf_files.read(firmware)
        where, caller = program.function_at(pc), program.function_at(lr)
    if where is not None:
        words.append(f"in {where}() at {pc:#x}")
        if caller not in (None, where):
            words.append(f"called from {caller}()")
    elif pc:
        words.append(f"with the program counter at {pc:#x}")
    elif caller is not None:
        words.append(f"in a function that {caller}() called")
    return f"fault on {board.name}: {' '.join(words)}"


# ---- counts -------------------------------------------------------------------------


def plugin() -> Path:
    """The emulator plugin, compiled into the cache folder when its source is newer."""
    sources, headers = (sorted(paths.plugin().glob(f"*.{x}")) for x in "ch")
    return tools.host_library("plugin", sources, headers)


def plugin_options(
    firmware: Path, log: Path, exact: bool = False, ranges: Sequence[range] = ()
) -> list[str]:
    """Of the emulator: the plugin that counts, and writes `log`."""
    program = elf_files.read(firmware)
    symbol = program.symbol(_MARKS_SYMBOL)
    address = symbol.address if symbol is not None else 0
    words = MARK_WORDS if symbol is not None else 0
    options = [f"{plugin()}", f"out={log}", f"marks={address:#x}", f"words={words}"]
    if exact:
        options.append("exact=1")
    options += [f"range={range_.start:#x}:{range_.stop:#x}" for range_ in ranges]
    return ["-plugin", ",".join(options)]


def read_marks(log: Path) -> tuple[tuple[Mark, ...], int | None]:
    """What the plugin wrote: marks and the total."""
    if not log.is_file():
        return (), None
    marks: list[Mark] = []
    total: int | None = None
    for line in log.read_text(encoding="utf-8", errors="replace").splitlines():
        words = line.split()
        if words[0] == "end":
            total = int(words[1])
        elif words[0] in traces.LINES:
            continue
        elif len(words) == 3 and total is None:
            marks.append(
                Mark(int(words[0]), "w" if words[1] == "w" else "r", int(words[2]))
            )
    return tuple(marks), total


def _read_accesses(log: Path) -> tuple[Accesses, ...]:
    if not log.is_file():
        return ()
    lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
    words = [line.split() for line in lines if line.startswith("range ")]
    return tuple(Accesses(*map(int, fields[1:])) for fields in words)


def unit(board: Board) -> str | None:
    """What a run on the host counts; None: nothing."""
    binary = board.runner.binary
    can = binary is None or tools.takes_plugins(binary)
    return board.runner.counts if can else None


def counts_nothing(board: Board) -> str:
    """Why a run on the host counts nothing."""
    if board.runner.counts is None:
        return f"{board.name} cannot count instructions"
    return f"{board.runner.binary} counts nothing: it is built without plugins"


def available(board: Board) -> bool:
    """Whether the host can run firmware of `board`."""
    binary = board.runner.binary
    return emulated(board) and (binary is None or shutil.which(binary) is not None)


def emulated(board: Board) -> bool:
    """Firmware on a serial console is given no files."""
    return board.runner.kind != "none" and board.console != "uart"


def need_runner(board: Board) -> None:
    """An SdkError when nothing emulates `board`."""
    if board.runner.kind == "none":
        line = (
            ", test it over its serial port (ember test --port)" if board.uart else ""
        )
        raise SdkError(
            f"no emulator runs {board.name}",
            hint=f"build and flash it{line}, or run on an emulated board with the"
            " same core (see `ember boards`)",
        )


def need(board: Board) -> None:
    """An SdkError when nothing emulates `board` with files, as models need them."""
    need_runner(board)
    if not emulated(board):
        raise SdkError(
            f"firmware of {board.name} communicates only over its serial port, which"
            " cannot transfer files",
            hint="test with cases over that port: ember test --transport uart",
        )
