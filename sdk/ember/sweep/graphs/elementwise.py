"""Steps that work element by element."""

from __future__ import annotations

from typing import Any

import torch

from ember.sweep.graphs.builder import Reject, Traits
from ember.sweep.graphs.picker import INTEGERS, Picker, words

ROUGH = Traits(rough=True)
DISCRETE = Traits(discrete=True)

# Functions of one float; their domain is arranged by what goes in.
UNARY = words(
    """torch.exp torch.expm1 torch.sin torch.cos torch.tan torch.atan torch.sinh
    torch.cosh torch.tanh torch.asinh torch.erf torch.sigmoid F.silu
    F.softplus F.selu F.celu F.hardswish F.hardsigmoid F.logsigmoid F.mish
    F.softsign F.tanhshrink F.gelu F.elu torch.square torch.abs torch.neg torch.relu
    F.relu6 F.hardtanh torch.clone F.leaky_relu torch.positive F.hardshrink
    F.softshrink"""
)
POSITIVE = words(
    """torch.log torch.log2 torch.log10 torch.log1p torch.sqrt torch.rsqrt
    torch.reciprocal torch.acosh"""
)
UNIT = words("torch.asin torch.acos torch.atanh")
JUMPS = words(
    """torch.floor torch.ceil torch.round torch.trunc torch.sign torch.frac"""
)
EXACT = words(
    """torch.abs torch.neg torch.relu torch.clone torch.positive F.relu6 F.hardtanh
    F.hardshrink F.softshrink torch.square"""
)
TESTS = words("torch.isnan torch.isinf torch.isfinite torch.logical_not")
INTEGER_UNARY = words(
    """torch.abs torch.neg torch.sign torch.bitwise_not torch.relu torch.square
    torch.logical_not torch.clone torch.floor torch.trunc torch.ceil torch.round
    torch.isnan"""
)
INTEGER_TO_FLOAT = words(
    """torch.exp torch.sin torch.tanh torch.sigmoid torch.sqrt torch.atan torch.rsqrt
    torch.log1p torch.cos torch.erf torch.reciprocal torch.expm1"""
)
BINARY = words(
    """torch.add torch.sub torch.mul torch.div torch.maximum torch.minimum torch.atan2
    torch.rsub"""
)
BINARY_JUMPS = words("torch.fmod torch.remainder torch.floor_divide")
COMPARE = words("torch.eq torch.ne torch.lt torch.le torch.gt torch.ge")
LOGIC = words("torch.logical_and torch.logical_or torch.logical_xor")
BITS = words("torch.bitwise_and torch.bitwise_or torch.bitwise_xor")


def unary(b: Picker) -> None:
    name = b.one_of(UNARY)
    b.call(name, b.value("f"), traits=Traits(rough=name not in EXACT))


def unary_in_domain(b: Picker) -> None:
    """A function that has a domain; the operand is moved into it first."""
    x = b.value("f")
    if b.chance(0.5):
        inside = b.call("torch.abs", x)
        inside = b.call("torch.add", inside, 1.0 if b.chance(0.7) else 0.5)
        b.call(b.one_of(POSITIVE), inside, traits=ROUGH)
    else:
        inside = b.call("torch.clamp", x, -0.875, 0.9375)
        b.call(b.one_of(UNIT), inside, traits=ROUGH)


def unary_discrete(b: Picker) -> None:
    if b.chance(0.3):
        b.call(b.one_of(TESTS), b.value("fib"), traits=DISCRETE)
    else:
        b.call(b.one_of(JUMPS), b.value("f"), traits=DISCRETE)


def unary_integer(b: Picker) -> None:
    if b.chance(0.3):
        x = b.value("ib")
        if float(x.tensor.double().abs().max() if x.tensor.numel() else 0) > 100:
            raise Reject("large")
        b.call(b.one_of(INTEGER_TO_FLOAT), x, traits=ROUGH)
    else:
        b.call(b.one_of(INTEGER_UNARY), b.value("ib"))


def special_arguments(b: Picker) -> None:
    """Activations with their parameters."""
    x = b.value("f")
    name, options = b.one_of(
        [
            ("F.gelu", {"approximate": "tanh"}),
            ("F.elu", {"alpha": 0.75}),
            ("F.celu", {"alpha": 1.5}),
            ("F.leaky_relu", {"negative_slope": 0.125}),
            ("F.hardtanh", {"min_val": -0.5, "max_val": 2.0}),
            ("F.softplus", {"beta": 2.0, "threshold": 10.0}),
            ("F.threshold", {"threshold": 0.25, "value": -1.0}),
            ("torch.logit", {"eps": 0.125}),
            ("F.hardshrink", {"lambd": 0.75}),
        ]
    )
    jumps = name in ("F.threshold", "F.hardshrink")
    b.call(name, x, traits=Traits(rough=True, discrete=jumps), **options)


def binary(b: Picker) -> None:
    """Two tensors, of any kinds: dtypes are promoted."""
    kinds = b.one_of(["f", "f", "f", "i", "fi", "fib"])
    x = b.value(kinds)
    y = b.partner(x, kinds)
    name = b.one_of(BINARY[:7] if kinds != "f" else BINARY)
    options: dict[str, Any] = {}
    if name in ("torch.add", "torch.sub", "torch.rsub") and b.chance(0.3):
        options["alpha"] = b.between(-3, 3)
    b.call(name, *b.rng.sample([x, y], 2), **options)


def binary_scalar(b: Picker) -> None:
    x = b.value(b.one_of(["f", "f", "i"]))
    names = words("torch.add torch.sub torch.mul torch.div torch.rsub torch.pow")
    name = b.one_of(names)
    if name == "torch.pow":
        exponent = b.one_of([2, 3, 1, 0, 2.0, 0.5] if x.kind == "f" else [2, 3, 1, 0])
        b.call(name, x, exponent)
    else:
        b.call(name, x, b.scalar(b.one_of(["f", x.kind])))


def binary_discrete(b: Picker) -> None:
    kinds = b.one_of(["f", "i", "i", "fi"])
    x = b.value(kinds)
    if b.chance(0.4):
        y = b.one_of([3, -3, 2, 7, 1.5 if "f" in kinds else 5])
    else:
        y = b.partner(x, kinds)
    if b.chance(0.4):
        mode = b.one_of(["floor", "trunc"])
        b.call("torch.div", x, y, traits=DISCRETE, rounding_mode=mode)
    else:
        b.call(b.one_of(BINARY_JUMPS), x, y, traits=DISCRETE)


def compare(b: Picker) -> None:
    x = b.value(b.one_of(["f", "i", "fib"]))
    y = b.scalar(x.kind) if b.chance(0.4) else b.partner(x, b.one_of([x.kind, "fi"]))
    b.call(b.one_of(COMPARE), x, y)


def logic(b: Picker) -> None:
    x = b.value("bbi" if b.chance(0.8) else "f")
    b.call(b.one_of(LOGIC), x, b.partner(x, "bi"))


def bits(b: Picker) -> None:
    x = b.value("ib")
    y = b.between(0, 15) if b.chance(0.3) and x.kind == "i" else b.partner(x, x.kind)
    b.call(b.one_of(BITS), x, y)


def choose(b: Picker) -> None:
    """where and masked_fill."""
    mask = b.value("b")
    x = b.partner(mask, b.one_of("fi"))
    if b.chance(0.3):
        b.call("torch.masked_fill", x, mask, b.between(-3, 3))
    else:
        y = b.partner(x, b.one_of([x.kind, "fi"]))
        b.call("torch.where", mask, x, y)


def clamp(b: Picker) -> None:
    x = b.value(b.one_of(["f", "f", "i"]))
    low: float = b.between(-16, 0)
    high: float = b.between(0, 16)
    if x.kind == "f":
        low, high = low / 8, high / 8
    pick = b.between(0, 4)
    if pick == 0:
        b.call("torch.clamp", x, min=low)
    elif pick == 1:
        b.call("torch.clamp", x, max=high)
    elif pick == 2:
        b.call("torch.clamp", x, min=b.partner(x, x.kind))
    else:
        b.call("torch.clamp", x, low, high)


def ternary(b: Picker) -> None:
    x = b.value("f")
    y = b.partner(x)
    z = b.partner(y)
    name = b.one_of(["torch.lerp", "torch.addcmul", "torch.addcdiv"])
    if name == "torch.lerp":
        weight = 0.25 if b.chance(0.5) else z
        b.call(name, x, y, weight, traits=Traits(sums=True))
    else:
        b.call(name, x, y, z, traits=Traits(sums=True), value=b.one_of([1, 0.5, 2]))


def convert(b: Picker) -> None:
    x = b.value("fib")
    targets = [*INTEGERS, torch.float32, torch.float32, torch.bool, *b.floats]
    to = b.one_of(targets)
    if to in INTEGERS and x.kind == "f":
        info = torch.iinfo(to)
        wide = x.tensor.double()
        if not bool(((wide > info.min) & (wide < info.max)).all()):
            raise Reject("range")
    b.call("Tensor.to", x, to, traits=Traits(discrete=not to.is_floating_point))


def like(b: Picker) -> None:
    """A new tensor of the shape of another one, added to it."""
    x = b.value("fi")
    name = b.one_of(["torch.ones_like", "torch.zeros_like", "torch.full_like"])
    extra = (b.between(-4, 4),) if name == "torch.full_like" else ()
    b.call("torch.add", x, b.call(name, x, *extra))


OPERATORS = [
    (unary, 8),
    (unary_in_domain, 4),
    (unary_discrete, 3),
    (unary_integer, 3),
    (special_arguments, 2),
    (binary, 12),
    (binary_scalar, 6),
    (binary_discrete, 3),
    (compare, 4),
    (logic, 2),
    (bits, 2),
    (choose, 4),
    (clamp, 2),
    (ternary, 2),
    (convert, 4),
    (like, 2),
]
