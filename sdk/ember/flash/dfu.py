"""Blocks become a file of ST's DFU format and dfu-util's command lines.

The format is DfuSe 1.1a with a DFU suffix; the boot loader is the one in the ROM of
STM32, over USB.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Sequence

from ember.boards.keys import DfuUtil
from ember.errors import SdkError
from ember.flash import plans
from ember.flash.plans import FlashOrder, FlashPlan, ToolRun
from ember.toolchain.image import ImageSegment

IMAGE = "firmware.dfu"


def plan(order: FlashOrder, facts: DfuUtil) -> FlashPlan:
    steps = []
    files = {}
    if order.program:
        files[IMAGE] = pack(order.image.blocks, facts.vendor, facts.product, facts.alt)
        steps.append(ToolRun("program", (*_connect(order, facts), "-D", IMAGE)))
    # The last read leaves the boot loader, which starts the program at its address.
    reads = sorted(
        plans.read_back(order), key=lambda read: read.address == order.image.start
    )
    for read in reads:
        leave = ":leave" if read is reads[-1] else ""
        place = f"{read.address:#010x}:{len(read.data)}{leave}"
        words = (*_connect(order, facts), "-s", place, "-U", read.file)
        what = "read back and start" if leave else "read back"
        steps.append(ToolRun(what, words, (read,)))
    return FlashPlan("dfu-util", tuple(steps), files)


def _connect(order: FlashOrder, facts: DfuUtil) -> list[str]:
    words = ["dfu-util", "-d", f"{facts.vendor:04x}:{facts.product:04x}"]
    words += ["-S", order.probe] if order.probe else []
    return [*words, "-a", str(facts.alt), *order.extra]


# ---- the file ------------------------------------------------------------------------


_PREFIX = struct.Struct("<5sBIB")  # signature, version, size without suffix, targets
_TARGET = struct.Struct("<6sBI255sII")  # signature, alt, named, name, size, elements
_ELEMENT = struct.Struct("<II")  # address, size
_SUFFIX = struct.Struct("<HHHH3sB")  # device, product, vendor, version, "UFD", length
_ANY_DEVICE, _DFUSE = 0xFFFF, 0x011A


def pack(blocks: Sequence[ImageSegment], vendor: int, product: int, alt: int) -> bytes:
    """A file with one target that holds `blocks`."""
    elements = b"".join(
        _ELEMENT.pack(block.address, len(block.data)) + block.data for block in blocks
    )
    target = _TARGET.pack(b"Target", alt, 0, b"", len(elements), len(blocks))
    size = _PREFIX.size + len(target) + len(elements)
    body = _PREFIX.pack(b"DfuSe", 1, size, 1) + target + elements
    length = _SUFFIX.size + 4
    body += _SUFFIX.pack(_ANY_DEVICE, product, vendor, _DFUSE, b"UFD", length)
    return body + struct.pack("<I", _crc(body))


def unpack(data: bytes) -> tuple[tuple[ImageSegment, ...], int, int]:
    """The blocks, vendor and product. Raises SdkError if the file is broken."""
    try:
        return _unpacked(data)
    except struct.error:
        raise SdkError("the DFU file is incomplete") from None


def _unpacked(data: bytes) -> tuple[tuple[ImageSegment, ...], int, int]:
    suffix = _SUFFIX.unpack(data[-_SUFFIX.size - 4 : -4])
    if suffix[4] != b"UFD" or data[-4:] != struct.pack("<I", _crc(data[:-4])):
        raise SdkError("the suffix of the DFU file is wrong")
    _, _, size, targets = _PREFIX.unpack_from(data)
    if targets != 1 or size != len(data) - _SUFFIX.size - 4:
        raise SdkError("the prefix of the DFU file is wrong")
    at = _PREFIX.size
    count = _TARGET.unpack_from(data, at)[5]
    at += _TARGET.size
    blocks = []
    for _ in range(count):
        address, length = _ELEMENT.unpack_from(data, at)
        at += _ELEMENT.size
        blocks.append(ImageSegment(address, data[at : at + length]))
        at += length
    return tuple(blocks), suffix[2], suffix[1]


def _crc(data: bytes) -> int:
    """The CRC of the DFU standard: CRC-32 without the final inversion."""
    return zlib.crc32(data) ^ 0xFFFF_FFFF
