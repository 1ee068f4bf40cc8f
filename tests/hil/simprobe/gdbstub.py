"""A client of QEMU's gdb server: memory, registers, run and halt of one CPU."""

import contextlib
import select
import socket
import time

PIECE = 1024  # bytes of a memory access: a packet of QEMU holds 2048
SP, LR, PC, XPSR = 13, 14, 15, 25


class TargetGone(Exception):
    pass


class Stub:
    def __init__(self, host, port):
        self.socket = socket.create_connection((host, port), timeout=60)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.pending = b""
        self.running = False
        self.exited = False  # the firmware ended, which no board can
        # Without it QEMU refuses p and P.
        self.ask(b"qXfer:features:read:target.xml:0,ffb")

    def close(self):
        self.socket.close()

    # ---- packets ----------------------------------------------------------------

    def ask(self, packet):
        self._send(packet)
        return self._receive()

    def _send(self, packet):
        check = sum(packet) & 0xFF
        try:
            self.socket.sendall(b"$%s#%02x" % (packet, check))
        except OSError as error:
            raise TargetGone from error

    def _receive(self):
        while True:
            start = self.pending.find(b"$")
            end = self.pending.find(b"#", start)
            if start >= 0 and 0 <= end <= len(self.pending) - 3:
                body = self.pending[start + 1 : end]
                self.pending = self.pending[end + 3 :]
                self._raw(b"+")
                return body
            self._more()

    def _more(self):
        try:
            data = self.socket.recv(65536)
        except OSError as error:
            raise TargetGone from error
        if not data:
            raise TargetGone
        self.pending += data

    def _raw(self, data):
        with contextlib.suppress(OSError):
            self.socket.sendall(data)

    # ---- the CPU ----------------------------------------------------------------

    def read(self, address, size):
        found = b""
        with self.halted():
            while len(found) < size:
                part = min(PIECE, size - len(found))
                answer = self.ask(b"m%x,%x" % (address + len(found), part))
                if answer.startswith(b"E"):
                    return None
                found += bytes.fromhex(answer.decode())
        return found

    def write(self, address, data):
        with self.halted():
            for at in range(0, len(data), PIECE):
                part = data[at : at + PIECE]
                words = (address + at, len(part), part.hex().encode())
                if self.ask(b"M%x,%x:%s" % words) != b"OK":
                    return False
        return True

    def register(self, index):
        with self.halted():
            answer = self.ask(b"p%x" % index)
        return int.from_bytes(bytes.fromhex(answer.decode()), "little")

    def set_register(self, index, value):
        with self.halted():
            self.ask(b"P%x=%s" % (index, value.to_bytes(4, "little").hex().encode()))

    def resume(self):
        self._send(b"c")
        self.running = True

    def step(self):
        self.ask(b"s")

    def halt(self):
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

    def stopped(self):
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
    def halted(self):
        again = self.running
        self.halt()
        yield
        if again:
            self.resume()

    def breakpoint(self, address, there=True):
        self.ask(b"%s0,%x,2" % (b"Z" if there else b"z", address & ~1))

    def reset(self, vectors):
        """Reset the machine; the CPU stays halted before its first instruction."""
        self.halt()
        self.ask(b"qRcmd," + b"system_reset".hex().encode())
        time.sleep(0.05)  # QEMU resets after it has answered
        table = self.read(vectors, 8)
        self.set_register(SP, int.from_bytes(table[:4], "little") & ~3)
        self.set_register(PC, int.from_bytes(table[4:], "little") & ~1)
        self.set_register(XPSR, 1 << 24)
