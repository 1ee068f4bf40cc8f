"""Payloads of XNNPACK delegates: what the SDK reads, shows and links."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from committed_cases import matching, path_of

from ember import boards, cli, kernels, model
from ember.errors import SdkError
from ember.files import xnnpack
from ember.firmware import project
from ember.select import selection

MODELS = matching("xnnpack_*")


def payloads(path: Path) -> list[bytes]:
    methods = model.read(path).program.methods
    return [each.data for method in methods for each in method.delegates]


@pytest.mark.parametrize("path", MODELS, ids=lambda path: path.name)
def test_graphs_are_read(path: Path) -> None:
    for payload in payloads(path):
        graph = xnnpack.parse(payload)
        assert graph.nodes
        assert all(node.outputs for node in graph.nodes)
        ends = [value.external for value in graph.values if value.external is not None]
        assert sorted(ends) == list(range(len(ends)))


def test_configurations_are_what_they_are_called() -> None:
    def weights(name: str) -> str:
        blobs = payloads(path_of(f"xnnpack_layer_linear_{name}"))
        nodes = [node for blob in blobs for node in xnnpack.parse(blob).nodes]
        return next(n for n in nodes if n.kind == "FullyConnected").inputs[1].datatype

    names = {"f32": "float32", "f16": "float16", "qs8": "qcint8", "qs8_tensor": "qint8"}
    names |= {"qd8": "qcint8", "qc4": "qcint4", "qb4_32": "qbint4", "qb4_128": "qbint4"}
    assert {name: weights(name) for name in names} == names


def test_damaged_payloads_are_refused() -> None:
    (payload,) = payloads(path_of("xnnpack_mlp_static"))
    for size in range(0, len(payload) - 8, 7):
        with pytest.raises(SdkError):
            xnnpack.parse(payload[:size])


def test_inspect_shows_kernels_of_nodes(capsys: pytest.CaptureFixture[str]) -> None:
    path = path_of("xnnpack_mlp_static")
    assert cli.main(["inspect", str(path), "--board", "host", "--json", "-"]) == 0
    (delegate,) = json.loads(capsys.readouterr().out)["program"]["methods"][0][
        "delegates"
    ]
    rows = [
        (node["kind"], node["variant"], node["kernel"]) for node in delegate["nodes"]
    ]
    assert rows == [
        ("Convert", "", "convert"),
        ("FullyConnected", "pqs8_qc8w_gemm", "fully_connected_qs8"),
        ("FullyConnected", "pqs8_qc8w_gemm", "fully_connected_qs8"),
        ("Convert", "", "convert"),
    ]


@pytest.mark.parametrize(
    ("board", "kernel"),
    [
        ("host", "fully_connected_qd8_qc4"),
        ("qemu-a64", "fully_connected_qd8_qc4_dot"),
        ("qemu-a64-i8mm", "fully_connected_qd8_qc4_i8mm"),
        ("qemu-a64-sme", "fully_connected_qd8_qc4_sme"),
    ],
)
def test_kernels_take_odd_columns_of_int4(
    board: str, kernel: str, capsys: pytest.CaptureFixture[str]
) -> None:
    path = path_of("xnnpack_rare_int4_odd")
    assert cli.main(["inspect", str(path), "--board", board, "--json", "-"]) == 0
    delegates = json.loads(capsys.readouterr().out)["program"]["methods"][0][
        "delegates"
    ]
    nodes = [node for delegate in delegates for node in delegate["nodes"]]
    layers = [node["kernel"] for node in nodes if node["kind"] == "FullyConnected"]
    assert layers == 6 * [kernel]


def test_only_the_nodes_in_use_are_linked() -> None:
    mlp = model.read(path_of("xnnpack_mlp"), ())
    host = boards.load("host")
    methods = mlp.program.methods
    chosen = selection.choose(mlp.program, mlp.content, (), host, methods, "mlp")
    assert chosen.nodes == {"fully_connected_f32"}
    table = kernels.backend_table(chosen.backends, host.isa, chosen.nodes)
    assert "ember_xnnpack_fully_connected_f32" in table
    assert "ember_xnnpack_softmax" not in table


def test_a_project_switches_sme_off(tmp_path: Path) -> None:
    file = tmp_path / "ember.yaml"
    file.write_text("forbid: [sme]\n", encoding="utf-8")
    board = project.load(file).rules.narrowed(boards.load("qemu-a64-sme"))
    assert board.isa == ("bf16mm", "i8mm", "fhm", "dot", "neon")
    assert board.svl is None
    mlp = model.read(path_of("xnnpack_mlp"), ())
    methods = mlp.program.methods
    chosen = selection.choose(mlp.program, mlp.content, (), board, methods, "mlp")
    assert chosen.nodes == {"fully_connected_f32_neon"}


def test_a_board_with_sme_takes_its_variants() -> None:
    mlp = model.read(path_of("xnnpack_mlp"), ())
    board = boards.load("qemu-a64-sme")
    methods = mlp.program.methods
    chosen = selection.choose(mlp.program, mlp.content, (), board, methods, "mlp")
    assert chosen.nodes == {"fully_connected_f32_sme"}
    backend = kernels.load().backends[xnnpack.BACKEND]
    assert backend.reasons("fully_connected_f32_sme", board.isa) == [
        "the board has sme"
    ]
    assert "the board has no sme" in backend.reasons("fully_connected_f32", ["neon"])
