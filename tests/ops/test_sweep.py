# SPDX-License-Identifier: Apache-2.0
"""Calls that are drawn find faults; PyTorch gives the numbers of the tables."""

from __future__ import annotations

import json
import re
from pathlib import Path

import case_tables
import exporting
import planted
import pytest
from committed import check, run

from ember import cases, cli, kernels, paths

FAULTS = {
    "aten::maximum.out": "border",
    "aten::convolution.out": "rounding",
    "aten::permute_copy.out": "stride",
}
UNKNOWN = {"cadence": 49, "quantized": 6, "random": 2}  # lines, of 149, 74 and 2

pytestmark = pytest.mark.export


@pytest.mark.slow
def test_pytorch_gives_the_numbers_of_tables() -> None:
    """But of random operators, and of Cadence's, whose Python differs from its C++."""
    text = exporting.said_by("sweep", "numbers", accept=(0, 1))
    counts = {
        name: tuple(map(int, numbers))
        for name, *numbers in re.findall(
            r"^(\w+): (\d+) lines agree, (\d+) unknown, (\d+) differ", text, re.M
        )
    }
    for path in case_tables.tables():
        agree, unknown, differ = counts[path.stem]
        assert agree + unknown + differ == len(case_tables.read(path))
        assert unknown + differ <= UNKNOWN.get(path.stem, 0), path.stem


@pytest.mark.slow
def test_pytorch_answers_calls_as_their_list_says() -> None:
    assert "0 answers differ" in exporting.said_by("sweep", "refusals")


@pytest.mark.slow
@pytest.mark.parametrize("operator", FAULTS)
def test_drawn_calls_pass_and_find_a_fault(operator: str, tmp_path: Path) -> None:
    folder = tmp_path / "drawn"
    exporting.said_by("sweep", "calls", str(folder), "-k", operator, "--each", "12")
    drawn = cases.find([folder])
    assert len(drawn) == 12
    check(run([folder], "host"))
    kernel = kernels.load().operators[operator].sources[-1].stem
    library = planted.write(tmp_path / "kernels", operator, kernel, FAULTS[operator])
    assert failures(folder, library) >= 4


@pytest.mark.slow
def test_drawn_calls_find_what_only_some_numbers_show(tmp_path: Path) -> None:
    folder = tmp_path / "drawn"
    exporting.said_by("sweep", "calls", str(folder), "-k", "aten::maximum.out")
    source = paths.kernels() / "elementwise" / "maximum.c"
    for number, (right, wrong) in enumerate(
        (
            ("a != a ? a : b != b ? b : a > b ? a : b", "a > b ? a : b"),  # NaN
            ("int64_t, a > b", "int64_t, (int32_t)a > (int32_t)b"),
        )
    ):
        library = tmp_path / str(number)
        library.mkdir()
        text = source.read_text().replace("(maximum,", "(planted,")
        assert right in text
        (library / "planted.c").write_text(text.replace(right, wrong))
        entry = "[{op: maximum.out, kernels: [planted]}]\n"
        (library / "kernels.yaml").write_text(entry)
        assert failures(folder, library) >= 1


def failures(folder: Path, library: Path) -> int:
    """How many of the cases fail on the host with kernels of a library."""
    results = library / "results.json"
    options = ["--board", "host", "--kernels", str(library), "--json", str(results)]
    assert cli.main(["test", str(folder), *options]) == 1
    outcomes = json.loads(results.read_text())["cases"]
    return sum(outcome["status"] == "failed" for outcome in outcomes)
