// SPDX-License-Identifier: Apache-2.0
// Rows of two int8 operands. Contract: pair_s8.h.
#include "kernels/engine/int8/pair_s8.h"

#include "kernels/engine/element.h"
#include "kernels/engine/strided.h"

enum { OPERANDS = 3, COLUMNS = OPERANDS + 1 }; // of a walk's table: size, y, a, b

static bool all_are(const ember_tensor_t *tensors, ember_dtype_t dtype) {
    return tensors[0].dtype == dtype && tensors[1].dtype == dtype &&
           tensors[2].dtype == dtype;
}

// The shape of tensors[0] from those behind it.
static __attribute__((noinline)) bool shape_of(const ember_tensor_t *tensors,
                                               int32_t *sizes, uint32_t *rank) {
    const ember_tensor_t *const operands[] = {&tensors[1], &tensors[2]};
    return ember_broadcast_shape(operands, 2, sizes, rank);
}

// The walk's one or two dimensions as rows; false when it has more. Apart, so that its
// table is not on the stack while tensors are read.
static __attribute__((noinline)) bool set_rows(ember_pair_s8_t *pair,
                                               const ember_tensor_t *tensors) {
    const ember_tensor_t *const operands[] = {&tensors[0], &tensors[1], &tensors[2]};
    if (ember_tensor_same_layout(&tensors[0], &tensors[1]) &&
        ember_tensor_same_layout(&tensors[0], &tensors[2])) { // as most are
        const int32_t size = (int32_t)ember_dtype_size(tensors[0].dtype);
        *pair = (ember_pair_s8_t){.y = pair->y,
                                  .a = {.x = pair->a.x, .step = size},
                                  .b = {.x = pair->b.x, .step = size},
                                  .rows = 1,
                                  .count = tensors[0].numel};
        return true;
    }
    int32_t table[EMBER_WALK_ITEMS(OPERANDS)];
    const uint32_t dims = ember_walk_fill(operands, OPERANDS, table);
    const int32_t *inner = table + (dims - 1) * COLUMNS;
    pair->rows = dims == 2 ? (uint32_t)table[0] : 1;
    pair->count = (uint32_t)inner[0];
    pair->a.row = dims == 2 ? table[2] : 0;
    pair->b.row = dims == 2 ? table[3] : 0;
    pair->a.step = inner[2];
    pair->b.step = inner[3];
    return dims == 1 || dims == 2;
}

static ember_status_t read_pair(ember_node_t *node, ember_pair_s8_t *pair, uint32_t a,
                                uint32_t b, ember_dtype_t dtype) {
    ember_tensor_t tensors[OPERANDS];
    int32_t sizes[EMBER_MAX_RANK];
    uint32_t rank = 0;
    const uint32_t count = ember_node_arg_count(node);

    ember_node_tensor(node, a, &tensors[1]);
    ember_node_tensor(node, b, &tensors[2]);
    if (!shape_of(tensors, sizes, &rank)) {
        return ember_node_fail(node, EMBER_BAD_PROGRAM,
                               "operands: the shapes do not broadcast");
    }
    ember_node_output(node, count < 2 ? 0 : count - 2, rank, sizes, &tensors[0]);
    if (ember_node_status(node) != EMBER_OK) {
        return ember_node_status(node);
    }
    if (!all_are(tensors, dtype)) {
        return ember_node_fail(node, EMBER_UNSUPPORTED, "operands: dtype");
    }
    *pair = (ember_pair_s8_t){.y = tensors[0].data};
    pair->a.x = tensors[1].data;
    pair->b.x = tensors[2].data;
    if (tensors[0].numel == 0) {
        return EMBER_OK;
    }
    if (!set_rows(pair, tensors)) {
        return ember_node_fail(node, EMBER_UNSUPPORTED, "operands: dim orders differ");
    }
    // Each may be scaled as the reference does it, in 64 bits, and so may a row begin.
    ember_node_work(node, tensors[0].numel, EMBER_STEPS_ANY);
    ember_node_work(node, pair->rows, EMBER_STEPS_RESULT);
    return EMBER_OK;
}

ember_status_t ember_pair_s8_prepare(ember_node_t *node, ember_pair_s8_t *pair,
                                     uint32_t a, uint32_t b) {
    return read_pair(node, pair, a, b, EMBER_S8);
}

ember_status_t ember_pair_prepare(ember_node_t *node, ember_pair_s8_t *pair, uint32_t b,
                                  ember_dtype_t dtype) {
    return read_pair(node, pair, 0, b, dtype);
}

ember_status_t ember_pair_s8_plain_prepare(ember_node_t *node, void *state) {
    return ember_pair_s8_prepare(node, state, 0, 1);
}

ember_status_t ember_pair_s8_dense_prepare(ember_node_t *node, void *state) {
    const ember_status_t status = ember_pair_s8_plain_prepare(node, state);

    if (status == EMBER_OK && !ember_pair_s8_dense(state)) {
        return ember_node_fail(node, EMBER_UNSUPPORTED, "int8 operands: steps");
    }
    return status;
}

void ember_pair_run(const ember_pair_s8_t *pair, ember_pair_row_fn row,
                    const void *state, uint32_t size) {
    const int8_t *a = pair->a.x;
    const int8_t *b = pair->b.x;
    int8_t *y = pair->y;

    for (uint32_t i = 0; i < pair->rows; i++) {
        row(state, a, b, y, pair->count);
        a += pair->a.row;
        b += pair->b.row;
        y += pair->count * size;
    }
}

void ember_pair_s8_run(const ember_pair_s8_t *pair, ember_pair_row_fn row,
                       const void *state) {
    ember_pair_run(pair, row, state, 1);
}
