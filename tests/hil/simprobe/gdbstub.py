"""A client of QEMU's gdb server: memory, registers, run and halt of one CPU."""

from __future__ import annotations

import contextlib
import select
import socket
import time
from collections.abc import Iterator

PIECE = 1024  # bytes of a memory access: a packet of QEMU holds 2048
SP, LR, PC, XPSR = 13, 14, 15, 25


class TargetGone(Exception):
    pass


class Stub:
    def __init__(self, host: str, port: int) -> None:
        self.socket = socket.create_connection((host, port), timeout=60)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.pending = b""
        self.running = False
        self.exited = False  # the firmware ended, which no board can
        # Without it QEMU refuses p and P.
        self.ask(b"qXfer:features:read:target.xml:0,ffb")

    def close(self) -> None:
        self.socket.close()

    # ---- packets ----------------------------------------------------------------

    def ask(self, packet: bytes) -> bytes:
        self._send(packet)
        return self._receive()

    def _send(self, packet: bytes) -> None:
        check = sum(packet) & 0xFF
        try:
            self.socket.sendall(b"$%s#%02x" % (packet, check))
        except OSError as error:
            raise TargetGone from error

    def _receive(self) -> bytes:
        while True:
            start = self.pending.find(b"$")
            end = self.pending.find(b"#", start)
            if start >= 0 and 0 <= end <= len(self.pending) - 3:
                body = self.pending[start + 1 : end]
                self.pending = self.pending[end + 3 :]
                self._raw(b"+")
                return body
            self._more()

    def _more(self) -> None:
        try:
            data = self.socket.recv(65536)
        except OSError as error:
            raise TargetGone from error
        if not data:
            raise TargetGone
        self.pending += data

    def _raw(self, data: bytes) -> None:
        with contextlib.suppress(OSError):
            self.socket.sendall(data)

    # ---- the CPU ----------------------------------------------------------------

    def read(self, address: int, size: int) -> bytes | None:
        data = b""
        with self.halted():
            while len(data) < size:
                part = min(PIECE, size - len(data))
                answer = self.ask(b"m%x,%x" % (address + len(data), part))
                if answer.startswith(b"E"):
                    return None
                data += bytes.fromhex(answer.decode())
        return data

    def write(self, address: int, data: bytes) -> bool:
        with self.halted():
            for at in range(0, len(data), PIECE):
                part = data[at : at + PIECE]
                words = (address + at, len(part), part.hex().encode())
                if self.ask(b"M%x,%x:%s" % words) != b"OK":
                    return False
        return True

    def register(self, index: int) -> int:
        with self.halted():
            answer = self.ask(b"p%x" % index)
        return int.from_bytes(bytes.fromhex(answer.decode()), "little")

    def set_register(self, index: int, value: int) -> None:
        with self.halted():
            self.ask(b"P%x=%s" % (index, value.to_bytes(4, "little").hex().encode()))

    def resume(self) -> None:
        self._send(b"c")
        self.running = True

    def step(self) -> None:
        self.ask(b"s")

    def halt(self) -> None:
        if self.exited:
            raise TargetGone
        if self.running:
            self._raw(b"\x03")
            # QEMU overlooks one that comes just after it was told to continue.
            while not select.select([self.socket], [], [], 0.1)[0]:
                self._raw(b"\x03")
            self.exited = self._receive()[:1] in b"WX"
            self.running = self.exited
            if self.exited:
                raise TargetGone

    def stopped(self) -> bool:
        """Whether a CPU that ran has halted of itself."""
        if not self.running or self.exited:
            return False
        if select.select([self.socket], [], [], 0)[0]:
            self._more()
        if b"#" not in self.pending:
            return False
        self.exited = self._receive()[:1] in b"WX"
        self.running = self.exited
        return not self.exited

    @contextlib.contextmanager
    def halted(self) -> Iterator[None]:
        again = self.running
        self.halt()
        yield
        if again:
            self.resume()

    def breakpoint(self, address: int, there: bool = True) -> None:
        self.ask(b"%s0,%x,2" % (b"Z" if there else b"z", address & ~1))

    def reset(self, vectors: int) -> None:
        """Reset the machine; the CPU stays halted before its first instruction."""
        self.halt()
        self.ask(b"qRcmd," + b"system_reset".hex().encode())
        time.sleep(0.05)  # QEMU resets after it has answered
        table = self.read(vectors, 8)
        assert table is not None
        self.set_register(SP, int.from_bytes(table[:4], "little") & ~3)
        self.set_register(PC, int.from_bytes(table[4:], "little") & ~1)
        self.set_register(XPSR, 1 << 24)
