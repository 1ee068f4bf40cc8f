"""What quantises, dequantises or looks for scales, line by line, as NumPy does it:
cases of one call, with the schemas of kernels.yaml."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ember.cases import one_call
from ember.files.tensors import Array, DType

_NAMESPACE = "quantized_decomposed::"
_OUT = "*, Tensor(a!) out) -> Tensor(a!)"
_RANGE = "int quant_min, int quant_max, ScalarType dtype"
_EPSILON = np.float32(1.1920928955078125e-7)


def _write(
    folder: Path, name: str, schema: str, given: Sequence[Any], result: Array
) -> None:
    schema = f"({schema}, {_OUT}"
    one_call.write(folder, f"{_NAMESPACE}{name}", schema, given, [result])


# --- quantise -------------------------------------------------------------------------


@dataclass(frozen=True)
class Quantised:
    """Lines along the last dimension: of tokens, or of channels of the first one."""

    x: Array  # (lines, count) of float32
    scale: Array  # (lines,) of float32 or float64
    zero: Array  # (lines,) of int64
    token: bool
    dtype: DType = DType.INT8

    @property
    def limits(self) -> tuple[int, int]:
        return (0, 255) if self.dtype is DType.UINT8 else (-128, 127)

    def result(self) -> Array:
        """Each step is rounded to the type of the scales; NaN becomes 0."""
        kind = self.scale.dtype
        inverse = (1.0 / self.scale.astype(np.float64)).astype(kind)[:, None]
        zero = self.zero.astype(kind)[:, None]
        with np.errstate(invalid="ignore", over="ignore", under="ignore"):
            scaled = self.x.astype(kind) * inverse
            rounded = np.rint(scaled + zero) if self.token else np.rint(scaled) + zero
        cut = np.clip(rounded, *self.limits)
        return np.where(np.isnan(cut), 0, cut).astype(self.dtype.numpy)

    def write(self, folder: Path) -> None:
        ends = [*self.limits, self.dtype.value]
        name, schema = "quantize_per_channel.out", "Tensor input, Tensor scales, "
        schema += f"Tensor zero_points, int axis, {_RANGE}"
        given = [self.x, self.scale, self.zero, 0, *ends]
        if self.token:
            name = "quantize_per_token.out"
            schema = schema.replace("int axis, ", "")
            given = [self.x, self.scale[:, None], self.zero[:, None], *ends]
        _write(folder, name, schema, given, self.result())


def near_ties(random: np.random.Generator, lines: int, count: int) -> Array:
    """Few steps of float32 beside halves, in a unit of up to 512 of them: sums with a
    zero point round to halves, or not."""
    shape = (lines, count)
    halves = np.where(
        random.integers(0, 2, shape) == 0,
        random.integers(-3, 3, shape),
        random.integers(-300, 300, shape),
    )
    numbers = (halves + 0.5).astype(np.float32)
    steps = random.integers(-3, 4, shape) << random.integers(0, 10, shape)
    beside: Array = (numbers.view(np.int32) + steps.astype(np.int32)).view(np.float32)
    return beside


def below_powers(random: np.random.Generator, lines: int, count: int) -> Array:
    """Of two, and nearly 0: what they are multiplied by may make them a half if their
    exponents are not looked at."""
    powers = (2.0 ** random.integers(-40, -3, (lines, count))).astype(np.float32)
    signs = random.choice([-1, 1], powers.shape)
    below: Array = np.nextafter(powers, np.float32(0.0)) * signs
    return below


def special(x: Array) -> Array:
    """The same with special numbers at the start of each line."""
    numbers = [np.nan, np.inf, -np.inf, -0.0, 1e-40, -1e-45, 3e38, -3e38]
    x = x.copy()
    x[:, : len(numbers)] = numbers[: x.shape[1]]
    return x


# --- dequantise -----------------------------------------------------------------------


@dataclass(frozen=True)
class Dequantised:
    """Tokens."""

    x: Array  # (lines, count) of int8 or uint8
    scale: Array  # (lines,) of float32 or float64
    zero: Array  # (lines,) of int64

    def write(self, folder: Path) -> None:
        schema = f"Tensor input, Tensor scales, Tensor zero_points, {_RANGE}"
        schema += ", ScalarType output_dtype"
        limits = np.iinfo(self.x.dtype)
        dtype = DType.UINT8 if self.x.dtype == np.uint8 else DType.INT8
        ends = [int(limits.min), int(limits.max), dtype.value, DType.FLOAT32.value]
        scale, zero = self.scale[:, None], self.zero[:, None]
        whole = (self.x.astype(np.int64) - zero).astype(scale.dtype)
        y = (whole * scale).astype(np.float32)
        given = [self.x, scale, zero, *ends]
        _write(folder, "dequantize_per_token.out", schema, given, y)


@dataclass(frozen=True)
class Embedding:
    """Rows of a table whose numbers have 8, 4 or 2 bits."""

    codes: Array  # (rows, columns), of int8 or uint8 for 8 bits, else unsigned
    scale: Array  # (rows, groups) of float32
    zero: Array | None  # the same
    rows: Array  # (count,) of int64
    bits: int

    def packed(self) -> Array:
        """Of 4 bits the first is in the high half, of 2 in the lowest bits."""
        if self.bits == 8:
            return self.codes
        of_byte = 8 // self.bits
        shifts = [4, 0] if self.bits == 4 else [0, 2, 4, 6]
        codes = self.codes.reshape(len(self.codes), -1, of_byte)
        packed: Array = (codes << shifts).sum(axis=-1).astype(np.uint8)
        return packed

    def result(self) -> Array:
        groups = self.scale.shape[1]
        middle = 0 if self.bits == 8 else 1 << (self.bits - 1)
        numbers = self.codes.astype(np.float32) - np.float32(middle)
        table = numbers.reshape(len(self.codes), groups, -1)
        if self.zero is not None:
            table = table - self.zero[:, :, None]
        table = table * self.scale[:, :, None]
        result: Array = table.reshape(self.codes.shape)[self.rows]
        return result

    def write(self, folder: Path) -> None:
        name = "embedding_byte" if self.bits == 8 else f"embedding_{self.bits}bit"
        schema = "Tensor weight, Tensor weight_scales, Tensor? weight_zero_points, "
        schema += "int weight_quant_min, int weight_quant_max, Tensor indices"
        middle = 1 << (self.bits - 1)
        ends = [-middle, middle - 1]
        given = [self.packed(), self.scale, self.zero, *ends, self.rows]
        _write(folder, f"{name}.out", schema, given, self.result())


# --- scales ---------------------------------------------------------------------------


@dataclass(frozen=True)
class Chosen:
    """The scale and zero point to int8 of each line, or (`whole`) of all together."""

    x: Array  # (lines, count) of float32
    whole: bool

    def results(self) -> tuple[Array, Array]:
        lines = self.x.reshape(1, -1) if self.whole else self.x
        low = np.minimum(lines.min(axis=1), np.float32(0.0))
        high = np.maximum(lines.max(axis=1), np.float32(0.0))
        scale = np.maximum((high - low) / np.float32(255.0), _EPSILON)
        if self.whole:
            zero = np.clip(-128 - np.rint(low / scale), -128, 127)
            return scale.astype(np.float64), zero.astype(np.int64)
        ends = np.float32(-128.0), np.float32(127.0)
        low, high = low / scale, high / scale
        from_low = (ends[0] + low) + (ends[1] + high) > 0
        zero = np.where(from_low, ends[0] - low, ends[1] - high)
        zero = np.rint(np.clip(zero, *ends)).astype(np.int64)
        return scale.astype(np.float64)[:, None], zero[:, None]

    def write(self, folder: Path) -> None:
        name = "choose_qparams_per_token_asymmetric.out"
        schema = "Tensor input, ScalarType dtype"
        given: list[float] = [DType.INT8.value]
        if self.whole:
            name, schema = "choose_qparams.Tensor_out", "Tensor input, "
            schema += "int quant_min, int quant_max, float eps, ScalarType dtype"
            given = [-128, 127, float(_EPSILON), DType.INT8.value]
        schema = f"({schema}, *, Tensor(a!) scale_out, Tensor(b!) zero_point_out) -> "
        schema += "(Tensor(a!), Tensor(b!))"
        arguments = [self.x, *given]
        one_call.write(folder, f"{_NAMESPACE}{name}", schema, arguments, self.results())


# --- add ------------------------------------------------------------------------------


@dataclass(frozen=True)
class Affine:
    """The scale, rounded to float32, and the zero point of one operand."""

    scale: float
    zero: int
    dtype: DType = DType.INT8

    @property
    def limits(self) -> tuple[int, int]:
        return (0, 255) if self.dtype is DType.UINT8 else (-128, 127)

    def real(self, x: Array) -> Array:
        return (x.astype(np.float32) - np.float32(self.zero)) * np.float32(self.scale)


@dataclass(frozen=True)
class Sum:
    a: Array
    b: Array
    of_a: Affine
    of_b: Affine
    to: Affine

    def result(self) -> Array:
        total = self.of_a.real(self.a) + self.of_b.real(self.b)
        steps = np.rint(total * np.float32(1.0 / self.to.scale))
        cut = np.clip(steps + np.float32(self.to.zero), *self.to.limits)
        return cut.astype(self.to.dtype.numpy)

    def write(self, folder: Path) -> None:
        schema = ", ".join(
            f"float {name}_scale, int {name}_zero_point, int {name}_quant_min,"
            f" int {name}_quant_max"
            for name in ("a", "b", "out")
        )
        schema = f"Tensor a, {schema}".replace(" float b_", " Tensor b, float b_")
        given: list[Any] = []
        for array, of in ((self.a, self.of_a), (self.b, self.of_b), (None, self.to)):
            given += [] if array is None else [array]
            given += [of.scale, of.zero, *of.limits]
        _write(folder, "add.out", schema, given, self.result())
