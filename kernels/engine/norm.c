// SPDX-License-Identifier: Apache-2.0
#include "kernels/engine/norm.h"

#include <math.h>

// Finds the blocks of `tensor`; from its last dimension on, strides must continue from
// `outer`, then from 1, then from the size of a block.
static bool find_blocks(const ember_tensor_t *tensor, ember_norm_vector_t *vector) {
    int32_t strides[EMBER_MAX_RANK];
    uint32_t count = 1;
    uint32_t stride = 0;

    vector->inner = 1;
    vector->outer = 1;
    ember_tensor_strides(tensor, strides);
    for (uint32_t d = tensor->rank; tensor->numel > 0 && d-- > 0;) {
        const uint32_t size = (uint32_t)tensor->sizes[d];
        if (size == 1) {
            continue;
        }
        if (stride == 0) {
            stride = vector->outer = (uint32_t)strides[d];
        } else if (vector->outer > 1 && strides[d] == 1) {
            vector->inner = count;
            stride = 1;
        }
        if ((uint32_t)strides[d] != stride) {
            return false;
        }
        count *= size;
        stride = count == vector->inner * vector->outer ? count : stride * size;
    }
    return true;
}

static void set_vector(ember_node_t *node, const ember_tensor_t *tensor,
                       ember_norm_vector_t *vector) {
    *vector = (ember_norm_vector_t){tensor->data,         1,   1, tensor->dtype,
                                    tensor->element_size, true};
    if (ember_node_status(node) == EMBER_OK && !find_blocks(tensor, vector)) {
        (void)ember_node_fail(node, EMBER_UNSUPPORTED,
                              "normalisation: order of a parameter's dimensions");
    }
}

void ember_norm_vector(ember_node_t *node, uint32_t arg, uint32_t count,
                       ember_norm_vector_t *vector) {
    ember_tensor_t tensor;
    const bool there = ember_node_optional_tensor(node, arg, &tensor);
    if (there && tensor.numel != count) {
        (void)ember_node_fail(node, EMBER_BAD_PROGRAM,
                              "normalisation: a parameter has the wrong size");
    }
    if (there) {
        set_vector(node, &tensor, vector);
    } else {
        *vector = (ember_norm_vector_t){.there = false};
    }
}

void ember_norm_output(ember_node_t *node, uint32_t arg, uint32_t rank,
                       const int32_t *sizes, ember_norm_vector_t *vector) {
    ember_tensor_t tensor;
    ember_node_output(node, arg, rank, sizes, &tensor);
    set_vector(node, &tensor, vector);
}

// The position of element `i`.
static char *element(const ember_norm_vector_t *vector, uint32_t i) {
    size_t at = i;
    if (vector->inner > 1) {
        const uint32_t in_block = i % (vector->inner * vector->outer);
        at = i - in_block + in_block % vector->inner * vector->outer +
             in_block / vector->inner;
    }
    return vector->data + at * vector->size;
}

double ember_norm_get(const ember_norm_vector_t *vector, uint32_t i, double when_none) {
    if (!vector->there) {
        return when_none;
    }
    return ember_load_double(vector->dtype, element(vector, i));
}

void ember_norm_set(const ember_norm_vector_t *vector, uint32_t i, double number) {
    ember_store_double(vector->dtype, element(vector, i), number);
}

void ember_norm_no_outputs(ember_node_t *node, uint32_t arg) {
    const int32_t nothing = 0;
    ember_tensor_t tensor;
    ember_node_output(node, arg, 1, &nothing, &tensor);
    ember_node_output(node, arg + 1, 1, &nothing, &tensor);
}

ember_status_t ember_norm_rows_tensors(ember_norm_rows_t *rows, const ember_tensor_t *x,
                                       const ember_tensor_t *y) {
    int32_t x_strides[EMBER_MAX_RANK];
    int32_t y_strides[EMBER_MAX_RANK];

    if (ember_class_of(x->dtype) == EMBER_CLASS_S64) {
        return EMBER_UNSUPPORTED;
    }
    rows->x = x->data;
    rows->y = y->data;
    rows->x_dtype = x->dtype;
    rows->y_dtype = y->dtype;
    rows->x_size = x->element_size;
    rows->y_size = y->element_size;
    rows->dims = 0;
    if (ember_tensor_is_contiguous(x) && ember_tensor_is_contiguous(y)) {
        return EMBER_OK;
    }
    ember_tensor_strides(x, x_strides);
    ember_tensor_strides(y, y_strides);
    for (uint32_t d = 0; d < x->rank; d++) {
        if (x->sizes[d] == 1) {
            continue;
        }
        if (rows->dims == EMBER_NORM_DIMS) {
            return EMBER_UNSUPPORTED;
        }
        int32_t *line = rows->table + 3 * rows->dims++;
        line[0] = x->sizes[d];
        line[1] = x_strides[d];
        line[2] = y_strides[d];
    }
    return EMBER_OK;
}

// The position of logical element `i` in operand 1 (x) or 2 (y), in elements.
static size_t place(const ember_norm_rows_t *s, uint32_t operand, uint32_t i) {
    if (s->dims == 0) {
        return i;
    }
    size_t at = 0;
    for (uint32_t d = s->dims; d-- > 0;) {
        const int32_t *line = s->table + 3 * d;
        const uint32_t size = (uint32_t)line[0];
        at += (size_t)(i % size) * (uint32_t)line[operand];
        i /= size;
    }
    return at;
}

static double get(const ember_norm_rows_t *s, uint32_t i) {
    return ember_load_double(s->x_dtype, s->x + place(s, 1, i) * s->x_size);
}

static void run_row(const ember_norm_rows_t *s, uint32_t row) {
    const uint32_t begin = row * s->count;
    double sum = 0.0;
    double squares = 0.0;
    for (uint32_t i = 0; i < s->count && !s->uncentred; i++) {
        sum += get(s, begin + i);
    }
    const double mean = sum / s->count;
    for (uint32_t i = 0; i < s->count; i++) {
        const double d = get(s, begin + i) - mean;
        squares += d * d;
    }
    const double rstd = 1.0 / sqrt(squares / s->count + s->eps);
    const uint32_t first =
        (uint32_t)((uint64_t)row * (s->count / s->repeat) % s->period);
    for (uint32_t i = 0; i < s->count; i += s->repeat) {
        const uint32_t p = first + i / s->repeat;
        const double weight = ember_norm_get(&s->weight, p, 1.0);
        const double bias = ember_norm_get(&s->bias, p, 0.0);
        for (uint32_t at = begin + i; at < begin + i + s->repeat; at++) {
            ember_store_double(s->y_dtype, s->y + place(s, 2, at) * s->y_size,
                               (get(s, at) - mean) * rstd * weight + bias);
        }
    }
    if (!s->uncentred) {
        ember_norm_set(&s->mean, row, mean);
        ember_norm_set(&s->rstd, row, rstd);
    }
}

void ember_norm_rows_run(const ember_norm_rows_t *rows) {
    for (uint32_t row = 0; row < rows->rows; row++) {
        run_row(rows, row);
    }
}
