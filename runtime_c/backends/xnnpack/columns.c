// SPDX-License-Identifier: Apache-2.0
// Weights as panels read them: blocks of eight columns. In a block, steps of `unit`
// products: those of the first column, of the second and so on, zeros where there are
// none. Products of a tap of int8 begin with a step.
#include "panel.h"

static uint32_t blocks_of(const ember_xnn_geometry_t *geometry) {
    return (geometry->n + XNN_PANEL - 1) / XNN_PANEL;
}

static uint64_t steps_of(const ember_xnn_geometry_t *geometry) {
    return geometry->taps *
           (((uint64_t)geometry->k + geometry->unit - 1) / geometry->unit);
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
            there ? weights[place_of(geometry, column + j, first + at)] : 0;
        sums[j] += (uint32_t)w;
        to[i] = (uint8_t)w;
    }
}

static void pack_block_s8(const ember_xnn_geometry_t *geometry, const int8_t *weights,
                          uint32_t column, uint32_t end, uint8_t *to) {
    const uint32_t unit = geometry->unit;
    uint32_t sums[XNN_PANEL] = {0};
    uint8_t *out = to + HEAD_S8;
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

// --- four bits -----------------------------------------------------------------------

// Products that may be summed up before a scale is used.
static uint32_t block_of(const ember_xnn_geometry_t *geometry) {
    return geometry->block != 0 ? geometry->block : geometry->k;
}

static uint64_t group_bytes(const ember_xnn_geometry_t *geometry) {
    const uint64_t unit = geometry->unit;
    const uint64_t steps = (block_of(geometry) + unit - 1) / unit;
    return (geometry->block != 0 ? 2 : 1) * (uint64_t)HEAD_S8 +
           steps * unit * XNN_PANEL / 2;
}

// Sums that are 16 times as large fit in int32 for so many products.
enum { MOST_S4 = 65536 };

static uint64_t size_s4(const ember_xnn_geometry_t *geometry) {
    const uint32_t block = block_of(geometry);
    if (geometry->k == 0 || block > MOST_S4 || geometry->k % block != 0 ||
        (geometry->block != 0 && block % geometry->unit != 0)) {
        return 0;
    }
    return size_of(geometry, (geometry->block != 0 ? HEAD_S8 : 0) +
                                 geometry->k / block * group_bytes(geometry));
}

// 16 times a weight; none: 0.
static int32_t weight_s4(const ember_xnn_geometry_t *geometry, const uint8_t *weights,
                         uint32_t column, uint32_t k, uint32_t end) {
    if (column >= geometry->n || k >= end) {
        return 0;
    }
    return 16 * xnn_weight_s4(weights, (size_t)column * geometry->k + k);
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

// Of eight columns: scales of a group, and starts.
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
            to += HEAD_S8;
        }
        for (uint32_t group = 0; group < groups; group++) {
            if (scaled) {
                pack_scales(geometry, scales, column, group, to + HEAD_S8);
            }
            pack_group(geometry, weights, column, group * block, (group + 1) * block,
                       to, to + (scaled ? 2 : 1) * HEAD_S8);
            to += group_bytes(geometry);
        }
    }
}

const ember_xnn_layout_t ember_xnn_columns_qc4 = {"columns_qc4", size_s4, pack_s4,
                                                  false};
const ember_xnn_layout_t ember_xnn_columns_qb4 = {"columns_qb4_from", size_s4, pack_s4,
                                                  true};

// --- floats --------------------------------------------------------------------------

static uint64_t size_f32(const ember_xnn_geometry_t *geometry) {
    return size_of(geometry, 4 * steps_of(geometry) * XNN_PANEL);
}

static uint64_t size_f16(const ember_xnn_geometry_t *geometry) {
    return size_of(geometry, 2 * steps_of(geometry) * XNN_PANEL);
}

typedef enum kind { F32, F16, F16_OF_F32 } kind_t;

// Element `at` of the weights; how many bytes it takes.
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
                const size_t at = place_of(geometry, column, j / XNN_PANEL);
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

size_t ember_xnn_columns_bytes(const ember_xnn_layout_t *layout,
                               const ember_xnn_geometry_t *geometry) {
    return (size_t)layout->size(geometry) / geometry->groups / blocks_of(geometry);
}
