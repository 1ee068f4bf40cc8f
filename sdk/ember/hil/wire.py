"""A serial device, a socket, a process or an address of pyserial becomes a `Wire`."""

from __future__ import annotations

import contextlib
import errno
import os
import pty
import select
import socket
import subprocess
import time
import types
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import urlsplit

from ember.errors import SdkError
from ember.toolchain import emulator

_SLICE_S = 0.005  # how long a read of pyserial waits


class WireGoneError(SdkError):
    """The other end is gone: unplugged, or its process has ended."""


class Wire(Protocol):
    name: str
    byte_seconds: float  # time that a byte takes; 0: negligible

    def read(self, timeout_s: float) -> bytes:
        """What has arrived; waits up to `timeout_s` for the first byte."""

    def write(self, data: bytes) -> None: ...

    def close(self) -> None: ...


class SocketWire:
    """A connected socket; an emulator's UART at the other end."""

    byte_seconds = 0.0

    def __init__(self, connected: socket.socket, name: str) -> None:
        self.name = name
        self._socket = connected
        if connected.family != socket.AF_UNIX:
            connected.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        connected.settimeout(10)

    def read(self, timeout_s: float) -> bytes:
        try:
            if not select.select([self._socket], [], [], max(timeout_s, 0))[0]:
                return b""
            data = self._socket.recv(65536)
        except OSError as error:
            raise self._gone() from error
        if not data:
            raise self._gone()
        return data

    def write(self, data: bytes) -> None:
        try:
            self._socket.sendall(data)
        except OSError as error:
            raise self._gone() from error

    def close(self) -> None:
        self._socket.close()

    def _gone(self) -> WireGoneError:
        return WireGoneError(f"{self.name}: the other end closed the connection")


class SerialWire:
    """A port that pyserial opened."""

    def __init__(self, port: Any, name: str, baud: int) -> None:
        self.name = name
        self.byte_seconds = 10 / baud
        self._port = port

    def read(self, timeout_s: float) -> bytes:
        deadline = time.monotonic() + timeout_s
        while True:
            try:
                data: bytes = self._port.read(max(self._port.in_waiting, 1))
            except (OSError, TypeError) as error:  # TypeError: closed under it
                raise WireGoneError(f"{self.name} disappeared: unplugged?") from error
            if data or time.monotonic() >= deadline:
                return data

    def write(self, data: bytes) -> None:
        try:
            self._port.write(data)
        except (OSError, TypeError) as error:
            raise WireGoneError(f"{self.name} disappeared: unplugged?") from error

    def close(self) -> None:
        self._port.close()


def open_port(url: str, baud: int) -> Wire:
    """Opens /dev/ttyACM0, socket://host:port or rfc2217://host:port.

    Raises SdkError with the reason if that fails.
    """
    if url.startswith("socket://"):
        return _connect(url)
    serial = _pyserial()
    is_device = "://" not in url
    if is_device and not Path(url).exists() and not url.upper().startswith("COM"):
        raise SdkError(f"no port {url}: is the board plugged in?", hint=_ports(serial))
    # pyserial's client of RFC 2217 has no time limit for writing.
    options: dict[str, Any] = (
        {} if url.startswith("rfc2217:") else {"write_timeout": 10}
    )
    options |= {"exclusive": True} if is_device else {}
    try:
        port = serial.serial_for_url(url, baudrate=baud, timeout=_SLICE_S, **options)
    except (OSError, ValueError) as error:
        raise _cannot_open(url, error, baud) from error
    return SerialWire(port, url, baud)


def _connect(url: str) -> Wire:
    host, port = None, None
    with contextlib.suppress(ValueError):  # the port is not a number, half an IPv6
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    if not host or port is None:
        raise SdkError(f"'{url}' has no host and port: write socket://localhost:7000")
    try:
        return SocketWire(socket.create_connection((host, port), 5), url)
    except OSError as error:
        reason = error.strerror or "no answer"
        raise SdkError(f"cannot connect to {url}: {reason}") from error


def _pyserial() -> types.ModuleType:
    try:
        import serial
        import serial.tools.list_ports
    except ImportError as error:
        raise SdkError(
            "serial ports need pyserial, which is not installed",
            hint="install it: pip install pyserial",
        ) from error
    module: types.ModuleType = serial
    return module


def _ports(serial: types.ModuleType) -> str:
    names = sorted(comport.device for comport in serial.tools.list_ports.comports())
    return (
        f"connected ports: {', '.join(names)}"
        if names
        else "no serial port is connected"
    )


def _cannot_open(url: str, error: Exception, baud: int) -> SdkError:
    number = getattr(error, "errno", None)
    text = str(error)
    if number == errno.EACCES:
        return SdkError(
            f"no permission to open {url}",
            hint="join the group of the device: sudo usermod -aG dialout $USER",
        )
    if number in (errno.EBUSY, errno.EAGAIN, errno.EWOULDBLOCK) or "lock" in text:
        return SdkError(f"{url} is busy: another program has it open")
    if isinstance(error, ValueError) and "://" in url:
        return SdkError(f"'{url}' is not a port that pyserial knows")
    if isinstance(error, ValueError):
        return SdkError(
            f"{url} does not support {baud} baud", hint="choose another with --baud"
        )
    return SdkError(f"cannot open {url}: {text}")


# ---- processes -----------------------------------------------------------------------


class Pipes:
    """The output and the input of a process, as a Wire."""

    byte_seconds = 0.0

    def __init__(self, name: str, said: int, told: int | None) -> None:
        self.name = name
        self._open = [said]
        self._told = told

    def join(self, uart: socket.socket) -> None:
        """The process has a serial port, too."""
        self._open.append(uart.fileno())
        self._told = uart.fileno()

    def said(self) -> str:
        data = self.read(0)
        return data.decode("utf-8", "replace")

    def read(self, timeout_s: float) -> bytes:
        received = b""
        for file in select.select(self._open, [], [], timeout_s)[0]:
            try:
                data = os.read(file, 65536)
            except OSError:  # a terminal whose other end is closed
                data = b""
            received += data
            if not data:
                self._open.remove(file)
        if not received and not self._open:
            raise WireGoneError(f"{self.name} has ended")
        return received

    def write(self, data: bytes) -> None:
        try:
            while data and self._told is not None:
                data = data[os.write(self._told, data) :]
        except OSError as error:
            raise WireGoneError(f"{self.name} has ended") from error

    def close(self) -> None:
        """Its files belong to others."""


@contextlib.contextmanager
def process_of(
    words: Sequence[str],
) -> Iterator[tuple[subprocess.Popen[bytes], Pipes]]:
    pipe, stderr = subprocess.PIPE, subprocess.STDOUT
    try:
        process = subprocess.Popen(words, stdin=pipe, stdout=pipe, stderr=stderr)
    except OSError as error:
        raise SdkError(f"cannot start {words[0]}: {error.strerror}") from error
    assert process.stdin is not None and process.stdout is not None
    with process.stdin as told, process.stdout as said:
        try:
            yield process, Pipes(words[0], said.fileno(), told.fileno())
        finally:
            emulator.stop(process)


@contextlib.contextmanager
def terminal(words: Sequence[str]) -> Iterator[Wire]:
    """A command that shows what the board says, such as a viewer of RTT."""
    ours, its = pty.openpty()
    try:
        process = subprocess.Popen(words, stdin=its, stdout=its, stderr=its)
    except OSError as error:
        raise SdkError(f"cannot start {words[0]}: {error.strerror}") from error
    finally:
        os.close(its)
    try:
        yield Pipes(words[0], ours, ours)
    finally:
        emulator.stop(process)
        os.close(ours)
