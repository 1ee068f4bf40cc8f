"""The cores that firmware may find, and what is planned for all of them."""

from __future__ import annotations

import itertools
import re
from dataclasses import replace

from ember import boards, paths
from ember.boards import levels
from ember.select import resolve
from ember.select.resolve import (
    Call,
    DelegateNeeds,
    MethodNeeds,
    NodeKernel,
    PackedWeights,
)


def test_levels_go_up_to_what_the_board_lists() -> None:
    listed = levels.of(boards.load("linux-aarch64"))
    names = ["neon", "dot", "fhm", "i8mm", "bf16mm", "sme-128", "sme-256", "sme-512"]
    assert [level.name for level in listed] == names
    assert all(low.cpu & ~high.cpu == 0 for low, high in itertools.pairwise(listed))


def test_a_forbidden_set_is_no_level() -> None:
    board = boards.load("linux-aarch64").model_copy(
        update={"isa": ("i8mm", "dot", "neon"), "svl": None}
    )
    assert [level.name for level in levels.of(board)] == ["neon", "dot", "i8mm"]


def test_other_boards_have_none() -> None:
    assert levels.of(boards.load("qemu-a64-sme")) == ()
    assert levels.of(boards.load("host")) == ()


def test_the_steps_are_those_of_the_port() -> None:
    port = paths.runtime() / "port" / "linux_user" / "features_aarch64.h"
    table = re.search(r"steps\[\] = \{(.*?)\}", port.read_text(), re.DOTALL)
    assert table is not None
    steps = re.findall(r"EMBER_CPU_(\w+)", table[1])
    assert (
        tuple(step.lower() for step in steps)
        == levels.of(boards.load("linux-aarch64"))[-1].isa
    )


def needs(kernel: str, arena: int, temp: int, spare: tuple[int, ...]) -> MethodNeeds:
    call = Call(
        0,
        "add_f32",
        known=True,
        state=8,
        scratch=temp,
        planned=False,
        volatile=False,
        message="",
    )
    node = NodeKernel(kernel, "", PackedWeights(kernel, b"w", scales=False))
    return MethodNeeds(
        index=0,
        calls=(call,),
        missing_delegates=(),
        arena=arena,
        temp=temp,
        slots=1,
        changing=False,
        delegates={0: DelegateNeeds((node,), values=arena, bound=temp, work=1)},
        spare=spare,
    )


def test_the_largest_sizes_and_all_kernels_are_kept() -> None:
    least = needs("conv_dot", arena=90, temp=10, spare=(0, 1))
    best = needs("conv_sme", arena=50, temp=70, spare=(1,))
    (merged,) = resolve.merged([(least,), (best,)])
    assert (merged.arena, merged.temp, merged.spare) == (90, 70, (1,))
    assert merged.calls[0].scratch == 70
    delegate = merged.delegates[0]
    assert (delegate.values, delegate.bound) == (90, 70)
    (node,) = delegate.nodes
    assert (node.kernel, node.others, node.packed) == ("conv_sme", ("conv_dot",), None)


def test_a_gap_on_any_core_is_a_gap() -> None:
    best = needs("conv_sme", arena=50, temp=70, spare=())
    gap = replace(best.calls[0], kernel=None)
    (merged,) = resolve.merged([(replace(best, calls=(gap,)),), (best,)])
    assert merged.gaps == [gap]
