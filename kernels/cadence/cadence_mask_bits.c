// SPDX-License-Identifier: Apache-2.0
// cadence::sdpa_bitwise_mask_gen: a mask as bits, eight elements of the last dimension
// to a byte, the first in the lowest bit. 1 means masked: false, or below a threshold.
#include "kernels/engine/cadence/numbers.h"

#include <string.h>

enum { MASK, THRESHOLD, OUT };

typedef struct mask_bits {
    const void *x;
    uint8_t *y;
    double threshold;
    uint32_t count; // bytes of y
    bool floats;
} mask_bits_t;

static int32_t run(void *state) {
    const mask_bits_t *s = state;
    const float *reals = s->x;
    const uint8_t *truths = s->x;

    for (uint32_t i = 0; i < s->count; i++) {
        uint32_t bits = 0;
        for (uint32_t j = 0; j < 8; j++) {
            const uint32_t at = 8 * i + j;
            const bool masked =
                s->floats ? (double)reals[at] < s->threshold : truths[at] == 0;
            bits |= (uint32_t)masked << j;
        }
        s->y[i] = (uint8_t)bits;
    }
    return EMBER_OK;
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    mask_bits_t *s = state;
    int32_t sizes[EMBER_MAX_RANK];
    ember_tensor_t x, y;

    ember_node_tensor(node, MASK, &x);
    s->threshold = ember_node_double(node, THRESHOLD);
    if (ember_node_status(node) != EMBER_OK) {
        return ember_node_status(node);
    }
    if (x.rank < 1 || x.sizes[x.rank - 1] % 8 != 0) {
        return ember_node_fail(node, EMBER_BAD_PROGRAM, "mask: no whole bytes");
    }
    memcpy(sizes, x.sizes, x.rank * sizeof(sizes[0]));
    sizes[x.rank - 1] /= 8;
    ember_node_output(node, OUT, x.rank, sizes, &y);
    if (ember_node_status(node) != EMBER_OK || !ember_cadence_plain(node, &x) ||
        !ember_cadence_plain(node, &y)) {
        return ember_node_status(node);
    }
    if ((x.dtype != EMBER_F32 && x.dtype != EMBER_B1) || y.dtype != EMBER_U8) {
        return ember_node_fail(node, EMBER_UNSUPPORTED, "mask: dtypes");
    }
    ember_node_work(node, x.numel, EMBER_STEPS_RESULT);
    s->x = x.data;
    s->y = y.data;
    s->count = y.numel;
    s->floats = x.dtype == EMBER_F32;
    return EMBER_OK;
}

EMBER_KERNEL(cadence_mask_bits, mask_bits_t);
