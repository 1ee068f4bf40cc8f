// SPDX-License-Identifier: Apache-2.0
#include "kernels/engine/map.h"

#include <string.h>

#include "kernels/engine/mathf.h"
#include "kernels/engine/promote.h"

enum { BLOCK = 16 }; // numbers of an operand on the stack: 128 bytes each

// --- prepare -------------------------------------------------------------------

// Reads operand `k`; a Scalar or None leaves a tensor of rank 0 without dtype.
static void read_operand(ember_node_t *node, const ember_map_ops_t *ops, uint32_t k,
                         ember_promotion_t *promotion, ember_tensor_t *tensor) {
    const ember_kind_t kind = ember_node_kind(node, k);
    const bool counts = (ops->unpromoted >> k & 1) == 0;
    if (kind == EMBER_TENSOR) {
        ember_node_tensor(node, k, tensor);
        if (counts) {
            ember_promotion_tensor(promotion, tensor);
        }
        return;
    }
    memset(tensor, 0, sizeof(*tensor));
    tensor->numel = 1;
    tensor->dtype = EMBER_NO_DTYPE;
    if (counts && kind != EMBER_NONE) {
        ember_promotion_scalar(promotion, kind);
    }
}

static ember_number_t number_of(ember_class_t class, ember_value_t value) {
    const bool real = value.kind == EMBER_DOUBLE;
    ember_number_t number = {.s64 = value.as_int};
    if (real) {
        number.f64 = value.as_double;
    }
    ember_numbers_convert(&number, real ? EMBER_CLASS_F64 : EMBER_CLASS_S64, class, 1);
    return number;
}

static ember_number_t limit_of(ember_class_t class, bool highest) {
    ember_number_t number = {.s64 = highest ? INT64_MAX : INT64_MIN};
    if (class == EMBER_CLASS_F32) {
        number.f32 = highest ? EMBER_INF : -EMBER_INF;
    } else if (class == EMBER_CLASS_F64) {
        number.f64 = highest ? (double)EMBER_INF : -(double)EMBER_INF;
    }
    return number;
}

// Gives a Scalar operand the memory of its value in the state.
static void read_scalar(ember_node_t *node, const ember_map_ops_t *ops, uint32_t k,
                        ember_class_t class, ember_number_t *number,
                        ember_tensor_t *tensor) {
    if (ember_node_kind(node, k) == EMBER_NONE && (ops->flags & EMBER_MAP_OPTIONAL)) {
        *number = limit_of(class, k == 2);
    } else {
        *number = number_of(class, ember_node_scalar(node, k));
    }
    tensor->data = number;
    tensor->dtype = (uint8_t)ember_class_dtype(class);
    tensor->element_size = (uint8_t)ember_class_size(class);
}

static ember_class_t compute_class(const ember_map_ops_t *ops, uint8_t dtype) {
    const ember_class_t class = ember_class_of(dtype);
    return class == EMBER_CLASS_S64 && (ops->flags & EMBER_MAP_FLOAT) ? EMBER_CLASS_F32
                                                                      : class;
}

// ATen casts operands to the common dtype before it computes. That makes a
// difference for 0-d tensors and Scalars that are wider: as int8, 200 is -56.
static uint8_t find_wraps(ember_node_t *node, const ember_map_ops_t *ops,
                          const ember_tensor_t *tensors, uint8_t dtype) {
    uint32_t wraps = 0;
    for (uint32_t k = 0; k < ops->inputs; k++) {
        const bool counts = (ops->unpromoted >> k & 1) == 0;
        if (counts && tensors[k].rank == 0 && tensors[k].dtype != dtype &&
            ember_node_kind(node, k) != EMBER_NONE) {
            wraps |= 1u << k;
        }
    }
    return (uint8_t)wraps;
}

ember_status_t ember_map_prepare(ember_node_t *node, const ember_map_ops_t *ops,
                                 ember_map_t *map, int32_t *table,
                                 ember_number_t *scalars) {
    ember_tensor_t tensors[EMBER_WALK_OPERANDS];
    const ember_tensor_t *operands[EMBER_WALK_OPERANDS];
    int32_t sizes[EMBER_MAX_RANK];
    ember_promotion_t promotion;
    uint32_t rank;

    ember_promotion_start(&promotion);
    for (uint32_t k = 0; k < ops->inputs; k++) {
        operands[k + 1] = &tensors[k + 1];
        read_operand(node, ops, k, &promotion, &tensors[k + 1]);
    }
    const uint8_t dtype = ember_promotion_result(&promotion);
    const ember_class_t class = compute_class(ops, dtype);
    if (ops->rows[class] == NULL) {
        return EMBER_UNSUPPORTED;
    }
    for (uint32_t k = 0; k < ops->inputs; k++) {
        if (tensors[k + 1].dtype == EMBER_NO_DTYPE) {
            read_scalar(node, ops, k, class, &scalars[k], &tensors[k + 1]);
        }
    }
    if (!ember_broadcast_shape(operands + 1, ops->inputs, sizes, &rank)) {
        return ember_node_fail(node, EMBER_BAD_PROGRAM,
                               "elementwise: the shapes do not broadcast");
    }
    operands[0] = &tensors[0];
    ember_node_output(node, ember_map_out(node), rank, sizes, &tensors[0]);
    if (ember_node_status(node) != EMBER_OK) {
        return ember_node_status(node);
    }
    map->ops = ops;
    map->class = (uint8_t)class;
    map->dtype = dtype;
    map->wraps =
        class == EMBER_CLASS_S64 ? find_wraps(node, ops, tensors + 1, dtype) : 0;
    map->dims = 0;
    for (uint32_t k = 0; k <= ops->inputs; k++) {
        map->data[k] = tensors[k].data;
        map->dtypes[k] = tensors[k].dtype;
    }
    if (tensors[0].numel == 0) {
        return EMBER_OK;
    }
    map->dims = (uint8_t)ember_walk_fill(operands, ops->inputs + 1u, table);
    return map->dims > 0 ? EMBER_OK : EMBER_UNSUPPORTED;
}

// --- run -----------------------------------------------------------------------

typedef struct operand {
    char *at;
    int32_t step; // bytes
    uint8_t dtype;
    bool direct; // the row's own memory is an array of the class
} operand_t;

typedef struct buffers {
    int64_t numbers[EMBER_WALK_OPERANDS][BLOCK];
} buffers_t;

// Reads an operand that has the same number all along the row.
static void repeat_number(const ember_map_t *map, uint32_t k, const operand_t *operand,
                          int64_t *numbers) {
    ember_elements_load((ember_class_t)map->class, numbers, operand->dtype, operand->at,
                        0, BLOCK);
    if ((map->wraps >> (k - 1) & 1) != 0) {
        for (uint32_t i = 0; i < BLOCK; i++) {
            numbers[i] = ember_integer_wrap(map->dtype, numbers[i]);
        }
    }
}

// Describes the operands of a row; returns how many elements fit one step.
static uint32_t row_operands(const ember_map_t *map, const ember_walk_t *walk,
                             const int32_t *row, operand_t *operands,
                             buffers_t *buffers) {
    const ember_class_t class = (ember_class_t)map->class;
    uint32_t block = (uint32_t)row[0];
    for (uint32_t k = 0; k <= map->ops->inputs; k++) {
        operand_t *operand = &operands[k];
        *operand = (operand_t){walk->at[k], row[1 + k], map->dtypes[k], false};
        operand->direct = operand->dtype == (uint8_t)ember_class_dtype(class) &&
                          operand->step == (int32_t)ember_class_size(class);
        if (!operand->direct) {
            block = block < BLOCK ? block : BLOCK;
        }
        if (k > 0 && operand->step == 0) {
            repeat_number(map, k, operand, buffers->numbers[k]);
        }
    }
    return block;
}

static void run_row(const ember_map_t *map, const ember_walk_t *walk,
                    const int32_t *row) {
    const ember_class_t class = (ember_class_t)map->class;
    buffers_t buffers;
    operand_t operands[EMBER_WALK_OPERANDS];
    const void *x[EMBER_MAP_INPUTS];
    const uint32_t block = row_operands(map, walk, row, operands, &buffers);

    for (uint32_t left = (uint32_t)row[0]; left > 0;) {
        const uint32_t count = left < block ? left : block;
        for (uint32_t k = 1; k <= map->ops->inputs; k++) {
            operand_t *in = &operands[k];
            x[k - 1] = in->direct ? (void *)in->at : (void *)buffers.numbers[k];
            if (!in->direct && in->step != 0) {
                ember_elements_load(class, buffers.numbers[k], in->dtype, in->at,
                                    in->step, count);
            }
            in->at += (int32_t)count * in->step;
        }
        operand_t *out = &operands[0];
        map->ops->rows[class](out->direct ? (void *)out->at : buffers.numbers[0], x,
                              count);
        if (!out->direct) {
            ember_elements_store(class, buffers.numbers[0], out->dtype, out->at,
                                 out->step, count);
        }
        out->at += (int32_t)count * out->step;
        left -= count;
    }
}

void ember_map_run(const ember_map_t *map, const int32_t *table) {
    const uint32_t operands = map->ops->inputs + 1u;
    ember_walk_t walk;
    if (map->dims == 0) {
        return;
    }
    ember_walk_start(&walk, table, map->dims, operands);
    for (uint32_t k = 0; k < operands; k++) {
        walk.at[k] = map->data[k];
    }
    do {
        run_row(map, &walk, table + (map->dims - 1u) * (operands + 1));
    } while (ember_walk_next(&walk));
}
