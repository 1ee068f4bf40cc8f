"""An nRF52's flash controller in front of QEMU's memory, as a debugger sees it."""

from __future__ import annotations

from simprobe.gdbstub import Stub

FICR, CONTROLLER = 0x1000_0000, 0x4001_E000
PAGE, PAGES = 4096, 16
READY, CONFIG, ERASE_PAGE = CONTROLLER + 0x400, CONTROLLER + 0x504, CONTROLLER + 0x508
WRITING, ERASING = 1, 2  # of CONFIG
WORDS = {
    FICR + 0x10: PAGE,
    FICR + 0x14: PAGES,
    FICR + 0x28: 0xFFFF_FFFF,  # no region that the factory wrote
    FICR + 0x100: 0x52840,
    FICR + 0x110: PAGES * PAGE // 1024,
    READY: 1,
}


class Nvmc:
    """Reads and writes it answers itself; None: they are the memory's."""

    def __init__(self, stub: Stub) -> None:
        self.stub = stub
        self.config = 0

    def read(self, address: int, size: int) -> bytes | None:
        if address < FICR or address >> 12 not in (FICR >> 12, CONTROLLER >> 12):
            return None
        return WORDS.get(address, 0).to_bytes(4, "little")[:size]

    def write(self, address: int, data: bytes) -> bool | None:
        if address < PAGE * PAGES:
            return self._program(address, data)
        if address >> 12 != CONTROLLER >> 12:
            return None
        value = int.from_bytes(data, "little")
        if address == CONFIG:
            self.config = value
        elif address == ERASE_PAGE and self.config == ERASING:
            self.stub.write(value, b"\xff" * PAGE)
        return True

    def _program(self, address: int, data: bytes) -> bool:
        """Only clears bits; nothing at all unless writing is enabled."""
        if self.config == WRITING:
            there = self.stub.read(address, len(data))
            assert there is not None
            data = bytes(a & b for a, b in zip(there, data, strict=True))
            self.stub.write(address, data)
        return True
