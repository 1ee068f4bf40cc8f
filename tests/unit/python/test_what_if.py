"""`ember plan --what-if`: memories of other sizes, and what a run would gain."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml
from spreading import RESNET, K, board, split

from ember import cli
from ember.errors import UsageError
from ember.firmware.advice import what_if


def test_sizes_are_set_grown_and_shrunk() -> None:
    changed = what_if.changed(board(64 * K), ["fast=+64K", "fast=-4K", "main=512K"])
    sizes = {memory.name: memory.size for memory in changed.memories}
    assert (sizes["fast"], sizes["main"]) == (124 * K, 512 * K)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("fast", "write MEMORY=SIZE"),
        ("tcm=+64K", "has no memory tcm, only flash, fast, main"),
        ("fast=+many", "'many' is not a size"),
        ("fast=0", "not a size"),
        ("fast=-64K", "has only 65,536 bytes"),
        ("fast=+1G", "would reach into main"),
    ],
)
def test_a_wrong_change_is_one_sentence(text: str, told: str) -> None:
    with pytest.raises(UsageError) as error:
        what_if.changed(board(64 * K), [text])
    assert told in error.value.what
    assert "\n" not in error.value.what


@pytest.mark.slow
def test_more_of_a_fast_memory_gains_cycles(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, answer = tmp_path / "split.yaml", tmp_path / "plan.json"
    fields = {"name": "split", "like": "mps2-an386", "memories": split(8 * K, 2, 3)}
    file.write_text(yaml.safe_dump(fields))
    words = ["plan", str(RESNET), "--board", str(file), "--what-if", "fast=+64K"]
    assert cli.main([*words, "--json", str(answer)]) == 0
    facts = json.loads(answer.read_text())
    change = facts["what_if"]
    now = sum(costs["cycles"] for costs in facts["traffic"]["memories"].values())
    assert change["cycles_now"] == now
    assert change["gain"] == now - change["cycles"] > 0
    assert f"instead of {now:,}" in capsys.readouterr().out
