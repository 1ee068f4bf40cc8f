// SPDX-License-Identifier: Apache-2.0
#include "kernels/engine/lines.h"

#include <math.h>
#include <string.h>

// The walk over all dimensions except `dim`, which gives the steps of a line.
static bool fill(ember_lines_t *s, const ember_tensor_t *x, const ember_tensor_t *y,
                 uint32_t dim) {
    int32_t rows[EMBER_MAX_RANK * 3];
    int32_t x_strides[EMBER_MAX_RANK];
    int32_t y_strides[EMBER_MAX_RANK];
    uint32_t dims = 0;

    ember_tensor_strides(x, x_strides);
    ember_tensor_strides(y, y_strides);
    for (uint32_t d = 0; d < x->rank; d++) {
        const int32_t row[] = {x->sizes[d], y_strides[d] * y->element_size,
                               x_strides[d] * x->element_size};
        if (d == dim) {
            s->count = (uint32_t)row[0];
            s->y_step = row[1];
            s->x_step = row[2];
        } else {
            memcpy(rows + 3 * dims++, row, sizeof(row));
        }
    }
    dims = ember_walk_join(rows, dims, 2);
    s->dims = dims > EMBER_WALK_DIMS ? 0 : (uint8_t)dims;
    memcpy(s->table, rows, s->dims * 3u * sizeof(*rows));
    return s->dims > 0;
}

ember_status_t ember_lines_prepare(ember_node_t *node, ember_lines_t *lines,
                                   uint32_t dim, uint32_t out) {
    ember_tensor_t x;
    ember_tensor_t y;
    ember_node_tensor(node, 0, &x);
    ember_node_output_like(node, out, &x, &y);
    if (ember_node_status(node) != EMBER_OK) {
        return ember_node_status(node);
    }
    *lines = (ember_lines_t){
        .x = x.data, .y = y.data, .count = 1, .x_dtype = x.dtype, .y_dtype = y.dtype};
    if (x.numel == 0) {
        return EMBER_OK;
    }
    return fill(lines, &x, &y, dim) ? EMBER_OK : EMBER_UNSUPPORTED;
}

void ember_lines_run(const ember_lines_t *lines, ember_line_fn line) {
    ember_walk_t walk;
    if (lines->dims == 0) {
        return;
    }
    const int32_t *row = lines->table + 3 * (lines->dims - 1u);
    ember_walk_start(&walk, lines->table, lines->dims, 2);
    walk.at[0] = lines->y;
    walk.at[1] = lines->x;
    do {
        for (int32_t i = 0; i < row[0]; i++) {
            line(lines, walk.at[1] + i * row[2], walk.at[0] + i * row[1]);
        }
    } while (ember_walk_next(&walk));
}

double ember_line_get(const ember_lines_t *lines, const char *x, uint32_t i) {
    double number;
    ember_elements_load(EMBER_CLASS_F64, &number, lines->x_dtype,
                        x + (int32_t)i * lines->x_step, 0, 1);
    return number;
}

void ember_line_set(const ember_lines_t *lines, char *y, uint32_t i, double number) {
    ember_elements_store(EMBER_CLASS_F64, &number, lines->y_dtype,
                         y + (int32_t)i * lines->y_step, 0, 1);
}

double ember_line_exp_sum(const ember_lines_t *lines, const char *x, double *top) {
    double sum = 0.0;
    *top = -(double)INFINITY;
    for (uint32_t i = 0; i < lines->count; i++) {
        const double value = ember_line_get(lines, x, i);
        *top = value > *top ? value : *top;
    }
    for (uint32_t i = 0; i < lines->count; i++) {
        sum += exp(ember_line_get(lines, x, i) - *top);
    }
    return sum;
}
