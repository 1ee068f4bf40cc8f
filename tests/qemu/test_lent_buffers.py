"""Buffers with a name and no memory, as the exporter leaves them if it is told to."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import committed
import pytest

from ember import cli, program
from ember.firmware import Options, build
from ember.program import Program, Tensor
from ember.toolchain import emulator

APP = Path(__file__).parent / "apps" / "lent_buffer.c"
pytestmark = pytest.mark.qemu


def without_memory(case: str, name: str, folder: Path) -> Path:
    """The case, its buffer `name` without planned memory."""
    copy = committed.copied(case, folder / case)
    file = copy / "model.pte"
    file.write_bytes(program.write(_lent(program.parse(file.read_bytes()), name)))
    return copy


def _lent(content: Program, name: str) -> Program:
    def value(before: program.Value) -> program.Value:
        if isinstance(before, Tensor) and before.name == name:
            assert before.role == "planned"
            return replace(before, allocation=None)
        return before

    methods = (
        replace(method, values=tuple(map(value, method.values)))
        for method in content.methods
    )
    return replace(content, methods=tuple(methods))


@pytest.mark.parametrize("board", ["host", "mps2-an386", "mps3-an547", "qemu-a64-sme"])
@pytest.mark.parametrize(
    ("case", "name"),
    [("special_counter_named", "total"), ("special_methods_shared_buffers", "state")],
)
def test_firmware_has_memory_for_them(
    case: str, name: str, board: str, tmp_path: Path
) -> None:
    lent = without_memory(case, name, tmp_path)
    assert cli.main(["test", str(lent), "--board", board]) == 0


@pytest.mark.parametrize("board", ["host", "mps2-an386"])
def test_an_application_lends_it(board: str, tmp_path: Path) -> None:
    lent = without_memory("special_counter_named", "total", tmp_path)
    options = Options(app=APP, caller_io=True)
    built = build(lent, board, out=tmp_path / "out", options=options)
    assert "total" not in str(built.plan["regions"])
    said = emulator.run(built.board, built.firmware).check(APP.name).text
    assert said == "each its own\n"


def test_prepared_firmware_takes_them(tmp_path: Path) -> None:
    lent = without_memory("special_counter_named", "total", tmp_path)
    words = ["test", str(lent), "--board", "mps2-an386"]
    assert cli.main([*words, "--json", str(tmp_path / "facts.json")]) == 0
    options = Options(prepared=True)
    build(lent, "mps2-an386", out=tmp_path / "out", options=options)
