# SPDX-License-Identifier: Apache-2.0
"""Matrix products on Arm64 with SME: instructions of each kind, by vector length.

Counted is what a node executes in a run: entering streaming mode, packing rows,
the product, and quantising rows to int8 where the kind does that at run time. Products
of int8 are counted both ways: with SMOPA as the architecture has it, and as they run in
emulators that compute SMOPA wrong. The limit is as many instructions as full tiles of
outer products need, and for one row as vectors of FMLA, FMLALB or SDOT.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from ember import boards, paths
from ember.toolchain import emulator, libraries, linker

BOARDS = {128: "qemu-a64-sme-128", 256: "qemu-a64-sme-256", 512: "qemu-a64-sme"}
SHAPES = ((128, 1024, 1024), (64, 256, 256), (1, 768, 768))
_FOLDER = Path(__file__).parent
_EXECUTE = 1  # EMBER_MARK_EXECUTE
_TIMEOUT_S = 900
_ANY, _FULL, _DOUBLED = "XNN_SMOPA_TRIED", "XNN_SMOPA_FULL", "XNN_SMOPA_DOUBLED"


@dataclass(frozen=True)
class Kind:
    """A row of the table: what is multiplied, and how."""

    title: str
    name: str  # ember_xnn_sme_kind_t
    smopa: str
    depth: int  # products that a lane of an outer product sums
    row_depth: int  # the same of the instruction for one row
    peer: Mapping[int, tuple[int, ...]]  # KleidiAI, by rows; by vector length
    block: int = 0
    way: str = ""


_F32 = {
    128: (19_366_078, 4_935_750, 1_281_418),
    64: (652_182, 175_258, 50_124),
    1: (397_726, 198_898, 99_484),
}
_F16 = {
    128: (9_884_028, 2_561_228, 685_812),
    64: (351_740, 99_684, 31_016),
    1: (273_551, 136_823, 68_459),
}
_QS8 = {
    128: (5_206_394, 1_397_442, 397_670),
    64: (209_394, 64_790, 22_632),
    1: (178_111, 90_489, 46_717),
}
_QD8 = {
    128: (8_038_343, 2_653_831, 1_253_351),
    64: (369_735, 175_783, 120_471),
    1: (111_634, 58_018, 31_210),
}
_QC4 = {
    128: (9_389_785, 2_989_593, 1_336_249),
    64: (409_561, 185_465, 122_761),
    1: (117_166, 60_790, 32_602),
}
_QB4 = {128: (12_790_768,) * 3, 64: (478_028,) * 3, 1: (143_565,) * 3}
KINDS = (
    Kind("float32", "XNN_SME_F32", _ANY, 1, 1, _F32),
    Kind("float16", "XNN_SME_F16", _ANY, 2, 1, _F16),
    Kind("int8", "XNN_SME_QS8", _FULL, 4, 4, _QS8, way="SMOPA"),
    Kind("int8", "XNN_SME_QS8", _DOUBLED, 4, 4, _QS8, way="half"),
    Kind("dynamic int8", "XNN_SME_QD8", _FULL, 4, 4, _QD8, way="SMOPA"),
    Kind("dynamic int8", "XNN_SME_QD8", _DOUBLED, 4, 4, _QD8, way="half"),
    Kind("int4, channel", "XNN_SME_QD8_S4", _FULL, 4, 4, _QC4, way="SMOPA"),
    Kind("int4, channel", "XNN_SME_QD8_S4", _DOUBLED, 4, 4, _QC4, way="half"),
    Kind("int4, 32", "XNN_SME_QD8_B4", _ANY, 2, 4, _QB4, 32),
    Kind("int4, 128", "XNN_SME_QD8_B4", _ANY, 2, 4, {}, 128),
)


@dataclass(frozen=True)
class Product:
    """What one product took."""

    kind: Kind
    shape: tuple[int, int, int]
    bits: int  # of a vector
    instructions: int

    @property
    def each(self) -> float:
        """Multiplications per instruction."""
        return self._macs / self.instructions

    @property
    def of_limit(self) -> float:
        lanes = self.bits // 32
        tile = lanes * self.kind.row_depth
        if self.shape[0] > 1:
            tile = lanes * lanes * self.kind.depth
        return self._macs / tile / self.instructions

    @property
    def peer(self) -> int | None:
        counts = self.kind.peer.get(self.shape[0])
        return counts[list(BOARDS).index(self.bits)] if counts else None

    @property
    def _macs(self) -> int:
        m, k, n = self.shape
        return m * k * n


def measure(folder: Path) -> list[Product]:
    """Every kind, shape and vector length; `folder` takes what is built on the way."""
    wanted = [
        (kind, shape)
        for kind in KINDS
        for shape in SHAPES
        if shape[0] > 1 or kind.smopa != _DOUBLED  # one row has no outer products
    ]
    products = []
    for bits, name in BOARDS.items():
        counts = _count(name, folder / name, wanted)
        products += [
            Product(kind, shape, bits, count)
            for (kind, shape), count in zip(wanted, counts, strict=True)
        ]
    return sorted(products, key=lambda product: _order(product, wanted))


def _order(product: Product, wanted: list[tuple[Kind, tuple[int, int, int]]]) -> int:
    return wanted.index((product.kind, product.shape)) * 1024 + product.bits


def _count(
    name: str, folder: Path, wanted: list[tuple[Kind, tuple[int, int, int]]]
) -> list[int]:
    """Instructions of each product on a board."""
    folder.mkdir(parents=True)
    lines = [
        f"{{{kind.name}, {kind.smopa}, {m}, {k}, {n}, {kind.block}}},\n"
        for kind, (m, k, n) in wanted
    ]
    (folder / "products.h").write_text("".join(lines), encoding="utf-8")
    board = boards.load(name)
    script = folder / "linker.ld"
    script.write_text(linker.script(board), encoding="utf-8")
    built = libraries.build(board)
    options = [f"-I{folder}", f"-I{paths.root()}"]
    sources = [_FOLDER / "firmware" / "sme.c"]
    firmware = folder / "firmware.elf"
    built.link(built.compile(sources, folder, options), firmware, script=script)
    marks = (
        emulator.run(board, firmware, timeout_s=_TIMEOUT_S)
        .check(f"the bench on {name}")
        .marks
    )
    counts = [mark.count for mark in marks if mark.word == _EXECUTE]
    return [end - begin for begin, end in zip(counts[::2], counts[1::2], strict=True)]
