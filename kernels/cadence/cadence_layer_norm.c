// SPDX-License-Identifier: Apache-2.0
// cadence::quantized_layer_norm over the last dimension: sums in int32, which wrap, the
// rest in the types of the dialect's C++.
#include <math.h>

#include "kernels/engine/cadence/elements.h"

enum { X_SCALE = 1, X_ZERO, SHAPE, WEIGHT, BIAS, EPS, Y_SCALE, Y_ZERO, OUT };

typedef struct layer_norm {
    ember_cadence_elements_t elements;
    const float *weight; // (length,)
    const float *bias;
    ember_cadence_number_t x_scale;
    ember_cadence_number_t x_zero;
    ember_cadence_cut_t cut;
    double scale; // scale of x if it is a number
    double eps;
    float inverse; // of the scale of y
    uint32_t length;
} layer_norm_t;

typedef struct moments {
    float mean;
    float inverse; // of the standard deviation
} moments_t;

static moments_t moments_of(const layer_norm_t *s, uint32_t first, double scale,
                            int32_t zero) {
    const uint32_t count = s->length, z = (uint32_t)zero;
    uint32_t sum = 0, squares = count * z * z;
    moments_t moments;

    for (uint32_t i = 0; i < count; i++) {
        const uint32_t x = (uint32_t)ember_cadence_element(
            s->elements.x, s->elements.x_dtype, first + i);
        sum += x;
        squares += x * x;
    }
    squares -= 2 * sum * z;
    sum -= count * z;
    moments.mean = (float)(scale * (int32_t)sum / count);
    const double spread = (int32_t)squares * scale * scale / count;
    const float variance = (float)(spread - (double)(moments.mean * moments.mean));
    moments.inverse = (float)(1.0 / sqrt(variance + s->eps));
    return moments;
}

static int32_t run(void *state) {
    const layer_norm_t *s = state;
    const ember_cadence_elements_t *elements = &s->elements;
    const float given = ember_cadence_real(&s->x_scale, 0);
    const double scale = s->x_scale.at == NULL ? s->scale : (double)given;
    const int32_t zero = ember_cadence_whole(&s->x_zero, 0);

    for (uint32_t first = 0; first < elements->count; first += s->length) {
        const moments_t by = moments_of(s, first, scale, zero);
        for (uint32_t i = 0; i < s->length; i++) {
            const int32_t x =
                ember_cadence_element(elements->x, elements->x_dtype, first + i);
            const float real =
                (float)scale * (float)(int32_t)((uint32_t)x - (uint32_t)zero);
            const float y = (real - by.mean) * by.inverse * s->weight[i] + s->bias[i];
            ember_cadence_store(elements->y, elements->y_dtype, first + i,
                                ember_cadence_cut_of(&s->cut, y * s->inverse));
        }
    }
    return EMBER_OK;
}

// Weight or bias; false unless it has `length` floats.
static bool read_vector(ember_node_t *node, uint32_t arg, uint32_t length,
                        const float **data) {
    ember_tensor_t vector;

    ember_node_tensor(node, arg, &vector);
    *data = vector.data;
    return vector.dtype == EMBER_F32 && vector.numel == length &&
           ember_tensor_is_contiguous(&vector);
}

static void read_numbers(layer_norm_t *s, ember_node_t *node) {
    s->x_scale = ember_cadence_real_arg(node, X_SCALE, 1);
    s->x_zero = ember_cadence_whole_arg(node, X_ZERO, 1);
    s->scale = (double)s->x_scale.real;
    if (ember_node_kind(node, X_SCALE) != EMBER_TENSOR) {
        s->scale = ember_node_double(node, X_SCALE);
    }
    s->eps = ember_node_double(node, EPS);
    s->inverse = (float)(1.0 / ember_node_double(node, Y_SCALE));
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    layer_norm_t *s = state;
    ember_tensor_t x;
    const ember_status_t status = ember_cadence_elements(&s->elements, node, OUT);
    const int32_t zero = ember_node_int_in(node, Y_ZERO, INT32_MIN, INT32_MAX);

    ember_node_tensor(node, 0, &x);
    read_numbers(s, node);
    if (status != EMBER_OK || ember_node_status(node) != EMBER_OK) {
        return ember_node_status(node);
    }
    if (x.rank < 1 || !ember_cadence_plain(node, &x) ||
        (x.dtype != EMBER_S8 && x.dtype != EMBER_U8) ||
        s->elements.y_dtype != x.dtype) {
        return ember_node_fail(node, EMBER_UNSUPPORTED, "cadence layer_norm: dtype");
    }
    s->length = (uint32_t)x.sizes[x.rank - 1];
    if (!read_vector(node, WEIGHT, s->length, &s->weight) ||
        !read_vector(node, BIAS, s->length, &s->bias) ||
        !ember_cadence_cut_set(&s->cut, x.dtype, zero)) {
        return ember_node_fail(node, EMBER_BAD_PROGRAM,
                               "cadence layer_norm: a parameter does not fit");
    }
    ember_node_work(node, x.numel, 2);
    ember_node_work(node, s->length > 0 ? x.numel / s->length : 0, EMBER_STEPS_RESULT);
    return ember_node_status(node);
}

EMBER_KERNEL(cadence_layer_norm, layer_norm_t);
