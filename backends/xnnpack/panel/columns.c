// SPDX-License-Identifier: Apache-2.0
// Columns of int8: their sums, then steps; columns.h.
#include "columns.h"

static uint64_t block_s8(const ember_xnn_geometry_t *geometry) {
    return XNN_COLUMNS_HEAD + xnn_columns_steps(geometry) * geometry->unit * XNN_PANEL;
}

static uint64_t size_s8(const ember_xnn_geometry_t *geometry) {
    return xnn_columns_size(geometry, block_s8(geometry));
}

// A step of eight columns, from product k of a tap on; `first` is the tap's.
static void pack_step_s8(const ember_xnn_geometry_t *geometry, const int8_t *weights,
                         uint32_t column, uint32_t end, uint32_t first, uint32_t k,
                         uint32_t *sums, uint8_t *to) {
    const uint32_t unit = geometry->unit;
    for (uint32_t i = 0; i < XNN_PANEL * unit; i++) {
        const uint32_t j = i / unit;
        const uint32_t at = k + i % unit;
        const bool there = column + j < end && at < geometry->k;
        const int32_t w =
            there ? weights[xnn_columns_place(geometry, column + j, first + at)] : 0;
        sums[j] += (uint32_t)w;
        to[i] = (uint8_t)w;
    }
}

static void pack_block_s8(const ember_xnn_geometry_t *geometry, const int8_t *weights,
                          uint32_t column, uint32_t end, uint8_t *to) {
    const uint32_t unit = geometry->unit;
    uint32_t sums[XNN_PANEL] = {0};
    uint8_t *out = to + XNN_COLUMNS_HEAD;
    for (uint32_t tap = 0; tap < geometry->taps; tap++) {
        for (uint32_t k = 0; k < geometry->k; k += unit, out += XNN_PANEL * unit) {
            pack_step_s8(geometry, weights, column, end, tap * geometry->k, k, sums,
                         out);
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

size_t ember_xnn_columns_bytes(const ember_xnn_layout_t *layout,
                               const ember_xnn_geometry_t *geometry) {
    return (size_t)layout->size(geometry) / geometry->groups /
           xnn_columns_blocks(geometry);
}
