// SPDX-License-Identifier: Apache-2.0
// Contract: dequantize_lines_hvx.h.
//
// Where a scale of float64 is a float32, too, the product of float64 is exact, and
// becomes float32 as one of float32 does.
#include "kernels/quantized/dequantize_lines_hvx.h"

#include "kernels/engine/hvx/dequantize_hvx.h"
#include "kernels/quantized/lines_hvx.h"

static bool takes_line(const ember_affine_t *s, const ember_line_hvx_t *line) {
    const float scale = (float)line->scale;
    return ember_dequantize_hvx_takes(scale) && (double)scale == line->scale &&
           ember_line_hvx_is_near(s, line, EMBER_AFFINE_X);
}

static bool compute(const ember_affine_t *s, const ember_line_hvx_t *line) {
    float *y = (float *)(void *)line->y;
    const float scale = (float)line->scale;
    const int32_t zero = (int32_t)line->zero_point;
    if (s->dtypes[EMBER_AFFINE_X] == EMBER_U8) {
        ember_dequantize_u8_hvx((const uint8_t *)line->x, line->count, scale, zero, y);
    } else {
        ember_dequantize_s8_hvx((const int8_t *)line->x, line->count, scale, zero, y);
    }
    return true;
}

void ember_dequantize_lines_hvx_run(const ember_affine_t *s) {
    if (!ember_lines_hvx_run(s, takes_line, compute)) {
        ember_dequantize_run(s);
    }
}

ember_status_t ember_dequantize_lines_hvx_prepare(ember_affine_t *s, ember_node_t *node,
                                                  ember_affine_form_t form) {
    const ember_status_t status = ember_dequantize_prepare(s, node, form);

    if (status != EMBER_OK) {
        return status;
    }
    return ember_lines_hvx_fit(s, EMBER_AFFINE_X, EMBER_AFFINE_Y)
               ? EMBER_OK
               : ember_node_fail(node, EMBER_UNSUPPORTED, "dequantize_hvx: not lines");
}
