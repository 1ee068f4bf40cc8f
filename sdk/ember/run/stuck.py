"""A Cortex-M that stays in a fault handler becomes the line that our own port logs.

Firmware of others mostly loops there without a word. The emulator's monitor shows where
the core is, what its fault registers say and what the exception stacked.
"""

from __future__ import annotations

import json
import re
import socket
from collections.abc import Sequence
from typing import Any

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
