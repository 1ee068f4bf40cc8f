"""The far end of pyOCD's remote probe: JSON lines over TCP."""

from __future__ import annotations

import json
import socket
from collections.abc import Callable
from typing import Any

from simprobe.coresight import Dap
from simprobe.gdbstub import TargetGone

TRANSFER_FAULT, DISCONNECTED, GENERAL = 12, 2, 1


class Fault(Exception):
    pass


PROPERTIES = {
    "vendor_name": "Ember",
    "product_name": "simulated probe",
    "supported_wire_protocols": ["DEFAULT", "SWD"],
    "wire_protocol": "SWD",
    "capabilities": ["MANAGED_AP_SELECTION", "MANAGED_DPBANKSEL"],
}
NOTHING = {"hello", "open", "close", "lock", "unlock", "connect", "disconnect", "flush"}
NOTHING |= {"swj_sequence", "set_clock", "assert_reset"}


def serve(connection: socket.socket, dap: Dap) -> None:
    """Answer one client until it leaves."""
    with connection, connection.makefile("rw", encoding="utf-8") as stream:
        for line in stream:
            request = json.loads(line)
            answer = {"id": request["id"], "status": 0}
            try:
                result = handle(dap, request["request"], request.get("arguments", []))
                if result is not None:
                    answer["result"] = result
            except Fault:
                answer |= {"status": TRANSFER_FAULT, "error": "memory fault"}
            except TargetGone:
                answer |= {"status": DISCONNECTED, "error": "target is gone"}
            except KeyError as error:
                answer |= {"status": GENERAL, "error": f"no request {error}"}
            stream.write(json.dumps(answer) + "\n")
            stream.flush()


def handle(dap: Dap, name: str, arguments: list[Any]) -> Any:
    if name in NOTHING or name == "get_memory_interface_for_ap":
        return None
    if name == "readprop":
        return PROPERTIES[arguments[0]]
    if name == "is_reset_asserted":
        return False
    if name == "reset":
        return dap.core.reset()
    if name in ("read_dp", "write_dp"):
        bank, address = divmod(arguments[0], 0x10)
        kept, dap.select = dap.select, bank
        result = getattr(dap, name)(address, *arguments[1:])
        if address & 0xC != 8 or name == "read_dp":
            dap.select = kept
        return result
    requests: dict[str, Callable[..., Any]] = {
        "read_ap": dap.read_ap,
        "write_ap": dap.write_ap,
        "read_ap_multiple": lambda _, count: dap.read_block(count),
        "write_ap_multiple": lambda _, values: dap.write_block(values),
    }
    result = requests[name](*arguments)
    if dap.fault:
        dap.fault = False
        raise Fault
    return result
