# SPDX-License-Identifier: Apache-2.0
"""Indented JSON is what Python's own encoder writes."""

from __future__ import annotations

import enum
import json
import random
from typing import Any

import pytest

from ember.firmware import folder


class Number(enum.IntEnum):
    ONE = 1


def check(data: Any) -> None:
    assert folder.json_text(data) == json.dumps(data, indent=2, ensure_ascii=False)


@pytest.mark.parametrize(
    "data",
    [
        *({}, [], (), "", 0, None, True, 1.5, -0.0, 1e300, float("inf"), 2**70),
        *([[]], [{}], {"a": {}}, {"a": [], "b": ()}, [Number.ONE, {Number.ONE: 1}]),
        {"ключ\n": '\x00\x7f\ud800"\\/', "tab\t": ["é", "😀"]},
        {1: "a", 2.5: "b", None: "d"},
        {True: "c"},
        {"a": [1, [2, [3, {"b": (4, 5)}]]], "c": {"d": {"e": [None, False]}}},
    ],
    ids=repr,
)
def test_as_json_dumps(data: Any) -> None:
    check(data)


def test_random_data() -> None:
    numbers = random.Random(20)

    def drawn(depth: int) -> Any:
        kind = numbers.randrange(7 if depth else 5)
        if kind < 5:
            return numbers.choice([None, True, numbers.random(), 7, "text\n"])
        items = [drawn(depth - 1) for _ in range(numbers.randrange(4))]
        return items if kind == 5 else {f"k{n}": child for n, child in enumerate(items)}

    for _ in range(200):
        check(drawn(5))


def test_what_is_no_data() -> None:
    with pytest.raises(TypeError, match="not JSON serializable"):
        folder.json_text({"a": {1, 2}})
    with pytest.raises(TypeError, match="keys must be"):
        folder.json_text({(1, 2): 3})
