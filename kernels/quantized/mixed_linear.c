// SPDX-License-Identifier: Apache-2.0
// mixed_linear: x times the transpose of int8 weights (columns, inner).
#include "kernels/quantized/mixed.h"

enum { OUT = 5, BLOCK = 16 };

// The sum of x * (w - zero) over elements [first, first + count) of a row.
static float dot(const ember_mixed_t *s, uint32_t i, const int8_t *weight, float zero,
                 uint32_t first, uint32_t count) {
    float buffer[2 * BLOCK];
    float sum = 0.0f;
    for (uint32_t k = first; k < first + count; k += BLOCK) {
        const uint32_t left = first + count - k;
        const uint32_t part = left < BLOCK ? left : BLOCK;
        const float *x = ember_mixed_floats(s, s->x, i * s->inner + k, part, buffer);
        for (uint32_t j = 0; j < part; j++) {
            sum += x[j] * ((float)weight[k + j] - zero);
        }
    }
    return sum;
}

static float element(const ember_mixed_t *s, uint32_t i, uint32_t column) {
    const int8_t *weight = s->weight + (size_t)column * s->inner;
    float buffer[2];
    float sum = 0.0f;
    for (uint32_t g = 0, k = 0; k < s->inner; g++, k += s->group) {
        const uint32_t left = s->inner - k;
        const uint32_t at = column * s->groups + g;
        const float scale = *ember_mixed_floats(s, s->scales, at, 1, buffer);
        const float zero =
            s->zeros == NULL ? 0.0f : *ember_mixed_floats(s, s->zeros, at, 1, buffer);
        sum += scale * dot(s, i, weight, zero, k, left < s->group ? left : s->group);
    }
    return sum;
}

static int32_t run(void *state) {
    const ember_mixed_t *s = state;
    for (uint32_t i = 0; i < s->rows; i++) {
        for (uint32_t j = 0; j < s->columns; j++) {
            float sum[2] = {element(s, i, j)};
            ember_mixed_store(s, i * s->columns + j, 1, sum);
        }
    }
    return EMBER_OK;
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    return ember_mixed_prepare(state, node, true, OUT);
}

EMBER_KERNEL(mixed_linear, ember_mixed_t);
