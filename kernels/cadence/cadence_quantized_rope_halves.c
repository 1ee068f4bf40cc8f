// SPDX-License-Identifier: Apache-2.0
// cadence::quantized_rope_rotate_stacked_halves: rotary embeddings of integers,
// computed in float32. Contract: rope.h.
#include "kernels/cadence/rope.h"

enum { IN_SCALE = 4, IN_ZERO, OUT_SCALE, OUT_ZERO, OUT };

typedef struct quantized_rope {
    ember_rope_t rope;
    ember_cadence_cut_t cut;
    float scale;   // of x
    float inverse; // of the scale of y
    int32_t zero;  // of x
    uint8_t dtype; // of x and y
} quantized_rope_t;

static float real_of(const quantized_rope_t *s, uint32_t i) {
    const int32_t x = ember_cadence_element(s->rope.x, s->dtype, i);
    return (float)(x - s->zero) * s->scale;
}

static void store(const quantized_rope_t *s, uint32_t i, float real) {
    ember_cadence_store(s->rope.y, s->dtype, i,
                        ember_cadence_cut_of(&s->cut, real * s->inverse));
}

// Turns the head whose first element is `first`.
static void turn(const quantized_rope_t *s, uint32_t first, ptrdiff_t position) {
    const uint32_t pairs = (uint32_t)s->rope.pairs;
    const float *sin = s->rope.sin + position * s->rope.pairs;
    const float *cos = s->rope.cos + position * s->rope.pairs;

    for (uint32_t i = 0; i < pairs; i++) {
        const float x0 = real_of(s, first + i), x1 = real_of(s, first + pairs + i);
        store(s, first + i, x0 * cos[i] - x1 * sin[i]);
        store(s, first + pairs + i, x0 * sin[i] + x1 * cos[i]);
    }
}

static int32_t run(void *state) {
    const quantized_rope_t *s = state;
    uint32_t first = 0;

    for (int32_t token = 0; token < s->rope.tokens; token++) {
        const int64_t position = ember_rope_position(&s->rope, token);
        if (position < 0 || position >= s->rope.positions) {
            return EMBER_DATA_RANGE;
        }
        for (int32_t head = 0; head < s->rope.heads; head++) {
            turn(s, first, (ptrdiff_t)position);
            first += 2 * (uint32_t)s->rope.pairs;
        }
    }
    return EMBER_OK;
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    quantized_rope_t *s = state;
    ember_tensor_t x, y;

    s->scale = (float)ember_node_double(node, IN_SCALE);
    s->zero = ember_node_int_in(node, IN_ZERO, -EMBER_CADENCE_ZERO, EMBER_CADENCE_ZERO);
    s->inverse = (float)(1.0 / ember_node_double(node, OUT_SCALE));
    const int32_t zero =
        ember_node_int_in(node, OUT_ZERO, -EMBER_CADENCE_ZERO, EMBER_CADENCE_ZERO);
    const ember_status_t status = ember_rope_read(&s->rope, node, OUT, &x, &y);

    if (status != EMBER_OK) {
        return status;
    }
    s->dtype = x.dtype;
    if (!ember_cadence_small(s->dtype) ||
        !ember_cadence_cut_set(&s->cut, s->dtype, zero)) {
        return ember_node_fail(node, EMBER_UNSUPPORTED, "quantized_rope: dtype");
    }
    return EMBER_OK;
}

EMBER_KERNEL(cadence_quantized_rope_halves, quantized_rope_t);
