// SPDX-License-Identifier: Apache-2.0
// Weights as panels read them: blocks of eight columns. In a block, steps of `unit`
// products: those of the first column, of the second and so on, zeros where there are
// none.
#include "panel.h"

static uint32_t blocks_of(const ember_xnn_geometry_t *geometry) {
    return (geometry->n + XNN_PANEL - 1) / XNN_PANEL;
}

static uint64_t steps_of(const ember_xnn_geometry_t *geometry) {
    const uint64_t k = (uint64_t)geometry->taps * geometry->k;
    return (k + geometry->unit - 1) / geometry->unit;
}

// Where product k of a column lies among the weights, elements.
static size_t place_of(const ember_xnn_geometry_t *geometry, uint32_t column,
                       uint32_t k) {
    return geometry->transposed ? (size_t)k * geometry->n + column
                                : (size_t)column * geometry->taps * geometry->k + k;
}

static uint64_t size_of(const ember_xnn_geometry_t *geometry, uint64_t block) {
    return geometry->groups * (block < INT32_MAX ? block : INT32_MAX) *
           blocks_of(geometry);
}

// --- int8 ----------------------------------------------------------------------------

enum { HEAD_S8 = 4 * XNN_PANEL };

static uint64_t block_s8(const ember_xnn_geometry_t *geometry) {
    return HEAD_S8 + steps_of(geometry) * geometry->unit * XNN_PANEL;
}

static uint64_t size_s8(const ember_xnn_geometry_t *geometry) {
    return size_of(geometry, block_s8(geometry));
}

static void pack_block_s8(const ember_xnn_geometry_t *geometry, const int8_t *weights,
                          uint32_t column, uint32_t end, uint8_t *to) {
    const uint32_t k = geometry->taps * geometry->k;
    const uint32_t unit = geometry->unit;
    uint32_t sums[XNN_PANEL] = {0};
    uint8_t *out = to + HEAD_S8;
    for (uint32_t first = 0; first < k; first += unit) {
        for (uint32_t j = 0; j < XNN_PANEL; j++) {
            for (uint32_t i = first; i < first + unit; i++) {
                const bool there = column + j < end && i < k;
                const int32_t w =
                    there ? weights[place_of(geometry, column + j, i)] : 0;
                sums[j] += (uint32_t)w;
                *out++ = (uint8_t)w;
            }
        }
    }
    memcpy(to, sums, sizeof(sums));
}

static void pack_s8(const ember_xnn_geometry_t *geometry, const void *weights,
                    const void *scales, void *packed) {
    const size_t block = (size_t)block_s8(geometry);
    uint8_t *to = packed;
    (void)scales;
    for (uint32_t group = 0; group < geometry->groups; group++) {
        const uint32_t first = group * geometry->n;
        for (uint32_t i = 0; i < geometry->n; i += XNN_PANEL, to += block) {
            pack_block_s8(geometry, weights, first + i, first + geometry->n, to);
        }
    }
}

const ember_xnn_layout_t ember_xnn_columns_s8 = {"columns_s8", size_s8, pack_s8, false};

// --- float32
// ---------------------------------------------------------------------------

static uint64_t size_f32(const ember_xnn_geometry_t *geometry) {
    return size_of(geometry, 4 * steps_of(geometry) * XNN_PANEL);
}

static void pack_f32(const ember_xnn_geometry_t *geometry, const void *weights,
                     const void *scales, void *packed) {
    const uint32_t k = geometry->taps * geometry->k;
    const float *from = weights;
    float *to = packed;
    (void)scales;
    for (uint32_t group = 0; group < geometry->groups; group++) {
        const uint32_t end = (group + 1) * geometry->n;
        for (uint32_t i = group * geometry->n; i < end; i += XNN_PANEL) {
            for (uint32_t j = 0; j < k * XNN_PANEL; j++) {
                const uint32_t column = i + j % XNN_PANEL;
                const size_t at = place_of(geometry, column, j / XNN_PANEL);
                *to++ = column < end ? from[at] : 0.0f;
            }
        }
    }
}

const ember_xnn_layout_t ember_xnn_columns_f32 = {"columns_f32", size_f32, pack_f32,
                                                  false};

size_t ember_xnn_columns_bytes(const ember_xnn_layout_t *layout,
                               const ember_xnn_geometry_t *geometry) {
    return (size_t)layout->size(geometry) / geometry->groups / blocks_of(geometry);
}
