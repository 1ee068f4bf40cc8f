// SPDX-License-Identifier: Apache-2.0
// Sums and products of the dialect. Contract: binary.h.
#include "kernels/cadence/binary.h"

#include <string.h>

// Arguments: a with its scale and zero point; b with its own, or a number; scale and
// zero point of the output; the output.
enum { A, A_SCALE, A_ZERO, B, B_SCALE, B_ZERO, OPERANDS = EMBER_CADENCE_OPERANDS };

int32_t ember_cadence_binary_run(const ember_cadence_binary_t *s,
                                 ember_cadence_row_fn row) {
    const ember_cadence_pair_t pair = {
        .cut = s->cut,
        .inverse = s->inverse,
        .a_scale = ember_cadence_real(&s->scales[0], 0),
        .b_scale = ember_cadence_real(&s->scales[1], 0),
        .a_zero = ember_cadence_whole(&s->zeros[0], 0),
        .b_zero = ember_cadence_whole(&s->zeros[1], 0),
        .number = s->number,
        .is_signed = s->dtype == EMBER_S8,
    };
    const int32_t *last = s->table + (s->dims - 1u) * (OPERANDS + 1u);
    ember_walk_t walk;

    if (s->dims == 0) {
        return EMBER_OK;
    }
    ember_walk_start(&walk, s->table, s->dims, OPERANDS);
    memcpy(walk.at, s->data, sizeof(s->data));
    do {
        const uint8_t *b = s->data[2] == NULL ? NULL : (const uint8_t *)walk.at[2];
        row(&pair, (uint8_t *)walk.at[0], (const uint8_t *)walk.at[1], last[2], b,
            last[3], last[1], last[0]);
    } while (ember_walk_next(&walk));
    return EMBER_OK;
}

// The second operand: a tensor, or a number, for which `b` stays the same as `a`.
static uint32_t read_second(ember_cadence_binary_t *s, ember_node_t *node,
                            ember_tensor_t *b) {
    if (ember_node_kind(node, B) == EMBER_TENSOR) {
        ember_node_tensor(node, B, b);
        s->scales[1] = ember_cadence_real_arg(node, B_SCALE, 1);
        s->zeros[1] = ember_cadence_whole_arg(node, B_ZERO, 1);
        s->data[2] = b->data;
        return B_ZERO + 1;
    }
    s->number = (float)ember_node_double(node, B);
    s->scales[1] = (ember_cadence_number_t){0};
    s->zeros[1] = (ember_cadence_number_t){0};
    s->data[2] = NULL;
    return B + 1;
}

static bool in_range(const ember_cadence_number_t *zero) {
    return zero->at != NULL ||
           (zero->whole >= -EMBER_CADENCE_ZERO && zero->whole <= EMBER_CADENCE_ZERO);
}

static ember_status_t read_numbers(ember_cadence_binary_t *s, ember_node_t *node,
                                   uint32_t scale) {
    const int32_t zero = ember_node_int_in(node, scale + 1, INT32_MIN, INT32_MAX);

    s->inverse = 1.0f / (float)ember_node_double(node, scale);
    if (ember_node_status(node) != EMBER_OK) {
        return ember_node_status(node);
    }
    if (s->dtype != EMBER_S8 && s->dtype != EMBER_U8) {
        return ember_node_fail(node, EMBER_UNSUPPORTED, "cadence: dtype");
    }
    if (!ember_cadence_cut_set(&s->cut, s->dtype, zero) || !in_range(&s->zeros[0]) ||
        !in_range(&s->zeros[1])) {
        return ember_node_fail(node, EMBER_BAD_PROGRAM,
                               "cadence: a zero point is out of range");
    }
    return EMBER_OK;
}

ember_status_t ember_cadence_binary(ember_cadence_binary_t *s, ember_node_t *node) {
    ember_tensor_t y, a, b;
    const ember_tensor_t *const operands[OPERANDS] = {&y, &a, &b};
    int32_t sizes[EMBER_MAX_RANK];
    uint32_t rank = 0;

    ember_node_tensor(node, A, &a);
    b = a;
    s->number = 0.0f;
    s->scales[0] = ember_cadence_real_arg(node, A_SCALE, 1);
    s->zeros[0] = ember_cadence_whole_arg(node, A_ZERO, 1);
    const uint32_t scale = read_second(s, node, &b);
    const bool fit = ember_broadcast_shape(operands + 1, 2, sizes, &rank);
    ember_node_output(node, scale + 2, rank, sizes, &y);
    s->data[0] = y.data;
    s->data[1] = a.data;
    s->dtype = y.dtype;
    s->dims = 0;
    const ember_status_t status = read_numbers(s, node, scale);
    if (status != EMBER_OK) {
        return status;
    }
    if (!fit || a.dtype != y.dtype || b.dtype != y.dtype) {
        return ember_node_fail(node, EMBER_BAD_PROGRAM,
                               "cadence: shapes or dtypes do not fit");
    }
    if (y.numel == 0) {
        return EMBER_OK;
    }
    s->dims = (uint8_t)ember_walk_fill(operands, OPERANDS, s->table);
    return s->dims > 0 ? EMBER_OK : EMBER_UNSUPPORTED;
}
