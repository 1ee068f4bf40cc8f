"""Firmware runs with its console joined to ours: bytes in and text out, until its end.

Semihosting and the serial port are both joined, because firmware of others takes the
one that it knows. One loop moves all bytes, without threads. Foreign firmware mostly
loops in its fault handler without a word; the emulator's monitor shows where the core
is, what its fault registers say and what the exception stacked, and that becomes the
line that Ember's port logs.
"""

from __future__ import annotations

import codecs
import contextlib
import io
import json
import os
import re
import select
import socket
import subprocess
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from ember.boards import Board
from ember.errors import SdkError
from ember.hil.line import server
from ember.toolchain import elf, emulator, tools
from ember.toolchain.emulator import RunResult

_EXIT = re.compile(r"EMBER EXIT (\d+)\n")  # as runtime_c/port/uart/console.c says it
_END = b"\x04"  # of the input, where the console knows no other (port.h)
_KNOWS_END = "ember_port_read_char"  # a function of firmware that does
_KEPT = 1 << 16  # characters, to look for faults in
_BLOCK = 1 << 16  # bytes
_LOOK_S = 0.2
# A serial port hears nothing before the firmware has opened it: what was piped waits
# for the first word of the firmware, or so long.
_QUIET_S = 1.0
_SILENT_S = 1.0  # after which it is looked whether the core is in a fault's handler


class _Said:
    """What comes over one console, as text; `shown` passes it on."""

    def __init__(self, shown: IO[str] | None) -> None:
        utf_8 = codecs.getincrementaldecoder("utf-8")("replace")
        self._decoder = io.IncrementalNewlineDecoder(utf_8, translate=True)
        self._shown = shown
        self.text = ""  # the last of it

    def take(self, data: bytes) -> None:
        came = self._decoder.decode(data)
        self.text = (self.text + came)[-_KEPT:]
        if self._shown is not None:
            self._shown.write(came)
            self._shown.flush()


class _Errors(_Said):
    """Of the firmware; the emulator's own are only kept."""

    def take(self, data: bytes) -> None:
        if data.startswith(b"qemu"):
            self._shown = None
        super().take(data)


@dataclass
class _Told:
    """One way of our input: a pipe, or the connection of a console."""

    to: IO[bytes] | socket.socket
    end: bytes | None  # what says the end of the input; None: closing the pipe
    opens: float = 0.0  # when it listens, at the latest
    waiting: bytearray = field(default_factory=bytearray)
    ends: bool = False  # with what waits

    def __post_init__(self) -> None:
        os.set_blocking(self.to.fileno(), False)

    def send(self) -> None:
        try:
            sent = os.write(self.to.fileno(), self.waiting[:_BLOCK])
            del self.waiting[:sent]
        except BlockingIOError:
            return
        except OSError:  # it ended: nobody listens any more
            self.waiting.clear()

    def finish(self) -> None:
        """Close what is closed to say the end."""
        if self.ends and self.end is None and not self.waiting:
            self.to.close()
            self.ends = False


@dataclass(frozen=True)
class _Attached:
    process: subprocess.Popen[bytes]
    heard: dict[int, _Said]  # by the file that it comes from
    told: tuple[_Told, ...]
    watch: Watch | None = None  # of a core whose faults can be seen
    explained: list[str] = field(default_factory=list)  # what it saw

    @property
    def text(self) -> str:
        return "".join(
            [*(source.text for source in self.heard.values()), *self.explained]
        )


def run(
    board: Board,
    firmware: Path,
    source: int | None,
    to: IO[str],
    timeout_s: float | None,
) -> RunResult:
    """Run `firmware` to its end: the file `source` is its input, what it says goes `to`
    a stream. The exit status is the emulator's, or what a serial console says.
    """
    emulator.need_runner(board)
    started = time.monotonic()
    with _started(board, firmware.resolve(), to) as attached:
        deadline = None if timeout_s is None else started + timeout_s
        loop = _Loop(board, attached, source, deadline)
        timed_out = not loop.run()
        code = None if timed_out else loop.status()
        text = attached.text
    by_signal = code is None or code < 0
    return RunResult(
        exit_code=None if by_signal else code,
        text=text,
        fault=None if code is None else emulator.fault(board, firmware, text, code),
        marks=(),
        total=None,
        timed_out=timed_out,
        seconds=time.monotonic() - started,
    )


class _Loop:
    """Moves bytes until the firmware has ended, or the time is over."""

    def __init__(
        self,
        board: Board,
        attached: _Attached,
        source: int | None,
        deadline: float | None,
    ) -> None:
        self._attached = attached
        self._open = set(attached.heard)
        self._source = source
        self._deadline = deadline
        self._says_exit = board.console == "uart"
        self._exit: int | None = None
        self._looks = time.monotonic() + _SILENT_S
        if source is None:
            self._end_input()

    def run(self) -> bool:
        """Whether it ended by itself."""
        while self._open and self._exit is None:
            if self._deadline is not None and time.monotonic() >= self._deadline:
                return False
            if self._attached.watch is not None and time.monotonic() >= self._looks:
                self._look(self._attached.watch)
            self._move()
        return True

    def status(self) -> int:
        return self._attached.process.wait() if self._exit is None else self._exit

    def _look(self, watch: Watch) -> None:
        self._looks = time.monotonic() + _SILENT_S
        line = watch.look()
        if line is not None:
            self._attached.explained.append(line)
            self._exit = emulator.EXIT_FAULT

    def _move(self) -> None:
        now = time.monotonic()
        told = {
            way.to: way
            for way in self._attached.told
            if way.waiting and way.opens <= now
        }
        files = [*self._open, *self._sources()]
        readable, writable, _ = select.select(files, list(told), [], _LOOK_S)
        for to in writable:
            told[to].send()
        for way in self._attached.told:
            way.finish()
        for file in readable:
            if file in self._open:
                self._hear(file)
            else:
                self._read(file)

    def _sources(self) -> list[int]:
        """Our input, while it has room to wait."""
        full = any(len(way.waiting) >= _BLOCK for way in self._attached.told)
        return [] if self._source is None or full else [self._source]

    def _read(self, source: int) -> None:
        data = os.read(source, _BLOCK)
        for way in self._attached.told:
            way.waiting += data
        if not data:
            self._end_input()

    def _end_input(self) -> None:
        self._source = None
        for way in self._attached.told:
            way.waiting += way.end or b""
            way.ends = True

    def _hear(self, file: int) -> None:
        try:
            data = os.read(file, _BLOCK)
        except OSError:  # a connection that was reset
            data = b""
        if not data:
            self._open.remove(file)
            return
        self._looks = time.monotonic() + _SILENT_S
        said = self._attached.heard[file]
        said.take(data)
        end = _EXIT.search(said.text) if self._says_exit else None
        self._exit = int(end[1]) if end is not None else None
        for way in self._attached.told:
            way.opens = 0.0


# ---- starting ------------------------------------------------------------------------


@contextlib.contextmanager
def _started(board: Board, firmware: Path, to: IO[str]) -> Iterator[_Attached]:
    if board.runner.kind == "qemu-system":
        with _machine(board, firmware, to) as attached:
            yield attached
        return
    words = emulator.command(board, firmware)
    with _process(words, subprocess.STDOUT) as process:
        assert process.stdout is not None and process.stdin is not None
        heard = {process.stdout.fileno(): _Said(to)}
        yield _Attached(process, heard, (_Told(process.stdin, None),))


@contextlib.contextmanager
def _process(words: list[str], stderr: int) -> Iterator[subprocess.Popen[bytes]]:
    """In a group of its own: Ctrl-C reaches us, and we end it."""
    pipe = subprocess.PIPE
    try:
        process = subprocess.Popen(
            words, stdin=pipe, stdout=pipe, stderr=stderr, bufsize=0, process_group=0
        )
    except OSError as error:
        raise SdkError(f"cannot start {words[0]}: {error.strerror}") from error
    with process.stdout or contextlib.nullcontext():
        try:
            yield process
        finally:
            if process.stdin is not None:
                process.stdin.close()  # it may wait there, deaf to signals
            emulator.stop(process)
            if process.stderr is not None:
                process.stderr.close()


@contextlib.contextmanager
def _machine(board: Board, firmware: Path, to: IO[str]) -> Iterator[_Attached]:
    """Files of semihosting are the emulator's own pipes; its console and the serial
    port are connections that it opens to us."""
    names = ["uart", *(["console"] if board.console == "semihosting" else [])]
    names += ["monitor"] if board.port == "cortexm" else []
    end = _END if elf.read(firmware).symbol(_KNOWS_END) is not None else b""
    with contextlib.ExitStack() as stack:
        lines = stack.enter_context(server())
        words = _command(board, firmware, lines.address, names)
        process = stack.enter_context(_process(words, subprocess.PIPE))
        out, errors, into = process.stdout, process.stderr, process.stdin
        assert out is not None and errors is not None and into is not None
        heard = {out.fileno(): _Said(to), errors.fileno(): _Errors(to)}
        told = [_Told(into, None)]
        watch = None
        for name in names:  # it opens one after the other
            line = lines.accept(process, lambda: _text(errors))
            stack.enter_context(line)
            if name == "monitor":
                watch = Watch(line)
                continue
            heard[line.fileno()] = _Said(to)
            opens = time.monotonic() + _QUIET_S
            told.append(_Told(line, end if name == "uart" else b"", opens))
        yield _Attached(process, heard, tuple(told), watch)


def _command(
    board: Board, firmware: Path, address: str, names: Sequence[str]
) -> list[str]:
    words = [tools.path(str(board.runner.binary)), *board.runner.args]
    words += ["-display", "none", "-monitor", "none"]
    if "monitor" in names:
        words += ["-mon", "chardev=monitor,mode=control"]
    for name in names:
        words += ["-chardev", f"{address},id={name}"]
    words += ["-serial", "chardev:uart"]
    if "console" in names:
        semihosting = "enable=on,target=native,chardev=console,arg=firmware"
        words += ["-semihosting-config", semihosting]
    return [*words, "-kernel", str(firmware)]


def _text(file: IO[bytes]) -> str:
    return file.read().decode("utf-8", "replace")


# ---- fault handlers of others --------------------------------------------------------


_FAULTS = range(3, 8)  # exceptions: hard, memory, bus, usage and secure fault
_EXC_RETURN = 0xFFFFFF00  # of the link register in a handler, or above
_ON_PROCESS_STACK = 1 << 2  # of it
_LINK, _COUNTER = 5, 6  # words of a stacked frame
_LOOKED_AT = 64  # words of the stack, for what a handler pushed
_CFSR, _MMFAR, _BFAR = 0xE000ED28, 0xE000ED34, 0xE000ED38
_MMFAR_VALID, _BFAR_VALID = 7, 15
_SMALL_LOOP = 64  # bytes
_ANSWER_S = 1.0
_NAMED = re.compile(r"\b(R\d\d|XPSR)=([0-9a-f]{8})")
_WORD = re.compile(r" 0x([0-9a-f]{8})")

# Bits of CFSR and what they say, as runtime_c/port/cortexm/fault.c names them.
_KINDS = {
    **{0: "instruction-access", 1: "data-access", 3: "exception-return"},
    **{4: "stack-overflow", 5: "lazy-fp-state", 8: "instruction-bus", 9: "data-bus"},
    **{10: "data-bus-imprecise", 11: "exception-return", 12: "stack-overflow"},
    **{13: "lazy-fp-state", 16: "undefined-instruction", 17: "invalid-state"},
    **{18: "exception-return", 19: "coprocessor-off", 20: "stack-overflow"},
    **{24: "unaligned-access", 25: "divide-by-zero"},
}


class Watch:
    """Looks now and then, over the monitor that the emulator connected to us."""

    def __init__(self, monitor: socket.socket) -> None:
        self._monitor = monitor
        self._last: int | None = None  # where the core was, in a fault handler
        monitor.settimeout(_ANSWER_S)
        self._lines = monitor.makefile("r", encoding="utf-8", errors="replace")
        self.works = True
        self._say("qmp_capabilities")

    def look(self) -> str | None:
        """The line of a fault, when the core is where it was, in a fault's handler."""
        if not self.works:
            return None
        text = self._command("info registers")
        registers = {name: int(word, 16) for name, word in _NAMED.findall(text)}
        if registers.get("XPSR", 0) & 0x1FF not in _FAULTS:
            self._last = None
            return None
        before, self._last = self._last, registers["R15"]
        if before is None or abs(before - self._last) > _SMALL_LOOP:
            return None
        return self._line(registers)

    def _line(self, registers: dict[str, int]) -> str:
        (status,) = self._words(_CFSR, 1) or [0]
        kinds = [kind for bit, kind in _KINDS.items() if status >> bit & 1]
        address = 0
        for valid, register in ((_MMFAR_VALID, _MMFAR), (_BFAR_VALID, _BFAR)):
            if status >> valid & 1:
                (address,) = self._words(register, 1) or [0]
        frame = self._frame(registers)
        link, counter = (frame[_LINK], frame[_COUNTER]) if frame else (0, 0)
        return (
            f"\nEMBER FAULT kind={(kinds or ['hard-fault'])[0]} address={address:#x}"
            f" pc={counter:#x} lr={link & ~1:#x}\n"
        )

    def _frame(self, registers: dict[str, int]) -> Sequence[int]:
        """What the exception stacked; empty, when it lies elsewhere."""
        stack = self._words(registers["R13"], _LOOKED_AT)
        words = [registers["R14"], *stack]
        for at, word in enumerate(words):
            if word >= _EXC_RETURN:
                on_this = not word & _ON_PROCESS_STACK
                return stack[at : at + 8] if on_this and len(stack) >= at + 8 else ()
        return ()

    def _words(self, at: int, count: int) -> list[int]:
        text = self._command(f"x /{count}wx {at:#x}")
        return [int(word, 16) for word in _WORD.findall(text)]

    def _command(self, line: str) -> str:
        said = self._say("human-monitor-command", {"command-line": line})
        return said if isinstance(said, str) else ""

    def _say(self, what: str, arguments: dict[str, Any] | None = None) -> Any:
        """Its answer; None, when it has none: a core that waits for input holds it."""
        order = {"execute": what, "arguments": arguments or {}}
        try:
            self._monitor.sendall(json.dumps(order).encode())
            for line in self._lines:
                answer = json.loads(line)
                if "return" in answer:
                    return answer["return"]
        except (OSError, ValueError):
            self.works = False
        return None
