"""A method and its kernels become the instructions that a run executes: an estimate.

A kernel takes so many instructions for a multiply-accumulate, for an element of its
results, and for a call. The rates are those of the kernels that programs of tests/cases
call most, counted by emulators (`ember profile`); docs/memory.md says how far a kernel
may be from them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ember.boards import isa
from ember.boards.files import Core
from ember.files.tensors import DType
from ember.kernels import KernelList
from ember.plan import effects, own_scratch, traffic
from ember.program import Method, types

_FLOATS = (DType.FLOAT16, DType.BFLOAT16, DType.FLOAT32, DType.FLOAT64)


@dataclass(frozen=True)
class _Rate:
    """Instructions of a kernel."""

    mac: float  # for each multiply-accumulate
    result: float  # for each element of the results of a call that has such
    element: float  # of the largest tensor of a call that has none
    call: float


# By what a kernel is a variant for (what is wider counts as mve), and whether its
# elements are floating-point numbers.
_RATES: Mapping[tuple[str, bool], _Rate] = {
    ("", False): _Rate(mac=5.0, result=35, element=10, call=200),
    ("", True): _Rate(mac=2.0, result=27, element=10, call=100),
    ("fpu", True): _Rate(mac=2.3, result=27, element=4, call=60),
    ("dsp", False): _Rate(mac=1.2, result=33, element=10, call=100),
    ("mve", False): _Rate(mac=0.15, result=14, element=2.0, call=60),
    ("mve", True): _Rate(mac=0.6, result=8, element=1.5, call=60),
}
# Where functions of the C library compute with such numbers, and where they multiply
# 32 bits by 32.
_SOFT = _Rate(mac=100, result=200, element=130, call=200)
_SHORT = _Rate(mac=5.0, result=465, element=12, call=200)


def of(
    method: Method, known: KernelList, kernels: Mapping[int, str], core: Core | None
) -> dict[str, float]:
    """Of one run, by kernel; `kernels` are those of the calls, by instruction."""
    rounds = traffic.rounds(method)
    scratch = frozenset(own_scratch.covered(method).values())
    executed: dict[str, float] = {}
    for index, effect in enumerate(effects.of(method, known)):
        kernel = kernels.get(index)
        if kernel is None:
            continue
        rate = _rate(kernel, _is_float(method, effect.touched), core)
        results = _elements(method, (effect.writes | effect.updates) - scratch)
        largest = max([*results, *_elements(method, effect.reads)], default=0)
        macs = traffic.macs_of(method, index)
        products = macs * rate.mac + sum(results) * rate.result
        count = rate.call + (products if macs else largest * rate.element)
        executed[kernel] = executed.get(kernel, 0) + count * rounds[index]
    return executed


def _rate(kernel: str, floats: bool, core: Core | None) -> _Rate:
    name = isa.of(kernel) or ""
    if name not in ("", "dsp", "fpu"):
        name = "mve"
    if core is not None and name == "" and floats and "float-abi=soft" in core.flags:
        return _SOFT
    if core is not None and name == "" and not floats and core.arch == "armv6-m":
        return _SHORT
    return _RATES.get((name, floats)) or _RATES["", floats]


def _elements(method: Method, values: frozenset[int]) -> list[int]:
    tensors = (method.values[value] for value in values)
    return [tensor.numel for tensor in tensors if isinstance(tensor, types.Tensor)]


def _is_float(method: Method, values: frozenset[int]) -> bool:
    tensors = (method.values[value] for value in values)
    return any(
        tensor.dtype in _FLOATS
        for tensor in tensors
        if isinstance(tensor, types.Tensor)
    )
