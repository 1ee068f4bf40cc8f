"""Cores and instruction sets: kernels/isa.yaml, and the core that a board names.

A core becomes one layer of a board's keys: `core:` of the file of the board or chip, or
cores/<cpu>.yaml.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ember import files, paths
from ember.boards import files as board_files
from ember.boards.files import Core, CoreFile, Layer, Table, WithCore
from ember.errors import SdkError

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
        data = files.read_yaml(path)
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


# ---- cores ---------------------------------------------------------------------------


# What a core decides unless a chip or board does.
_BY_CORE = ("port", "isa", "toolchains", "console")
# Instead of what the core would say: nobody compiles for it here.
STAND_IN: Table = {"port": "library", "isa": [], "toolchains": [], "console": "stderr"}


class UnknownCoreError(SdkError):
    """Ember has no file of the core; `problem` says so without the board's file."""

    def __init__(self, board_layer: Layer, key: str, name: str) -> None:
        known = board_files.known(board_layer, "cores")
        self.problem = f"{key}: there is no core '{name}'"
        super().__init__(
            f"{board_layer.path}: {self.problem}",
            hint=f"{board_files.near(name, known)}cores are {', '.join(known)};"
            " describe another with `core: {like: .., flags: ..}` in the board's file,"
            f" or in {board_layer.path.parent / 'cores' / name}.yaml, or write `port:"
            " library` for a package of sources, whose compiler is yours",
        )


def taken_out(*layers: Layer) -> Layer | None:
    """`core:` of the first of `layers` that has it, taken out of all of them."""
    described = [
        Layer(layer.path, layer.table.pop("core"))
        for layer in layers
        if "core" in layer.table
    ]
    if described and not isinstance(described[0].table, dict):
        raise SdkError(f"{described[0].path}: core: it must be a mapping")
    return described[0] if described else None


def layer(
    board_layer: Layer, lower: Layer, cpu: Any, given: Table, described: Layer | None
) -> Layer | None:
    """What the core is; None where the board says all that is needed of it."""
    layers = (board_layer, lower)
    if cpu is None:
        return None  # Board says that it is missing
    name = board_files.name_of(Layer(board_layer.path, {"cpu": cpu}), "cpu")
    assert name is not None
    if described is not None:
        core = _with_base(layers, name, described)
    elif (path := board_files.find(layers, "cores", name)) is not None:
        core = board_files.layer_of(path)
    elif {"isa", "toolchains"} <= set(given) and given.get("port") != "cortexm":
        return None
    elif given.get("port") == "library":
        return Layer(board_layer.path, STAND_IN)
    else:
        raise UnknownCoreError(board_layer, "cpu", name)
    if described is None:
        board_files.check(core, CoreFile)
    else:
        board_files.check(Layer(core.path, {"core": core.table}), WithCore)
    table = {key: core.table[key] for key in _BY_CORE}
    table["isa"] = allowed(table["isa"], core.table.get("flags", ""))
    facts = {key: core.table[key] for key in Core.model_fields if key in core.table}
    return Layer(core.path, {**table, "core": facts})


def _with_base(layers: tuple[Layer, ...], name: str, described: Layer) -> Layer:
    """A core described in a board's file, over the one that it is `like`; without
    `like`, over the file of its name, if there is one."""
    table = dict(described.table)
    like = table.pop("like", None)
    base = board_files.find(layers, "cores", str(like or name))
    if base is None and like is not None:
        raise UnknownCoreError(layers[0], "core.like", str(like))
    below = board_files.layer_of(base).table if base else {"title": name}
    return Layer(described.path, {**below, **table})
