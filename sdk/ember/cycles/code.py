"""Code of a firmware becomes instructions by address, as tables of cycles ask."""

from __future__ import annotations

import functools
import re
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ember.errors import SdkError
from ember.toolchain import tools
from ember.toolchain.traces import Block

OBJDUMP = "llvm-objdump-19"
_LINE = re.compile(r"^\s*([0-9a-f]+): (.*)$")
_NOTE = re.compile(r"\s*(@|//|<).*$")


@dataclass(frozen=True)
class Instruction:
    size: int  # bytes
    text: str  # mnemonic and operands, a blank between

    @property
    def mnemonic(self) -> str:
        return self.text.partition(" ")[0]

    @property
    def operands(self) -> str:
        return self.text.partition(" ")[2]


Code = Mapping[int, Instruction]


def of_firmware(firmware: Path, cpu: str, triple: str | None = None) -> Code:
    """Every instruction of a linked firmware, as it was compiled for `cpu`."""
    words = [tools.path(OBJDUMP), "-d", f"--mcpu={cpu}", str(firmware)]
    if triple is not None:
        words.insert(1, f"--triple={triple}")
    done = subprocess.run(words, check=False, capture_output=True, text=True)
    if done.returncode != 0:
        raise SdkError(f"{OBJDUMP} cannot read {firmware}: {done.stderr.strip()[:300]}")
    return parse(done.stdout)


def parse(listing: str) -> Code:
    """The instructions of what llvm-objdump prints."""
    code: dict[int, Instruction] = {}
    for line in listing.splitlines():
        match = _LINE.match(line)
        if match is None:
            continue
        encoded, _, text = match[2].partition("\t")
        digits = sum(len(word) for word in encoded.split())
        words = _NOTE.sub("", text.replace("\t", " ")).split()
        if words and digits:
            code[int(match[1], 16)] = Instruction(digits // 2, " ".join(words))
    return code


def of_block(code: Code, block: Block) -> Sequence[Instruction]:
    """The instructions of a block; fewer, where the firmware has no code."""
    row: list[Instruction] = []
    address = block.address
    while len(row) < block.instructions and address in code:
        row.append(code[address])
        address += row[-1].size
    return row


# ---- text of instructions ------------------------------------------------------------


_CONDITIONS = (
    *("eq", "ne", "cs", "hs", "cc", "lo", "mi", "pl"),
    *("vs", "vc", "hi", "ls", "ge", "lt", "gt", "le", "al"),
)
_KINDS = ("", "b", "h", "sb", "sh")
_LOADS = {f"ldr{kind}" for kind in (*_KINDS, "ex", "exb", "exh", "t")}
_STORES = {f"str{kind}" for kind in _KINDS}
_MODES = ("", "ia", "db", "fd", "ea")
_ARITHMETIC = (
    "adc add addw adr and asr bfc bfi bic clz cmn cmp cpy eor lsl lsr mov movt movw mvn"
    " neg nop orn orr pkhbt pkhtb qadd qadd16 qadd8 qasx qdadd qdsub qsax qsub qsub16"
    " qsub8 rbit rev rev16 revsh ror rrx rsb sadd16 sadd8 sasx sbc sbfx sel sev"
    " shadd16 shadd8 shasx shsax shsub16 shsub8 ssat ssat16 ssax ssub16 ssub8 sub subw"
    " sxtab sxtab16 sxtah sxtb sxtb16 sxth teq tst uadd16 uadd8 uasx ubfx uhadd16"
    " uhadd8 uhasx uhsax uhsub16 uhsub8 uqadd16 uqadd8 uqasx uqsax uqsub16 uqsub8"
    " usad8 usada8 usat usat16 usax usub16 usub8 uxtab uxtab16 uxtah uxtb uxtb16 uxth"
    " yield pld bkpt svc"
)
_DSP_PRODUCTS = (
    "smlabb smlabt smlatb smlatt smlad smladx smlalbb smlalbt smlaltb smlaltt smlald"
    " smlaldx smlawb smlawt smlsd smlsdx smlsld smlsldx smmla smmlar smmls smmlsr smmul"
    " smmulr smuad smuadx smulbb smulbt smultb smultt smulwb smulwt smusd smusdx umaal"
)
_FLOAT = "vabs vadd vcmp vcmpe vcvt vcvtr vcvtb vcvtt vmul vneg vnmul vsub"
_FLOAT_ACCUMULATE = "vmla vmls vnmla vnmls vfma vfms vfnma vfnms"
_NAMES = {
    "load": _LOADS,
    "store": _STORES | {"strex", "strexb", "strexh"},
    "pair": {"ldrd", "strd"},
    "multiple": {"push", "pop"}
    | {f"{x}m{mode}" for x in ("ld", "st") for mode in _MODES},
    "jump": {"b", "bx", "cbz", "cbnz"},
    "call": {"bl", "blx"},
    "table": {"tbb", "tbh"},
    "arithmetic": set(_ARITHMETIC.split()),
    "multiply": {"mul"},
    "accumulate": {"mla", "mls"},
    "long multiply": {"smull", "umull"},
    "long accumulate": {"smlal", "umlal"},
    "dsp": set(_DSP_PRODUCTS.split()),
    "divide": {"udiv", "sdiv"},
    "system": {"mrs", "msr", "dmb", "dsb", "isb", "cpsie", "cpsid", "clrex"},
    "float load": {"vldr", "vstr"},
    "float multiple": {"vpush", "vpop"}
    | {f"{x}m{mode}" for x in ("vld", "vst") for mode in _MODES},
    "float": set(_FLOAT.split()),
    "float move": {"vmov", "vmrs", "vmsr"},
    "float accumulate": set(_FLOAT_ACCUMULATE.split()),
    "float divide": {"vdiv", "vsqrt"},
}
_KIND = {name: kind for kind, names in _NAMES.items() for name in names}
_IT = re.compile(r"it[te]{0,3}$")
_REGISTER = re.compile(r"\b(?:[rsdq]\d+|sp|lr|pc)\b")
_RANGE = re.compile(r"\b([rsd])(\d+)-[rsd](\d+)\b")


@functools.cache
def base(mnemonic: str) -> str | None:
    """The instruction's name without width, types, condition and flag: ldr of ldrne.w;
    None of what no table has.
    """
    head = mnemonic.partition(".")[0]
    if _IT.match(head):
        return "it"
    shorter = head[:-2] if head.endswith(_CONDITIONS) else head
    names = (head, shorter, head.removesuffix("s"), shorter.removesuffix("s"))
    return next((name for name in names if name in _KIND), None)


def kind(instruction: Instruction) -> str | None:
    """The row of the tables; None: they have none."""
    name = base(instruction.mnemonic)
    return "it" if name == "it" else _KIND.get(name or "")


def registers(text: str) -> list[str]:
    """Every register that operands name, in order; ranges in full."""

    def whole(match: re.Match[str]) -> str:
        first, last = int(match[2]), int(match[3])
        return ", ".join(f"{match[1]}{number}" for number in range(first, last + 1))

    return _REGISTER.findall(_RANGE.sub(whole, text))


def listed(instruction: Instruction) -> list[str]:
    """The registers between braces."""
    return registers(instruction.operands.partition("{")[2])


def address_of(instruction: Instruction) -> list[str]:
    """The registers between brackets, which make the address."""
    return registers(instruction.operands.partition("[")[2])


def results(instruction: Instruction) -> list[str]:
    """The first register, which most instructions write."""
    return registers(instruction.operands)[:1]


def writes_counter(instruction: Instruction) -> bool:
    """Whether it jumps by writing the program counter as a register."""
    row = kind(instruction)
    if row == "multiple":
        return "pc" in listed(instruction) and base(instruction.mnemonic) != "push"
    return row in ("load", "arithmetic") and results(instruction) == ["pc"]
