// SPDX-License-Identifier: Apache-2.0
#include "kernels/engine/map.h"

#include <string.h>

#include "kernels/engine/promote.h"
#include "kernels/engine/scalar.h"

enum { BLOCK = 16 }; // numbers of an operand on the stack: 128 bytes each

// --- prepare -------------------------------------------------------------------

static bool counts(const ember_map_ops_t *ops, uint32_t k) {
    return (ops->unpromoted >> k & 1) == 0;
}

// Reads operand `k`; a Scalar or None leaves a tensor of rank 0 without data.
static void read_operand(ember_node_t *node, const ember_map_ops_t *ops, uint32_t k,
                         ember_promotion_t *promotion, ember_tensor_t *tensor) {
    const ember_kind_t kind = ember_node_kind(node, k);
    if (kind == EMBER_TENSOR) {
        ember_node_tensor(node, k, tensor);
        if (counts(ops, k)) {
            ember_promotion_tensor(promotion, tensor);
        }
        return;
    }
    memset(tensor, 0, sizeof(*tensor));
    tensor->numel = 1;
    tensor->dtype = EMBER_NO_DTYPE;
    if (counts(ops, k) && kind != EMBER_NONE) {
        ember_promotion_scalar(promotion, kind);
    }
}

// Gives a Scalar operand the memory of its value in the state.
static void read_scalar(ember_node_t *node, uint32_t k, ember_class_t class,
                        ember_number_t *number) {
    const ember_scalar_t scalar = ember_scalar_arg(node, k);
    ember_elements_load(class, number, scalar.dtype, &scalar.bits, 0, 1);
}

// ATen casts operands to the common dtype before it computes. That makes a difference
// for integers that have no say in it, 0-d tensors and Scalars: as int8, 200 is -56.
// The lowest bytes come first, so that reading it as the other dtype is the cast; a
// shorter one needs none, unless its sign gets lost: false.
static bool cast_integer(ember_tensor_t *tensor, uint8_t dtype) {
    if (tensor->rank > 0 || tensor->dtype == dtype || dtype == EMBER_B1) {
        return true;
    }
    if (ember_dtype_size(tensor->dtype) >= ember_dtype_size(dtype)) {
        tensor->dtype = dtype;
        return true;
    }
    return dtype < EMBER_U16;
}

static ember_class_t compute_class(const ember_map_ops_t *ops, uint8_t dtype) {
    const ember_class_t class = ember_class_of(dtype);
    return class == EMBER_CLASS_S64 && (ops->flags & EMBER_MAP_FLOAT) ? EMBER_CLASS_F32
                                                                      : class;
}

// Which operands a row function can work on where they are.
static uint8_t find_direct(const ember_map_t *map, const int32_t *row) {
    const ember_class_t class = (ember_class_t)map->class;
    uint32_t direct = 0;
    for (uint32_t k = 0; k <= map->ops->inputs; k++) {
        if (map->dtypes[k] == ember_class_dtype(class) &&
            row[1 + k] == (int32_t)ember_class_size(class)) {
            direct |= 1u << k;
        }
    }
    return (uint8_t)direct;
}

ember_status_t ember_map_prepare(ember_node_t *node, const ember_map_ops_t *ops,
                                 ember_map_t *map, int32_t *table,
                                 ember_number_t *scalars) {
    const uint32_t operands = ops->inputs + 1u;
    ember_tensor_t tensors[EMBER_WALK_OPERANDS];
    const ember_tensor_t *pointers[EMBER_WALK_OPERANDS];
    int32_t sizes[EMBER_MAX_RANK];
    ember_promotion_t promotion;
    uint32_t rank;

    ember_promotion_start(&promotion);
    pointers[0] = &tensors[0];
    for (uint32_t k = 1; k < operands; k++) {
        pointers[k] = &tensors[k];
        read_operand(node, ops, k - 1, &promotion, &tensors[k]);
    }
    const uint8_t dtype = ember_promotion_result(&promotion);
    const ember_class_t class = compute_class(ops, dtype);
    if (ops->rows[class] == NULL) {
        return EMBER_UNSUPPORTED;
    }
    for (uint32_t k = 1; k < operands; k++) {
        if (tensors[k].dtype == EMBER_NO_DTYPE) {
            tensors[k].data = &scalars[k - 1];
            tensors[k].dtype = (uint8_t)ember_class_dtype(class);
            if (k > 1 && ops->bounds != NULL &&
                ember_node_kind(node, k - 1) == EMBER_NONE) {
                scalars[k - 1] = ops->bounds[k - 2][class];
                continue;
            }
            read_scalar(node, k - 1, class, &scalars[k - 1]);
        }
        if (class == EMBER_CLASS_S64 && !cast_integer(&tensors[k], dtype)) {
            return EMBER_UNSUPPORTED;
        }
    }
    if (!ember_broadcast_shape(pointers + 1, ops->inputs, sizes, &rank)) {
        return ember_node_fail(node, EMBER_BAD_PROGRAM,
                               "elementwise: the shapes do not broadcast");
    }
    ember_node_output(node, ember_map_out(node), rank, sizes, &tensors[0]);
    if (ember_node_status(node) != EMBER_OK) {
        return ember_node_status(node);
    }
    map->ops = ops;
    map->class = (uint8_t)class;
    map->dims = 0;
    for (uint32_t k = 0; k < operands; k++) {
        map->data[k] = tensors[k].data;
        map->dtypes[k] = tensors[k].dtype;
    }
    if (tensors[0].numel == 0) {
        return EMBER_OK;
    }
    map->dims = (uint8_t)ember_walk_fill(pointers, operands, table);
    if (map->dims == 0) {
        return EMBER_UNSUPPORTED;
    }
    map->direct = find_direct(map, table + (map->dims - 1u) * (operands + 1));
    return EMBER_OK;
}

// --- run -----------------------------------------------------------------------

// Operands that are not direct are read in blocks; one that repeats a number all
// along the row is read once.
static void run_row(const ember_map_t *map, char *const *start, const int32_t *row) {
    const ember_class_t class = (ember_class_t)map->class;
    const uint32_t inputs = map->ops->inputs;
    const uint32_t all = (2u << inputs) - 1;
    const uint32_t block = map->direct == all ? (uint32_t)row[0] : BLOCK;
    int64_t numbers[EMBER_WALK_OPERANDS][BLOCK];
    const void *x[EMBER_MAP_INPUTS];

    for (uint32_t i = 0; i < (uint32_t)row[0]; i += block) {
        const uint32_t left = (uint32_t)row[0] - i;
        const uint32_t count = left < block ? left : block;
        for (uint32_t k = 1; k <= inputs; k++) {
            const char *at = start[k] + (int32_t)i * row[1 + k];
            const bool direct = (map->direct >> k & 1) != 0;
            x[k - 1] = direct ? (const void *)at : numbers[k];
            if (!direct && (i == 0 || row[1 + k] != 0)) {
                ember_elements_load(class, numbers[k], map->dtypes[k], at, row[1 + k],
                                    count);
            }
        }
        char *at = start[0] + (int32_t)i * row[1];
        const bool direct = (map->direct & 1) != 0;
        map->ops->rows[class](direct ? (void *)at : numbers[0], x, count);
        if (!direct) {
            ember_elements_store(class, numbers[0], map->dtypes[0], at, row[1], count);
        }
    }
}

void ember_map_run(const ember_map_t *map, const int32_t *table) {
    const uint32_t operands = map->ops->inputs + 1u;
    ember_walk_t walk;
    if (map->dims == 0) {
        return;
    }
    ember_walk_start(&walk, table, map->dims, operands);
    memcpy(walk.at, map->data, sizeof(walk.at));
    do {
        run_row(map, walk.at, table + (map->dims - 1u) * (operands + 1));
    } while (ember_walk_next(&walk));
}
