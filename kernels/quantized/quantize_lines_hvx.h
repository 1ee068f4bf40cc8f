// SPDX-License-Identifier: Apache-2.0
// quantize_per_channel and _per_token with HVX, float32 to int8 or uint8: lines of
// elements that are side by side and have one scale and one zero point.
#ifndef EMBER_KERNELS_QUANTIZED_QUANTIZE_LINES_HVX_H
#define EMBER_KERNELS_QUANTIZED_QUANTIZE_LINES_HVX_H

#include "kernels/engine/affine.h"

// UNSUPPORTED for short lines, and for what is not of float32 with integer zero points.
EMBER_MUST_USE ember_status_t ember_quantize_lines_hvx_prepare(
    ember_affine_t *affine, ember_node_t *node, ember_affine_form_t form);
// In portable C if a scale or a zero point is out of range.
void ember_quantize_lines_hvx_run(const ember_affine_t *affine);

#define EMBER_QUANTIZE_LINES_HVX_KERNEL(NAME, FORM)                                    \
    static ember_status_t prepare(ember_node_t *node, void *state) {                   \
        return ember_quantize_lines_hvx_prepare(state, node, (FORM));                  \
    }                                                                                  \
    static int32_t run(void *state) {                                                  \
        ember_quantize_lines_hvx_run(state);                                           \
        return EMBER_OK;                                                               \
    }                                                                                  \
    EMBER_KERNEL(NAME, ember_affine_t)

#endif // EMBER_KERNELS_QUANTIZED_QUANTIZE_LINES_HVX_H
