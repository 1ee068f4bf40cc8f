"""Serve a simulated probe, until it is killed or its target is gone."""

import argparse
import os
import pathlib
import signal
import socket
import sys

from simprobe import bitbang_server, pyocd_server
from simprobe.coresight import Core, Dap
from simprobe.gdbstub import Stub, TargetGone

SERVERS = {"pyocd": pyocd_server.serve, "openocd": bitbang_server.serve}


def main():
    parser = argparse.ArgumentParser(prog="simprobe")
    parser.add_argument("--kind", choices=SERVERS, required=True)
    parser.add_argument("--qemu", required=True, metavar="HOST:PORT")
    parser.add_argument("--vectors", type=lambda s: int(s, 0), default=0)
    parser.add_argument("--stuck", type=lambda s: int(s, 0), metavar="ADDRESS")
    parser.add_argument("--lost-after", type=int, metavar="CALLS")
    parser.add_argument("--cut-after", type=int, metavar="CALLS")
    parser.add_argument("--save", metavar="FILE:ADDRESS:SIZE", help="what a cut leaves")
    options = parser.parse_args()
    host, port = options.qemu.rsplit(":", 1)
    core = Core(Stub(host, int(port)), options.vectors, options.stuck)
    core.before_run = lambda core: before_run(core, options)
    dap = Dap(core)
    with socket.create_server(("127.0.0.1", 0)) as server:
        print(server.getsockname()[1], flush=True)
        while True:
            connection, _ = server.accept()
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            try:
                SERVERS[options.kind](connection, dap)
            except (TargetGone, ConnectionError):
                sys.exit("simprobe: the target is gone")


def before_run(core, options):
    """The faults that a test asks for."""
    if core.calls == options.lost_after:
        os.kill(os.getpid(), signal.SIGKILL)
    if core.calls == options.cut_after:
        name, address, size = options.save.split(":")
        data = core.stub.read(int(address, 0), int(size, 0))
        pathlib.Path(name).write_bytes(data)
        core.stub.ask(b"k")  # ends QEMU
        raise TargetGone


main()
