"""Where regions go, and what is said when they do not fit."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from lending import unplanned

from ember import boards, cli, model
from ember.errors import SdkError
from ember.firmware import pack
from ember.firmware.pack import code, part
from ember.plan import regions as plan
from ember.plan.improved import Improved
from ember.quoted import c_string
from ember.select import selection
from ember.select.resolve import MethodNeeds

K = 1024


def board(memories: Sequence[dict[str, Any]]) -> boards.Board:
    facts = boards.load("mps2-an386").model_dump(mode="json")
    return boards.Board.model_validate({**facts, "memories": list(memories)})


def flash(size: int, holds: Sequence[str] = ("weights",)) -> dict[str, Any]:
    holds = ["vectors", "code", "rodata", *holds]
    facts = {"name": "flash", "base": 0, "size": size, "access": "rx"}
    return {**facts, "kind": "flash", "holds": holds}


def ram(
    size: int,
    holds: Sequence[str] = ("method", "planned", "temp", "io"),
    name: str = "ram",
    base: int = 0x20000000,
) -> dict[str, Any]:
    main = ["stack", "data"] if name == "ram" else []
    facts = {"name": name, "base": base, "size": size, "access": "rw"}
    return {**facts, "kind": "sram", "holds": [*main, *holds]}


def make(path: Path, on: boards.Board, **options: Any) -> plan.Plan:
    """A plan for made-up needs: 100 bytes of arena, 64 of scratch."""
    improved = Improved.of(model.read(path))
    (method,) = improved.program.methods
    needs = MethodNeeds(0, (), (), arena=100, temp=64, slots=0, changing=False)
    chosen = selection.Selection((method,), (needs,), {}, (), {})
    return plan.make(improved, chosen, on, **options)


def test_one_memory_takes_all(data: Path) -> None:
    layout = make(data / "mlp.pte", board([flash(512 * K), ram(64 * K)]))
    (method,) = layout.methods
    assert {region.memory for region in layout.regions} == {"ram"}
    assert method.arena is not None
    assert method.arena.size == 100
    assert layout.temp is not None
    assert layout.temp.size == 64
    planned = [region.size for region in method.planned if region]
    assert planned == list(method.method.planned_sizes[1:])
    facts = layout.to_json()
    used = {memory["name"]: memory["used"] for memory in facts["memories"]}
    assert used["flash"] == layout.model_bytes
    assert used["ram"] == sum(planned) + 100 + 64 + layout.stack


def test_overflow_goes_to_the_next_memory(data: Path) -> None:
    second = ram(64 * K, ["planned"], "slow", 0x21000000)
    small = ram(10 * K + 250)  # room for arena and scratch beside the stack
    layout = make(data / "conv.pte", board([flash(512 * K), small, second]))
    places = {region.role: region.memory for region in layout.regions}
    assert places == {"method": "ram", "temp": "ram", "planned": "slow"}


def test_what_does_not_fit_is_said_together(data: Path) -> None:
    with pytest.raises(SdkError) as error:
        make(data / "conv.pte", board([flash(2 * K), ram(8 * K + 32)]))
    text = error.value.what
    assert text.startswith("conv does not fit mps2-an386: 4 problems")
    size = (data / "conv.pte").stat().st_size
    need = -(-size // 16) * 16
    assert (
        f"the model needs {need:,} bytes, {need - 2 * K:,} more than memory flash"
        in text
    )
    assert (
        "the method arena of forward needs 112 bytes, 112 more than memory ram" in text
    )
    assert "scratch of the largest node needs" in text
    assert "planned memory 1 of forward needs" in text


def test_memory_for_the_caller(data: Path, tmp_path: Path) -> None:
    path = unplanned(data / "add.pte", tmp_path / "add.pte")
    on = board([flash(512 * K), ram(64 * K)])
    (method,) = make(path, on).methods
    assert [region.size for region in method.inputs if region] == [24, 24]
    assert [region.size for region in method.outputs if region] == [24]
    (method,) = make(path, on, caller_io=True).methods
    assert method.inputs == (None, None)
    assert method.outputs == (None,)


def test_generated_c_names_every_size(data: Path) -> None:
    layout = make(data / "mlp.pte", board([flash(512 * K), ram(64 * K)]))
    improved = Improved.of(model.read(data / "mlp.pte"))
    header = code.plan_header(improved, layout)
    assert "#define EMBER_FORWARD_ARENA_BYTES 100 // ram" in header
    assert "#define EMBER_TEMP_BYTES 64 // ram" in header
    text = code.model_data(pack.Part(improved, layout, changing=False))
    assert 'section(".ember_arena.ram.forward_arena")' in text
    assert ".balign" in part.assembly(pack.Part(improved, layout, changing=False))


def test_a_source_file_may_have_headers_of_several_models(tmp_path: Path) -> None:
    pair = Path(__file__).parents[3] / "examples/models/pair"
    models = [str(pair / f"{name}.pte") for name in ("smooth", "judge")]
    words = ["package", *models, "--board", "mps2-an386", "--out", str(tmp_path)]
    assert cli.main(words) == 0
    source = tmp_path / "both.c"
    source.write_text(
        """#include "src/model/smooth_plan.h"
#include "src/model/judge_plan.h"
int first[EMBER_SMOOTH_MODEL_BYTES == EMBER_MODEL_BYTES ? 1 : -1];
int other[EMBER_JUDGE_MODEL_BYTES != EMBER_MODEL_BYTES ? 1 : -1];
"""
    )
    subprocess.run(["cc", "-Werror", "-fsyntax-only", source], check=True)


def test_method_names_are_escaped() -> None:
    assert c_string('a"\\\n??é') == '"a\\042\\134\\012\\077\\077\\303\\251"'
