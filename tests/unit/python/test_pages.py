"""Pages: their frame, and those of profiles that are made by hand."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from html_pages import Page, needs_nothing

from ember import cli
from ember.cli import export
from ember.cli.reports import pages
from ember.cli.reports.pages import compare, plan, profile
from ember.cli.reports.pages import profile as profile_page

NASTY = '</script><img src="x">\u202e&'


def row(name: str, node: int, cost: int, macs: int = 0, **more: Any) -> dict[str, Any]:
    return {
        "name": name,
        "kernels": [f"{name}_f32"],
        "nodes": [node],
        "instructions": cost,
        "macs": macs,
        "moved": 100,
        "share": cost / 1000,
        "cycles": None,
        "board_cycles": None,
        "inside": None,
        "macs_per_instruction": macs / cost if macs else None,
    } | more


def made(*rows: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {
        "model": "net",
        "board": "mps2-an386",
        "unit": "instructions",
        "load": 50,
        "execute": 1000,
        "nodes": list(rows),
        "operators": list(rows),
        "load_cycles": None,
        "execute_cycles": None,
        "load_board_cycles": None,
        "execute_board_cycles": None,
        "details": None,
    } | more


def test_any_text_is_only_text() -> None:
    body = [pages.table(NASTY, [NASTY], [[NASTY]]), f"<p {pages.tip(NASTY)}></p>"]
    text = pages.page(NASTY, [*body, pages.facts({NASTY: NASTY})])
    page = Page(text)
    assert not [tag for tag, _ in page.elements if tag == "img"]
    assert page.tables[0].rows == [[NASTY.replace("\u202e", "\ufffd")]]
    assert "\u202e" not in text
    assert needs_nothing(text)


def test_dark_light_and_paper() -> None:
    text = pages.page("x", [])
    assert "prefers-color-scheme: dark" in text
    assert "@media print" in text
    assert "width=device-width" in text


def test_cells() -> None:
    table = pages.table(
        "t", ("a", ">b"), [(None, 1234567), ("x", 0.5), ("", pages.share(0.125))]
    )
    page = Page(pages.page("x", [table]))
    assert page.tables[0].column("b") == ["1,234,567", "0.50", "12.5%"]
    assert 'data-sort="0.125"' in table
    assert 'data-sort="Infinity"' in pages.cell(pages.Number(float("inf"), "exact"))


@pytest.mark.parametrize(
    ("most", "binary", "wanted"),
    [
        (0, False, [0]),
        (3, False, [0, 1, 2, 3]),
        (29, False, [0, 10, 20]),
        (12288, True, [0, 4096, 8192, 12288]),
        (100, True, [0, 32, 64, 96]),
    ],
)
def test_ticks_are_round_numbers(most: int, binary: bool, wanted: list[int]) -> None:
    assert pages.ticks(most, binary=binary) == wanted


def test_names_where_room_is_scarce() -> None:
    assert pages.short("aten::add.out, instruction 12 (output 0)") == "add 12"
    assert pages.short("aten::convolution.out") == "convolution"
    assert pages.short("input 0") == "input 0"
    assert pages.fitting("convolution", 200) == "convolution"
    assert pages.fitting("convolution", 48) == "convo\u2026"
    assert pages.fitting("convolution", 20) == ""


def test_a_profile_without_details_is_still_a_page() -> None:
    text = profile_page.of(made(row("a", 0, 900, 90), row("b", 1, 100)))
    assert Page(text).tables[1].column("instructions") == ["900", "100"]
    assert needs_nothing(text)


def test_an_operator_lights_up_its_nodes() -> None:
    facts = made(row("a", 0, 900), row("b", 1, 100))
    page = Page(profile_page.of(facts))
    operators, nodes = page.tables
    keys = [given["data-key"] for given in operators.attributes]
    assert keys == ["a", "b"]
    assert [given["data-group"] for given in nodes.attributes] == keys
    strip = [given for _, given in page.elements if given.get("class") == "block"]
    assert [given["data-group"] for given in strip] == keys


def test_a_slow_node_stands_out() -> None:
    facts = made(row("a", 0, 900, 90), row("b", 1, 100, 90))
    node = {"reads": [], "writes": [], "scratch": 0, "arguments": {}}
    facts["details"] = {
        "least": [45.0, 45.0],
        "memories": [],
        "tensors": [],
        "values": {},
        "nodes": [node, node],
    }
    page = Page(profile_page.of(facts))
    assert page.tables[1].column("of the limit") == ["slow: 5.0%", "45.0%"]


def test_only_the_costliest_nodes_of_many_have_sections() -> None:
    facts = made(*(row("a", node, 1000 - node) for node in range(600)))
    facts["operators"] = [row("a", 0, 1000)]
    node = {"reads": [], "writes": [0], "scratch": 0, "arguments": {}}
    tensor = {
        "name": "input 0", "type": "int8[4]", "values": [0], "memory": 1, "offset": 0,
        "bytes": 4, "state": False, "alive": [[-1, 600]],
    }  # fmt: skip
    peak = {"instruction": 0, "operator": "a", "bytes": 4, "tensors": [], "more": 0}
    place = {"memory": "ram", "offset": 0, "address": 0x20000000}
    facts["details"] = {
        "least": [None] * 600,
        "memories": [{"id": 1, "bytes": 16, "alive": [4] * 602, "peak": peak} | place],
        "instructions": ["a"] * 600,
        "tensors": [tensor],
        "values": {"0": tensor | {"kind": "planned"} | place},
        "nodes": [node] * 600,
    }
    page = Page(profile_page.of(facts))  # no link leads nowhere
    assert len([tag for tag, _ in page.elements if tag == "section"]) == 500
    assert "100 cheaper nodes are not listed." in page.text
    strip = [given for tag, given in page.elements if given.get("class") == "block"]
    assert len(strip) == 600 + 1


def test_a_roofline_has_each_node_where_it_belongs() -> None:
    facts = made(row("a", 0, 1000, 2000), row("b", 1, 500, 50), row("c", 2, 100))
    roof = {"instruction": {"macs": {"float32": 4.0, "int8": 16.0}}}
    facts["details"] = {"roof": roof, "values": {}}
    picture = "".join(profile.roofline(facts, facts["nodes"], {"a": 0, "b": 1, "c": 2}))
    page = Page(picture.replace('href="#', 'name="'))
    dots = [given for tag, given in page.elements if tag == "circle"]
    # 20 MACs per byte, 2 per instruction; 0.5 per byte, 0.1 per instruction.
    assert [given["data-node"] for given in dots] == ["n0", "n1"]
    assert float(dots[0]["cx"]) > float(dots[1]["cx"])
    assert float(dots[0]["cy"]) < float(dots[1]["cy"])
    roofs = [given for tag, given in page.elements if given.get("class") == "roof"]
    assert len(roofs) == 2  # without bytes in an instruction, no slopes
    assert all(float(given["y1"]) < float(dots[0]["cy"]) for given in roofs)
    assert not list(profile.roofline(made(row("c", 0, 1)), [row("c", 0, 1)], {"c": 0}))


# ---- two of them ---------------------------------------------------------------------


def test_names_of_profiles_are_only_text() -> None:
    facts = made(row(NASTY, 0, 900, 90), row("b", 1, 100), model=NASTY, board=NASTY)
    facts["unit"] = NASTY
    changes = {NASTY: {NASTY: [1, 2]}}
    for text in (
        profile_page.of(facts),
        compare.of_profiles((NASTY, NASTY), facts, made(model="x")),
        compare.of_sizes((NASTY, NASTY), changes, {NASTY: [NASTY, "b"]}),
    ):
        assert not [tag for tag, _ in Page(text).elements if tag == "img"]
        assert needs_nothing(text)


def test_two_profiles_on_a_page() -> None:
    before = made(row("a", 0, 800), row("b", 1, 100), row("gone", 2, 10))
    after = made(row("a", 0, 1000), row("b", 1, 100), execute=1200, load=40)
    text = compare.of_profiles(("x.json", NASTY), before, after)
    page = Page(text)
    assert needs_nothing(text)
    whole, operators = page.tables
    assert whole.rows[0][:5] == [
        "instructions, execute", "1,000", "1,200", "+200", "1.200"
    ]  # fmt: skip
    assert whole.rows[1][:4] == ["instructions, load", "50", "40", "-10"]
    assert operators.column("operator") == ["a", "gone"]
    assert operators.column("change") == ["+200", "-10"]
    assert 'data-sort="200">+200<' in text
    assert "1 did not change." in page.text
    assert "x.json: net on mps2-an386" in page.text


def test_options_that_differ_come_first() -> None:
    sides = [
        made(row("a", 0, 900), options={"--optimize": how, "Ember": "1"})
        for how in ("size", "speed")
    ]
    page = Page(compare.of_profiles(("x", "y"), *sides))
    assert page.tables[0].rows == [["--optimize", "size", "speed"]]
    same = Page(compare.of_profiles(("x", "y"), sides[0], sides[0]))
    assert "What differs" not in same.text
    older = Page(compare.of_profiles(("x", "y"), made(row("a", 0, 9)), sides[0]))
    assert "What differs" not in older.text


def test_a_bar_is_as_long_as_its_change() -> None:
    changes = {"firmware": {"total": [10_000, 9_996], "new": [0, 5], "half": [10, 5]}}
    text = compare.of_sizes(("one", "two"), changes, {})
    widths = re.findall(r'<i class="bar \w+" style="width:([\d.]+)%">', text)
    assert sorted(map(float, widths)) == [0.04, 50.0, 100.0]


def test_instructions_are_not_compared_with_cycles() -> None:
    cycles = {"cycles": 5000, "board_cycles": 6000}
    before = made(row("a", 0, 800))
    after = made(
        row("a", 0, 900, **cycles), execute_cycles=5000, execute_board_cycles=6000
    )
    page = Page(compare.of_profiles(("x", "y"), before, after))
    assert "A counts instructions, B cycles" in page.text
    assert page.tables[-1].rows[0][1:3] == ["800", "900"]


def test_sizes_of_two_builds() -> None:
    changes = {"firmware": {"code": [100, 90]}, "operators": {"aten::add.out": [0, 5]}}
    page = Page(compare.of_sizes(("one", "two"), changes, {}))
    assert [table.rows[0][:4] for table in page.tables] == [
        ["code", "100", "90", "-10"],
        ["aten::add.out", "0", "5", "+5"],
    ]
    same = compare.of_sizes(("one", "two"), {"firmware": {}, "operators": {}}, {})
    assert "The two builds have the same sizes." in Page(same).text


@pytest.mark.parametrize(
    "words",
    [
        *(["profile", "x.pte", "--board", "mps2-an386", option] for option in (
            "--html", "--trace", "--model-explorer"
        )),
        ["compare", "a", "b", "--html"],
        ["plan", "x.pte", "--board", "mps2-an386", "--html"],
    ],
)  # fmt: skip
def test_a_place_that_cannot_be_written_is_refused_first(
    words: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main([*words, str(tmp_path / "none" / "x.html")]) != 0
    told = capsys.readouterr().err
    assert "none" in told
    assert "x.pte" not in told
    assert len(told.strip().splitlines()) <= 2


def test_what_is_no_profile_is_no_page(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    wrong = tmp_path / "a.json"
    wrong.write_text(json.dumps({"nodes": []}))
    page = tmp_path / "page.html"
    assert cli.main(["compare", str(wrong), str(wrong), "--html", str(page)]) == 1
    assert "is not a profile" in capsys.readouterr().err
    assert not page.exists()


@pytest.mark.parametrize("broken", [5, {}, {"origins": 3}, {"origins": [], "code": 1}])
def test_a_damaged_profile_is_told(
    broken: object, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    good, bad, page = (tmp_path / name for name in ("good", "bad", "page.html"))
    good.write_text(json.dumps(made(row("a", 0, 900))))
    bad.write_text(json.dumps(made(row("a", 0, 900), details=broken)))
    assert cli.main(["compare", str(good), str(good), "--html", str(page)]) == 0
    page.unlink()
    assert cli.main(["compare", str(good), str(bad), "--html", str(page)]) == 1
    told = capsys.readouterr().err
    assert "is damaged" in told
    assert "bug in Ember" not in told
    assert not page.exists()


def test_the_report_of_quantising_is_such_a_page() -> None:
    layer = {
        "name": NASTY,
        "module": None,
        "operators": "convolution",
        "weights": None,
        "own_snr_db": None,
        "snr_db": 20.04,
        "saturated": 0.0123,
        "range_used": 0.5,
        "advice": ["this", "that"],
    }
    accuracy = {"float": 0.9, "quantised": 0.85}
    facts = {
        "samples": 3, "output_snr_db": 33.3, "accuracy": accuracy, "layers": [layer]
    }  # fmt: skip
    text = export._page("net", facts)
    assert needs_nothing(text)
    page = Page(text)
    assert page.tables[0].rows[0][2:] == [
        "exact", "20.0", "1.23%", "50%", "", "this; that"
    ]  # fmt: skip
    assert "90.00% in float, 85.00% quantised" in page.text


# ---- what is seen --------------------------------------------------------------------


def occupied(**memory: Any) -> str:
    tensor = {
        "name": "input 0",
        "type": "int8[600]",
        "values": [0],
        "memory": 2,
        "offset": 0,
        "bytes": 600,
        "state": False,
        "alive": [[-1, 0]],
    }
    method = {"instructions": ["aten::add.out"], "tensors": [tensor]}
    facts = {"id": 2, "bytes": 600, "alive": [600, 600, 0]} | memory
    parts = [*plan.picture(method, facts), plan.tensor_rows(method, facts)]
    return pages.page("x", parts)


def test_a_memory_has_its_name_and_its_capacity() -> None:
    text = occupied(memory="dtcm", capacity=1024)
    assert 'class="capacity"' in text
    assert "dtcm: 1,024 bytes" in text
    assert (
        Page(text).tables[0].caption.startswith("Tensors of planned memory 2 in dtcm")
    )
    far = occupied(memory="dtcm", capacity=65536)
    assert 'class="capacity"' not in far  # a line far above
    assert "dtcm: 65,536 bytes, 109 times as many as planned here" in far
    over = occupied(memory="dtcm", capacity=512)
    assert 'class="capacity"' in over and "dtcm: 512 bytes<" in over
    unknown = occupied(memory=None, capacity=None)
    assert 'class="capacity"' not in unknown and "None" not in Page(unknown).text


def test_colours_are_explained() -> None:
    text = profile_page.of(made(row("a", 0, 900), row("b", 1, 100)))
    legend = text.partition('<p class="legend">')[2].partition("</p>")[0]
    assert Page(f"<p>{legend}</p>").text.split() == ["a", "b"]
    assert legend.count(pages.hue(1)) == 1
    many = pages.legend([str(number) for number in range(40)])
    assert many.count("swatch") == 12 and "and 28 more" in many
    tensor = occupied().partition("<tbody>")[2]
    assert pages.hue(0) in tensor


def test_verdicts_stand_before_what_a_narrow_screen_cuts() -> None:
    rows = [row("a", 0, 900, macs=90), row("b", 1, 100, macs=9)]
    details = {"least": [45.0, 45.0], "memories": [], "values": {}, "nodes": []}
    facts = made(*rows, details=None)
    heads = Page(profile_page.of(facts)).tables[1].heads
    assert heads[:4] == ["node", "operator", "share", "instructions"]
    assert heads[-1] == "kernel"
    columns = profile_page._nodes(facts | {"details": details}, rows)
    heads = (
        Page(pages.page("x", columns).replace("<a href", "<a class")).tables[0].heads
    )
    assert heads[:3] == ["node", "operator", "of the limit"]
