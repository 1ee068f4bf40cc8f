// SPDX-License-Identifier: Apache-2.0
// Columns of four bits, with one scale or in groups with a scale each; columns.h.
#include "columns.h"

// Products that may be added up before a scale is applied.
static uint32_t block_of(const ember_xnn_geometry_t *geometry) {
    return geometry->block != 0 ? geometry->block : geometry->k;
}

static uint64_t group_bytes(const ember_xnn_geometry_t *geometry) {
    const uint64_t unit = geometry->unit;
    const uint64_t steps = (block_of(geometry) + unit - 1) / unit;
    return (geometry->block != 0 ? 2 : 1) * (uint64_t)XNN_COLUMNS_HEAD +
           steps * unit * XNN_PANEL / 2;
}

// Sums that are 16 times as large fit into int32 for this many products.
enum { MOST_S4 = 65536 };

static uint64_t size_s4(const ember_xnn_geometry_t *geometry) {
    const uint32_t block = block_of(geometry);
    if (geometry->k == 0 || block > MOST_S4 || geometry->k % block != 0 ||
        (geometry->block != 0 && block % geometry->unit != 0)) {
        return 0;
    }
    return xnn_columns_size(geometry, (geometry->block != 0 ? XNN_COLUMNS_HEAD : 0) +
                                          geometry->k / block * group_bytes(geometry));
}

// 16 times a weight; 0 past the end.
static int32_t weight_s4(const ember_xnn_geometry_t *geometry, const uint8_t *weights,
                         uint32_t column, uint32_t k, uint32_t end) {
    if (column >= geometry->n || k >= end) {
        return 0;
    }
    return 16 * xnn_weight_s4(weights, (size_t)column * xnn_column_s4(geometry->k) + k);
}

// Products [first, end) of eight columns: their sums, then steps.
static void pack_group(const ember_xnn_geometry_t *geometry, const uint8_t *weights,
                       uint32_t column, uint32_t first, uint32_t end, uint8_t *sums,
                       uint8_t *to) {
    const uint32_t half = XNN_PANEL / 2;
    const uint32_t unit = geometry->unit;
    int32_t own[XNN_PANEL] = {0};
    for (uint32_t step = first; step < end; step += unit) {
        for (uint32_t i = 0; i < half * unit; i++) {
            const uint32_t j = i / unit;
            const uint32_t k = step + i % unit;
            const int32_t low = weight_s4(geometry, weights, column + j, k, end);
            const int32_t high =
                weight_s4(geometry, weights, column + half + j, k, end);
            own[j] += low;
            own[half + j] += high;
            *to++ = (uint8_t)((uint32_t)high & 0xF0u) | ((uint32_t)low >> 4 & 0xFu);
        }
    }
    memcpy(sums, own, sizeof(own));
}

// For eight columns: scales of a group, and starts.
static void pack_scales(const ember_xnn_geometry_t *geometry, const uint16_t *scales,
                        uint32_t column, uint32_t group, uint8_t *to) {
    const uint32_t groups = geometry->k / geometry->block;
    float own[XNN_PANEL] = {0.0f};
    for (uint32_t j = 0; j < XNN_PANEL && column + j < geometry->n; j++) {
        own[j] = ember_f32_from_bf16(scales[(size_t)(column + j) * groups + group]);
    }
    memcpy(to, own, sizeof(own));
}

static void pack_starts(const ember_xnn_geometry_t *geometry, const uint8_t *weights,
                        const uint16_t *scales, uint32_t column, uint8_t *to) {
    float own[XNN_PANEL] = {0.0f};
    for (uint32_t j = 0; j < XNN_PANEL && column + j < geometry->n; j++) {
        const size_t first = (size_t)(column + j) * geometry->k;
        own[j] = xnn_group_start(weights + first / 2, scales + first / geometry->block,
                                 geometry->k, geometry->block);
    }
    memcpy(to, own, sizeof(own));
}

static void pack_s4(const ember_xnn_geometry_t *geometry, const void *weights,
                    const void *scales, void *packed) {
    const uint32_t block = block_of(geometry);
    const uint32_t groups = geometry->k / block;
    const bool scaled = geometry->block != 0;
    uint8_t *to = packed;
    for (uint32_t column = 0; column < geometry->n; column += XNN_PANEL) {
        if (scaled) {
            pack_starts(geometry, weights, scales, column, to);
            to += XNN_COLUMNS_HEAD;
        }
        for (uint32_t group = 0; group < groups; group++) {
            if (scaled) {
                pack_scales(geometry, scales, column, group, to + XNN_COLUMNS_HEAD);
            }
            pack_group(geometry, weights, column, group * block, (group + 1) * block,
                       to, to + (scaled ? 2 : 1) * XNN_COLUMNS_HEAD);
            to += group_bytes(geometry);
        }
    }
}

const ember_xnn_layout_t ember_xnn_columns_qc4 = {"columns_qc4", size_s4, pack_s4,
                                                  false};
const ember_xnn_layout_t ember_xnn_columns_qb4 = {"columns_qb4_from", size_s4, pack_s4,
                                                  true};
