"""What a debug probe finds in a Cortex-M: DP, memory AP, ROM table, debug registers."""

from __future__ import annotations

from collections.abc import Sequence

from simprobe.gdbstub import LR, PC, SP, XPSR, Stub, TargetGone
from simprobe.nvmc import Nvmc

DPIDR, JTAG_IDCODE = 0x2BA0_1477, 0x4BA0_0477
CTRL_AP_IDR = 0x0288_0000  # of nRF52; its other registers read 0: locked
AP_IDR, ROM_TABLE = 0x2477_0011, 0xE00F_F000
SCS = 0xE000_E000
AIRCR, DFSR, DHCSR, DCRSR, DCRDR, DEMCR = (
    SCS + at for at in (0xD0C, 0xD30, 0xDF0, 0xDF4, 0xDF8, 0xDFC)
)
C_DEBUGEN, C_HALT, C_STEP = 1, 2, 4
S_REGRDY, S_HALT, S_RESET_ST = 1 << 16, 1 << 17, 1 << 25
VC_CORERESET = 1
HALTED, BKPT = 1, 2
SYSRESETREQ = 4
FP_CTRL, DWT_CTRL = 0xE000_2000, 0xE000_1000  # without comparators


def component(part: int, kind: int) -> dict[int, int]:
    """The identification of a CoreSight component, as its last words."""
    peripheral = [4, 0, 0, 0, part & 0xFF, 0xB0 | part >> 8, 0x0B, 0]
    return dict(
        zip(
            range(0xFD0, 0x1000, 4),
            [*peripheral, 0x0D, kind << 4, 0x05, 0xB1],
            strict=True,
        )
    )


class Core:
    """A CPU with its debug registers; memory is QEMU's."""

    def __init__(self, stub: Stub, vectors: int = 0, stuck: int | None = None) -> None:
        self.stub = stub
        self.vectors = vectors
        self.stuck = stuck  # an address whose lowest bit reads wrong
        self.dhcsr = 0
        self.demcr = 0
        self.dfsr = 0
        self.dcrdr = 0
        self.was_reset = False
        self.nvmc: Nvmc | None = None  # a flash controller that QEMU lacks
        self.others: dict[int, int] = {}  # registers that QEMU does not give
        self.ends: int | None = None  # where a call of a flash algorithm returns to
        self.words = {ROM_TABLE + at: v for at, v in component(0x4C4, 1).items()}
        self.words |= {FP_CTRL: 0, DWT_CTRL: 0}
        self.words[ROM_TABLE] = (SCS - ROM_TABLE) & 0xFFFF_F000 | 3
        self.words[ROM_TABLE + 4] = 0
        self.words |= {SCS + at: v for at, v in component(0x00C, 0xE).items()}

    # ---- memory -----------------------------------------------------------------

    def read(self, address: int, size: int) -> bytes | None:
        """Bytes, or None for a fault."""
        content = self.nvmc.read(address, size) if self.nvmc else None
        if content is not None:
            return content
        word = address & ~3
        if word in self.words or word in (AIRCR, DFSR, DHCSR, DCRSR, DCRDR, DEMCR):
            value = self.words.get(word)
            value = self._debug_read(word) if value is None else value
            return value.to_bytes(4, "little")[address & 3 : (address & 3) + size]
        data = self.stub.read(address, size)
        at = None if self.stuck is None else self.stuck - address
        if data and at is not None and 0 <= at < size:
            data = data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :]
        return data

    def write(self, address: int, data: bytes) -> bool:
        """False for a fault."""
        is_written = self.nvmc.write(address, data) if self.nvmc else None
        if is_written is not None:
            return is_written
        if address in (AIRCR, DFSR, DHCSR, DCRSR, DCRDR, DEMCR):
            self._debug_write(address, int.from_bytes(data, "little"))
            return True
        if address == FP_CTRL:
            self.words[address] = data[0] & 1
            return True
        return self.stub.write(address, data)

    # ---- debug registers --------------------------------------------------------

    def _debug_read(self, address: int) -> int:
        if address == DHCSR:
            self._poll()
            value = self.dhcsr | S_REGRDY
            value |= 0 if self.stub.running else S_HALT
            value |= S_RESET_ST if self.was_reset else 0
            self.was_reset = False
            return value
        if address == AIRCR:
            return 0xFA05_0000
        kept = {DFSR: self.dfsr, DCRDR: self.dcrdr, DEMCR: self.demcr}
        return kept.get(address, 0)

    def _debug_write(self, address: int, value: int) -> None:
        if address == DHCSR and value >> 16 == 0xA05F:
            self._control(value & 0xFFFF)
        elif address == DCRSR:
            self._register(value & 0x7F, bool(value & 1 << 16))
        elif address == DCRDR:
            self.dcrdr = value
        elif address == DEMCR:
            self.demcr = value
        elif address == DFSR:
            self.dfsr &= ~value
        elif address == AIRCR and value >> 16 == 0x05FA and value & SYSRESETREQ:
            self.reset()

    def _control(self, value: int) -> None:
        self._poll()
        self.dhcsr = value
        halt = bool(value & C_HALT) and bool(value & C_DEBUGEN)
        if value & C_STEP and not halt and not self.stub.running:
            self.stub.step()
            self.dfsr |= HALTED
        elif halt and self.stub.running:
            self.stub.halt()
            self.dfsr |= HALTED
        elif not halt and not self.stub.running:
            self._run()

    def _run(self) -> None:
        # BKPT does not stop QEMU: a call of a flash algorithm ends at its LR.
        if self.dhcsr & C_DEBUGEN:
            self.ends = self.stub.register(LR)
            self.stub.breakpoint(self.ends)
        else:
            self.ends = None
        self.stub.resume()

    def _poll(self) -> None:
        if self.stub.stopped():
            self.dfsr |= BKPT
            self._forget_end()
            self.dhcsr |= C_HALT

    def _forget_end(self) -> None:
        if self.ends is not None:
            self.stub.breakpoint(self.ends, there=False)
            self.ends = None

    def reset(self) -> None:
        self.stub.halt()
        self._forget_end()
        self.stub.reset(self.vectors)
        self.was_reset = True
        if not (self.demcr & VC_CORERESET and self.dhcsr & C_DEBUGEN):
            self.dhcsr &= ~C_HALT
            self.ends = None
            self.stub.resume()
        else:
            self.dhcsr |= C_HALT

    def _register(self, index: int, write: bool) -> None:
        names = {16: XPSR, 17: SP}
        known = index if index < 16 else names.get(index)
        if known is None:
            if write:
                self.others[index] = self.dcrdr
            self.dcrdr = self.others.get(index, 0)
        elif write:
            value = self.dcrdr & ~1 if known == PC else self.dcrdr
            self.stub.set_register(known, value)
        else:
            self.dcrdr = self.stub.register(known)


class Dap:
    """The debug port and its access port, AP 0; a locked one has Nordic's AP 1, too."""

    def __init__(self, core: Core, locked: bool = False) -> None:
        self.core = core
        self.locked = locked
        self.select = 0
        self.control = 0
        self.csw = 0x0300_0042
        self.tar = 0
        self.fault = False

    # ---- debug port -------------------------------------------------------------

    def read_dp(self, address: int) -> int:
        bank = self.select & 0xF
        if address & 0xC == 0:
            return DPIDR
        if address & 0xC == 4 and bank == 0:
            power = self.control & 0x5000_0000
            return self.control | power << 1 | (0x20 if self.fault else 0)
        return 0

    def write_dp(self, address: int, value: int) -> None:
        if address & 0xC == 0:  # ABORT
            self.fault = False
        elif address & 0xC == 4 and self.select & 0xF == 0:
            self.control = value & 0x5000_0F00
            if value & 0x20:  # how a JTAG-DP clears its sticky error
                self.fault = False
        elif address & 0xC == 8:
            self.select = value

    # ---- access port ------------------------------------------------------------

    def read_ap(self, address: int) -> int:
        """A register of an AP; bits 31:24 of the address choose it."""
        register = address & 0xFC
        if address >> 24:
            is_nordic = self.locked and address >> 24 == 1
            return CTRL_AP_IDR if is_nordic and register == 0xFC else 0
        if register == 0x0C or 0x10 <= register <= 0x1C:
            return self._data(register)
        fixed = {0x00: self.csw, 0x04: self.tar, 0xF8: ROM_TABLE | 3, 0xFC: AP_IDR}
        return fixed.get(register, 0)

    def write_ap(self, address: int, value: int) -> None:
        if address >> 24:
            return
        register = address & 0xFC
        if register == 0x00:
            self.csw = value & ~0x40 | 0x40
        elif register == 0x04:
            self.tar = value
        elif register == 0x0C or 0x10 <= register <= 0x1C:
            self._data(register, value)

    def _data(self, register: int, value: int | None = None) -> int:
        if self.locked:
            self.fault = True
            return 0
        size = 1 << (self.csw & 7)
        address = self.tar if register == 0x0C else self.tar & ~0xF | register & 0xC
        size = size if register == 0x0C else 4
        lane = 8 * (address & 3)
        if value is None:
            data = self.core.read(address, size)
            self.fault |= data is None
            value = int.from_bytes(data or b"", "little") << lane
        else:
            data = (value >> lane & (1 << 8 * size) - 1).to_bytes(size, "little")
            self.fault |= not self.core.write(address, data)
        if register == 0x0C and self.csw & 0x30:
            # Only the lower twelve bits count up in this kind of AP.
            self.tar = self.tar & ~0xFFF | self.tar + size & 0xFFF
        return value & 0xFFFF_FFFF

    def read_block(self, count: int) -> list[int]:
        """What as many reads of DRW give, by one access to memory."""
        if self.locked or self.csw & 7 != 2 or not self._plain(count):
            return [self.read_ap(0x0C) for _ in range(count)]
        data = self.core.read(self.tar, 4 * count)
        if data is None:
            self.fault = True
            return [0] * count
        self.tar = self.tar & ~0xFFF | self.tar + 4 * count & 0xFFF
        return [
            int.from_bytes(data[i : i + 4], "little") for i in range(0, len(data), 4)
        ]

    def write_block(self, values: Sequence[int]) -> None:
        if self.locked or self.csw & 7 != 2 or not self._plain(len(values)):
            for value in values:
                self.write_ap(0x0C, value)
            return
        data = b"".join(value.to_bytes(4, "little") for value in values)
        self.fault |= not self.core.write(self.tar, data)
        self.tar = self.tar & ~0xFFF | self.tar + len(data) & 0xFFF

    def _plain(self, count: int) -> bool:
        """Whether a block is in one piece of memory without registers."""
        inside = (self.tar & 0xFFF) + 4 * count <= 0x1000
        return bool(self.csw & 0x30) and inside and self.tar < 0xE000_0000


__all__ = ["JTAG_IDCODE", "Core", "Dap", "TargetGone"]
