"""What Zephyr calls a board, and what its configuration needs for the core."""

from __future__ import annotations

from ember.boards import Board

UNKNOWN = "BOARD"
_NAMES = {
    "arduino-nano33ble": "arduino_nano_33_ble",
    "ek-ra8m1": "ek_ra8m1",
    "frdm-mcxn947": "frdm_mcxn947/mcxn947/cpu0",
    "microbit": "bbc_microbit",
    "mps2-an385": "mps2/an385",
    "mps2-an386": "mps2/an386",
    "mps2-an500": "mps2/an500",
    "mps3-an547": "mps3/corstone300/an547",
    "nrf52840-dk": "nrf52840dk/nrf52840",
    "nrf5340-dk": "nrf5340dk/nrf5340/cpuapp",
    "nrf54l15-dk": "nrf54l15dk/nrf54l15/cpuapp",
    "nucleo-f446re": "nucleo_f446re",
    "nucleo-f767zi": "nucleo_f767zi",
    "nucleo-g474re": "nucleo_g474re",
    "nucleo-h743zi2": "nucleo_h743zi",
    "nucleo-u575zi-q": "nucleo_u575zi_q",
    "rpi-pico": "rpi_pico",
    "rpi-pico2": "rpi_pico2/rp2350a/m33",
    "stm32vldiscovery": "stm32vl_disco",
}


def board_of(board: Board) -> str:
    """The name for `west build -b`; UNKNOWN if Zephyr does not have the board."""
    return _NAMES.get(board.name, UNKNOWN)


def fpu_of(board: Board) -> str:
    """The line of prj.conf that enables the core's floating-point unit, if any."""
    hard = board.core is not None and "-mfloat-abi=hard" in board.core.flags
    return "CONFIG_FPU=y" if hard else "# the core has no floating-point unit"
