// SPDX-License-Identifier: Apache-2.0
// cadence::quantize_per_tensor and its kin: float32 to the full range of a dtype; the
// range in the call is ignored.
#include "kernels/engine/cadence/elements.h"

enum { SCALE = 1, ZERO, OUT = 6 };

typedef struct quantize {
    ember_cadence_elements_t elements;
    ember_cadence_cut_t cut; // of dtypes of 8 and 16 bits
    float inverse;
    float zero_point; // of int32
} quantize_t;

#define TO(NAME, TYPE)                                                                 \
    static void NAME(const quantize_t *s) {                                            \
        const float *x = s->elements.x;                                                \
        TYPE *y = s->elements.y;                                                       \
        const ember_cadence_cut_t cut = s->cut;                                        \
        const float inverse = s->inverse;                                              \
        for (uint32_t i = 0; i < s->elements.count; i++) {                             \
            y[i] = (TYPE)ember_cadence_cut_of(&cut, x[i] * inverse);                   \
        }                                                                              \
    }
TO(to_bytes, uint8_t)
TO(to_halves, uint16_t)

static void to_words(const quantize_t *s) {
    const float *x = s->elements.x;
    int32_t *y = s->elements.y;

    for (uint32_t i = 0; i < s->elements.count; i++) {
        const float q = ember_roundf(x[i] * s->inverse) + s->zero_point;
        y[i] = q >= 0x1p31f ? INT32_MAX : q > -0x1p31f ? (int32_t)q : INT32_MIN;
    }
}

static int32_t run(void *state) {
    const quantize_t *s = state;
    const uint32_t bytes = ember_dtype_size(s->elements.y_dtype);

    if (bytes == sizeof(int32_t)) {
        to_words(s);
    } else if (bytes == sizeof(int16_t)) {
        to_halves(s);
    } else {
        to_bytes(s);
    }
    return EMBER_OK;
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    quantize_t *s = state;
    const double scale = ember_node_double(node, SCALE);
    const int32_t zero_point = ember_node_int_in(node, ZERO, INT32_MIN, INT32_MAX);
    const ember_status_t status = ember_cadence_elements(&s->elements, node, OUT);

    if (status != EMBER_OK) {
        return status;
    }
    if (s->elements.x_dtype != EMBER_F32) {
        return ember_node_fail(node, EMBER_UNSUPPORTED, "cadence quantize: dtype");
    }
    s->inverse = (float)(1.0 / scale);
    s->zero_point = (float)zero_point;
    if (s->elements.y_dtype == EMBER_S32) {
        return ember_node_status(node);
    }
    if (!ember_cadence_small(s->elements.y_dtype)) {
        return ember_node_fail(node, EMBER_UNSUPPORTED, "cadence quantize: dtype");
    }
    return ember_cadence_cut_set(&s->cut, s->elements.y_dtype, zero_point)
               ? EMBER_OK
               : ember_node_fail(node, EMBER_BAD_PROGRAM,
                                 "cadence quantize: the zero point is out of range");
}

EMBER_KERNEL(cadence_quantize, quantize_t);
