"""kernels/isa.yaml becomes the instruction sets that kernels have variants for."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from ember import paths
from ember.errors import SdkError
from ember.files import documents

# Toolchains that compile variants with models in C of the instructions.
MODELLED = ("host", "arm-user-gnu")


@dataclass(frozen=True)
class Isa:
    """One entry of the list."""

    title: str
    width: int = 1  # bytes that one access of a variant moves
    options: Mapping[str, str] = field(default_factory=dict)  # by toolchain
    needs_fpu: bool = False  # so a core whose `flags` have none goes without

    @property
    def needs_target_options(self) -> bool:
        """Whether the options of the core do not allow its instructions."""
        words = " ".join(self.options.values()).split()
        return any(
            word.startswith(("{core}", "-mcpu", "-march", "-mhvx")) for word in words
        )

    def is_for_any_core(self, toolchain: str) -> bool:
        """Whether the toolchain's options allow the instructions on whatever core."""
        return "-march=" in self.options.get(toolchain, "")


@functools.cache
def load() -> dict[str, Isa]:
    """Every instruction set, by the name that ends its variants."""
    path = paths.kernels() / "isa.yaml"
    try:
        data = documents.read_yaml(path)
        return {name: Isa(**entry) for name, entry in data.items()}
    except (TypeError, AttributeError) as error:
        raise SdkError(f"cannot read the instruction sets {path}: {error}") from error


def of(kernel: str) -> str | None:
    """The instruction set that `kernel` is a variant for; None: it is portable."""
    last = kernel.rpartition("_")[2]
    return last if last in load() else None


def allowed(names: Iterable[str], flags: str) -> list[str]:
    """Those of `names` whose instructions a core with these `flags` has."""
    has_fpu = {"-mfloat-abi=hard", "-mfloat-abi=softfp"}.intersection(flags.split())
    known = load()
    return [
        name
        for name in names
        if has_fpu or not (name in known and known[name].needs_fpu)
    ]


def width(kernel: str) -> int:
    """Bytes that one access of `kernel` moves, if its elements are no larger."""
    name = of(kernel)
    return load()[name].width if name else 1


def usable(candidates: Iterable[str], isa: Iterable[str]) -> tuple[str, ...]:
    """The portable ones of `candidates` and the variants for one of `isa`, in order."""
    allowed = {None, *isa}
    return tuple(kernel for kernel in candidates if of(kernel) in allowed)


def cmake_options(isa: Iterable[str], toolchain: str, flags: str) -> dict[str, str]:
    """What CMakeLists.txt is told about variants, for a core compiled with `flags`.

    All that the toolchain can compile for any core, so that boards share them: which
    run is chosen by the board. With models of instructions these are all there are.
    """
    shared = {
        name
        for name, instruction_set in load().items()
        if instruction_set.is_for_any_core(toolchain)
    }
    wanted = [
        name
        for name in load()
        if toolchain in MODELLED or name in shared or name in isa
    ]
    options = {"EMBER_ISA": ";".join(wanted), "EMBER_ALL_ISA": ";".join(load())}
    for name, entry in load().items():
        if toolchain in entry.options:
            words = entry.options[toolchain].format(core=_core_option(flags)).split()
            options[f"EMBER_VARIANT_FLAGS_{name}"] = ";".join(words)
    return options


def _core_option(flags: str) -> str:
    """The option that names the core or its architecture; "" if there is none."""
    words = (word for word in flags.split() if word.startswith(("-mcpu", "-march")))
    return next(words, "")
