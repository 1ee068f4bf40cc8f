# SPDX-License-Identifier: Apache-2.0
"""Programs of other versions and flows of ExecuTorch: what messages say of them."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import committed
import pytest
from committed_cases import path_of

from ember import cli, kernels, model, program
from ember.plan.check import dim_orders
from ember.program import KernelCall, Method, Tensor
from ember.select import gaps

GRAPH = b"\x10\0\0\0NPTG" + bytes(64)
COMMANDS = (
    ["inspect"],
    ["plan", "--board", "mps3-an547"],
    ["build", "--board", "mps3-an547"],
    ["select", "--board", "mps3-an547"],
    ["run", "--board", "host"],
    ["test", "--board", "host"],
    ["debug", "--board", "host"],
    ["profile", "--board", "mps3-an547"],
    ["pack", "--board", "mps3-an547", "-o", "out"],
    ["package", "--board", "mps3-an547", "-o", "out"],
)


def package() -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("program.ptg", GRAPH)
        archive.writestr("program.safetensors", bytes(32))
    return file.getvalue()


@pytest.mark.parametrize("words", COMMANDS, ids=lambda words: words[0])
@pytest.mark.parametrize("name", ["net.ptn", "net.pte"])
def test_a_package_of_the_native_backend_is_told_by_name(
    name: str,
    words: Sequence[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    Path(name).write_bytes(package())
    assert cli.main([words[0], name, *words[1:]]) in (1, 2)
    said = capsys.readouterr().err
    assert f"{name} is a .ptn package of ExecuTorch's native backend" in said
    assert "to_executorch() instead of to_native()" in said
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_its_graph_alone_is_told_too(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "program.ptg").write_bytes(GRAPH)
    assert cli.main(["inspect", str(tmp_path / "program.ptg")]) == 1
    assert "is a program.ptg of ExecuTorch's native backend" in capsys.readouterr().err


@pytest.mark.parametrize("less", [1, -1])
def test_another_list_of_the_cortex_m_dialect_names_the_versions(less: int) -> None:
    (method,) = model.read(path_of("int8_resnet8_small_m4")).program.methods
    (gap, *_) = gaps.static("net", shortened(method, less), kernels.load())
    said = (
        "no Cortex-M flow of executorch 1.0 to 1.5 writes such arguments: update Ember"
    )
    assert said in gap.remedy


def shortened(method: Method, less: int) -> Method:
    """With arguments left out of, or added to, each linear layer."""
    args = {
        index: (call.args * 2)[: len(call.args) - less]
        for index, op, call in method.kernel_calls()
        if op == "cortex_m::quantized_linear.out"
    }
    (chain,) = method.chains
    changed = tuple(
        KernelCall(each.op_index, args[index])
        if isinstance(each, KernelCall) and index in args
        else each
        for index, each in enumerate(chain.instructions)
    )
    return replace(method, chains=(replace(chain, instructions=changed),))


# ---- views across dim orders ---------------------------------------------------------


def viewed() -> program.Program:
    """A copy of an image in channels_last that reads it as if it were contiguous."""
    before = model.read(path_of("special_channels_last")).program
    method = before.method("forward")
    assert method is not None
    known = kernels.load()
    assert not list(dim_orders.wrong_views(method, known))
    (chain,) = method.chains
    copy = chain.instructions[-1]
    assert isinstance(copy, KernelCall)
    source = method.values[copy.args[0]]
    assert isinstance(source, Tensor) and source.dim_order == (0, 2, 3, 1)
    values = (*method.values, replace(source, dim_order=(0, 1, 2, 3)))
    last = replace(copy, args=(len(method.values), *copy.args[1:]))
    steps = (*chain.instructions[:-1], last)
    chains = (replace(chain, instructions=steps),)
    return replace(before, methods=(replace(method, values=values, chains=chains),))


def test_a_view_across_dim_orders_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    dim_orders.warn("net", viewed(), kernels.load)
    said = capsys.readouterr().err
    assert "across dim orders ([0,2,3,1] as [0,1,2,3]) without a copy" in said
    assert "ember export" in said


def test_commands_tell_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = committed.copied("special_channels_last", tmp_path / "net")
    (folder / "model.pte").write_bytes(program.write(viewed()))
    for words in (
        ["inspect", str(folder)],
        ["test", str(folder), "--board", "host"],
        ["build", str(folder), "--board", "mps2-an386", "--out", str(tmp_path / "out")],
    ):
        cli.main(words)
        assert "note: " in (said := capsys.readouterr().err), words
        assert "across dim orders" in said


def test_dimensions_of_size_1_have_no_order() -> None:
    method = viewed().methods[0]
    tensors = [value for value in method.values if isinstance(value, Tensor)]
    line = replace(tensors[0], sizes=(1, 1, 1, 6), dim_order=(0, 2, 3, 1))
    assert dim_orders._steps(line) == [(6, 1)]
