"""The loader on the host: what a program needs, and all that is missing."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from ember import boards, kernels, model, program
from ember.boards import isa
from ember.errors import SdkError
from ember.select import gaps, resolve, selection


def choose(path: Path, board: str) -> selection.Selection:
    parsed = model.read(path)
    methods = parsed.program.methods
    return selection.choose(
        parsed.program,
        parsed.content,
        parsed.data,
        boards.load(board),
        methods,
        parsed.name,
    )


def test_sizes_follow_the_pointer_width(data: Path) -> None:
    wide = choose(data / "add.pte", "host")
    narrow = choose(data / "add.pte", "mps2-an385")
    assert wide.kernels == narrow.kernels
    assert 0 < narrow.needs[0].arena < wide.needs[0].arena
    assert narrow.sizes["step"] == 8
    assert wide.sizes["step"] == 16


def test_call(data: Path) -> None:
    (needs,) = choose(data / "add.pte", "mps2-an386").needs
    (call,) = needs.calls
    assert call.instruction == 0
    assert call.kernel is not None
    assert call.kernel.startswith("add")
    assert not call.volatile
    assert call.state > 0


def kernels_of(path: Path, board: str) -> set[str]:
    return {name for names in choose(path, board).kernels.values() for name in names}


def test_variants_follow_the_board(data: Path) -> None:
    helium = kernels_of(data / "mlp.pte", "mps3-an547")
    plain = kernels_of(data / "mlp.pte", "mps2-an385")
    assert "addmm_f32_mve" in helium
    assert "addmm_f32" not in helium
    assert "addmm_f32" in plain
    assert not any(isa.of(name) for name in plain)


def test_volatile_calls_keep_usable_candidates_only(data: Path) -> None:
    listed = kernels.load().operators["aten::addmm.out"]
    for board, sets in (("mps3-an547", ["mve"]), ("mps2-an386", ["fpu", "dsp"])):
        usable = choose(data / "dynamic.pte", board).kernels["aten::addmm.out"]
        assert usable == listed.usable(sets)


def rename(path: Path, names: dict[str, str], out: Path) -> Path:
    """The program with other operators."""
    parsed = program.read(path)
    methods = []
    for method in parsed.methods:
        operators = tuple(
            program.Operator(*names[op.full_name].split("."))
            if op.full_name in names
            else op
            for op in method.operators
        )
        methods.append(replace(method, operators=operators))
    out.write_bytes(program.write(replace(parsed, methods=tuple(methods))))
    return out


def test_every_gap_at_once(data: Path, tmp_path: Path) -> None:
    names = {"aten::add.out": "my::add.out", "aten::mul.out": "my::mul.out"}
    path = rename(data / "choose.pte", names, tmp_path / "odd.pte")
    with pytest.raises(SdkError) as error:
        choose(path, "mps2-an386")
    text = error.value.what
    assert "odd, method forward, instruction 1: my::add.out on (float32[" in text
    assert "odd, method forward, instruction 4: my::mul.out on (float32[" in text
    assert "write your own kernel" in text


def test_missing_backend(data: Path, tmp_path: Path) -> None:
    parsed = program.read(data / "delegate.pte")
    (method,) = parsed.methods
    odd = tuple(replace(each, id="OddBackend") for each in method.delegates)
    path = tmp_path / "odd.pte"
    path.write_bytes(
        program.write(replace(parsed, methods=(replace(method, delegates=odd),)))
    )
    with pytest.raises(SdkError, match=r"instruction 0: OddBackend"):
        choose(path, "host")


def test_unknown_dtypes(data: Path) -> None:
    (method,) = program.read(data / "add.pte").methods
    call = resolve.Call(0, None, True, 0, 0, planned=False, volatile=False, message="")
    needs = resolve.MethodNeeds(0, (call,), (), 0, 0, 0, changing=False)
    (gap,) = gaps.of_loader("add", method, needs, kernels.load())
    assert gap.op == "aten::add.out"
    assert set(gap.dtypes) == {"float32"}
    assert str(gap).startswith("add, method forward, instruction 0: aten::add.out on (")


def test_refused_program(data: Path) -> None:
    content = (data / "mlp.pte").read_bytes()[:-400]
    with pytest.raises(SdkError, match="the loader rejects the program"):
        resolve.resolve(content, [], boards.load("host"), [0])
