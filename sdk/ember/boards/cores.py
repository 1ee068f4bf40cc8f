"""The core that a board names becomes one layer of its keys: `core:` of the file of
the board or chip, or cores/<cpu>.yaml."""

from __future__ import annotations

from typing import Any

from ember.boards import files as board_files
from ember.boards import isa
from ember.boards.files import Core, CoreFile, Layer, Table, WithCore
from ember.errors import SdkError

# What a core decides unless a chip or board does.
_BY_CORE = ("port", "isa", "toolchains", "console")


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
    board_layer: Layer, cpu: Any, given: Table, described: Layer | None
) -> Layer | None:
    """What the core is; None where the board says all that is needed of it."""
    if cpu is None:
        return None  # Board says that it is missing
    name = board_files.name_of(Layer(board_layer.path, {"cpu": cpu}), "cpu")
    assert name is not None
    if described is not None:
        core = _with_base(board_layer, name, described)
    elif (path := board_files.find(board_layer, "cores", name)) is not None:
        core = board_files.layer_of(path)
    elif {"isa", "toolchains"} <= set(given) and given.get("port") != "cortexm":
        return None
    else:
        raise _no_core(board_layer, "cpu", name)
    if described is None:
        board_files.check(core, CoreFile)
    else:
        board_files.check(Layer(core.path, {"core": core.table}), WithCore)
    table = {key: core.table[key] for key in _BY_CORE}
    table["isa"] = isa.allowed(table["isa"], core.table.get("flags", ""))
    facts = {key: core.table[key] for key in Core.model_fields if key in core.table}
    return Layer(core.path, {**table, "core": facts})


def _with_base(board_layer: Layer, name: str, described: Layer) -> Layer:
    """A core described in a board's file, over the one that it is `like`; without
    `like`, over the file of its name, if there is one."""
    table = dict(described.table)
    like = table.pop("like", None)
    base = board_files.find(board_layer, "cores", str(like or name))
    if base is None and like is not None:
        raise _no_core(board_layer, "core.like", str(like))
    below = board_files.layer_of(base).table if base else {"title": name}
    return Layer(described.path, {**below, **table})


def _no_core(board_layer: Layer, key: str, name: str) -> SdkError:
    known = board_files.known(board_layer, "cores")
    return SdkError(
        f"{board_layer.path}: {key}: there is no core '{name}'",
        hint=f"{board_files.near(name, known)}cores are {', '.join(known)}; describe"
        " another with `core: {like: .., flags: ..}` in the board's file, or in"
        f" {board_layer.path.parent / 'cores' / name}.yaml",
    )
