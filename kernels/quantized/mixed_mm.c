// SPDX-License-Identifier: Apache-2.0
// mixed_mm: x times int8 weights (inner, columns).
#include "kernels/quantized/mixed.h"

enum { OUT = 4, BLOCK = 16 };

// Elements [first, first + count) of row `i` of y: one group of every row of W.
static void columns(const ember_mixed_t *s, uint32_t i, uint32_t first, uint32_t count,
                    float *sums) {
    const uint32_t group = first / s->group;
    float buffer[2];
    for (uint32_t j = 0; j < count; j++) {
        sums[j] = 0.0f;
    }
    for (uint32_t k = 0; k < s->inner; k++) {
        const int8_t *weight = s->weight + (size_t)k * s->columns + first;
        const uint32_t at = k * s->groups + group;
        const float x = *ember_mixed_floats(s, s->x, i * s->inner + k, 1, buffer);
        const float scale = *ember_mixed_floats(s, s->scales, at, 1, buffer);
        const float zero =
            s->zeros == NULL ? 0.0f : *ember_mixed_floats(s, s->zeros, at, 1, buffer);
        for (uint32_t j = 0; j < count; j++) {
            sums[j] += x * (((float)weight[j] - zero) * scale);
        }
    }
}

static int32_t run(void *state) {
    const ember_mixed_t *s = state;
    float sums[2 * BLOCK];
    for (uint32_t i = 0; i < s->rows; i++) {
        for (uint32_t j = 0; j < s->columns;) {
            const uint32_t left = s->group - j % s->group;
            const uint32_t rest = s->columns - j;
            uint32_t count = left < BLOCK ? left : BLOCK;
            count = count < rest ? count : rest;
            columns(s, i, j, count, sums);
            ember_mixed_store(s, i * s->columns + j, count, sums);
            j += count;
        }
    }
    return EMBER_OK;
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    return ember_mixed_prepare(state, node, false, OUT);
}

EMBER_KERNEL(mixed_mm, ember_mixed_t);
