// SPDX-License-Identifier: Apache-2.0
// biquads: rows of samples go through filters of second order, one after the other;
// float32, direct form II transposed.
//
//     y = b0 x + p;  p' = (b1 x - a1 y) + q;  q' = b2 x - a2 y
//
//     x         (.., n)
//     held      (.., sections, 2)  p and q of each section before the first sample
//     sections  (sections, 5)      b0, b1, b2, a1, a2; a0 is 1
//     out0      (.., n)
//     out1      (.., sections, 2)  p and q behind the last sample
#include <string.h>

#include "ember/node.h"

enum { X, HELD, SECTIONS, OUT, NEXT };
enum { B0, B1, B2, A1, A2, NUMBERS };

typedef struct biquads {
    const float *x;        // (rows, n)
    const float *held;     // (rows, count, 2)
    const float *sections; // (count, NUMBERS)
    float *y;              // (rows, n)
    float *next;           // (rows, count, 2)
    uint32_t rows;
    uint32_t n;
    uint32_t count;
} biquads_t;

static void run_section(const float *x, float *y, uint32_t n, const float *c,
                        const float *held, float *next) {
    float p = held[0];
    float q = held[1];
    for (uint32_t i = 0; i < n; i++) {
        const float in = x[i];
        const float out = c[B0] * in + p;
        p = (c[B1] * in - c[A1] * out) + q;
        q = c[B2] * in - c[A2] * out;
        y[i] = out;
    }
    next[0] = p;
    next[1] = q;
}

static int32_t run(void *state) {
    const biquads_t *s = state;
    const float *held = s->held;
    float *next = s->next;
    for (uint32_t row = 0; row < s->rows; row++) {
        const float *from = s->x + (size_t)row * s->n;
        float *y = s->y + (size_t)row * s->n;
        for (uint32_t k = 0; k < s->count; k++, held += 2, next += 2) {
            run_section(from, y, s->n, s->sections + k * NUMBERS, held, next);
            from = y;
        }
    }
    return EMBER_OK;
}

static bool is_plain(const ember_tensor_t *tensor) {
    return tensor->dtype == EMBER_F32 && ember_tensor_is_contiguous(tensor);
}

// Whether `held` has two numbers for each section of each row of `x`.
static bool holds(const ember_tensor_t *x, const ember_tensor_t *held,
                  const ember_tensor_t *sections) {
    return x->rank >= 1 && held->rank == x->rank + 1u && sections->rank == 2 &&
           sections->sizes[0] >= 1 && sections->sizes[1] == NUMBERS &&
           memcmp(x->sizes, held->sizes, (x->rank - 1u) * sizeof(*x->sizes)) == 0 &&
           held->sizes[x->rank - 1] == sections->sizes[0] && held->sizes[x->rank] == 2;
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    ember_tensor_t x;
    ember_tensor_t held;
    ember_tensor_t sections;
    ember_tensor_t y;
    ember_tensor_t next;
    ember_node_tensor(node, X, &x);
    ember_node_tensor(node, HELD, &held);
    ember_node_tensor(node, SECTIONS, &sections);
    if (ember_node_status(node) != EMBER_OK) {
        return ember_node_status(node);
    }
    if (!holds(&x, &held, &sections)) {
        return ember_node_fail(node, EMBER_BAD_PROGRAM, "biquads: bad shapes");
    }
    ember_node_output_like(node, OUT, &x, &y);
    ember_node_output_like(node, NEXT, &held, &next);
    if (ember_node_status(node) != EMBER_OK) {
        return ember_node_status(node);
    }
    if (!is_plain(&x) || !is_plain(&held) || !is_plain(&sections) || !is_plain(&y) ||
        !is_plain(&next)) {
        return ember_node_fail(node, EMBER_UNSUPPORTED,
                               "biquads: not contiguous float32");
    }
    const uint32_t count = (uint32_t)sections.sizes[0];
    *(biquads_t *)state = (biquads_t){
        .x = x.data,
        .held = held.data,
        .sections = sections.data,
        .y = y.data,
        .next = next.data,
        .rows = held.numel / (2 * count),
        .n = (uint32_t)x.sizes[x.rank - 1],
        .count = count,
    };
    ember_node_work(node, y.numel, 8 * count);
    return ember_node_status(node);
}

EMBER_KERNEL(biquads, biquads_t);
