// SPDX-License-Identifier: Apache-2.0
// cadence::quantized_softmax along the last dimension, in float32. With mask type 1,
// row i uses only the first pos + i + 1 elements; the mask itself is not read.
#include <math.h>

#include "kernels/engine/cadence/elements.h"

enum { MASK = 1, DIM, MASK_TYPE, POS, X_SCALE, X_ZERO, Y_SCALE, Y_ZERO, OUT };

typedef struct softmax {
    ember_cadence_elements_t elements;
    const void *pos; // NULL: no mask
    ember_cadence_number_t x_scale;
    ember_cadence_number_t x_zero;
    ember_cadence_number_t y_scale;
    ember_cadence_number_t y_zero;
    float *row; // (length,) scratch
    uint32_t length;
    uint8_t pos_dtype;
} softmax_t;

// Read at the start of a run.
typedef struct numbers {
    ember_cadence_cut_t cut;
    float scale;
    float inverse;
    int32_t zero;
} numbers_t;

// Elements of row `index` that are not masked.
static uint32_t seen(const softmax_t *s, uint32_t index) {
    int64_t pos;

    if (s->pos == NULL) {
        return s->length;
    }
    pos =
        s->pos_dtype == EMBER_S16 ? *(const int16_t *)s->pos : *(const int64_t *)s->pos;
    if (pos < 0 || pos >= s->length) {
        return pos < 0 ? 0 : s->length;
    }
    return s->length - (uint32_t)pos - 1 < index ? s->length
                                                 : (uint32_t)pos + index + 1;
}

// Exponentials of the first `count` elements, from `first` on; returns their sum.
static float exponentials(const softmax_t *s, const numbers_t *by, uint32_t first,
                          uint32_t count) {
    float most = count == 0 ? 0.0f : -EMBER_INF;
    float sum = 0.0f;

    for (uint32_t i = 0; i < count; i++) {
        const int32_t x =
            ember_cadence_element(s->elements.x, s->elements.x_dtype, first + i);
        s->row[i] = by->scale * (float)(x - by->zero);
        most = s->row[i] > most ? s->row[i] : most;
    }
    for (uint32_t i = 0; i < count; i++) {
        s->row[i] = (float)exp((double)(s->row[i] - most));
        sum += s->row[i];
    }
    return sum;
}

static void run_row(const softmax_t *s, const numbers_t *by, uint32_t index) {
    const uint32_t first = index * s->length;
    const uint32_t past = seen(s, index);
    const float sum = exponentials(s, by, first, past);
    const float recip = sum > 0.0f ? 1.0f / sum : 0.0f;

    for (uint32_t i = 0; i < s->length; i++) {
        const float part = i < past ? s->row[i] * recip : 0.0f;
        ember_cadence_store(s->elements.y, s->elements.y_dtype, first + i,
                            ember_cadence_cut_of(&by->cut, part * by->inverse));
    }
}

static int32_t run(void *state) {
    const softmax_t *s = state;
    numbers_t by = {
        .scale = ember_cadence_real(&s->x_scale, 0),
        .inverse = 1.0f / ember_cadence_real(&s->y_scale, 0),
        .zero = ember_cadence_whole(&s->x_zero, 0),
    };

    if (!ember_cadence_cut_set(&by.cut, s->elements.y_dtype,
                               ember_cadence_whole(&s->y_zero, 0)) ||
        by.zero < -EMBER_CADENCE_ZERO || by.zero > EMBER_CADENCE_ZERO) {
        return EMBER_DATA_RANGE;
    }
    for (uint32_t i = 0; i * s->length < s->elements.count; i++) {
        run_row(s, &by, i);
    }
    return EMBER_OK;
}

static ember_status_t set_mask(softmax_t *s, ember_node_t *node) {
    ember_tensor_t pos;

    ember_node_tensor(node, POS, &pos);
    s->pos = NULL;
    s->pos_dtype = pos.dtype;
    if (ember_node_int(node, MASK_TYPE) != 1 || pos.numel == 0) {
        return ember_node_status(node);
    }
    if (pos.dtype != EMBER_S16 && pos.dtype != EMBER_S64) {
        return ember_node_fail(node, EMBER_UNSUPPORTED,
                               "cadence softmax: wrong position");
    }
    s->pos = pos.data;
    return ember_node_status(node);
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    softmax_t *s = state;
    ember_tensor_t x;
    const ember_status_t status = ember_cadence_elements(&s->elements, node, OUT);

    ember_node_tensor(node, 0, &x);
    const uint32_t dim = ember_node_dim(node, DIM, x.rank);
    s->x_scale = ember_cadence_real_arg(node, X_SCALE, 1);
    s->x_zero = ember_cadence_whole_arg(node, X_ZERO, 1);
    s->y_scale = ember_cadence_real_arg(node, Y_SCALE, 1);
    s->y_zero = ember_cadence_whole_arg(node, Y_ZERO, 1);
    if (status != EMBER_OK || set_mask(s, node) != EMBER_OK) {
        return ember_node_status(node);
    }
    if (x.rank < 1 || dim + 1 != x.rank || !ember_cadence_plain(node, &x) ||
        s->elements.y_dtype != x.dtype || !ember_cadence_small(x.dtype)) {
        return ember_node_fail(node, EMBER_UNSUPPORTED,
                               "cadence softmax: wrong dtype or dim");
    }
    s->length = (uint32_t)x.sizes[dim];
    s->row = ember_node_scratch(node, s->length * sizeof(float));
    ember_node_work(node, x.numel, 64); // an exponential each
    return ember_cadence_cut_check(node, x.dtype, &s->y_zero);
}

EMBER_KERNEL(cadence_softmax, softmax_t);
