"""Serve a simulated probe, until it is killed or its target is gone."""

from __future__ import annotations

import argparse
import socket
import sys

from simprobe import bitbang_server, pyocd_server
from simprobe.coresight import Core, Dap
from simprobe.gdbstub import Stub, TargetGone
from simprobe.nvmc import Nvmc

SERVERS = {"pyocd": pyocd_server.serve, "openocd": bitbang_server.serve}


def main() -> None:
    parser = argparse.ArgumentParser(prog="simprobe")
    parser.add_argument("--kind", choices=SERVERS, required=True)
    parser.add_argument("--qemu", required=True, metavar="HOST:PORT")
    parser.add_argument("--vectors", type=lambda s: int(s, 0), default=0)
    parser.add_argument("--stuck", type=lambda s: int(s, 0), metavar="ADDRESS")
    parser.add_argument("--locked", action="store_true", help="as Nordic's chips are")
    parser.add_argument("--nvmc", action="store_true", help="an nRF52's flash")
    options = parser.parse_args()
    host, port = options.qemu.rsplit(":", 1)
    core = Core(Stub(host, int(port)), options.vectors, options.stuck)
    core.nvmc = Nvmc(core.stub) if options.nvmc else None
    dap = Dap(core, options.locked)
    with socket.create_server(("127.0.0.1", 0)) as server:
        print(server.getsockname()[1], flush=True)
        while True:
            connection, _ = server.accept()
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            try:
                SERVERS[options.kind](connection, dap)
            except (TargetGone, ConnectionError):
                sys.exit("simprobe: the target is gone")


main()
