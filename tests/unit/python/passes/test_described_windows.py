# SPDX-License-Identifier: Apache-2.0
"""An operator whose window kernels.yaml describes runs by rows, has its products
counted and is checked, without a line of Python that names it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from row_programs import Network, apart
from small_programs import KNOWN

from ember import kernels
from ember.kernels import KernelList, library
from ember.plan import traffic
from ember.plan.check import rows as check_rows
from ember.plan.rows import choose, forms, rewrite
from ember.plan.rows.lives import RowLives
from ember.program import KernelCall, Method, Program, types

PLAIN, OWN = "cortex_m::quantized_conv2d.out", "my::correlate.out"
# Its arguments are in another order, and it has one that no convolution has.
SCHEMA = (
    "(Tensor input, int[] dilation, int[] padding, int[] stride, int gain,"
    " int input_offset, Tensor weight, *, Tensor(a!) out) -> Tensor(a!)"
)


def described() -> KernelList:
    entry: dict[str, object] = {"op": OWN, "schema": SCHEMA, "kernels": ["correlate"]}
    entry |= {"macs": "out * weight[1:]", "window": {"outside": "-input_offset"}}
    return kernels.extended(KNOWN, [library.of(Path("kernels.yaml"), [entry])])


def renamed(method: Method, known: KernelList) -> Method:
    """The method with calls of that operator in place of convolutions."""
    (chain,), position = method.chains, len(method.operators)
    instructions = list(chain.instructions)
    for index, name, call in method.kernel_calls():
        if name == PLAIN:
            named = KNOWN.named(method, call)
            given = {**named.arguments, "gain": named["output_offset"]}
            args = known.operators[OWN].ordered(given, call.result)
            instructions[index] = KernelCall(position, args)
    chains = (replace(chain, instructions=tuple(instructions)),)
    operators = (*method.operators, types.Operator("my::correlate", "out"))
    return replace(method, chains=chains, operators=operators)


@pytest.fixture
def method() -> Method:
    net = Network(3, (1, 4, 12, 10))
    x = net.conv(net.input, 8, 3, stride=2, padding=1)
    return apart(net.model(net.conv(x, 4, 3, padding=1)))


def test_it_reads_the_rows_of_a_convolution(method: Method) -> None:
    known = described()
    custom = renamed(method, known)
    for index, name, call in method.kernel_calls():
        plain, other = method.instructions[index], custom.instructions[index]
        assert isinstance(plain, KernelCall) and isinstance(other, KernelCall)
        wanted = traffic.macs_of_call(method, KNOWN, call)
        assert traffic.macs_of_call(custom, known, other) == wanted
        reads = forms.of_call(method, KNOWN, index), forms.of_call(custom, known, index)
        assert reads[0] is not None and reads[1] is not None
        assert reads[0].reads == reads[1].reads
        assert name != PLAIN or wanted


def test_its_regions_are_checked(method: Method) -> None:
    known = described()
    custom = renamed(method, known)
    chooser = choose.Chooser(RowLives(custom, known))
    each = next(each for ranges in chooser.ranges() for each in ranges if each.by_rows)
    region = chooser.scheduled(each)
    assert region is not None
    new = rewrite.rewritten(custom, [region], 1)
    rewritten = Program((new.method,), (b"", *new.tables))

    def faults(call: Method) -> list[str]:
        return [*check_rows.differences(call, rewritten, new.method, new.order, known)]

    assert faults(custom) == []
    first = next(call for _, name, call in custom.kernel_calls() if name == OWN)
    dilation, values = known.named(custom, first)["dilation"], list(custom.values)
    values.append(types.Int(2))
    values[dilation] = types.IntList((len(values) - 1,) * 2)
    assert any(
        "reads other" in f for f in faults(replace(custom, values=tuple(values)))
    )
