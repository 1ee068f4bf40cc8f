// SPDX-License-Identifier: Apache-2.0
// y = a sigmoid(b), a and b the halves of the input along one dimension; in double.
#include <math.h>
#include <string.h>

#include "kernels/engine/element.h"
#include "kernels/engine/promote.h"
#include "kernels/engine/strided.h"

typedef struct glu {
    char *x;
    char *y;
    int32_t half; // bytes from a to b
    uint8_t x_dtype;
    uint8_t y_dtype;
    uint8_t dims; // of the table; 0: no elements
    int32_t table[EMBER_WALK_ITEMS(2)];
} glu_t;

static int32_t run(void *state) {
    const glu_t *s = state;
    ember_walk_t walk;
    if (s->dims == 0) {
        return EMBER_OK;
    }
    const int32_t *row = s->table + 3 * (s->dims - 1u);
    ember_walk_start(&walk, s->table, s->dims, 2);
    walk.at[0] = s->y;
    walk.at[1] = s->x;
    do {
        for (int32_t i = 0; i < row[0]; i++) {
            const char *x = walk.at[1] + i * row[2];
            double pair[2];
            ember_elements_load(EMBER_CLASS_F64, pair, s->x_dtype, x, s->half, 2);
            pair[0] /= 1.0 + exp(-pair[1]);
            ember_elements_store(EMBER_CLASS_F64, pair, s->y_dtype,
                                 walk.at[0] + i * row[1], 0, 1);
        }
    } while (ember_walk_next(&walk));
    return EMBER_OK;
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    glu_t *s = state;
    int32_t sizes[EMBER_MAX_RANK];
    int32_t rows[EMBER_MAX_RANK * 3];
    int32_t x_strides[EMBER_MAX_RANK];
    int32_t y_strides[EMBER_MAX_RANK];
    ember_tensor_t x;
    ember_tensor_t y;

    ember_node_tensor(node, 0, &x);
    const uint32_t dim = ember_node_dim(node, 1, x.rank);
    if (ember_node_status(node) != EMBER_OK) {
        return ember_node_status(node);
    }
    if (x.rank == 0 || x.sizes[dim] % 2 != 0) {
        return ember_node_fail(node, EMBER_BAD_PROGRAM, "glu: an odd size");
    }
    memcpy(sizes, x.sizes, x.rank * sizeof(*sizes));
    sizes[dim] /= 2;
    ember_node_output(node, 2, x.rank, sizes, &y);
    if (ember_node_status(node) != EMBER_OK) {
        return ember_node_status(node);
    }
    if (ember_category(x.dtype) != 3 || ember_category(y.dtype) != 3) {
        return ember_node_fail(node, EMBER_BAD_PROGRAM,
                               "glu: input and output must be float");
    }
    *s = (glu_t){.x = x.data, .y = y.data, .x_dtype = x.dtype, .y_dtype = y.dtype};
    if (y.numel == 0) {
        return EMBER_OK;
    }
    ember_tensor_strides(&x, x_strides);
    ember_tensor_strides(&y, y_strides);
    for (uint32_t d = 0; d < x.rank; d++) {
        rows[3 * d] = sizes[d];
        rows[3 * d + 1] = y_strides[d] * y.element_size;
        rows[3 * d + 2] = x_strides[d] * x.element_size;
    }
    s->half = sizes[dim] * x_strides[dim] * x.element_size;
    const uint32_t dims = ember_walk_join(rows, x.rank, 2);
    if (dims > EMBER_WALK_DIMS) {
        return EMBER_UNSUPPORTED;
    }
    s->dims = (uint8_t)dims;
    memcpy(s->table, rows, dims * 3 * sizeof(*rows));
    return EMBER_OK;
}

EMBER_KERNEL(glu, glu_t);
