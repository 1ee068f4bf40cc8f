"""What `ember run` and `ember profile` write with --etdump, by our own reader."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from committed_cases import path_of

from ember import cli
from ember.cases.batch import Capture
from ember.files import etdump, tensors
from ember.files.etdump import ETDump, Logged, LoggedList, LoggedTensor, RunBlock
from ember.run import lockstep


@pytest.fixture(autouse=True)
def _in_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def dumped(command: str, model: Path, board: str, *words: str) -> ETDump:
    line = [command, str(model), "--board", board, "--etdump", "file.etdp", *words]
    assert cli.main([*line, "--json", "facts.json"]) == 0
    return etdump.from_bytes(Path("file.etdp").read_bytes(), "file.etdp")


def arrays(run: RunBlock, chosen: Callable[[Logged], bool]) -> list[list[np.ndarray]]:
    """Tensors of the events of values that are chosen."""
    content = Path("values.bin").read_bytes()
    values = []
    for event in run.events:
        if event.logged and chosen(event.logged):
            entry = event.logged.entry
            parts = entry.tensors if isinstance(entry, LoggedList) else (entry,)
            values.append([_array(part, content) for part in parts])
    return values


def _array(part: object, content: bytes) -> np.ndarray:
    assert isinstance(part, LoggedTensor)
    order = tensors.contiguous(len(part.sizes))
    return tensors.from_bytes(content[part.offset :], part.dtype, part.sizes, order)


VALUES = ("--etdump-values", "values.bin")


@pytest.mark.slow
def test_values_without_counts(data: Path) -> None:
    """On a board that counts nothing; values have the names, then."""
    np.save("x.npy", np.linspace(-1, 1, 12, dtype=np.float32).reshape(3, 4))
    model = path_of("special_stacktrace")
    (_, run) = dumped("run", model, "host", *VALUES).runs
    names = [event.logged.name for event in run.events if event.logged]
    assert names[:-1] and all(name.startswith("native_call_") for name in names[:-1])
    (output,) = arrays(run, lambda logged: logged.output)
    facts = json.loads(Path("facts.json").read_text())
    assert output[0].reshape(-1).tolist() == facts["outputs"][0]["data"]
    assert not any(event.timed for event in run.events)


@pytest.mark.qemu
@pytest.mark.parametrize("command", ["run", "profile"])
def test_counts_are_those_of_the_command(command: str, data: Path) -> None:
    loading, run = dumped(command, data / "mlp.pte", "mps2-an386").runs
    facts = json.loads(Path("facts.json").read_text())
    load, execute = (
        facts["instructions"].values()
        if command == "run"
        else (facts["load"], facts["execute"])
    )
    took = {
        event.timed.name: event.timed.end - event.timed.begin
        for event in (*loading.events, *run.events)
        if event.timed
    }
    assert took["Program::load_method"] == load
    assert took["Method::execute"] == execute
    calls = [
        event.timed.end - event.timed.begin
        for event in run.events
        if event.timed and event.timed.name == "OPERATOR_CALL"
    ]
    assert sum(calls) == sum(each["instructions"] for each in facts["nodes"])
    kernels = {
        event.timed.metadata
        for event in run.events
        if event.timed and event.timed.name.startswith("native_call_")
    }
    assert b"addmm_f32_fpu" in kernels
    lent = [event.allocated.size for event in loading.events if event.allocated]
    assert len(loading.allocators) == len(lent) > 1


@pytest.mark.qemu
@pytest.mark.slow
def test_every_execution_of_a_loop_has_its_values() -> None:
    """One event of time with what all of them took."""
    (_, run) = dumped("run", path_of("special_map"), "mps2-an386", *VALUES).runs
    facts = json.loads(Path("facts.json").read_text())
    inside = facts["nodes"][3]
    assert (inside["op"], inside["executions"]) == ("aten::add.out", 4)
    (time,) = (
        event.timed
        for event in run.events
        if event.timed and event.timed.name == "native_call_add.out"
    )
    assert time.end - time.begin == inside["instructions"]
    rows = arrays(
        run, lambda each: each.where.instruction == inside["origin"] and not each.output
    )
    ((output,),) = arrays(run, lambda each: each.output)
    assert len(rows) == 4
    assert np.array_equal(np.stack([row for (row,) in rows]), output)


@pytest.mark.qemu
@pytest.mark.slow
def test_allocations_are_what_was_used() -> None:
    (loading, _) = dumped("run", path_of("xnnpack_mlp_qd8"), "mps2-an386").runs
    facts = json.loads(Path("facts.json").read_text())
    rows = [
        (
            f"{row['memory']} {row['purpose']}",
            row["linked"] if row["used"] is None else row["used"],
        )
        for row in facts["certificate"]
        if row["purpose"] in ("method arena", "scratch", "activations")
    ]
    assert any(row["used"] not in (None, row["linked"]) for row in facts["certificate"])
    sizes = [event.allocated.size for event in loading.events if event.allocated]
    assert list(zip(loading.allocators, sizes, strict=True)) == rows


@pytest.mark.qemu
@pytest.mark.slow
def test_nodes_of_a_delegate() -> None:
    (_, run) = dumped("run", path_of("xnnpack_mlp_static"), "mps2-an386", *VALUES).runs
    inner = [
        (event.timed.where.delegate, event.timed.metadata)
        for event in run.events
        if event.timed and event.timed.where.delegate is not None
    ]
    facts = json.loads(Path("facts.json").read_text())
    (call_,) = (each for each in facts["nodes"] if each["op"] == "XnnpackBackend")
    kinds = [each["op"] for each in call_["inside"]]
    assert [name.partition(" #")[0] for name, _ in inner] == kinds  # type: ignore[union-attr]
    assert [kernel.decode() for _, kernel in inner] == [
        each["kernel"] for each in call_["inside"]
    ]
    logged = {event.logged.where.delegate for event in run.events if event.logged}
    assert {name for name, _ in inner} <= logged


@pytest.mark.slow
def test_outputs_of_several_tensors() -> None:
    """A list is one value, and what a call returns is not another one."""
    for case, kind, sizes in (
        ("op_chunk", LoggedList, None),
        ("op_layer_norm", LoggedTensor, 3),
        ("op_max_dim", LoggedTensor, 2),
    ):
        (*_, run) = dumped("run", path_of(case), "host", *VALUES).runs
        logged = [each.logged for each in run.events if each.logged]
        written = [each for each in logged if not each.output]
        assert {type(each.entry) for each in written} == {kind}
        assert sizes is None or len(written) == sizes
        if kind is LoggedList:
            (intermediate,) = arrays(run, lambda each: not each.output)
            outputs = arrays(run, lambda each: each.output)
            for part, (output,) in zip(intermediate, outputs, strict=True):
                assert np.array_equal(part, output)


@pytest.mark.slow
def test_values_come_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where memory is short for what is written, or for what is watched."""
    model = path_of("special_map")
    whole = dumped("run", model, "host", *VALUES)
    content = Path("values.bin").read_bytes()
    record, starts = lockstep.Lockstep.record, []

    def counted(self: Any, side: Any, capture: Capture) -> Any:
        starts.append((capture.first, len(capture.watches[0])))
        if len(capture.watches[0]) > 2:
            raise lockstep.ManyWatchesError("too many")
        return record(self, side, capture)

    monkeypatch.setattr(lockstep, "ROOM", 100)
    monkeypatch.setattr(lockstep.Lockstep, "record", counted)
    assert dumped("run", model, "host", *VALUES) == whole
    assert Path("values.bin").read_bytes() == content
    assert len({first for first, _ in starts}) > 2


@pytest.mark.slow
def test_a_bundle_says_which_of_its_inputs(data: Path) -> None:
    dump = dumped("run", data / "bundle.bpte", "host", *VALUES)
    assert {run.bundled_input for run in dump.runs} == {0}


@pytest.mark.parametrize(
    ("words", "status", "said"),
    [
        (["--etdump-values", "v"], 2, "--etdump-values needs --etdump"),
        (["--etdump", "v", *VALUES[:1], "./v"], 2, "both name v"),
        (["--etdump", "none/v"], 1, "cannot write none/v: its folder does not exist"),
        (["--etdump", "v", *VALUES[:1], "."], 1, "cannot write .: it is a folder"),
        (["--etdump", "v"], 1, "host cannot count instructions"),
    ],
)
@pytest.mark.parametrize("command", ["run", "profile"])
def test_what_cannot_be_is_refused_at_once(
    command: str,
    words: list[str],
    status: int,
    said: str,
    data: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("ember.run.once.execute", None)
    line = [command, str(data / "add.pte"), "--board", "host", *words]
    assert cli.main(line) == status
    assert said in capsys.readouterr().err
    assert not list(Path().iterdir())


def test_a_program_of_the_users_own_has_no_dump(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert cli.main(["run", "some.elf", "--board", "host", "--etdump", "v"]) == 2
    assert "--etdump is for models" in capsys.readouterr().err
