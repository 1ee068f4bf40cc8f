// SPDX-License-Identifier: Apache-2.0
// Batch normalisation with given statistics, float16, with NEON: y = x scale + shift in
// float32 (the portable kernel: in double), rounded when it is stored.
#include "kernels/engine/neon/widen_neon.h"
#include "kernels/norm/batch.h"

enum { LINE = 64 }; // numbers on the stack

typedef struct batch_norm {
    ember_batch_t batch;
    ember_norm_vector_t mean;
    ember_norm_vector_t var;
} batch_norm_t;

// `count` elements, `step` bytes apart.
static void affine(const char *x, char *y, size_t count, int32_t step, float scale,
                   float shift) {
    float line[LINE];

    while (count > 0) {
        const int32_t part = count < LINE ? (int32_t)count : LINE;
        ember_neon_widen(line, x, step, part, true);
        for (int32_t i = 0; i < part; i++) {
            line[i] = line[i] * scale + shift;
        }
        ember_neon_narrow(y, step, line, part, true);
        x += (ptrdiff_t)step * part;
        y += (ptrdiff_t)step * part;
        count -= (size_t)part;
    }
}

static int32_t run(void *state) {
    const batch_norm_t *s = state;
    const ember_axis_t *axis = &s->batch.axis;

    for (uint32_t c = 0; c < ember_batch_channels(&s->batch); c++) {
        double scale, shift;
        ember_batch_affine(&s->batch, c, ember_norm_get(&s->mean, c, 0.0),
                           ember_norm_get(&s->var, c, 1.0), &scale, &shift);
        if (axis->inner == 1) { // channels are innermost
            const size_t at = (size_t)c * axis->x_size;
            affine(axis->x + at, axis->y + at, axis->outer,
                   (int32_t)(axis->count * axis->x_size), (float)scale, (float)shift);
            continue;
        }
        for (uint32_t o = 0; o < axis->outer; o++) {
            const size_t at =
                ((size_t)o * axis->count + c) * axis->inner * axis->x_size;
            affine(axis->x + at, axis->y + at, axis->inner, axis->x_size, (float)scale,
                   (float)shift);
        }
    }
    return EMBER_OK;
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    batch_norm_t *s = state;
    uint32_t channels;
    const ember_status_t status = ember_batch_prepare(&s->batch, node, 6, 7, &channels);
    if (status != EMBER_OK) {
        return status;
    }
    if (s->batch.axis.x_dtype != EMBER_F16 || s->batch.axis.y_dtype != EMBER_F16) {
        return EMBER_UNSUPPORTED;
    }
    ember_norm_vector(node, 3, channels, &s->mean);
    ember_norm_vector(node, 4, channels, &s->var);
    ember_norm_no_outputs(node, 8);
    return ember_node_status(node);
}

EMBER_KERNEL(batch_norm_f16_neon, batch_norm_t);
