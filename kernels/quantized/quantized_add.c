// SPDX-License-Identifier: Apache-2.0
// add: dequantises two tensors to float32, adds them, and quantises the sum. Contract:
// quantized_add.h.
#include "kernels/quantized/quantized_add.h"

#include <string.h>

#include "kernels/engine/affine.h"
#include "kernels/engine/mathf.h"

enum { A, A_SCALE, A_ZERO, B = 5, B_SCALE, B_ZERO };
enum { OUT_SCALE = 10, OUT_ZERO, LOWEST, HIGHEST, OUT };
enum { BLOCK = EMBER_AFFINE_BLOCK, OPERANDS = EMBER_QUANTIZED_ADD_OPERANDS };

static void compute(const ember_quantized_add_t *s, ember_affine_numbers_t *a,
                    const ember_affine_numbers_t *b, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        const float sum = (a->f32[i] - s->zero[1]) * s->scale[1] +
                          (b->f32[i] - s->zero[2]) * s->scale[2];
        const float q = ember_roundf(sum * s->scale[0]) + s->zero[0];
        a->f32[i] = ember_cut_f32(q, s->low, s->high, s->worst);
    }
}

static void run_row(const ember_quantized_add_t *s, const ember_walk_t *walk,
                    const int32_t *row) {
    ember_affine_numbers_t a;
    ember_affine_numbers_t b;
    for (int32_t i = 0; i < row[0]; i += BLOCK) {
        const int32_t left = row[0] - i;
        const uint32_t count = (uint32_t)(left < BLOCK ? left : BLOCK);
        ember_elements_load(EMBER_CLASS_F32, &a, s->dtypes[1],
                            walk->at[1] + (ptrdiff_t)i * row[2], row[2], count);
        ember_elements_load(EMBER_CLASS_F32, &b, s->dtypes[2],
                            walk->at[2] + (ptrdiff_t)i * row[3], row[3], count);
        compute(s, &a, &b, count);
        ember_elements_store(EMBER_CLASS_F32, &a, s->dtypes[0],
                             walk->at[0] + (ptrdiff_t)i * row[1], row[1], count);
    }
}

void ember_quantized_add_walk(const ember_quantized_add_t *s,
                              ember_quantized_add_fn add_row) {
    ember_walk_t walk;
    if (s->dims == 0) {
        return;
    }
    ember_walk_start(&walk, s->table, s->dims, OPERANDS);
    memcpy(walk.at, s->data, sizeof(s->data));
    do {
        add_row(s, &walk, s->table + (s->dims - 1u) * (OPERANDS + 1u));
    } while (ember_walk_next(&walk));
}

static void read_numbers(ember_quantized_add_t *s, ember_node_t *node) {
    static const uint8_t scales[OPERANDS] = {OUT_SCALE, A_SCALE, B_SCALE};
    static const uint8_t zeros[OPERANDS] = {OUT_ZERO, A_ZERO, B_ZERO};
    for (uint32_t k = 0; k < OPERANDS; k++) {
        const double scale = ember_node_double(node, scales[k]);
        s->scale[k] = (float)(k == 0 ? 1.0 / scale : scale);
        s->zero[k] = (float)ember_node_int(node, zeros[k]);
    }
}

static bool read_range(ember_quantized_add_t *s, ember_node_t *node) {
    const int64_t least = ember_node_int(node, LOWEST);
    const int64_t most = ember_node_int(node, HIGHEST);
    int64_t low = 0;
    int64_t high = 0;
    const bool known = ember_quantized_range(s->dtypes[0], &low, &high);
    s->low = (float)least;
    s->high = (float)most;
    s->worst = s->dtypes[0] == EMBER_S32 ? (float)low : 0.0f;
    return known && low <= least && least <= most && most <= high;
}

ember_status_t ember_quantized_add_prepare(ember_node_t *node, void *state) {
    ember_quantized_add_t *s = state;
    ember_tensor_t tensors[OPERANDS];
    const ember_tensor_t *const operands[OPERANDS] = {&tensors[0], &tensors[1],
                                                      &tensors[2]};
    int32_t sizes[EMBER_MAX_RANK];
    uint32_t rank = 0;

    ember_node_tensor(node, A, &tensors[1]);
    ember_node_tensor(node, B, &tensors[2]);
    const bool fit = ember_broadcast_shape(operands + 1, 2, sizes, &rank);
    ember_node_output(node, OUT, rank, sizes, &tensors[0]);
    read_numbers(s, node);
    if (ember_node_status(node) != EMBER_OK) {
        return ember_node_status(node);
    }
    for (uint32_t k = 0; k < OPERANDS; k++) {
        s->data[k] = tensors[k].data;
        s->dtypes[k] = tensors[k].dtype;
    }
    if (ember_is_real(s->dtypes[1]) || ember_is_real(s->dtypes[2])) {
        return EMBER_UNSUPPORTED;
    }
    if (!fit || !read_range(s, node)) {
        return ember_node_fail(node, EMBER_BAD_PROGRAM,
                               "quantized add: wrong shapes or range");
    }
    s->dims = 0;
    if (tensors[0].numel == 0) {
        return EMBER_OK;
    }
    s->dims = (uint8_t)ember_walk_fill(operands, OPERANDS, s->table);
    return s->dims > 0 ? EMBER_OK : EMBER_UNSUPPORTED;
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    return ember_quantized_add_prepare(node, state);
}

static int32_t run(void *state) {
    ember_quantized_add_walk(state, run_row);
    return EMBER_OK;
}

EMBER_KERNEL(quantized_add, ember_quantized_add_t);
