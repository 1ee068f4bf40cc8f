"""Bytes to and from a board: a serial device, a socket, or whatever pyserial opens."""

from __future__ import annotations

import contextlib
import errno
import select
import socket
import time
import types
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import urlsplit

from ember.errors import SdkError

_SLICE_S = 0.005  # how long a read of pyserial waits


class WireGoneError(SdkError):
    """The other end is away: unplugged, ended."""


class Wire(Protocol):
    name: str
    byte_seconds: float  # that a byte takes; 0: no time worth counting

    def read(self, timeout_s: float) -> bytes:
        """What has come, after at most `timeout_s` for the first byte."""

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
    """/dev/ttyACM0, socket://host:port, rfc2217://host:port; SdkError tells why not."""
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
    with contextlib.suppress(ValueError):  # of a port that is no number, half an IPv6
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
