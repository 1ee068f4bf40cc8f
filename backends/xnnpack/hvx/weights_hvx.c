// SPDX-License-Identifier: Apache-2.0
// Weights become panels, in plain C, because the host does this. Contract:
// products_hvx.h.
#include "products_hvx.h"

enum { LANES = EMBER_LANES_HVX, GROUP = EMBER_GROUP_HVX };
enum { ADDED_S8 = 128, ADDED_S4 = 8 };

static uint64_t size_of(const ember_xnn_geometry_t *geometry, bool nibbles) {
    const uint64_t bytes = EMBER_HVX + xnn_hvx_weight_bytes(geometry, nibbles);
    const uint64_t vectors =
        ((uint64_t)geometry->n * xnn_hvx_merged(geometry) + LANES - 1) / LANES;
    const uint64_t most = INT32_MAX;
    return (bytes < most ? bytes : most) * vectors * geometry->groups;
}

static uint64_t size_s8(const ember_xnn_geometry_t *geometry) {
    return size_of(geometry, false);
}

static uint64_t size_s4(const ember_xnn_geometry_t *geometry) {
    return size_of(geometry, true);
}

// What is packed.
typedef struct source {
    const ember_xnn_geometry_t *geometry;
    const void *weights;
    bool nibbles;
} source_t;

// Element `at` of a segment's k, at its place in a flipped window.
static uint32_t turned(const ember_xnn_geometry_t *geometry, uint32_t at) {
    const uint32_t pixel = geometry->block;
    return geometry->k - pixel - at / pixel * pixel + at % pixel;
}

static int32_t weight(const source_t *source, uint32_t column, uint32_t segment,
                      uint32_t at) {
    const ember_xnn_geometry_t *g = source->geometry;
    if (source->nibbles) {
        return xnn_weight_s4(source->weights,
                             (size_t)column * xnn_column_s4(g->k) + at);
    }
    const int8_t *weights = source->weights;
    if (g->transposed) {
        return weights[(size_t)at * g->n + column];
    }
    if (g->block != 0) {
        segment = g->taps - 1 - segment;
        at = turned(g, at);
    }
    return weights[((size_t)column * g->taps + segment) * g->k + at];
}

// The weight of a group's lane for an element of a segment of its window; 0 if there is
// none.
static int32_t lane_weight(const source_t *source, uint32_t group, uint32_t lane,
                           uint32_t segment, uint32_t element) {
    const ember_xnn_geometry_t *g = source->geometry;
    const uint32_t window = lane / g->n;
    const uint32_t moved = window * xnn_hvx_shift(g);
    if (window >= xnn_hvx_merged(g) || element < moved || element - moved >= g->k) {
        return 0;
    }
    return weight(source, group * g->n + lane % g->n, segment, element - moved);
}

// Four elements of a vector's lanes from `element` on; adds them up.
static void pack_word(const source_t *source, uint32_t group, uint32_t lane,
                      uint32_t segment, uint32_t element, int32_t added, uint32_t *sums,
                      uint8_t *to) {
    for (uint32_t i = 0; i < EMBER_HVX; i++) {
        const uint32_t own = i / GROUP;
        const int32_t w =
            lane_weight(source, group, lane + own, segment, element + i % GROUP);
        sums[own] += (uint32_t)w;
        to[i] = (uint8_t)(w + added);
    }
}

// Eight elements of a vector's lanes.
static uint8_t *pack_step(const source_t *source, uint32_t group, uint32_t lane,
                          uint32_t segment, uint32_t element, uint32_t *sums,
                          uint8_t *to, size_t next) {
    const int32_t added = source->nibbles ? ADDED_S4 : ADDED_S8;
    uint8_t high[EMBER_HVX];
    pack_word(source, group, lane, segment, element, added, sums, to);
    pack_word(source, group, lane, segment, element + GROUP, added, sums,
              source->nibbles ? high : to + next);
    for (uint32_t i = 0; source->nibbles && i < EMBER_HVX; i++) {
        to[i] = (uint8_t)(to[i] | high[i] << 4);
    }
    return to + (source->nibbles ? 1 : 2) * next;
}

static uint8_t *pack_panel(const source_t *source, uint32_t group, uint32_t first,
                           uint8_t *to) {
    const ember_xnn_geometry_t *g = source->geometry;
    const uint32_t vectors = xnn_hvx_vectors(g, first);
    const size_t next = (size_t)vectors * EMBER_HVX; // to the next word of a lane
    uint8_t *weights = to + next;
    for (uint32_t v = 0; v < vectors; v++) {
        uint32_t sums[LANES] = {0};
        uint8_t *at = weights + (size_t)v * EMBER_HVX;
        for (uint32_t segment = 0; segment < g->taps; segment++) {
            for (uint32_t i = 0; i < xnn_hvx_segment(g); i += EMBER_STEP_HVX) {
                at = pack_step(source, group, first + v * LANES, segment, i, sums, at,
                               next);
            }
        }
        memcpy(to + v * sizeof(sums), sums, sizeof(sums));
    }
    return weights + vectors * (size_t)xnn_hvx_weight_bytes(g, source->nibbles);
}

static void pack(const source_t *source, uint8_t *to) {
    const ember_xnn_geometry_t *g = source->geometry;
    for (uint32_t group = 0; group < g->groups; group++) {
        for (uint32_t i = 0; i < xnn_hvx_all_lanes(g); i += XNN_HVX_LANES) {
            to = pack_panel(source, group, i, to);
        }
    }
}

static void pack_s8(const ember_xnn_geometry_t *geometry, const void *weights,
                    const void *scales, void *packed) {
    (void)scales;
    pack(&(source_t){geometry, weights, false}, packed);
}

static void pack_s4(const ember_xnn_geometry_t *geometry, const void *weights,
                    const void *scales, void *packed) {
    (void)scales;
    pack(&(source_t){geometry, weights, true}, packed);
}

const ember_xnn_layout_t ember_xnn_hvx_s8 = {"hvx_s8", size_s8, pack_s8, false};
const ember_xnn_layout_t ember_xnn_hvx_s4 = {"hvx_s4", size_s4, pack_s4, false};
