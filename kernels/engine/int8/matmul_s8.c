// SPDX-License-Identifier: Apache-2.0
// linear and batch_matmul of cortex_m. Contract: matmul_s8.h.
#include "kernels/engine/int8/matmul_s8.h"

#include <string.h>

enum { A, B, BIAS, SUMS, OFFSET }; // of linear; offsets of a, b and c
enum { MULTIPLIERS = OFFSET + 3, SHIFTS, HIGH, LOW, LINEAR_OUT };
enum { BMM_A_OFFSET = 1, BMM_B, BMM_B_OFFSET, BMM_OFFSET, BMM_BY, BMM_OUT = 8 };

static bool is_matrix(const ember_tensor_t *tensor) {
    return tensor->dtype == EMBER_S8 && ember_tensor_is_contiguous(tensor);
}

// Sets the output's shape: that of `a` with `columns` last.
static ember_status_t set_output(ember_matmul_s8_t *matmul, ember_node_t *node,
                                 uint32_t arg, const ember_tensor_t *a) {
    int32_t sizes[EMBER_MAX_RANK];
    ember_tensor_t c;

    memcpy(sizes, a->sizes, a->rank * sizeof(sizes[0]));
    sizes[a->rank - 1] = matmul->columns;
    ember_node_output(node, arg, a->rank, sizes, &c);
    if (ember_node_status(node) != EMBER_OK) {
        return ember_node_status(node);
    }
    if (!is_matrix(&c)) {
        return ember_node_fail(node, EMBER_UNSUPPORTED,
                               "cortex_m: wrong layout of the output");
    }
    matmul->c = c.data;
    ember_node_work(node, c.numel, (uint32_t)matmul->inner + EMBER_STEPS_RESULT);
    return EMBER_OK;
}

// Takes `bias`, or the sums of the weights with it and the offset of `a` in them. A
// function of its own, so that its tensors are not on the stack while others are read.
static __attribute__((noinline)) ember_status_t set_bias(ember_matmul_s8_t *matmul,
                                                         ember_node_t *node) {
    ember_tensor_t bias, sums;
    const bool summed = ember_node_optional_tensor(node, SUMS, &sums);
    const bool biased = ember_node_optional_tensor(node, BIAS, &bias);
    const ember_tensor_t *used = summed ? &sums : &bias;

    if (ember_node_status(node) != EMBER_OK) {
        return ember_node_status(node);
    }
    if ((summed || biased) &&
        (used->dtype != EMBER_S32 || used->numel != (uint32_t)matmul->columns ||
         !ember_tensor_is_contiguous(used))) {
        return ember_node_fail(node, EMBER_BAD_PROGRAM, "cortex_m: bias");
    }
    matmul->bias = used->data;
    matmul->a_offset = summed ? 0 : matmul->a_offset;
    return EMBER_OK;
}

// The only item of the lists of multipliers and shifts.
static ember_status_t set_scale(ember_matmul_s8_t *matmul, ember_node_t *node) {
    int32_t shift = 0;

    matmul->by.multiplier = -1;
    if (ember_node_ints(node, MULTIPLIERS, &matmul->by.multiplier, 1) != 1 ||
        ember_node_ints(node, SHIFTS, &shift, 1) != 1 || matmul->by.multiplier < 0 ||
        shift < EMBER_REQUANTIZE_SHIFT_MIN || shift > EMBER_REQUANTIZE_SHIFT_MAX) {
        return ember_node_fail(node, EMBER_UNSUPPORTED,
                               "cortex_m: the multiplier is out of range");
    }
    matmul->by.shift = shift;
    return ember_node_status(node);
}

static void set_offsets(ember_matmul_s8_t *matmul, ember_node_t *node, uint32_t a,
                        uint32_t b, uint32_t c) {
    matmul->a_offset = (int16_t)ember_zero_point_arg(node, a);
    matmul->b_offset = (int16_t)ember_zero_point_arg(node, b);
    matmul->c_offset = (int16_t)ember_zero_point_arg(node, c);
}

ember_status_t ember_matmul_s8_linear(ember_matmul_s8_t *matmul, ember_node_t *node) {
    ember_tensor_t a, b;

    ember_node_tensor(node, A, &a);
    ember_node_tensor(node, B, &b);
    set_offsets(matmul, node, OFFSET, OFFSET + 1, OFFSET + 2);
    matmul->limits = ember_limits_s8_args(node, LOW, HIGH);
    if (ember_node_status(node) != EMBER_OK) {
        return ember_node_status(node);
    }
    if (!is_matrix(&a) || !is_matrix(&b) || a.rank < 1 || b.rank != 2) {
        return ember_node_fail(node, EMBER_UNSUPPORTED, "cortex_m: layout");
    }
    matmul->inner = b.sizes[1];
    matmul->columns = b.sizes[0];
    if (a.sizes[a.rank - 1] != matmul->inner || matmul->inner < 1) {
        return ember_node_fail(node, EMBER_BAD_PROGRAM, "cortex_m: sizes");
    }
    matmul->a = a.data;
    matmul->b = b.data;
    matmul->batches = 1;
    matmul->rows = (int32_t)(a.numel / (uint32_t)matmul->inner);
    if (set_bias(matmul, node) != EMBER_OK || set_scale(matmul, node) != EMBER_OK) {
        return ember_node_status(node);
    }
    return set_output(matmul, node, LINEAR_OUT, &a);
}

ember_status_t ember_matmul_s8_bmm(ember_matmul_s8_t *matmul, ember_node_t *node) {
    ember_tensor_t a, b;

    ember_node_tensor(node, A, &a);
    ember_node_tensor(node, BMM_B, &b);
    set_offsets(matmul, node, BMM_A_OFFSET, BMM_B_OFFSET, BMM_OFFSET);
    matmul->limits = (ember_limits_s8_t){INT8_MIN, INT8_MAX};
    matmul->by = ember_requantize_args(node, BMM_BY);
    if (ember_node_status(node) != EMBER_OK) {
        return ember_node_status(node);
    }
    if (!is_matrix(&a) || !is_matrix(&b) || a.rank != 3 || b.rank != 3) {
        return ember_node_fail(node, EMBER_UNSUPPORTED, "cortex_m: layout");
    }
    if (a.sizes[0] != b.sizes[0] || a.sizes[2] != b.sizes[2]) {
        return ember_node_fail(node, EMBER_BAD_PROGRAM, "cortex_m: sizes");
    }
    matmul->a = a.data;
    matmul->b = b.data;
    matmul->bias = NULL;
    matmul->batches = a.sizes[0];
    matmul->rows = a.sizes[1];
    matmul->inner = a.sizes[2];
    matmul->columns = b.sizes[1];
    return set_output(matmul, node, BMM_OUT, &a);
}
