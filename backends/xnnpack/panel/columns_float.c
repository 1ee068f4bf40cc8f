// SPDX-License-Identifier: Apache-2.0
// Columns of floats; columns.h.
#include "columns.h"

static uint64_t size_of(const ember_xnn_geometry_t *geometry, uint64_t element) {
    return xnn_columns_size(geometry, element * xnn_columns_steps(geometry) *
                                          geometry->unit * XNN_PANEL);
}

static uint64_t size_f32(const ember_xnn_geometry_t *geometry) {
    return size_of(geometry, 4);
}

static uint64_t size_half(const ember_xnn_geometry_t *geometry) {
    return size_of(geometry, 2);
}

typedef enum kind { F32, HALF, F16_OF_F32 } kind_t; // HALF: float16 or bfloat16

// Element `at` of the weights; returns its size in bytes.
static uint32_t put_element(kind_t kind, const void *from, size_t at, uint8_t *to) {
    if (kind == F32) {
        memcpy(to, (const float *)from + at, 4);
        return 4;
    }
    const uint16_t half = kind == HALF ? ((const uint16_t *)from)[at]
                                       : ember_f16_from_f32(((const float *)from)[at]);
    memcpy(to, &half, 2);
    return 2;
}

// The columns [first, first + XNN_PANEL), of which those before `end` exist; returns
// the end of the block. More than one tap only comes with a `unit` of 1.
static uint8_t *pack_block(const ember_xnn_geometry_t *geometry, const void *weights,
                           kind_t kind, uint32_t first, uint32_t end, uint8_t *to) {
    static const float none = 0.0f;
    const uint32_t all = geometry->taps * geometry->k;

    for (uint32_t step = 0; step < all; step += geometry->unit) {
        for (uint32_t column = first; column < first + XNN_PANEL; column++) {
            for (uint32_t k = step; k < step + geometry->unit; k++) {
                const size_t at = xnn_columns_place(geometry, column, k);
                to += column < end && k < all ? put_element(kind, weights, at, to)
                                              : put_element(kind, &none, 0, to);
            }
        }
    }
    return to;
}

static void pack_float(const ember_xnn_geometry_t *geometry, const void *weights,
                       kind_t kind, uint8_t *to) {
    for (uint32_t group = 0; group < geometry->groups; group++) {
        const uint32_t end = (group + 1) * geometry->n;
        for (uint32_t i = group * geometry->n; i < end; i += XNN_PANEL) {
            to = pack_block(geometry, weights, kind, i, end, to);
        }
    }
}

static void pack_f32(const ember_xnn_geometry_t *geometry, const void *weights,
                     const void *scales, void *packed) {
    (void)scales;
    pack_float(geometry, weights, F32, packed);
}

static void pack_half(const ember_xnn_geometry_t *geometry, const void *weights,
                      const void *scales, void *packed) {
    (void)scales;
    pack_float(geometry, weights, HALF, packed);
}

static void pack_f16_of_f32(const ember_xnn_geometry_t *geometry, const void *weights,
                            const void *scales, void *packed) {
    (void)scales;
    pack_float(geometry, weights, F16_OF_F32, packed);
}

const ember_xnn_layout_t ember_xnn_columns_f32 = {"columns_f32", size_f32, pack_f32,
                                                  false};
const ember_xnn_layout_t ember_xnn_columns_f16 = {"columns_f16", size_half, pack_half,
                                                  false};
const ember_xnn_layout_t ember_xnn_columns_f16_of_f32 = {
    "columns_f16_of_f32", size_half, pack_f16_of_f32, false};
const ember_xnn_layout_t ember_xnn_columns_bf16 = {"columns_bf16", size_half, pack_half,
                                                   false};
