"""What is in scratch before a node runs does not matter: `ember debug` fills it."""

from __future__ import annotations

from pathlib import Path

import committed_cases
import pytest

from ember import cli

pytestmark = [pytest.mark.qemu, pytest.mark.slow]
CASES = ("depthwise", "int4/any", "int4/rows_many", "packed/large")


def of_script(case: str) -> Path:
    script, _, name = case.partition("/")
    return committed_cases.script(committed_cases.NUMPY / f"{script}.py") / name


@pytest.mark.parametrize("board", ["mps2-an386", "mps3-an547"])
@pytest.mark.parametrize("case", CASES)
def test_nodes_do_not_read_scratch_that_they_did_not_write(
    case: str, board: str
) -> None:
    assert cli.main(["debug", str(of_script(case)), "--board", board]) == 0


@pytest.mark.broad
@pytest.mark.parametrize("case", ["depthwise", "direct", "merged", "two_panels"])
def test_nor_do_those_of_hexagon(case: str) -> None:
    words = ["debug", str(of_script(f"panels/{case}")), "--board", "hexagon-v68"]
    assert cli.main(words) == 0
