// SPDX-License-Identifier: Apache-2.0
// What quantising and dequantising share. Contract: affine.h.
#include "kernels/engine/affine.h"

#include <string.h>

enum { BLOCK = EMBER_AFFINE_BLOCK };

bool ember_quantized_range(uint32_t dtype, int64_t *low, int64_t *high) {
    const bool is_signed =
        dtype == EMBER_S8 || dtype == EMBER_S16 || dtype == EMBER_S32;
    if (!is_signed && dtype != EMBER_U8 && dtype != EMBER_U16) {
        return false;
    }
    const int64_t numbers = (int64_t)1 << 8 * ember_dtype_size(dtype);
    *low = is_signed ? -numbers / 2 : 0;
    *high = *low + numbers - 1;
    return true;
}

bool ember_is_real(uint32_t dtype) {
    return ember_class_of(dtype) != EMBER_CLASS_S64;
}

void ember_round_to(uint32_t dtype, float *numbers, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        if (dtype == EMBER_F16) {
            numbers[i] = ember_f32_from_f16(ember_f16_from_f32(numbers[i]));
        } else if (dtype == EMBER_BF16) {
            numbers[i] = ember_f32_from_bf16(ember_bf16_from_f32(numbers[i]));
        }
    }
}

// --- prepare -------------------------------------------------------------------

// A number as a tensor of rank 0 whose data is in the state.
static ember_tensor_t number_tensor(void *data, uint8_t dtype) {
    return (ember_tensor_t){
        .data = data, .numel = 1, .dtype = dtype, .element_size = sizeof(int64_t)};
}

static void read_parameters(ember_affine_t *affine, ember_node_t *node,
                            ember_tensor_t *scale, ember_tensor_t *zero) {
    affine->scale = 1.0;
    affine->zero_point = 0;
    if (ember_node_kind(node, 1) == EMBER_TENSOR) {
        ember_node_tensor(node, 1, scale);
    } else {
        affine->scale = ember_node_double(node, 1);
        *scale = number_tensor(&affine->scale, EMBER_F64);
    }
    if (ember_node_kind(node, 2) == EMBER_TENSOR) {
        ember_node_tensor(node, 2, zero);
    } else {
        affine->zero_point = ember_node_int_or(node, 2, 0);
        *zero = number_tensor(&affine->zero_point, EMBER_S64);
    }
}

// A tensor of one element as one that broadcasts to any shape.
static bool drop_shape(ember_tensor_t *tensor) {
    tensor->rank = 0;
    return tensor->numel == 1;
}

// The sizes and dim order of a list along one dimension of `x`.
typedef struct list_shape {
    int32_t sizes[EMBER_MAX_RANK];
    uint8_t order[EMBER_MAX_RANK];
} list_shape_t;

static bool lay_along(ember_tensor_t *tensor, const ember_tensor_t *x, uint32_t axis,
                      list_shape_t *shape) {
    const uint32_t size = axis < x->rank ? (uint32_t)x->sizes[axis] : 1;
    if (tensor->rank == 0) {
        return true; // a number
    }
    if (tensor->rank != 1 || (tensor->numel != size && tensor->numel != 1)) {
        return false;
    }
    for (uint32_t d = 0; d < x->rank; d++) {
        shape->sizes[d] = d == axis ? (int32_t)tensor->numel : 1;
        shape->order[d] = (uint8_t)d;
    }
    tensor->sizes = shape->sizes;
    tensor->dim_order = shape->order;
    tensor->rank = x->rank;
    return true;
}

static bool fits(const ember_tensor_t *const *operands) {
    int32_t sizes[EMBER_MAX_RANK];
    uint32_t rank;
    const ember_tensor_t *x = operands[EMBER_AFFINE_X];
    return ember_broadcast_shape(operands + EMBER_AFFINE_X, 3, sizes, &rank) &&
           rank == x->rank &&
           (rank == 0 || memcmp(sizes, x->sizes, rank * sizeof(*sizes)) == 0);
}

ember_status_t ember_affine_read(ember_affine_t *affine, ember_node_t *node,
                                 ember_affine_form_t form, uint32_t out) {
    ember_tensor_t tensors[EMBER_AFFINE_OPERANDS];
    const ember_tensor_t *operands[EMBER_AFFINE_OPERANDS];
    list_shape_t shapes[2];
    ember_tensor_t *x = &tensors[EMBER_AFFINE_X];
    ember_tensor_t *scale = &tensors[EMBER_AFFINE_SCALE];
    ember_tensor_t *zero = &tensors[EMBER_AFFINE_ZERO];
    bool right = true;

    ember_node_tensor(node, 0, x);
    read_parameters(affine, node, scale, zero);
    ember_node_output_like(node, out, x, &tensors[EMBER_AFFINE_Y]);
    if (form == EMBER_AFFINE_TENSOR) {
        right = drop_shape(scale) && drop_shape(zero);
    } else if (form == EMBER_AFFINE_CHANNEL) {
        const uint32_t axis = ember_node_dim(node, 3, x->rank);
        right = lay_along(scale, x, axis, &shapes[0]) &&
                lay_along(zero, x, axis, &shapes[1]);
    }
    if (ember_node_status(node) != EMBER_OK) {
        return ember_node_status(node);
    }
    for (uint32_t k = 0; k < EMBER_AFFINE_OPERANDS; k++) {
        operands[k] = &tensors[k];
        affine->data[k] = tensors[k].data;
        affine->dtypes[k] = tensors[k].dtype;
    }
    if (!right || !fits(operands)) {
        return ember_node_fail(node, EMBER_BAD_PROGRAM,
                               "quantisation: wrong shape of scales");
    }
    affine->form = (uint8_t)form;
    affine->dims = 0;
    if (x->numel == 0) {
        return EMBER_OK;
    }
    affine->dims =
        (uint8_t)ember_walk_fill(operands, EMBER_AFFINE_OPERANDS, affine->table);
    if (affine->dims == 0) {
        return EMBER_UNSUPPORTED;
    }
    const int32_t *row =
        affine->table + (affine->dims - 1u) * (EMBER_AFFINE_OPERANDS + 1u);
    ember_node_work(node, x->numel, EMBER_STEPS_ANY);
    ember_node_work(node, x->numel / (uint32_t)row[0], EMBER_STEPS_RESULT);
    return EMBER_OK;
}

// --- run -----------------------------------------------------------------------

// Reads elements of operand `k` from `first` on, in `class`.
static void load(const ember_affine_t *affine, const ember_walk_t *walk,
                 const int32_t *row, uint32_t k, ember_class_t class, int32_t first,
                 ember_affine_numbers_t *numbers, uint32_t count) {
    const int32_t step = row[1 + k];
    ember_elements_load(class, numbers, affine->dtypes[k],
                        walk->at[k] + (ptrdiff_t)first * step, step, count);
}

static ember_class_t own_class(const ember_affine_t *affine, uint32_t k) {
    return ember_class_of(affine->dtypes[k]);
}

static void run_row(const ember_affine_t *affine, const ember_walk_t *walk,
                    const int32_t *row, ember_affine_fn begin,
                    ember_affine_fn compute) {
    const int32_t y_step = row[1 + EMBER_AFFINE_Y];
    ember_affine_block_t block;
    block.step = row[1 + EMBER_AFFINE_SCALE] != 0 || row[1 + EMBER_AFFINE_ZERO] != 0;

    for (int32_t i = 0; i < row[0]; i += BLOCK) {
        const int32_t left = row[0] - i;
        const uint32_t count = (uint32_t)(left < BLOCK ? left : BLOCK);
        const uint32_t fresh = block.step != 0 ? count : i == 0;
        if (fresh > 0) {
            load(affine, walk, row, EMBER_AFFINE_SCALE, EMBER_CLASS_F64, i,
                 &block.scale, fresh);
            load(affine, walk, row, EMBER_AFFINE_ZERO,
                 own_class(affine, EMBER_AFFINE_ZERO), i, &block.zero, fresh);
            begin(affine, &block, fresh);
        }
        load(affine, walk, row, EMBER_AFFINE_X, own_class(affine, EMBER_AFFINE_X), i,
             &block.x, count);
        compute(affine, &block, count);
        ember_elements_store(
            (ember_class_t)affine->class, &block.x, affine->dtypes[EMBER_AFFINE_Y],
            walk->at[EMBER_AFFINE_Y] + (ptrdiff_t)i * y_step, y_step, count);
    }
}

void ember_affine_walk(const ember_affine_t *affine, ember_affine_fn begin,
                       ember_affine_fn compute) {
    ember_walk_t walk;
    if (affine->dims == 0) {
        return;
    }
    ember_walk_start(&walk, affine->table, affine->dims, EMBER_AFFINE_OPERANDS);
    memcpy(walk.at, affine->data, sizeof(affine->data));
    do {
        run_row(affine, &walk,
                affine->table + (affine->dims - 1u) * (EMBER_AFFINE_OPERANDS + 1u),
                begin, compute);
    } while (ember_walk_next(&walk));
}
