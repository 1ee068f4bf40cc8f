"""`ember profile --html`, `--trace`, `--model-explorer`: figures as in `--json`."""

from __future__ import annotations

import itertools
import json
import operator
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import committed
import pytest
from browser import BROWSER, browser
from committed_cases import path_of
from html_pages import Page, needs_nothing

from ember import cli, program
from ember.toolchain import elf

pytestmark = [pytest.mark.qemu, pytest.mark.slow]


@dataclass(frozen=True)
class Views:
    """What one run of `ember profile` wrote."""

    facts: dict[str, Any]
    page: Path
    trace: dict[str, Any]
    node_data: dict[str, Any]
    folder: Path  # of the build

    def slices(self) -> list[dict[str, Any]]:
        return [event for event in self.trace["traceEvents"] if event["ph"] == "X"]


def profiled(folder: Path, name: str, board: str, *options: str) -> Views:
    words = ["profile", str(path_of(name)), "--board", board, *options]
    files = {view: str(folder / view) for view in ("json", "trace")}
    files |= {"model-explorer": str(folder / "nodes"), "out": str(folder / "build")}
    files["html"] = str(folder / "page.html")
    for option, file in files.items():
        words += [f"--{option}", file]
    assert cli.main(words) == 0
    facts, trace, nodes = (
        json.loads((folder / file).read_text()) for file in ("json", "trace", "nodes")
    )
    return Views(facts, folder / "page.html", trace, nodes, folder / "build")


@pytest.fixture(scope="module", name="network")
def _network(tmp_path_factory: pytest.TempPathFactory) -> Views:
    folder = tmp_path_factory.mktemp("network")
    return profiled(folder, "model_resnet8_small", "mps2-an386", "--cycles")


@pytest.fixture(scope="module", name="looping")
def _looping(tmp_path_factory: pytest.TempPathFactory) -> Views:
    folder = tmp_path_factory.mktemp("looping")
    return profiled(folder, "special_map_cond", "mps2-an386")


@pytest.fixture(scope="module", name="delegated")
def _delegated(tmp_path_factory: pytest.TempPathFactory) -> Views:
    folder = tmp_path_factory.mktemp("delegated")
    return profiled(folder, "xnnpack_mlp_qd8", "mps2-an386")


# ---- the page ------------------------------------------------------------------------


def number(text: str) -> int:
    return int(text.replace(",", "")) if text else 0


@pytest.mark.parametrize("name", ["network", "looping", "delegated"])
def test_the_page_has_the_figures_of_the_json(
    name: str, request: pytest.FixtureRequest
) -> None:
    views: Views = request.getfixturevalue(name)
    text, facts = views.page.read_text(), views.facts
    assert needs_nothing(text)
    operators, nodes = Page(text).tables[:2]
    for table, rows in ((operators, facts["operators"]), (nodes, facts["nodes"])):
        assert table.column("operator") == [row["name"] for row in rows]
        for head, key in (
            ("instructions", "instructions"),
            ("bytes", "moved"),
            ("MACs", "macs"),
            ("cycles", "cycles"),
            ("cycles here", "board_cycles"),
        ):
            if head in table.heads:
                assert [number(n) for n in table.column(head)] == [
                    row[key] for row in rows
                ]
        shares = [f"{row['share']:.1%}" for row in rows]
        assert table.column("share") == shares
    assert ("cycles" in nodes.heads) == (facts["execute_cycles"] is not None)
    code = facts["details"]["code"]["operators"]
    assert [number(n) for n in operators.column("code, bytes")] == [
        code.get(row["name"], 0) for row in facts["operators"]
    ]
    assert f"{facts['execute']:,}" in text


def test_each_node_leads_to_its_tensors(network: Views) -> None:
    page, details = Page(network.page.read_text()), network.facts["details"]
    ids = {given["id"] for tag, given in page.elements if tag == "section"}
    assert ids == {f"n{row['nodes'][0]}" for row in network.facts["nodes"]}
    tables = [table for table in page.tables if table.heads[1:2] == ["argument"]]
    assert len(tables) == len(ids)
    for index, (table, node) in enumerate(zip(tables, details["nodes"], strict=True)):
        touched = (details["values"][str(v)] for v in {*node["reads"], *node["writes"]})
        named = sorted(value["bytes"] for value in touched if value["bytes"])
        assert sorted(map(number, table.column("bytes"))) == named, index
    blocks = {given["data-key"] for tag, given in page.elements if tag == "rect" and
              given["class"] == "block"}  # fmt: skip
    keys = {given["data-key"] for table in tables for given in table.attributes}
    assert keys - blocks == {""}  # constants; all else is drawn


def test_places_are_those_of_the_firmware(network: Views) -> None:
    details = network.facts["details"]
    (memory,) = details["memories"]
    linked = elf.read(network.folder / "5-firmware" / "firmware.elf")
    start = linked.address("forward_planned_1")
    assert memory["address"] == start
    method = program.read(network.folder / "4-package" / "model.pte").methods[0]
    drawn = {v: t for t in details["tensors"] for v in t["values"]}
    for index, value in details["values"].items():
        tensor = method.values[int(index)]
        assert isinstance(tensor, program.Tensor)
        if tensor.allocation is None:
            assert (value["kind"], value["address"]) == ("constant", None)
            continue
        assert value["offset"] == tensor.allocation.offset
        assert value["address"] == start + tensor.allocation.offset
        assert value["memory"] == memory["memory"] == "data"
        block = drawn[int(index)]
        assert block["offset"] <= value["offset"]
        assert value["offset"] + value["bytes"] <= block["offset"] + block["bytes"]
    assert memory["peak"]["bytes"] >= max(memory["alive"]) > 0


def test_memory_over_time_is_that_of_the_plan(network: Views, tmp_path: Path) -> None:
    plan = tmp_path / "plan.json"
    words = ["plan", str(path_of("model_resnet8_small")), "--board", "mps2-an386"]
    assert cli.main([*words, "--json", str(plan)]) == 0
    (method,) = json.loads(plan.read_text())["methods"]
    details = network.facts["details"]
    by_place = operator.itemgetter("offset", "bytes", "alive")
    assert sorted(details["tensors"], key=by_place) == sorted(
        method["tensors"], key=by_place
    )
    for moment, alive in enumerate(details["memories"][0]["alive"], start=-1):
        assert alive == sum(
            tensor["bytes"]
            for tensor in details["tensors"]
            for first, last in tensor["alive"]
            if first <= moment <= last
        )


def test_no_node_is_above_the_limit_of_its_core(network: Views) -> None:
    facts = network.facts
    for row, least in zip(facts["nodes"], facts["details"]["least"], strict=True):
        assert least is not None
        assert 0 < least <= row["board_cycles"], row
        # float32 on Cortex-M4, from memories that never let it wait
        best = max(row["macs"] / 0.5, row["moved"] / 4)
        assert least == pytest.approx(best, abs=2)


def test_layers_row_by_row_have_no_picture_of_memory(tmp_path: Path) -> None:
    name, options = "int8_resnet8_small_m4", ("--rows", "smallest")
    views = profiled(tmp_path, name, "mps2-an386", *options)
    page = Page(views.page.read_text())
    assert "Not drawn: layers run row by row" in page.text
    places = [value["address"] for value in views.facts["details"]["values"].values()]
    assert any(place is not None for place in places)


# ---- traces --------------------------------------------------------------------------


def test_a_trace_adds_up(network: Views) -> None:
    facts = network.facts
    load, execute, *rest = network.slices()
    assert (load["name"], load["dur"]) == ("load", facts["load_board_cycles"])
    assert execute["ts"] == load["dur"]
    assert execute["dur"] >= facts["execute_board_cycles"]
    by_node = {row["nodes"][0]: row for row in facts["nodes"]}
    assert [event["args"]["node"] for event in rest] == sorted(by_node)
    at = execute["ts"]
    for event in rest:
        row = by_node[event["args"]["node"]]
        assert (event["name"], event["ts"]) == (row["name"], at)
        assert event["dur"] == row["board_cycles"] == event["args"]["board_cycles"]
        assert event["args"]["instructions"] == row["instructions"]
        assert event["args"].get("macs", 0) == row["macs"]
        at += event["dur"]
    assert at <= execute["ts"] + execute["dur"]
    assert network.trace["otherData"]["unit"] == "1 us is 1 cycle"


def test_a_trace_counts_the_memory_in_use(network: Views) -> None:
    (memory,) = network.facts["details"]["memories"]
    events = network.trace["traceEvents"]
    counts = [event for event in events if event["ph"] == "C"]
    starts = {event["args"]["node"]: event["ts"] for event in network.slices()[2:]}
    for node, start in starts.items():
        before = [event for event in counts if event["ts"] <= start]
        assert before[-1]["args"]["bytes"] == memory["alive"][node + 1]


def test_a_loop_is_drawn_as_it_ran(looping: Views) -> None:
    slices = looping.slices()[2:]
    times = Counter(event["args"]["node"] for event in slices)
    assert max(times.values()) == 5  # rows of the input
    starts = [event["ts"] for event in slices]
    assert starts == sorted(starts)
    for row in looping.facts["nodes"]:
        of_node = [e for e in slices if e["args"]["node"] == row["nodes"][0]]
        assert sum(event["dur"] for event in of_node) == row["instructions"]
        assert of_node[0]["args"].get("bytes", 0) == row["moved"] // len(of_node)
    assert looping.trace["otherData"]["unit"] == "1 us is 1 instruction"


def test_nodes_of_a_delegate_lie_within_it(delegated: Views) -> None:
    slices = delegated.slices()[2:]
    inside = [e for e in slices if isinstance(e["args"]["node"], str)]
    assert inside
    for before, after in itertools.pairwise(inside):
        if before["args"]["node"].split(".")[0] == after["args"]["node"].split(".")[0]:
            assert after["ts"] == before["ts"] + before["dur"]
    whole = {e["args"]["node"]: e for e in slices if e not in inside}
    for event in inside:
        outer = whole[int(event["args"]["node"].partition(".")[0])]
        assert outer["ts"] <= event["ts"]
        assert event["ts"] + event["dur"] <= outer["ts"] + outer["dur"]
    names = {event["name"] for event in inside}
    assert names == {"Convert", "FullyConnected", "Clamp"}


# ---- Model Explorer ------------------------------------------------------------------


def test_node_data_are_of_the_program_as_it_was_read(network: Views) -> None:
    method = committed.program_of("model_resnet8_small").methods[0]
    assert list(network.node_data) == ["forward"]
    data = network.node_data["forward"]
    known = {f"forward_0_{index}" for index in range(len(method.instructions))}
    assert set(data["results"]) <= known
    total = sum(result["value"] for result in data["results"].values())
    assert total == sum(row["board_cycles"] for row in network.facts["nodes"])
    origins = network.facts["details"]["origins"]
    assert origins != list(range(len(origins)))  # passes joined nodes
    for key, result in data["results"].items():
        operators = {
            network.facts["details"]["instructions"][row["nodes"][0]]
            for row in network.facts["nodes"]
            if f"forward_0_{origins[row['nodes'][0]]}" == key
        }
        call = method.instructions[int(key.removeprefix("forward_0_"))]
        assert isinstance(call, program.KernelCall)
        assert method.operator_names[call.op_index] in operators
        assert result["value"] > 0
    assert data["name"] == "cycles on mps2-an386"
    assert [stop["stop"] for stop in data["gradient"]] == [0, 0.4, 1]


def test_node_data_of_delegates_have_graphs_of_their_own(delegated: Views) -> None:
    graphs = dict(delegated.node_data)
    outer = graphs.pop("forward")["results"]
    rows = delegated.facts["nodes"]
    origins = delegated.facts["details"]["origins"]
    for graph, data in graphs.items():
        file, _, key = graph.partition("::")
        assert file == "xnnpack_mlp_qd8.bpte"
        inner = {k: result["value"] for k, result in data["results"].items()}
        of_call = [
            row for row in rows if f"forward_0_{origins[row['nodes'][0]]}" == key
        ]
        assert inner == {
            str(row["inside"]): row["instructions"]
            for row in of_call
            if row["inside"] is not None
        }
        assert outer[key]["value"] == sum(row["instructions"] for row in of_call)
    assert graphs


# ---- two of them, in a browser -------------------------------------------------------


def test_a_page_of_two_profiles(
    network: Views, looping: Views, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files = [str(views.folder.parent / "json") for views in (network, looping)]
    both = tmp_path / "both.html"
    assert cli.main(["compare", *files, "--html", str(both), "--json", "-"]) == 0
    facts = json.loads(capsys.readouterr().out)
    text = both.read_text()
    assert needs_nothing(text)
    table = Page(text).tables[1]
    assert {name: [number(a), number(b)] for name, a, b, *_ in table.rows} == {
        name: pair for name, pair in facts["operators"].items() if pair[0] != pair[1]
    }


@pytest.mark.skipif(BROWSER is None, reason="no Chromium: apt-get install chromium")
def test_a_click_shows_a_node_and_lights_up_its_tensors(network: Views) -> None:
    with browser() as tab:
        tab.open(network.page.as_uri())
        shown = "getComputedStyle(document.getElementById('n3')).display"
        assert tab.value(shown) == "none"
        tab.value("document.querySelector('table a[href=\"#n3\"]').click()")
        assert tab.value(shown) == "block"
        while tab.value("document.querySelectorAll('rect.block.chosen').length") < 3:
            pass  # the strip, an input and an output in memory
        assert tab.value("document.querySelectorAll('circle.chosen').length") == 1
        tab.value("location.hash = '#n4'")
        while tab.value("!document.querySelector('rect.block.chosen[data-node=n4]')"):
            pass
        assert tab.value("!document.querySelector('.chosen[data-node=n3]')")
        tab.call("Emulation.setEmulatedMedia", media="print")
        paper = "[...document.querySelectorAll('section')].map("
        paper += "s => getComputedStyle(s).display).join()"
        assert set(tab.value(paper).split(",")) == {"block"}
