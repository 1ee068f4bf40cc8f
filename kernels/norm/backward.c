// SPDX-License-Identifier: Apache-2.0
// Gradients of a normalisation. Contract: backward.h.
//
// With h = (x - mean) * rstd and d = gradient * weight, in each row:
//
//     dx = rstd * (d - average(d) - h * average(d * h))
//     dweight = sum of gradient * h        dbias = sum of gradient
#include "kernels/norm/backward.h"

#include <string.h>

enum { TO_INPUT, TO_WEIGHT, TO_BIAS };

// Element `i` of row `row`.
typedef struct {
    size_t at; // bytes
    uint32_t weight;
    double gradient;
    double h;
    double d;
} item_t;

static item_t item(const ember_norm_backward_t *s, uint32_t row, uint32_t i) {
    const size_t index = (size_t)row * s->count + i;
    item_t item = {.at = index * s->size};

    item.weight = (uint32_t)(index / s->repeat % s->weights);
    item.gradient = ember_load_double(s->dtype, s->gradient + item.at);
    item.h = (ember_load_double(s->dtype, s->x + item.at) -
              ember_norm_get(&s->mean, row, 0.0)) *
             ember_norm_get(&s->rstd, row, 1.0);
    item.d = item.gradient * ember_norm_get(&s->weight, item.weight, 1.0);
    return item;
}

static void add(const ember_norm_vector_t *vector, uint32_t i, double number) {
    if (vector->there) {
        ember_norm_set(vector, i, ember_norm_get(vector, i, 0.0) + number);
    }
}

static void run_row(const ember_norm_backward_t *s, uint32_t row) {
    double sum = 0.0;
    double product = 0.0;

    for (uint32_t i = 0; i < s->count; i++) {
        const item_t one = item(s, row, i);
        sum += one.d;
        product += one.d * one.h;
        add(&s->to_weight, one.weight, one.gradient * one.h);
        add(&s->to_bias, one.weight, one.gradient);
    }
    for (uint32_t i = 0; s->wants_dx && i < s->count; i++) {
        const item_t one = item(s, row, i);
        const double rest = one.d - sum / s->count - one.h * product / s->count;
        ember_store_double(s->dtype, s->dx + one.at,
                           ember_norm_get(&s->rstd, row, 1.0) * rest);
    }
}

int32_t ember_norm_backward_run(void *state) {
    const ember_norm_backward_t *s = state;

    for (uint32_t i = 0; i < s->weights; i++) {
        if (s->to_weight.there) {
            ember_norm_set(&s->to_weight, i, 0.0);
        }
        if (s->to_bias.there) {
            ember_norm_set(&s->to_bias, i, 0.0);
        }
    }
    for (uint32_t row = 0; row < s->rows; row++) {
        run_row(s, row);
    }
    return EMBER_OK;
}

// An output of the weights' shape, if it is asked for.
static void set_vector(ember_node_t *node, const ember_norm_places_t *at,
                       uint32_t which, uint32_t rank, const int32_t *sizes,
                       ember_norm_vector_t *vector) {
    vector->there = ember_node_list_bool(node, at->mask, which);
    if (vector->there) {
        ember_norm_output(node, at->outputs + which, rank, sizes, vector);
    }
}

ember_status_t ember_norm_backward_prepare(ember_norm_backward_t *state,
                                           ember_node_t *node,
                                           const ember_norm_places_t *at, uint32_t rank,
                                           const int32_t *sizes) {
    ember_norm_backward_t *s = state;
    ember_tensor_t gradient, x, dx;

    ember_node_tensor(node, at->gradient, &gradient);
    ember_node_tensor(node, at->input, &x);
    dx = x;
    s->wants_dx = ember_node_list_bool(node, at->mask, TO_INPUT);
    if (s->wants_dx) {
        ember_node_output_like(node, at->outputs, &x, &dx);
    }
    ember_norm_vector(node, at->mean, s->rows, &s->mean);
    ember_norm_vector(node, at->rstd, s->rows, &s->rstd);
    ember_norm_vector(node, at->weight, s->weights, &s->weight);
    set_vector(node, at, TO_WEIGHT, rank, sizes, &s->to_weight);
    set_vector(node, at, TO_BIAS, rank, sizes, &s->to_bias);
    if (ember_node_status(node) != EMBER_OK) {
        return ember_node_status(node);
    }
    if (!ember_tensor_same_shape(&gradient, &x)) {
        return ember_node_fail(node, EMBER_BAD_PROGRAM,
                               "norm: wrong shape of gradient");
    }
    if (gradient.dtype != x.dtype || dx.dtype != x.dtype ||
        ember_class_of(x.dtype) == EMBER_CLASS_S64 ||
        !ember_tensor_is_contiguous(&gradient) || !ember_tensor_is_contiguous(&x) ||
        !ember_tensor_is_contiguous(&dx)) {
        return ember_node_fail(node, EMBER_UNSUPPORTED, "norm: wrong dtypes or layout");
    }
    s->gradient = gradient.data;
    s->x = x.data;
    s->dx = dx.data;
    s->dtype = x.dtype;
    s->size = x.element_size;
    return EMBER_OK;
}
