"""The page of `ember plan --html`, also as a browser shows it."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from browser import BROWSER, Tab, browser
from committed_cases import path_of
from html_pages import Page, needs_nothing

from ember import cli


@pytest.fixture(scope="module")
def answer(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Any]]:
    """The page of a small network, and the same as JSON."""
    folder = tmp_path_factory.mktemp("page")
    page, facts = folder / "plan.html", folder / "plan.json"
    words = ["plan", str(path_of("model_resnet8_small")), "--board", "mps2-an386"]
    assert cli.main([*words, "--html", str(page), "--json", str(facts)]) == 0
    return page, json.loads(facts.read_text())


def test_the_page_needs_nothing_else(answer: tuple[Path, dict[str, Any]]) -> None:
    text = answer[0].read_text(encoding="utf-8")
    assert needs_nothing(text)
    assert "prefers-color-scheme: dark" in text


def test_every_tensor_is_drawn_once_for_each_of_its_lives(
    answer: tuple[Path, dict[str, Any]],
) -> None:
    page, (method,) = Page(answer[0].read_text()), answer[1]["methods"]
    drawn = [given["data-tip"] for _, given in page.elements if "data-tip" in given]
    wanted = sorted(
        (
            tensor["name"],
            tensor["type"],
            f"{tensor['bytes']:,} bytes at {tensor['offset']:,}",
        )
        for tensor in method["tensors"]
        for _ in tensor["alive"]
        if tensor["bytes"]
    )
    assert sorted(tuple(text.split("\n")[:3]) for text in drawn) == wanted
    blocks = [given for tag, given in page.elements if tag == "rect"]
    for block in blocks:
        y, height = float(block["y"]), float(block["height"])
        assert y >= 11.9
        assert y + height <= 332.1


def test_blocks_have_labels_and_axes_ticks(
    answer: tuple[Path, dict[str, Any]],
) -> None:
    page, (method,) = Page(answer[0].read_text()), answer[1]["methods"]
    assert {"add 8", "relu 9", "input 0"} <= set(page.labels)
    assert {"0", "5", "10", "15"} <= set(page.labels)  # instructions
    assert {"4,096", "8,192"} <= set(page.labels)  # bytes
    most = method["memories"][0]["bytes"]
    assert max(method["memories"][0]["alive"]) <= most


def test_a_row_for_each_tensor_lights_up_with_its_blocks(
    answer: tuple[Path, dict[str, Any]],
) -> None:
    page, (method,) = Page(answer[0].read_text()), answer[1]["methods"]
    table = page.table("Tensors of planned memory 1")
    tensors = [tensor for tensor in method["tensors"] if tensor["bytes"]]
    assert table.column("tensor") == [
        tensor["name"]
        for tensor in sorted(tensors, key=lambda tensor: -tensor["bytes"])
    ]
    assert sum(int(n.replace(",", "")) for n in table.column("bytes")) == sum(
        tensor["bytes"] for tensor in tensors
    )
    keys = [given["data-key"] for given in table.attributes]
    assert len(set(keys)) == len(keys)
    blocks = [given["data-key"] for tag, given in page.elements if tag == "rect"]
    assert set(blocks) == set(keys)


def test_a_method_without_a_bound_of_work_has_a_page_too(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["plan", str(path_of("special_map_cond")), "--board", "mps2-an386"]
    assert cli.main([*words, "--html", str(tmp_path / "plan.html")]) == 0
    assert "work unbounded (" in capsys.readouterr().out
    page = Page((tmp_path / "plan.html").read_text())
    lives = page.table("Tensors of planned memory 1").column("in use")
    assert "1 to 5, 8" in lives  # twice, in a loop
    assert any("block state" in given.get("class", "") for _, given in page.elements)


def test_names_are_only_text() -> None:
    from ember.cli.reports.pages import plan as plan_page

    facts = {"board": "b<b>", "fits": True, "resolved": True, "methods": []}
    page = plan_page.of(facts, '<img src="x">\u202e')
    assert "<img" not in page
    assert "\u202e" not in page


# ---- in a browser --------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.skipif(BROWSER is None, reason="no Chromium: apt-get install chromium")
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_tensor_under_the_pointer_says_what_it_is(
    answer: tuple[Path, dict[str, Any]], scheme: str
) -> None:
    page, facts = answer
    with browser() as tab:
        feature = {"name": "prefers-color-scheme", "value": scheme}
        tab.call("Emulation.setEmulatedMedia", features=[feature])
        tab.call("Network.enable")
        tab.open(page.as_uri())
        assert tab.value("document.getElementById('tip').hidden") is True
        spot = tab.value(
            "(() => { const block = document.querySelectorAll('rect[data-tip]')[3];"
            " block.scrollIntoView(); const r = block.getBoundingClientRect();"
            " return [r.x + r.width / 2, r.y + r.height / 2] })()"
        )
        tab.call("Input.dispatchMouseEvent", type="mouseMoved", x=spot[0], y=spot[1])
        shown = tab.value(
            "(() => { const t = document.getElementById('tip');"
            " return t.hidden ? '' : t.innerText })()"
        )
        by_name = {tensor["name"]: tensor for tensor in facts["methods"][0]["tensors"]}
        name, kind, place, first, last = shown.split("\n")
        described = by_name[name]
        assert kind == described["type"]
        assert place == f"{described['bytes']:,} bytes at {described['offset']:,}"
        assert first.startswith("from instruction ")
        assert last.startswith("to instruction ")
        lit = tab.value("document.querySelector('tr.lit').cells[0].innerText")
        assert lit == name
        tab.call("Input.dispatchMouseEvent", type="mouseMoved", x=1, y=1)
        assert tab.value("document.getElementById('tip').hidden") is True
        assert tab.value("document.querySelectorAll('.lit').length") == 0
        assert _contrast(tab) > 4.5


@pytest.mark.slow
@pytest.mark.skipif(BROWSER is None, reason="no Chromium: apt-get install chromium")
@pytest.mark.parametrize("width", [360, 1200])
def test_a_narrow_window_scrolls_the_picture_not_the_page(
    answer: tuple[Path, dict[str, Any]], width: int
) -> None:
    size = {"width": width, "height": 800, "deviceScaleFactor": 1, "mobile": False}
    with browser() as tab:
        tab.call("Emulation.setDeviceMetricsOverride", **size)
        tab.open(answer[0].as_uri())
        assert tab.value("document.documentElement.scrollWidth") <= width
        assert tab.value("document.querySelector('svg').clientWidth") >= 600


def _contrast(tab: Tab) -> float:
    """Of text on the page, as the WCAG counts it; readable from 4.5 on."""
    text, back = (
        [int(part) for part in re.findall(r"\d+", tab.value(f"({style}).{name}"))]
        for style in ("getComputedStyle(document.body)",)
        for name in ("color", "backgroundColor")
    )

    def light(color: list[int]) -> float:
        parts = [channel / 255 for channel in color[:3]]
        linear = [
            p / 12.92 if p <= 0.04 else ((p + 0.055) / 1.055) ** 2.4 for p in parts
        ]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    high, low = sorted((light(text), light(back)), reverse=True)
    return (high + 0.05) / (low + 0.05)
