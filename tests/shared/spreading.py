"""Boards with several memories, and where models are in them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from committed_cases import path_of

from ember import boards, program
from ember import model as models
from ember.boards import Board
from ember.firmware import jobs
from ember.firmware.pipeline import Pipeline
from ember.firmware.placing import Assumed
from ember.model.steering import Steering
from ember.plan import check as plan_check
from ember.plan import regions as plan
from ember.plan.memories import Spread

RESNET = path_of("model_resnet8_small")
K = 1024
STACK = 2 * K


def memory(name: str, size: int, cycles: Any, **more: Any) -> dict[str, Any]:
    holds = ["stack", "method", "planned", "temp", "io"]
    facts = {"name": name, "size": size, "access": "rw", "kind": "sram"}
    return {**facts, "holds": holds, "read_cycles": cycles, **more}


def split(fast: int, flash: float, slow: float) -> list[dict[str, Any]]:
    """Memories with `fast` bytes of a fast one; cycles of the others."""
    read_only = {"access": "rx", "kind": "flash"}
    code = ["vectors", "code", "rodata", "weights"]
    main = ["stack", "data", "method", "planned", "temp", "io"]
    return [
        memory("flash", 4096 * K, flash, base=0, holds=code, **read_only),
        memory("fast", fast, 1, base=0x20000000),
        memory("main", 1024 * K, slow, base=0x30000000, holds=main),
    ]


def board(fast: int, *, flash: float = 2, slow: float = 2) -> Board:
    """A Cortex-M with these memories."""
    facts = boards.load("mps2-an386").model_dump(mode="json")
    return Board.model_validate({**facts, "memories": split(fast, flash, slow)})


def spread(
    on: Board, *paths: Path, steering: Steering | None = None, **more: Any
) -> Spread:
    options = jobs.Options(steering=steering or Steering(), passes=(), **more)
    loaded = tuple(models.read(path) for path in paths or (RESNET,))
    job = jobs.make(loaded, on, options, None)
    return Pipeline(job).place(Assumed(STACK)).selected


def plans(on: Board, placed: Spread) -> list[plan.Plan]:
    return plan.make_all(placed.pairs, on, stack=STACK, homes=placed.homes)


def used(placed: Spread, on: Board) -> Mapping[str, int]:
    facts = plan.to_json(plans(on, placed))
    return {row["name"]: row["used"] for row in facts["memories"]}


def memory_of(placed: Spread, value: int, number: int = 0) -> str:
    """Where a planned value of the first method is."""
    method = placed.pairs[number][0].program.methods[0]
    tensor = method.values[value]
    assert isinstance(tensor, program.Tensor)
    assert tensor.allocation is not None
    name = f"{method.name}_planned_{tensor.allocation.memory_id}"
    return placed.homes.of[number, name].memory


def check(placed: Spread, before: Sequence[Path] = (RESNET,)) -> None:
    """The file says what the model says, and its plan destroys nothing."""
    for path, (model, chosen) in zip(before, placed.pairs, strict=True):
        parsed = program.parse(model.content)
        assert parsed == model.program
        plan_check.check(models.read(path).program, parsed, chosen.known)
