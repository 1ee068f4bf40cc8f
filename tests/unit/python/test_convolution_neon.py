# SPDX-License-Identifier: Apache-2.0
"""The convolution of any layout with Advanced SIMD, on the model of its instructions,
beside the portable kernel: float32 and float16, transposed, grouped, one to three
dimensions, channels innermost or not; nothing is written beside outputs and scratch."""

from __future__ import annotations

import ctypes

import kernels_here
import numpy as np
import pytest

DRIVER = """
#include "kernels/convolution/convolution_neon.c"

int32_t ember_run_convolution(void *state);

static ember_conv_operand_t operand(char *data, const int32_t *sizes, bool last,
                                    int32_t size) {
    const int32_t area = sizes[1] * sizes[2] * sizes[3];
    const int32_t step = last ? sizes[0] * size : size;
    return (ember_conv_operand_t){
        data, sizes[0] * area * size, last ? size : area * size,
        {sizes[2] * sizes[3] * step, sizes[3] * step, step}};
}

// From 0 on: batches, groups, channels, filters; in, out, kernel, stride, padding and
// dilation; whether half, transposed, channels last.
__attribute__((visibility("default")))
int64_t convolve(const int32_t *p, char *x, char *w, char *bias, char *y, char *plain,
                 float *scratch) {
    convolution_neon_t s = {.half = p[22]};
    ember_conv_t *conv = &s.conv;
    const int32_t size = s.half ? 2 : 4;
    conv->batches = p[0], conv->groups = p[1], conv->channels = p[2];
    conv->filters = p[3], conv->bias = bias;
    memcpy(conv->in, p + 4, 18 * sizeof(*p));
    conv->dtype = conv->bias_dtype = s.half ? EMBER_F16 : EMBER_F32;
    conv->transposed = p[23];
    conv->channels_last = p[24];
    const int32_t in[] = {p[1] * p[2], p[4], p[5], p[6]};
    const int32_t out[] = {p[1] * p[3], p[7], p[8], p[9]};
    const int32_t line = p[23] ? p[3] : p[2];
    const int32_t kernel[] = {line, p[10], p[11], p[12]};
    conv->x = operand(x, in, p[24], size);
    conv->y = operand(y, out, p[24], size);
    conv->w = operand(w, kernel, p[24], size);
    const int32_t outer = conv->w.outer, inner = conv->w.inner;
    conv->w_group = outer * (p[23] ? p[2] : p[3]);
    if (conv->transposed) {
        conv->w.inner = outer, conv->w.outer = inner;
    }
    choose(&s);
    const size_t needed = lay_out(&s, scratch);
    if (scratch != NULL) {
        run(&s);
        conv->y.data = plain;
        ember_run_convolution(conv);
    }
    return (int64_t)needed;
}
"""
TENSORS = "../runtime_c/src/tensor.c"
SOURCES = (
    *("convolution/convolution.c", "engine/element.c", "engine/half.c"),
    *("engine/neon/gemm_f32_neon.c", "engine/gemm_f32.c", TENSORS),
)
GUARD = 77.0


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    folder = tmp_path_factory.mktemp("convolution")
    compiled = kernels_here.library(folder, DRIVER, SOURCES)
    compiled.convolve.restype = ctypes.c_int64
    return compiled


def geometry(random: np.random.Generator, transposed: bool) -> list[int]:
    """in, out, kernel, stride, padding, dilation of three dimensions."""
    used = int(random.integers(1, 4))
    rows = [[1, 1, 1, 1, 0, 1] for _ in range(3)]
    while used > 0:
        kernel, stride, dilation = (int(random.integers(1, n)) for n in (5, 4, 3))
        length, padding = int(random.integers(1, 8)), int(random.integers(0, kernel))
        reach = (kernel - 1) * dilation
        if transposed:
            out = (length - 1) * stride - 2 * padding + reach + 1
        else:
            out = (length + 2 * padding - reach - 1) // stride + 1
        if out > 0:
            rows[3 - used] = [length, out, kernel, stride, padding, dilation]
            used -= 1
    return [row[kind] for kind in range(6) for row in rows]


@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize("half", [False, True])
@pytest.mark.parametrize("last", [False, True])
def test_convolution(
    library: ctypes.CDLL, transposed: bool, half: bool, last: bool
) -> None:
    random = np.random.default_rng(4 * transposed + 2 * half + last)
    dtype = np.float16 if half else np.float32
    for _ in range(60):
        groups, channels, filters = (int(random.choice([1, 2, 5, 9])) for _ in range(3))
        if random.integers(0, 3) == 0:  # depthwise, with tails
            groups, channels, filters = int(random.choice([4, 7, 18, 33])), 1, 1
        shape = geometry(random, transposed)
        numbers = [int(random.integers(1, 3)), groups, channels, filters, *shape]
        numbers += [half, transposed, last]
        area, outputs, taps = (int(np.prod(shape[i : i + 3])) for i in (0, 3, 6))
        x = random.normal(size=numbers[0] * groups * channels * area).astype(dtype)
        w = random.normal(size=groups * channels * filters * taps).astype(dtype)
        bias = random.normal(size=groups * filters).astype(dtype)
        count = numbers[0] * groups * filters * outputs
        y, plain = (np.full(count + 4, GUARD, dtype) for _ in range(2))
        given = (ctypes.c_int32 * len(numbers))(*numbers)
        pointers = [
            ctypes.c_void_p(array.ctypes.data) for array in (x, w, bias, y, plain)
        ]
        pointers[2] = pointers[2] if random.integers(0, 2) else ctypes.c_void_p()
        needed = library.convolve(given, *pointers, None)
        scratch = np.full(needed + 4, GUARD, np.float32)
        library.convolve(given, *pointers, ctypes.c_void_p(scratch.ctypes.data))
        assert (scratch[needed:] == GUARD).all()
        assert (y[count:] == GUARD).all()
        rough = 2e-3 if half else 2e-5
        assert np.allclose(y, plain, rough, rough * np.sqrt(channels * taps)), numbers
