"""A line between a board and the host that loses, flips and adds bytes.

`Faults` does it to bytes, `FaultyWire` to a wire in this process, `Proxy` to a TCP
connection that another program made:

    python tests/hil/faults.py 7001 127.0.0.1:7000 --rate 0.01
"""

from __future__ import annotations

import argparse
import contextlib
import random
import socket
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:  # as a program, it needs no Ember
    from ember.hil.wire import Wire


class Direction(Protocol):
    """What happens to the bytes of one direction."""

    count: int

    def apply(self, data: bytes) -> bytes: ...


class Faults:
    """Of one direction. `rate` is the share of bytes that are lost or flipped."""

    def __init__(self, rate: float, seed: int = 0, burst_every: int = 0) -> None:
        self.rate = rate
        self.burst_every = burst_every  # bytes between two bursts of garbage; 0: none
        self.random = random.Random(seed)
        self.count = 0
        self._until_burst = burst_every

    def apply(self, data: bytes) -> bytes:
        arrived = bytearray()
        for byte in data:
            if self.burst_every:
                self._until_burst -= 1
                if self._until_burst <= 0:
                    self._until_burst = self.burst_every
                    arrived += self.random.randbytes(self.random.randrange(1, 200))
            if self.random.random() >= self.rate:
                arrived.append(byte)
                continue
            self.count += 1
            if self.random.random() < 0.5:
                arrived.append(byte ^ 1 << self.random.randrange(8))
        return bytes(arrived)


class Cut:
    """A direction that passes all, and calls `action` once after `limit` bytes."""

    def __init__(
        self, limit: float = float("inf"), action: Callable[[], object] | None = None
    ) -> None:
        self.limit = limit
        self.action = action
        self.count = 0

    def apply(self, data: bytes) -> bytes:
        self.count += len(data)
        if self.count > self.limit:
            self.limit = float("inf")
            assert self.action is not None
            self.action()
        return data


class OneFault:
    """A direction in which only the byte at `position` is harmed, once.

    `change` makes of that byte the bytes that arrive instead.
    """

    def __init__(
        self, position: int | None = None, change: Callable[[int], bytes] | None = None
    ) -> None:
        self.position = position
        self.change = change
        self.count = 0  # bytes that were sent
        self.done = False

    def apply(self, data: bytes) -> bytes:
        at = None if self.position is None else self.position - self.count
        self.count += len(data)
        if at is None or not 0 <= at < len(data):
            return data
        self.done = True
        assert self.change is not None
        return data[:at] + self.change(data[at]) + data[at + 1 :]


class FaultyWire:
    """A wire with faults in both directions."""

    def __init__(
        self, wire: Wire, rate: float, seed: int = 0, burst_every: int = 0
    ) -> None:
        self.wire = wire
        self.name = wire.name
        self.byte_seconds = wire.byte_seconds
        self.there: Direction = Faults(rate, seed, burst_every)
        self.here: Direction = Faults(rate, seed + 1, burst_every)

    def read(self, timeout_s: float) -> bytes:
        return self.here.apply(self.wire.read(timeout_s))

    def write(self, data: bytes) -> None:
        self.wire.write(self.there.apply(data))

    def close(self) -> None:
        self.wire.close()


class Proxy:
    """Listens on `port`; each connection goes on to `target`, with faults.

    `faults` are those of what goes there, and of what comes back.
    """

    def __init__(
        self,
        target: tuple[str, int],
        rate: float = 0.0,
        *,
        port: int = 0,
        seed: int = 0,
        burst_every: int = 0,
        faults: tuple[Direction, Direction] | None = None,
    ) -> None:
        self.target = target
        self.faults = faults or (
            Faults(rate, seed, burst_every),
            Faults(rate, seed + 1),
        )
        self._server = socket.create_server(("127.0.0.1", port))
        self.port = self._server.getsockname()[1]
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def close(self) -> None:
        self._server.close()

    def _serve(self) -> None:
        while True:
            try:
                near, _ = self._server.accept()
            except OSError:
                return
            far = socket.create_connection(self.target)
            for end in (near, far):
                end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            pairs = ((near, far, self.faults[0]), (far, near, self.faults[1]))
            for source, sink, faults in pairs:
                threading.Thread(
                    target=_pump, args=(source, sink, faults), daemon=True
                ).start()


def _pump(source: socket.socket, sink: socket.socket, faults: Direction) -> None:
    with contextlib.suppress(OSError):
        while data := source.recv(4096):
            sink.sendall(faults.apply(data))
    for end in (source, sink):
        with contextlib.suppress(OSError):
            end.shutdown(socket.SHUT_RDWR)
    source.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("port", type=int)
    parser.add_argument("target", help="host:port")
    parser.add_argument("--rate", type=float, default=0.01)
    parser.add_argument("--burst-every", type=int, default=0)
    options = parser.parse_args()
    host, _, number = options.target.rpartition(":")
    proxy = Proxy(
        (host, int(number)),
        options.rate,
        port=options.port,
        burst_every=options.burst_every,
    )
    print(f"socket://127.0.0.1:{proxy.port}", flush=True)
    threading.Event().wait()


if __name__ == "__main__":
    main()
