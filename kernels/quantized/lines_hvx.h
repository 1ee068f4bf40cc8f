// SPDX-License-Identifier: Apache-2.0
// Lines of elements side by side with one scale and one zero point, of calls that
// quantise or dequantise by the channel or token (engine/affine.h).
#ifndef EMBER_KERNELS_QUANTIZED_LINES_HVX_H
#define EMBER_KERNELS_QUANTIZED_LINES_HVX_H

#include "kernels/engine/affine.h"

typedef struct ember_line_hvx {
    const char *x; // (count,)
    char *y;       // (count,)
    uint32_t count;
    double scale;
    int64_t zero_point;
} ember_line_hvx_t;

// Whether a call has such lines, of 8 elements and more, where operand `bytes`
// (EMBER_AFFINE_X or _Y) is int8 or uint8, and `floats` float32; scales are float32 or
// float64, zero points int32 or int64.
bool ember_lines_hvx_fit(const ember_affine_t *affine, uint32_t bytes, uint32_t floats);

// Whether the zero point is one of the operand's own numbers, int8 or uint8.
bool ember_line_hvx_is_near(const ember_affine_t *affine, const ember_line_hvx_t *line,
                            uint32_t bytes);

typedef bool (*ember_line_hvx_fn)(const ember_affine_t *affine,
                                  const ember_line_hvx_t *line);

// Calls `compute` for each line if `takes` is true of all of them; else false.
bool ember_lines_hvx_run(const ember_affine_t *affine, ember_line_hvx_fn takes,
                         ember_line_hvx_fn compute);

#endif // EMBER_KERNELS_QUANTIZED_LINES_HVX_H
