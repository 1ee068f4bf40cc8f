"""`ember inspect --board`: which kernel runs each node of a delegate, and why."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from math import prod
from pathlib import Path
from typing import Any

import pytest
from committed_cases import path_of

from ember import boards, cli, model, program
from ember.firmware import repack
from ember.plan.improved import Improved
from ember.select import selection

STATIC = "xnnpack_mlp_static"


def inspected(
    capsys: pytest.CaptureFixture[str], path: Path, board: str, *words: str
) -> list[Mapping[str, Any]]:
    """The nodes of all delegates of a program."""
    words = ("inspect", str(path), "--board", board, *words, "--json", "-")
    assert cli.main(words) == 0
    (method,) = json.loads(capsys.readouterr().out)["program"]["methods"]
    return [node for delegate in method["delegates"] for node in delegate["nodes"]]


def of(capsys: pytest.CaptureFixture[str], name: str, board: str) -> str:
    """Variant, kernel and reason of the first product or convolution of a case."""
    nodes = inspected(capsys, path_of(f"xnnpack_{name}"), board)
    layer = next(node for node in nodes if node["kind"] in ("FullyConnected", "Conv2d"))
    return f"{layer['variant']}|{layer['kernel']}|{layer['why']}"


TABLE = [
    ("mlp", "qemu-a64-sme", "pf32_gemm|fully_connected_f32_sme|the board has sme"),
    ("mlp_f16", "qemu-a64-sme", "pf16_gemm|fully_connected_f16_sme|the board has sme"),
    (
        "mlp_static",
        "qemu-a64-sme",
        "pqs8_qc8w_gemm|fully_connected_qs8_sme|the board has sme",
    ),
    (
        "mlp_qd8",
        "qemu-a64-i8mm",
        "qp8_f32_qc8w_gemm|fully_connected_qd8_qc8_i8mm|"
        "the board has no sme; the board has i8mm",
    ),
    (
        "mlp_int4",
        "qemu-a64-sme",
        "qp8_f32_qb4w_gemm|fully_connected_qd8_qb4_sme|the board has sme",
    ),
    (
        "setting_weights_as_inputs",
        "qemu-a64-sme",
        "pf32_gemm|fully_connected_f32|not fully_connected_f32_neon: its weights are"
        " not constant; not fully_connected_f32_sme: its weights are not constant",
    ),
]


@pytest.mark.parametrize(("name", "board", "expected"), TABLE)
def test_nodes_say_which_kernel_and_why(
    capsys: pytest.CaptureFixture[str], name: str, board: str, expected: str
) -> None:
    assert of(capsys, name, board) == expected


def test_a_row_alone_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    nodes = inspected(capsys, path_of("xnnpack_lstm"), "qemu-a64-sme")
    rows = [node for node in nodes if node["kind"] == "FullyConnected"]
    assert rows
    for layer in rows:
        sizes = json.loads("[" + layer["outputs"][0].partition("[")[2])
        assert ("one row" in layer["why"]) == (prod(sizes[:-1]) == 1), sizes


def test_short_vectors_are_a_reason(capsys: pytest.CaptureFixture[str]) -> None:
    path = path_of("xnnpack_separable_static")
    by_board = {}
    for board in ("qemu-a64-sme", "qemu-a64-sme-128"):
        nodes = inspected(capsys, path, board)
        (depthwise,) = (node for node in nodes if node["kind"] == "DepthwiseConv2d")
        by_board[board] = depthwise
    assert by_board["qemu-a64-sme"]["kernel"] == "depthwise_conv_2d_qs8_sme"
    short = by_board["qemu-a64-sme-128"]
    assert short["kernel"] == "depthwise_conv_2d_qs8_dot"
    assert "not depthwise_conv_2d_qs8_sme: the board's vectors are too" in short["why"]


def test_a_set_that_the_project_forbids_is_told(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    file = tmp_path / "ember.yaml"
    file.write_text("forbid: [sme]\n")
    path = path_of(STATIC)
    nodes = inspected(capsys, path, "qemu-a64-sme", "--project", str(file))
    layer = next(node for node in nodes if node["kind"] == "FullyConnected")
    assert layer["kernel"] == "fully_connected_qs8_i8mm"
    assert layer["why"] == "the project forbids sme; the board has i8mm"


# ---- what is not right ---------------------------------------------------------------


def damaged(folder: Path, **changes: Any) -> Path:
    original = model.read(path_of(STATIC))
    (method,) = original.program.methods
    delegate = replace(method.delegates[0], **changes)
    edited = replace(
        original.program, methods=(replace(method, delegates=(delegate,)),)
    )
    path = folder / "damaged.pte"
    path.write_bytes(program.write(edited))
    return path


def payload() -> bytes:
    return model.read(path_of(STATIC)).program.methods[0].delegates[0].data


MIDDLE = len(payload()) // 2
BAD = {
    "payload's schema is not XN00 or XN01": bytes(64),
    "payload is truncated": payload()[:MIDDLE],
    "payload contradicts itself": payload()[:MIDDLE]
    + b"\xff" * 64
    + payload()[MIDDLE + 64 :],
}


@pytest.mark.parametrize("sentence", BAD)
def test_a_bad_payload_is_one_sentence(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, sentence: str
) -> None:
    path = damaged(tmp_path, data=BAD[sentence])
    assert cli.main(["inspect", str(path), "--board", "qemu-a64-sme"]) == 1
    said = " ".join(capsys.readouterr().err.split())
    assert said.startswith("ember inspect: ") and sentence in said
    assert "Traceback" not in said


def test_the_delegate_of_another_backend_is_shown_as_missing(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = damaged(tmp_path, id="CoreMLBackend")
    assert cli.main(["inspect", str(path), "--board", "qemu-a64-sme"]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "CoreMLBackend" in said and "Ember has no such backend" in said


def test_weights_for_other_vectors_are_refused(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    mlp, board = model.read(path_of(STATIC)), boards.load("qemu-a64-sme")
    methods = mlp.program.methods
    chosen = selection.choose(mlp.program, mlp.content, (), board, methods, "mlp")
    path = tmp_path / "packed.pte"
    packed = repack.with_weights_packed(Improved.of(mlp), chosen)
    path.write_bytes(packed.content)
    assert cli.main(["inspect", str(path), "--board", "qemu-a64-sme"]) == 0
    capsys.readouterr()
    assert cli.main(["inspect", str(path), "--board", "qemu-a64-sme-128"]) == 1
    said = " ".join(capsys.readouterr().err.split())
    assert "weights were packed for another board" in said
