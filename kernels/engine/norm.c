// SPDX-License-Identifier: Apache-2.0
#include "kernels/engine/norm.h"

#include <math.h>

void ember_norm_vector(ember_node_t *node, uint32_t arg, uint32_t count,
                       ember_norm_vector_t *vector) {
    ember_tensor_t tensor;
    const bool there = ember_node_optional_tensor(node, arg, &tensor);
    if (there && (tensor.numel != count || !ember_tensor_is_contiguous(&tensor))) {
        (void)ember_node_fail(node, EMBER_BAD_PROGRAM,
                              "normalisation: a parameter has the wrong size");
    }
    *vector =
        (ember_norm_vector_t){tensor.data, tensor.dtype, tensor.element_size, there};
}

void ember_norm_output(ember_node_t *node, uint32_t arg, uint32_t rank,
                       const int32_t *sizes, ember_norm_vector_t *vector) {
    ember_tensor_t tensor;
    ember_node_output(node, arg, rank, sizes, &tensor);
    *vector =
        (ember_norm_vector_t){tensor.data, tensor.dtype, tensor.element_size, true};
}

double ember_norm_get(const ember_norm_vector_t *vector, uint32_t i, double when_none) {
    if (!vector->there) {
        return when_none;
    }
    return ember_load_double(vector->dtype, vector->data + (size_t)i * vector->size);
}

void ember_norm_set(const ember_norm_vector_t *vector, uint32_t i, double number) {
    ember_store_double(vector->dtype, vector->data + (size_t)i * vector->size, number);
}

void ember_norm_no_outputs(ember_node_t *node, uint32_t arg) {
    const int32_t nothing = 0;
    ember_tensor_t tensor;
    ember_node_output(node, arg, 1, &nothing, &tensor);
    ember_node_output(node, arg + 1, 1, &nothing, &tensor);
}

static void run_row(const ember_norm_rows_t *s, uint32_t row) {
    const char *x = s->x + (size_t)row * s->count * s->x_size;
    char *y = s->y + (size_t)row * s->count * s->y_size;
    double sum = 0.0;
    double squares = 0.0;
    for (uint32_t i = 0; i < s->count; i++) {
        sum += ember_load_double(s->x_dtype, x + (size_t)i * s->x_size);
    }
    const double mean = sum / s->count;
    for (uint32_t i = 0; i < s->count; i++) {
        const double d =
            ember_load_double(s->x_dtype, x + (size_t)i * s->x_size) - mean;
        squares += d * d;
    }
    const double rstd = 1.0 / sqrt(squares / s->count + s->eps);
    const uint32_t first =
        (uint32_t)((uint64_t)row * (s->count / s->repeat) % s->period);
    for (uint32_t i = 0; i < s->count; i++) {
        const double d =
            ember_load_double(s->x_dtype, x + (size_t)i * s->x_size) - mean;
        const uint32_t p = first + i / s->repeat;
        ember_store_double(s->y_dtype, y + (size_t)i * s->y_size,
                           d * rstd * ember_norm_get(&s->weight, p, 1.0) +
                               ember_norm_get(&s->bias, p, 0.0));
    }
    ember_norm_set(&s->mean, row, mean);
    ember_norm_set(&s->rstd, row, rstd);
}

void ember_norm_rows_run(const ember_norm_rows_t *rows) {
    for (uint32_t row = 0; row < rows->rows; row++) {
        run_row(rows, row);
    }
}
