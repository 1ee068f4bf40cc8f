"""The least that a core takes for a node."""

from __future__ import annotations

import pytest

from ember import boards
from ember.run.views import details

CORE = {
    "instruction": {"macs": {"int8": 2.0}},
    "cycle": {
        "macs": {"int8": 2.0, "float32": 0.5},
        "bytes": 4.0,
        "memories": {"ram": 4.0, "flash": 1.0},
    },
}


@pytest.mark.parametrize(
    ("kernel", "kind"),
    [
        ("convolution_f32_mve", "float32"),
        ("quantized_conv2d_s8", "int8"),
        ("qp8_f32_qc8w_gemm", "int8"),  # the activations, which are multiplied
        ("pf32_gemm", "float32"),
        ("addmm_f16", "float16"),
        ("convolution", None),
    ],
)
def test_what_is_multiplied(kernel: str, kind: str | None) -> None:
    assert details.type_of(kernel.split("_")) == kind


@pytest.mark.parametrize(
    ("kind", "macs", "moved", "least"),
    [
        ("int8", 100, {"ram": 40}, 50),  # the products take longer
        ("int8", 100, {"ram": 400}, 100),  # the bytes
        ("float32", 100, {"ram": 400}, 200),
        ("float32", 0, {"ram": 40, "flash": 30}, 40),  # one after the other
        (None, 100, {None: 40}, 10),  # an unknown type, an unknown memory
    ],
)
def test_whichever_takes_longer(
    kind: str | None, macs: int, moved: dict[str | None, int], least: float
) -> None:
    assert details.least(CORE, "cycle", kind, macs, moved) == least


def test_an_instruction_has_no_limit_by_bytes() -> None:
    assert details.least(CORE, "instruction", "int8", 100, {"ram": 4000}) == 50
    assert details.least(CORE, "instruction", "float32", 100, {"ram": 40}) is None
    assert details.least(None, "cycle", "int8", 100, {}) is None


def test_memories_have_the_rates_that_their_boards_say() -> None:
    facts = details.roofline(boards.load("mps3-an547"))
    assert facts is not None
    memories = facts["cycle"]["memories"]
    assert (memories["dtcm"], memories["sram"]) == (8, pytest.approx(8 / 3))
    assert memories["ddr"] == pytest.approx(8 / 15)  # the core moves 8 bytes at most
    assert details.roofline(boards.load("host")) is None
    assert details.roofline(boards.load("mps2-an505")) == {
        "instruction": {"macs": {"int8": 2.0, "float32": 1.0}}
    }
