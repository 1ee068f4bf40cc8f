"""A method and its kernels become what a run costs: accesses, products, instructions.

kernels.yaml says (`accesses`) how often a kernel reads or writes the elements of
an argument, by its name in the operator's schema: `3`, every element three times;
`macs/8`, one access for eight multiply-accumulates of the call. Arguments that are not
listed count once. A vector variant accesses a whole vector at a time, but one element
of what is `single`. What is `copied` counts as accesses of scratch, if the call has
any; making the copy reads COPIED times, once for each line of a filter, say.

An operator states its multiply-accumulates as products of sizes of its arguments
(`macs` in kernels.yaml): `out * weight[1:3]` is the number of outputs times two sizes
of the weights.

Instructions are an estimate: a kernel takes so many for a multiply-accumulate, for an
element of its results, and for a call. The rates are those of the kernels that programs
of tests/cases call most, counted by emulators (`ember profile`); docs/memory.md says
how far off a kernel may be.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from ember.boards import isa
from ember.boards.files import Core
from ember.files import xnnpack
from ember.files.tensors import DType
from ember.kernels import KernelList
from ember.kernels.library import Times
from ember.kernels.schemas import NamedCall
from ember.plan import effects
from ember.program import IntList, KernelCall, Method, Tensor, types

ROUNDS = 8  # of a loop, whose end only the run knows
COPIED = 3
_WORD = 4  # bytes


@dataclass
class Traffic:
    """Accesses of one tensor, by their width in bytes."""

    reads: dict[int, int] = field(default_factory=dict)
    writes: dict[int, int] = field(default_factory=dict)
    fixed: bool = False  # its kernel takes it as a constant only

    def note(self, kind: str, width: int, count: int) -> None:
        table: dict[int, int] = getattr(self, kind)
        table[width] = table.get(width, 0) + count

    def add(self, other: Traffic) -> None:
        self.fixed = self.fixed or other.fixed
        for kind in ("reads", "writes"):
            for width, count in getattr(other, kind).items():
                self.note(kind, width, count)

    @property
    def count(self) -> int:
        return sum(self.reads.values()) + sum(self.writes.values())

    @property
    def bytes(self) -> int:
        both = (*self.reads.items(), *self.writes.items())
        return sum(width * count for width, count in both)


def words(size: int, times: int = 1) -> Traffic:
    """Every word of `size` bytes read and written so often."""
    count = -(-size // _WORD) * times
    return Traffic({_WORD: count}, {_WORD: count})


def of(
    method: Method,
    known: KernelList,
    kernels: Mapping[int, str],
    scratch: Mapping[int, int] | None = None,
) -> dict[int, Traffic]:
    """The traffic of every tensor that instructions touch; `kernels` are those of the
    calls, and `scratch` its bytes, by instruction."""
    by_value: dict[int, Traffic] = {}
    times = rounds(method)
    for index, effect in enumerate(effects.of(method, known)):
        rules = _Rules(method, index, known, kernels.get(index))
        rules.has_scratch = bool((scratch or {}).get(index))
        for kind, values in (
            ("reads", effect.reads | effect.updates),
            ("writes", effect.writes | effect.updates),
        ):
            for value in values:
                width, count = rules.accesses(value)
                traffic = by_value.setdefault(value, Traffic())
                traffic.note(kind, width, count * times[index])
                traffic.fixed = traffic.fixed or rules.is_fixed(value)
    return by_value


def of_scratch(
    method: Method, known: KernelList, kernel: str, index: int, size: int
) -> Traffic:
    """The traffic of `size` bytes of scratch in one call: filled, and read as the
    kernel does."""
    traffic = words(size)
    listed = known.facts.accesses.get(kernel, {})
    copied = (times for times in listed.values() if times.copied)
    rule = listed.get("scratch") or next(copied, None)
    if rule is not None:
        all_macs = macs_of(method, known, index)
        count = rule.times * (all_macs if rule.macs else size / _WORD)
        width = max(_WORD, isa.width(kernel))
        traffic.reads = {width: math.ceil(count * _WORD / width)}
    return traffic


def macs_of(method: Method, known: KernelList, index: int) -> int:
    call = method.instructions[index]
    if not isinstance(call, types.KernelCall):
        return 0
    return macs_of_call(method, known, call) or 0


class _Rules:
    """How the kernel of one instruction accesses its tensors."""

    def __init__(
        self, method: Method, index: int, known: KernelList, kernel: str | None
    ) -> None:
        self.method = method
        self.kernel = kernel
        self.has_scratch = False
        self.rules: dict[int, Times] = {}
        self.macs = macs_of(method, known, index)
        call = method.instructions[index]
        if not isinstance(call, types.KernelCall):
            return
        listed = known.facts.accesses.get(kernel or "", {})
        for argument, value in known.named(method, call).arguments.items():
            if argument in listed:
                for tensor in self._tensors(value):
                    self.rules[tensor] = listed[argument]

    def _tensors(self, value: int) -> Iterator[int]:
        listed_value = self.method.values[value]
        if isinstance(listed_value, types.TensorList | types.OptionalTensorList):
            yield from listed_value.items
        else:
            yield value

    def is_fixed(self, value: int) -> bool:
        rule = self.rules.get(value)
        return rule is not None and rule.constant

    def accesses(self, value: int) -> tuple[int, int]:
        """Width in bytes, and how many."""
        tensor = self.method.values[value]
        assert isinstance(tensor, types.Tensor)
        elements: float = tensor.numel
        rule = self.rules.get(value)
        if rule is not None and rule.copied and self.has_scratch:
            elements *= COPIED
        elif rule is not None:
            elements = rule.times * (self.macs if rule.macs else elements)
        size = max(1, tensor.dtype.itemsize)
        width = isa.width(self.kernel) if self.kernel else 1
        width = size if rule is not None and rule.single else max(size, width)
        return width, math.ceil(elements * size / width)


def rounds(method: Method) -> list[int]:
    """How often each instruction counts: more inside of loops."""
    times = [1] * len(method.instructions)
    for index, instruction in enumerate(method.instructions):
        if isinstance(instruction, types.JumpFalseCall) and instruction.target <= index:
            for inside in range(instruction.target, index + 1):
                times[inside] *= ROUNDS
    return times


# ---- multiply-accumulates ------------------------------------------------------------


_Sizes = Callable[[str], tuple[int, ...]]  # by the name of an argument
_FACTOR = re.compile(r"(\w+)(?:\[(-?\d*)(:?)(-?\d*)\])?")
# Of nodes of XNNPACK's graphs. Convolutions have their channels last, and weights
# (out, height, width, in).
_NODES: Mapping[str, str] = {
    "BatchMatrixMultiply": "out * input[-1]",
    "Conv2d": "out * weight[1:]",
    "ConvTranspose2d": "input * weight[:3]",
    "DepthwiseConv2d": "out * weight[1:3]",
    "FullyConnected": "out * input[-1]",
}


def macs_of_call(method: Method, known: KernelList, call: KernelCall) -> int | None:
    """Multiply-accumulates of one execution; None for operators that have none."""
    operator = known.operators.get(method.operator_names[call.op_index])
    if operator is None or not operator.macs or len(call.args) < operator.arguments:
        return None
    named = known.named(method, call)
    whole, _, condition = operator.macs.partition(" if ")
    if condition:
        argument, _, otherwise = condition.partition(" else ")
        whole = whole if named.is_true(argument) else otherwise
    return _count(whole, lambda name: _sizes(named, name))


def _count(formula: str, sizes: _Sizes) -> int:
    products = (product.split(" * ") for product in formula.split(" + "))
    return sum(
        math.prod(_factor(text, sizes) for text in product) for product in products
    )


def _factor(text: str, sizes: _Sizes) -> int:
    """`9`, or the product of sizes: `out`, `weight[1:]`, `input[-1]`."""
    match = _FACTOR.fullmatch(text)
    assert match is not None, text
    name, first, is_range, last = match.groups()
    if name.isdigit():
        return int(name)
    if first and not is_range:
        return math.prod(sizes(name)[int(first) :][:1])
    start, end = (int(bound) if bound else None for bound in (first, last))
    return math.prod(sizes(name)[start:end])


def _sizes(call: NamedCall, name: str) -> tuple[int, ...]:
    """The sizes of a tensor, or the numbers of a list."""
    value = call.value(name)
    if isinstance(value, IntList):
        return call.method.int_list(value) or ()
    return value.sizes if isinstance(value, Tensor) else ()


def macs_of_node(node: xnnpack.Node) -> int | None:
    """Multiply-accumulates of a node of an XNNPACK graph; None where it has none."""
    formula = _NODES.get(node.kind)
    if formula is None:
        return None
    image, weight, *_ = (*node.inputs, *node.outputs)
    named = {"input": image, "weight": weight, "out": node.outputs[-1]}
    return _count(formula, lambda name: tuple(named[name].shape))


# ---- instructions --------------------------------------------------------------------


FLOATS = (DType.FLOAT16, DType.BFLOAT16, DType.FLOAT32, DType.FLOAT64)


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


def instructions(
    method: Method, known: KernelList, kernels: Mapping[int, str], core: Core | None
) -> dict[str, float]:
    """Instructions of one run, by kernel; `kernels` has those of the calls, by
    instruction."""
    executed: dict[str, float] = {}
    for index, count in of_calls(method, known, kernels, core).items():
        executed[kernels[index]] = executed.get(kernels[index], 0) + count
    return executed


def of_calls(
    method: Method, known: KernelList, kernels: Mapping[int, str], core: Core | None
) -> dict[int, float]:
    """Instructions of one run of each call that has a kernel, by its index."""
    times = rounds(method)
    scratch = frozenset(effects.scratch_of(method).values())
    executed: dict[int, float] = {}
    for index, effect in enumerate(effects.of(method, known)):
        kernel = kernels.get(index)
        if kernel is None:
            continue
        rate = _rate(kernel, _is_float(method, effect.touched), core)
        results = _elements(method, (effect.writes | effect.updates) - scratch)
        largest = max([*results, *_elements(method, effect.reads)], default=0)
        macs = macs_of(method, known, index)
        products = macs * rate.mac + sum(results) * rate.result
        count = rate.call + (products if macs else largest * rate.element)
        executed[index] = count * times[index]
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
        tensor.dtype in FLOATS for tensor in tensors if isinstance(tensor, types.Tensor)
    )
