"""Facts of kernels, beside their names and in lists at the top of older files."""

from __future__ import annotations

from pathlib import Path

import pytest

from ember import kernels
from ember.errors import SdkError
from ember.kernels.library import Facts, Times, of

SCHEMA = "(Tensor x, *, Tensor(a!) out) -> Tensor(a!)"
BESIDE = """
- op: my::a
  schema: "(Tensor x, *, Tensor(a!) out) -> Tensor(a!)"
  kernels:
  - a_f32: {in_place: true, fast: true, accesses: {x: macs/8 single, out: 2}}
  - a: {writes_state: true, accesses: {x: constant}}
- op: my::b
  schema: "(Tensor x, *, Tensor(a!) out) -> Tensor(a!)"
  kernels: [b: {in_place: true}, a]
"""
LISTED = """
fast: [a_f32]
in_place: [a_f32, b]
writes_state: [a]
accesses:
  a_f32: {x: macs/8 single, out: 2}
  a: {x: constant}
operators:
- {op: "my::a", schema: "(Tensor x, *, Tensor(a!) out) -> Tensor(a!)",
   kernels: [a_f32, a]}
- {op: "my::b", schema: "(Tensor x, *, Tensor(a!) out) -> Tensor(a!)",
   kernels: [b, a]}
"""


def load(folder: Path, text: str) -> kernels.KernelList:
    folder.mkdir()
    (folder / "kernels.yaml").write_text(text)
    for name in ("a", "a_f32", "b"):
        (folder / f"{name}.c").write_text("")
    return kernels.load((folder,))


def test_facts_beside_kernels_are_those_of_older_lists(tmp_path: Path) -> None:
    beside, listed = load(tmp_path / "new", BESIDE), load(tmp_path / "old", LISTED)
    for known in (beside, listed):
        assert known.operators["my::a"].kernels == ("a_f32", "a")
        assert known.operators["my::b"].kernels == ("b", "a")
        assert not known.writes_in_place("my::a")
        assert known.all(smallest=True)["my::a"] == ("a",)
        assert known.facts.accesses["a_f32"]["x"] == Times(
            1 / 8, macs=True, single=True
        )
    assert beside.libraries[0].facts == listed.libraries[0].facts
    assert beside.libraries[0].facts == Facts(
        fast=frozenset({"a_f32"}),
        in_place=frozenset({"a_f32", "b"}),
        writes_state=frozenset({"a"}),
        accesses={
            "a_f32": {"x": Times(1 / 8, True, single=True), "out": Times(2)},
            "a": {"x": Times(constant=True)},
        },
    )


def test_lists_at_the_top_may_speak_of_embers_kernels(tmp_path: Path) -> None:
    known = load(tmp_path / "own", "{in_place: [softmax], operators: []}")
    assert "softmax" in known.facts.in_place
    assert "softmax" not in kernels.load().facts.in_place
    assert kernels.load().facts.in_place < known.facts.in_place


def test_a_fact_may_be_denied() -> None:
    entry = {"op": "my::a", "schema": SCHEMA, "kernels": [{"a": {"in_place": False}}]}
    assert of(Path("kernels.yaml"), [entry]).facts == Facts()


@pytest.mark.parametrize(
    ("items", "said"),
    [
        ([{"a": {"in_plase": True}}], "a has an unknown fact 'in_plase'"),
        ([{"a": {"fast": "very"}}], "fast of a is 'very'"),
        ([{"a": "in_place"}], "the facts of a are 'in_place'"),
        ([{"a": {"accesses": "macs"}}], "the accesses of a are 'macs'"),
        ([{"a": {"accesses": {"x": "mac"}}}], "accesses of x by a are 'mac'"),
        ([{"a": {}, "b": {}}], "is not one kernel with its facts"),
        (["first", {"first": {}}, {"home": {"fast": True}}], "home stand at my::a"),
        ([{"listed": {"fast": True}}], "at my::a and in a list at the top"),
    ],
)
def test_facts_that_are_wrong(items: list[object], said: str) -> None:
    entries = [
        {"op": "my::first", "schema": SCHEMA, "kernels": ["home"]},
        {"op": "my::a", "schema": SCHEMA, "kernels": items},
    ]
    with pytest.raises(SdkError) as error:
        of(Path("kernels.yaml"), {"in_place": ["listed"], "operators": entries})
    assert said in error.value.what


@pytest.mark.parametrize(
    ("facts", "said"),
    [
        ({"macs": "out * weight[1:]"}, "macs names weight, not an argument"),
        ({"window": {"inside": "zeros"}}, "unexpected keyword argument 'inside'"),
        ({"window": {"outside": "zero"}}, "`outside` of its window must be zeros,"),
        ({"window": {}}, "its window needs kernel_size, padding, stride in its schema"),
    ],
)
def test_facts_of_calls_that_are_wrong(facts: dict[str, object], said: str) -> None:
    with pytest.raises(SdkError) as error:
        of(Path("kernels.yaml"), [{"op": "my::a", "schema": SCHEMA, **facts}])
    assert said in error.value.what
