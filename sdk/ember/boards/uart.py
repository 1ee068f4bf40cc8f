"""The serial port of a board: `uart:` of its YAML, and the C that drivers read."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BeforeValidator, Field, model_validator

from ember import paths
from ember.boards.strict import Strict, hertz

_RATE_ERROR = 0.02  # of a baud rate


class UartPins(Strict):
    """Where the line comes out, for people; Nordic's UARTs are told it, too."""

    tx: str
    rx: str
    note: str = ""


class UartLine(Strict):
    """A serial port of a chip, and the clock that reset leaves it."""

    kind: Literal["cmsdk", "pl011", "stm32-v1", "stm32-v2", "nrf-uart", "nrf-uarte"]
    base: int = Field(ge=0)
    clock: Annotated[int, BeforeValidator(hertz), Field(gt=0)] | None = None


class Uart(UartLine):
    """The serial port that the test runner speaks through."""

    baud: int = Field(gt=0)
    pins: UartPins | None = None

    @property
    def is_nordic(self) -> bool:
        return self.kind.startswith("nrf-")

    @model_validator(mode="after")
    def _the_rate_can_be_had(self) -> Uart:
        if self.is_nordic:
            if self.clock is not None:
                raise ValueError("Nordic's UARTs have a fixed clock: leave out `clock`")
            for pin in (self.pins.tx, self.pins.rx) if self.pins else ("none",):
                nordic_pin(pin)
            return self
        if self.clock is None:
            raise ValueError(f"a UART of kind {self.kind} needs `clock`")
        steps = 4 if self.kind == "pl011" else 1  # of the divider, in a clock
        divider = (self.clock * steps + self.baud // 2) // self.baud
        if (
            divider < 16 * steps
            or abs(self.clock * steps / divider / self.baud - 1) > _RATE_ERROR
        ):
            raise ValueError(
                f"{self.clock} Hz cannot be divided to {self.baud} baud within 2 %"
            )
        return self


def nordic_pin(text: str) -> int:
    """P1.02 -> 34."""
    match = re.fullmatch(r"P([01])\.([0-3]\d)", text)
    if match is None or int(match[2]) > 31:
        raise ValueError(f"'{text}' is not a Nordic pin: write P0.06")
    return int(match[1]) * 32 + int(match[2])


# ---- for the compiler ----------------------------------------------------------------

_LINK = ("frame.c", "line.c", "link.c", "link_in.c", "link_out.c", "serial.c")


def runner(uart: Uart, port: str) -> list[Path]:
    """The C files of a runner that is fed over the line."""
    return _files(uart, port, *_LINK)


def console(uart: Uart, port: str) -> list[Path]:
    """The C files of a console that is the line."""
    return _files(uart, port, "console.c")


def _files(uart: Uart, port: str, *names: str) -> list[Path]:
    driver = f"uart_{uart.kind.replace('-', '_')}.c"
    folder = paths.runtime() / "port" / "uart"
    return [folder / name for name in (*names, driver, f"machine_{port}.c")]


def script_lines(uart: Uart, pointer_bytes: int) -> list[str]:
    """The constant `ember_uart` of uart.h, in a section of a linker script."""
    pins = [0, 0]
    if uart.is_nordic and uart.pins is not None:
        pins = [nordic_pin(uart.pins.tx), nordic_pin(uart.pins.rx)]
    return [
        f". = ALIGN({pointer_bytes});",
        "ember_uart = .;",
        f"{'QUAD' if pointer_bytes == 8 else 'LONG'}({uart.base:#010x})",
        *(f"LONG({word})" for word in (uart.clock or 0, uart.baud, *pins)),
    ]
