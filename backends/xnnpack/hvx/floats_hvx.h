// SPDX-License-Identifier: Apache-2.0
// The last steps of products of dynamically quantised int8 with HVX: float32 from
// integers, by kernels/engine/hvx/float_hvx.h.
#ifndef EMBER_XNNPACK_HVX_FLOATS_H
#define EMBER_XNNPACK_HVX_FLOATS_H

#include "kernels/engine/hvx/float_hvx.h"
#include "products_hvx.h"

// Whether a factor, or an addend, is in the range of ember_fma_hvx().
static inline bool xnn_hvx_is_factor(float x) {
    return x >= EMBER_FLOAT_LEAST && x <= EMBER_FLOAT_MOST;
}

static inline bool xnn_hvx_is_term(float x) {
    return x == 0.0f || xnn_hvx_is_factor(x) || xnn_hvx_is_factor(-x);
}

// The bias of a column, or 0.
static inline float xnn_hvx_bias(const ember_xnn_node_t *node, uint32_t column) {
    const ember_xnn_value_t *bias = node->in[2];
    if (bias == NULL) {
        return 0.0f;
    }
    return bias->datatype == XNN_F32
               ? ((const float *)bias->constant)[column]
               : ember_f32_from_f16(((const uint16_t *)bias->constant)[column]);
}

// Whether every bias is a constant in the range of ember_fma_hvx(). A computed bias, or
// one whose bytes are missing, has no values during init.
static inline bool xnn_hvx_has_terms(const ember_xnn_node_t *node, uint32_t columns) {
    const ember_xnn_value_t *bias = node->in[2];
    if (bias != NULL && (bias->place != XNN_CONSTANT || bias->constant == NULL)) {
        return false;
    }
    for (uint32_t i = 0; i < columns; i++) {
        if (!xnn_hvx_is_term(xnn_hvx_bias(node, i))) {
            return false;
        }
    }
    return true;
}

// Bounds of the output, as integers in the same order as the floats.
typedef struct xnn_hvx_limits {
    HVX_Vector low;
    HVX_Vector high;
} xnn_hvx_limits_t;

static inline int32_t xnn_hvx_rising(float x) {
    const int32_t bits = (int32_t)ember_float_bits(x);
    return bits < 0 ? bits ^ INT32_MAX : bits;
}

INLINE xnn_hvx_limits_t xnn_hvx_limits(const ember_xnn_node_t *node) {
    return (xnn_hvx_limits_t){Q6_V_vsplat_R(xnn_hvx_rising(node->low)),
                              Q6_V_vsplat_R(xnn_hvx_rising(node->high))};
}

INLINE HVX_Vector xnn_hvx_limited(HVX_Vector bits, const xnn_hvx_limits_t *limits) {
    const HVX_Vector rising = ember_turned_hvx(bits);
    return ember_turned_hvx(
        Q6_Vw_vmin_VwVw(Q6_Vw_vmax_VwVw(rising, limits->low), limits->high));
}

// Writes the results of a window, whose vectors may be clobbered, in the type of the
// output.
static inline void xnn_hvx_put(const ember_xnn_value_t *out, size_t at,
                               const HVX_Vector *numbers, uint32_t lanes) {
    const int32_t bytes = (int32_t)lanes * 4;
    if (out->datatype == XNN_F32) {
        int8_t *to = (int8_t *)((float *)out->data + at);
        for (int32_t i = 0; i < bytes; i += EMBER_HVX) {
            ember_store_left_hvx(to + i, ember_hvx_load(numbers++), bytes - i);
        }
        return;
    }
    const float *from = (const float *)(const void *)numbers;
    for (uint32_t i = 0; i < lanes; i++) {
        ((uint16_t *)out->data)[at + i] = ember_f16_from_f32(from[i]);
    }
}

#endif // EMBER_XNNPACK_HVX_FLOATS_H
