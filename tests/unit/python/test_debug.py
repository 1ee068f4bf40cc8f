"""`ember debug`: the first wrong node of a case, by faults that are planted."""

from __future__ import annotations

import json
import struct
from pathlib import Path
from typing import Any

import planted
import pytest
from committed_cases import PROGRAMS, path_of

from ember import cli, kernels
from ember.boards import Board
from ember.cases import Case
from ember.cases.batch import Capture
from ember.run import lockstep, testing
from ember.toolchain.emulator import RunResult


def debug(tmp_path: Path, case: Path | str, *words: object) -> tuple[int, Any]:
    report = tmp_path / "report.json"
    place = case if isinstance(case, Path) else path_of(case)
    status = cli.main(["debug", str(place), *map(str, words), "--json", str(report)])
    return status, json.loads(report.read_text()) if report.is_file() else None


def with_fault(
    tmp_path: Path, case: str, op: str, fault: str, *words: object
) -> dict[str, Any]:
    kernels.load.cache_clear()
    kernel = kernels.load().operators[op].usable(())[-1]
    folder = planted.write(tmp_path / "kernels", op, kernel, fault)
    status, report = debug(
        tmp_path, case, "--board", "host", "--kernels", folder, *words
    )
    assert status == 1
    first = report["first"]
    assert isinstance(first, dict)
    return first


@pytest.mark.slow
def test_a_right_case_has_no_wrong_node(tmp_path: Path) -> None:
    status, report = debug(tmp_path, "model_lenet_small", "--board", "host")
    assert status == 0
    assert report["first"] is None


@pytest.mark.slow
def test_one_wrong_pixel_is_named(tmp_path: Path) -> None:
    op = "aten::max_pool2d_with_indices.out"
    first = with_fault(tmp_path, "model_lenet_small", op, "border")
    assert (first["instruction"], first["operator"]) == (2, op)
    assert first["kernel"] == "planted"
    assert first["index"] == [0, 2, 13, 13]
    assert first["found"] == pytest.approx(first["expected"] * 1.01 + 0.001)
    assert first["inputs_off"] == []


@pytest.mark.slow
def test_a_fault_of_the_third_time_is_named(tmp_path: Path) -> None:
    first = with_fault(tmp_path, "special_map", "aten::sin.out", "third")
    assert (first["instruction"], first["execution"]) == (2, 2)


@pytest.mark.slow
def test_what_overwrites_another_tensor_is_named(tmp_path: Path) -> None:
    first = with_fault(tmp_path, "model_gru_small", "aten::mul.out", "beyond")
    assert (first["instruction"], first["overwrites_input_of"]) == (22, 26)


@pytest.mark.slow
def test_a_node_in_which_the_board_ends_is_named(tmp_path: Path) -> None:
    first = with_fault(tmp_path, "model_encoder_small", "aten::add.out", "beyond")
    assert first["instruction"] == 30
    assert "fault on host" in first["found"]


@pytest.mark.slow
def test_the_line_of_the_source_is_named(tmp_path: Path) -> None:
    first = with_fault(tmp_path, "special_stacktrace", "aten::relu.out", "rounding")
    assert first["source"] == "torch/nn/modules/activation.py:143"


@pytest.mark.slow
def test_a_node_inside_a_delegate_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    captured = testing.captured

    def with_wrong_node(
        case: Case, board: Board, settings: testing.Settings, capture: Capture
    ) -> tuple[RunResult, bytes]:
        result, output = captured(case, board, settings, capture)
        if capture.feeds is not None:
            return result, output
        data = bytearray(output)
        for at in range(0, len(data) - 28, 4):
            kind, length, _, _, _, _, inside = struct.unpack_from("<7I", data, at)
            if (kind, length, inside) == (10, 20, 5):
                place = (
                    at + 28 + 8 + 16 + 4 * struct.unpack_from("<I", data, at + 44)[0]
                )
                data[place + 3] ^= 0x40
                break
        return result, bytes(data)

    monkeypatch.setattr(testing, "captured", with_wrong_node)
    status, report = debug(tmp_path, "xnnpack_encoder", "--board", "host")
    assert status == 1
    assert report["first"]["delegate_node"] == 5
    assert report["first"]["operator"].startswith("XnnpackBackend ")
    assert report["first"]["kernel"]


@pytest.mark.slow
def test_small_windows_find_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lockstep, "ROOM", 3000)
    first = with_fault(tmp_path, "model_gru_small", "aten::tanh.out", "border")
    monkeypatch.setattr(lockstep, "ROOM", 1 << 25)
    assert with_fault(tmp_path, "model_gru_small", "aten::tanh.out", "border") == first


@pytest.mark.qemu
@pytest.mark.slow
@pytest.mark.parametrize("words", [(), ("--transport", "uart")])
def test_on_an_emulated_board(tmp_path: Path, words: tuple[str, ...]) -> None:
    folder = planted.write(tmp_path / "kernels", "aten::relu.out", "relu_f32", "border")
    words = ("--board", "mps2-an386", "--kernels", str(folder), *words)
    status, report = debug(tmp_path, "model_lenet_small", *words)
    assert status == 1
    assert report["first"]["instruction"] == 1
    assert report["first"]["kernel"] == "planted"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("nowhere", "--board", "host"), "nowhere does not exist"),
        ((path_of("model_lenet_small"), "--board", "hosd"), "unknown board 'hosd'"),
        ((PROGRAMS, "--board", "host"), "give one, such as"),
    ],
)
def test_bad_input_gets_a_sentence(
    words: tuple[object, ...], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["debug", *map(str, words)]) != 0
    assert said in capsys.readouterr().err
