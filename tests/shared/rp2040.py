"""What the boot ROM of an RP2040 checks."""

from __future__ import annotations


def crc32_of_boot_rom(data: bytes) -> int:
    """Polynomial 0x04C11DB7, from all ones, highest bit first (RP2040 datasheet)."""
    crc = 0xFFFF_FFFF
    for byte in data:
        crc ^= byte << 24
        for _ in range(8):
            crc = (crc << 1 ^ (0x04C1_1DB7 if crc >> 31 else 0)) & 0xFFFF_FFFF
    return crc
