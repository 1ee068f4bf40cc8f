"""Operators on complex numbers become operators on pairs of real ones: a rule for each.

A rule takes the operator's own arguments, after a function that keeps constants of the
model by name; complex arguments are each a ComplexPair or a Python number.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ember.export.operators import library, roots
from ember.export.packages import need

Constants = Callable[[str, Callable[[], Any]], Any]
Rule = Callable[..., Any]


class RuleError(Exception):
    """An operator whose arguments have no form in pairs, with the reason."""


@dataclass(frozen=True)
class ComplexPair:
    """A complex tensor, as torch.view_as_real() has it."""

    data: Any  # (.., 2)

    @property
    def rank(self) -> int:
        return int(self.data.dim()) - 1

    @property
    def re(self) -> Any:
        return self.data.select(-1, 0)

    @property
    def im(self) -> Any:
        return self.data.select(-1, 1)


@dataclass(frozen=True)
class Magnitude:
    """The abs() of a complex tensor before its root is taken, which a square undoes."""

    square: Any

    @property
    def root(self) -> Any:
        return self.square.sqrt()


def rules() -> dict[Any, Rule]:
    """The rules by operator. Other operators have no form in pairs."""
    aten = need("torch").ops.aten
    rules: dict[Any, Rule] = {
        **{aten._fft_r2c.default: _r2c, aten._fft_c2r.default: _c2r},
        **{aten._fft_c2c.default: _c2c, aten.abs.default: _abs},
        **{aten.angle.default: _angle, aten.pow.Tensor_Scalar: _pow},
        **{aten.square.default: _square, aten.transpose.int: _transpose},
        **{aten.view_as_real.default: _as_real, aten.view_as_complex.default: _as_pair},
        **{aten.complex.default: _complex, aten.polar.default: _polar},
        **{aten.mul.Tensor: _mul, aten.mul.Scalar: _mul, aten.div.Tensor: _div},
        **{aten.add.Tensor: _add, aten.sub.Tensor: _sub},
        **{aten.sum.dim_IntList: _reduce(aten.sum), aten.mean.dim: _reduce(aten.mean)},
        **{aten.cat.default: _cat, aten.permute.default: _permute},
        **{aten.flip.default: _flip, aten.squeeze.dims: _squeeze},
        **{aten.unsqueeze.default: _unsqueeze, aten._to_copy.default: _copied},
    }
    for conjugate in (aten._conj, aten._conj_physical, aten.conj_physical):
        rules[conjugate.default] = _conj
    for shape in (aten.view, aten._unsafe_view, aten.reshape):
        rules[shape.default] = _sized("reshape")
    rules[aten.expand.default] = _sized("expand")
    for plain in (aten.neg, aten.clone, aten.alias, aten.detach, aten.resolve_conj):
        rules[plain.default] = _alike(plain)
    one_dim = (aten.slice.Tensor, aten.select.int, aten.squeeze.dim)
    for picked in (*one_dim, aten.index_select.default):
        rules[picked] = _along(picked)
    return rules


def makes_complex(operator: Any, options: Mapping[str, Any]) -> bool:
    """Whether an operator makes complex numbers from real ones."""
    torch = need("torch")
    aten = torch.ops.aten
    if operator == aten._to_copy.default:
        dtype = options.get("dtype")
        return dtype is not None and bool(dtype.is_complex)
    makers = (aten._fft_r2c, aten.view_as_complex, aten.complex, aten.polar)
    return operator in [packet.default for packet in makers]


def plain(*arguments: Any) -> bool:
    """Whether none of the arguments is complex."""
    leaves = need("torch.utils._pytree").tree_leaves(arguments)
    return not any(
        isinstance(leaf, ComplexPair | Magnitude | complex) for leaf in leaves
    )


# ---- Fourier transforms --------------------------------------------------------------


def _r2c(
    constants: Constants, x: Any, dims: Sequence[int], norm: int, onesided: bool
) -> ComplexPair:
    _check_type(x)
    n, last = x.shape[dims[-1]], dims[-1] % x.dim()
    z = library.defined().rfft(
        _last(x, last, -1), constants(f"roots_{n}", lambda: roots.of_real(n))
    )
    if not onesided:
        mirrored = z[..., 1 : (n + 1) // 2, :].flip(-2)
        z = need("torch").cat([z, _signed(constants, mirrored)], dim=-2)
    z = _back(z, -2, last)
    for dim in dims[:-1]:
        z = _along_one(constants, z, dim % x.dim(), back=False)
    return ComplexPair(_scaled(z, norm, [x.shape[dim] for dim in dims]))


def _c2r(
    constants: Constants, z: ComplexPair, dims: Sequence[int], norm: int, n: int
) -> Any:
    data, sizes = z.data, [z.data.shape[dim % z.rank] for dim in dims[:-1]]
    for dim in dims[:-1]:
        data = _along_one(constants, data, dim % z.rank, back=True)
    last = dims[-1] % z.rank
    data = _last(data, last, -2)
    _check_type(data)
    bins = n // 2 + 1
    if data.shape[-2] != bins:
        raise RuleError(f"takes {bins} numbers along the last dimension for {n}")
    x = library.defined().irfft(
        data, constants(f"roots_{n}", lambda: roots.of_real(n)), n
    )
    return _scaled(_back(x, -1, last), norm, [*sizes, n])


def _c2c(
    constants: Constants, z: Any, dims: Sequence[int], norm: int, forward: bool
) -> ComplexPair:
    data = z.data
    for dim in dims:
        data = _along_one(constants, data, dim % z.rank, back=not forward)
    return ComplexPair(_scaled(data, norm, [data.shape[dim % z.rank] for dim in dims]))


def _along_one(constants: Constants, data: Any, dim: int, *, back: bool) -> Any:
    """The transform of pairs along one dimension, unscaled."""
    _check_type(data)
    n = data.shape[dim]
    table = constants(f"roots_complex_{n}", lambda: roots.of_complex(n))
    z = library.defined().cfft(_last(data, dim, -2), table, back)
    return _back(z, -2, dim)


def _last(x: Any, dim: int, place: int) -> Any:
    """`x` with a dimension moved to `place`, counted from the end, contiguous."""
    moved = x if dim == x.dim() + place else x.movedim(dim, place)
    return moved.contiguous()


def _back(x: Any, place: int, dim: int) -> Any:
    return x if dim == x.dim() + place else x.movedim(place, dim)


def _scaled(x: Any, norm: int, sizes: Sequence[int]) -> Any:
    """Scales by PyTorch's fft_norm_mode: 0 not, 1 by the root of 1 / n, 2 by 1 / n."""
    n = math.prod(sizes)
    return x if norm == 0 else x * (n**-0.5 if norm == 1 else 1 / n)


def _check_type(x: Any) -> None:
    if x.dtype != need("torch").float32:
        name = str(x.dtype).removeprefix("torch.")
        raise RuleError(f"takes float32, and gets {name}: x.float() makes it so")


# ---- numbers -------------------------------------------------------------------------


def _pair(constants: Constants, x: Any) -> ComplexPair:
    """A complex argument, or a real one with zeros."""
    torch = need("torch")
    if isinstance(x, ComplexPair):
        return x
    if isinstance(x, Magnitude):
        x = x.root
    if isinstance(x, torch.Tensor):
        return ComplexPair(torch.stack([x, torch.zeros_like(x)], dim=-1))
    number = complex(x)
    name = f"number_{number.real}_{number.imag}".replace(".", "_").replace("-", "m")
    value = torch.tensor([number.real, number.imag], dtype=torch.float32)
    return ComplexPair(constants(name.replace("+", ""), value.numpy))


def _signed(constants: Constants, data: Any) -> Any:
    """The conjugate."""
    torch = need("torch")
    return data * constants("conjugate", torch.tensor([1.0, -1.0]).numpy)


def _real_factor(x: Any) -> Any:
    """The factor that a pair can be multiplied by; None if it is complex."""
    if isinstance(x, ComplexPair | complex):
        return None
    x = x.root if isinstance(x, Magnitude) else x
    return x.unsqueeze(-1) if isinstance(x, need("torch").Tensor) else x


def _mul(constants: Constants, a: Any, b: Any) -> Any:
    if isinstance(a, Magnitude) and a is b:
        return a.square
    if isinstance(a, Magnitude) and not isinstance(b, ComplexPair | complex):
        return a.root * (b.root if isinstance(b, Magnitude) else b)
    if not isinstance(a, ComplexPair) and not isinstance(a, complex):
        a, b = b, a
    factor = _real_factor(b)
    if isinstance(a, Magnitude):  # and b is real
        return a.root * b
    a = _pair(constants, a)
    if factor is not None:
        return ComplexPair(a.data * factor)
    b = _pair(constants, b)
    re = a.re * b.re - a.im * b.im
    im = a.re * b.im + a.im * b.re
    return ComplexPair(need("torch").stack([re, im], dim=-1))


def _div(constants: Constants, a: Any, b: Any) -> Any:
    factor = _real_factor(b)
    if factor is None:
        b = _pair(constants, b)
        square = library.defined().squared_magnitude(b.data)
        turned = _mul(constants, a, ComplexPair(_signed(constants, b.data)))
        return ComplexPair(turned.data / square.unsqueeze(-1))
    if isinstance(a, ComplexPair | complex):
        return ComplexPair(_pair(constants, a).data / factor)
    return a.root / (b.root if isinstance(b, Magnitude) else b)


def _add(constants: Constants, a: Any, b: Any, alpha: Any = 1) -> Any:
    return _sum(constants, a, b, alpha)


def _sub(constants: Constants, a: Any, b: Any, alpha: Any = 1) -> Any:
    return _sum(constants, a, b, -alpha)


def _sum(constants: Constants, a: Any, b: Any, alpha: Any) -> Any:
    if not any(isinstance(x, ComplexPair | complex) for x in (a, b)):
        real = [x.root if isinstance(x, Magnitude) else x for x in (a, b)]
        return need("torch").add(*real, alpha=alpha)
    first, second = _pair(constants, a).data, _pair(constants, b).data
    return ComplexPair(need("torch").add(first, second, alpha=alpha))


def _abs(constants: Constants, z: Any) -> Any:
    return Magnitude(library.defined().squared_magnitude(z.data))


def _pow(constants: Constants, z: Any, exponent: Any) -> Any:
    if not isinstance(z, Magnitude):
        raise RuleError("has no form in pairs")
    return z.square if exponent == 2 else z.root**exponent


def _square(constants: Constants, z: Any) -> Any:
    return z.square if isinstance(z, Magnitude) else _mul(constants, z, z)


def _angle(constants: Constants, z: ComplexPair) -> Any:
    return need("torch").atan2(z.im, z.re)


def _conj(constants: Constants, z: ComplexPair) -> ComplexPair:
    return ComplexPair(_signed(constants, z.data))


def _complex(constants: Constants, re: Any, im: Any) -> ComplexPair:
    return ComplexPair(need("torch").stack([re, im], dim=-1))


def _polar(constants: Constants, size: Any, angle: Any) -> ComplexPair:
    parts = [size * angle.cos(), size * angle.sin()]
    return ComplexPair(need("torch").stack(parts, dim=-1))


def _copied(
    constants: Constants, x: Any, *, dtype: Any = None, **_: Any
) -> ComplexPair:
    torch = need("torch")
    if dtype not in (None, torch.complex64):
        raise RuleError(f"has no form in pairs for {dtype}")
    return x if isinstance(x, ComplexPair) else _pair(constants, x.float())


def _as_real(constants: Constants, z: ComplexPair) -> Any:
    return z.data


def _as_pair(constants: Constants, x: Any) -> ComplexPair:
    return ComplexPair(x)


# ---- shapes --------------------------------------------------------------------------


def _alike(operator: Any) -> Rule:
    return lambda constants, z, **options: ComplexPair(operator.default(z.data))


def _sized(method: str) -> Rule:
    return lambda constants, z, sizes, **_: ComplexPair(
        getattr(z.data, method)([*sizes, 2])
    )


def _along(operator: Any) -> Rule:
    """A dimension, counted from the front."""

    def rule(
        constants: Constants, z: ComplexPair, dim: int = 0, *rest: Any
    ) -> ComplexPair:
        return ComplexPair(operator(z.data, dim % z.rank, *rest))

    return rule


def _reduce(operator: Any) -> Rule:
    def rule(
        constants: Constants, z: ComplexPair, dims: Any, keepdim: bool = False, **_: Any
    ) -> ComplexPair:
        dims = dims or range(z.rank)
        return ComplexPair(operator(z.data, [dim % z.rank for dim in dims], keepdim))

    return rule


def _cat(constants: Constants, items: Sequence[Any], dim: int = 0) -> ComplexPair:
    pairs = [_pair(constants, item) for item in items]
    data = [pair.data for pair in pairs]
    return ComplexPair(need("torch").cat(data, dim=dim % pairs[0].rank))


def _permute(constants: Constants, z: ComplexPair, dims: Sequence[int]) -> ComplexPair:
    return ComplexPair(z.data.permute([*(dim % z.rank for dim in dims), z.rank]))


def _transpose(
    constants: Constants, z: ComplexPair, first: int, second: int
) -> ComplexPair:
    return ComplexPair(z.data.transpose(first % z.rank, second % z.rank))


def _flip(constants: Constants, z: ComplexPair, dims: Sequence[int]) -> ComplexPair:
    return ComplexPair(z.data.flip([dim % z.rank for dim in dims]))


def _squeeze(constants: Constants, z: ComplexPair, dims: Sequence[int]) -> ComplexPair:
    return ComplexPair(z.data.squeeze(tuple(dim % z.rank for dim in dims)))


def _unsqueeze(constants: Constants, z: ComplexPair, dim: int) -> ComplexPair:
    return ComplexPair(z.data.unsqueeze(dim if dim >= 0 else dim - 1))
