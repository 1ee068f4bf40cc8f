// SPDX-License-Identifier: Apache-2.0
// Columns of floats; columns.h.
#include "columns.h"

static uint64_t size_f32(const ember_xnn_geometry_t *geometry) {
    return xnn_columns_size(geometry, 4 * xnn_columns_steps(geometry) * XNN_PANEL);
}

static uint64_t size_f16(const ember_xnn_geometry_t *geometry) {
    return xnn_columns_size(geometry, 2 * xnn_columns_steps(geometry) * XNN_PANEL);
}

typedef enum kind { F32, F16, F16_OF_F32 } kind_t;

// Element `at` of the weights; returns its size in bytes.
static uint32_t put_element(kind_t kind, const void *from, size_t at, uint8_t *to) {
    if (kind == F32) {
        memcpy(to, (const float *)from + at, 4);
        return 4;
    }
    const uint16_t half = kind == F16 ? ((const uint16_t *)from)[at]
                                      : ember_f16_from_f32(((const float *)from)[at]);
    memcpy(to, &half, 2);
    return 2;
}

static void pack_float(const ember_xnn_geometry_t *geometry, const void *weights,
                       kind_t kind, uint8_t *to) {
    static const float none = 0.0f;
    const uint32_t k = geometry->taps * geometry->k;
    for (uint32_t group = 0; group < geometry->groups; group++) {
        const uint32_t end = (group + 1) * geometry->n;
        for (uint32_t i = group * geometry->n; i < end; i += XNN_PANEL) {
            for (uint32_t j = 0; j < k * XNN_PANEL; j++) {
                const uint32_t column = i + j % XNN_PANEL;
                const size_t at = xnn_columns_place(geometry, column, j / XNN_PANEL);
                to += column < end ? put_element(kind, weights, at, to)
                                   : put_element(kind, &none, 0, to);
            }
        }
    }
}

static void pack_f32(const ember_xnn_geometry_t *geometry, const void *weights,
                     const void *scales, void *packed) {
    (void)scales;
    pack_float(geometry, weights, F32, packed);
}

static void pack_f16(const ember_xnn_geometry_t *geometry, const void *weights,
                     const void *scales, void *packed) {
    (void)scales;
    pack_float(geometry, weights, F16, packed);
}

static void pack_f16_of_f32(const ember_xnn_geometry_t *geometry, const void *weights,
                            const void *scales, void *packed) {
    (void)scales;
    pack_float(geometry, weights, F16_OF_F32, packed);
}

const ember_xnn_layout_t ember_xnn_columns_f32 = {"columns_f32", size_f32, pack_f32,
                                                  false};
const ember_xnn_layout_t ember_xnn_columns_f16 = {"columns_f16", size_f16, pack_f16,
                                                  false};
const ember_xnn_layout_t ember_xnn_columns_f16_of_f32 = {"columns_f16_of_f32", size_f16,
                                                         pack_f16_of_f32, false};
