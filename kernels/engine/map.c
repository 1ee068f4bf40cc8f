// SPDX-License-Identifier: Apache-2.0
#include "kernels/engine/map.h"

#include <string.h>

#include "kernels/engine/promote.h"
#include "kernels/engine/scalar.h"

enum { BLOCK = 16 }; // numbers of an operand on the stack: 128 bytes each

// --- prepare -------------------------------------------------------------------

// Reads operand `k`; a Scalar or None leaves a tensor of rank 0 without data.
static void read_operand(ember_node_t *node, const ember_map_ops_t *ops, uint32_t k,
                         ember_promotion_t *promotion, ember_tensor_t *tensor) {
    ember_say_t say = EMBER_SAY_SCALAR;
    uint8_t dtype = EMBER_S64;
    memset(tensor, 0, sizeof(*tensor));
    tensor->dtype = EMBER_NO_DTYPE;
    tensor->element_size = sizeof(int64_t);
    switch (ember_node_kind(node, k)) {
    case EMBER_NONE:
        return;
    case EMBER_TENSOR:
        ember_node_tensor(node, k, tensor);
        say = tensor->rank > 0 ? EMBER_SAY_TENSOR : EMBER_SAY_0D;
        dtype = tensor->dtype;
        break;
    case EMBER_DOUBLE:
        dtype = EMBER_F32;
        break;
    case EMBER_BOOL:
        dtype = EMBER_B1;
        break;
    default:
        break;
    }
    if ((ops->unpromoted >> k & 1) == 0) {
        ember_promotion_add(promotion, dtype, say);
    }
}

// ATen casts operands to the common dtype before it computes. For integers that do not
// take part in promotion (0-d tensors and Scalars) this matters: as int8, 200 is -56.
// The lowest bytes come first, so reading it as the other dtype is the cast; a shorter
// dtype needs no cast, unless its sign gets lost: false.
static bool cast_integer(ember_tensor_t *tensor, uint8_t dtype) {
    if (tensor->rank > 0 || dtype == EMBER_B1) {
        return true;
    }
    if (tensor->element_size >= ember_dtype_size(dtype)) {
        tensor->dtype = dtype;
        return true;
    }
    return dtype < EMBER_U16;
}

// The dtype in which the operator computes, by its operands.
static uint8_t read_operands(ember_node_t *node, const ember_map_ops_t *ops,
                             ember_tensor_t *tensors) {
    ember_promotion_t promotion = {EMBER_NO_DTYPE, 0};

    for (uint32_t k = 0; k < ops->inputs; k++) {
        read_operand(node, ops, k, &promotion, &tensors[k]);
    }
    return (ops->flags & EMBER_MAP_FLOAT) != 0 &&
                   ember_class_of(promotion.dtype) == EMBER_CLASS_S64
               ? EMBER_F32
               : promotion.dtype;
}

static ember_status_t check_dtype(ember_node_t *node, const ember_map_ops_t *ops,
                                  uint8_t dtype, ember_class_t class) {
    if (ops->rows[class] == NULL ||
        (dtype == EMBER_B1 && (ops->flags & EMBER_MAP_NUMBER) != 0)) {
        return EMBER_UNSUPPORTED;
    }
    if (class == EMBER_CLASS_S64 && (ops->flags & EMBER_MAP_ALPHA) != 0 &&
        ember_node_kind(node, 2) == EMBER_DOUBLE) {
        return ember_node_fail(node, EMBER_BAD_PROGRAM,
                               "elementwise: integers cannot have a float alpha");
    }
    return EMBER_OK;
}

static void read_scalar(ember_node_t *node, const ember_map_ops_t *ops, uint32_t k,
                        uint8_t dtype, ember_number_t *number, ember_tensor_t *tensor) {
    if (dtype == EMBER_B1) { // an alpha of -1 is true
        tensor->dtype = EMBER_B1;
    }
    const ember_value_t scalar = ember_node_scalar(node, k);
    ember_element_cast(tensor->dtype, number, ember_scalar_dtype(&scalar),
                       &scalar.as_int);
    if ((ops->fitting >> k & 1) != 0) {
        ember_scalar_check(node, &scalar, dtype);
    }
}

// Gives operand `k` data, in `number` for a Scalar, that can be read as `dtype`. False
// for one that cannot.
static bool complete_operand(ember_node_t *node, const ember_map_ops_t *ops, uint32_t k,
                             uint8_t dtype, ember_class_t class, ember_number_t *number,
                             ember_tensor_t *tensor) {
    if (tensor->dtype == EMBER_NO_DTYPE) {
        tensor->data = number;
        tensor->dtype = (uint8_t)ember_class_dtype(class);
        if (k > 0 && ops->bounds != NULL && ember_node_kind(node, k) == EMBER_NONE) {
            tensor->data = (void *)(uintptr_t)&ops->bounds[k - 1][class];
            return true;
        }
        read_scalar(node, ops, k, dtype, number, tensor);
    }
    return class != EMBER_CLASS_S64 || cast_integer(tensor, dtype);
}

// Gives the output, the first of the tensors, its shape.
static ember_status_t shape_output(ember_node_t *node, const ember_tensor_t *const *all,
                                   uint32_t inputs, ember_tensor_t *output) {
    int32_t sizes[EMBER_MAX_RANK];
    uint32_t rank;

    if (!ember_broadcast_shape(all + 1, inputs, sizes, &rank)) {
        return ember_node_fail(node, EMBER_BAD_PROGRAM,
                               "elementwise: the shapes do not broadcast");
    }
    ember_node_output(node, ember_map_out(node), rank, sizes, output);
    return ember_node_status(node);
}

// The dtypes of what rows write and of the result, which the output can hold.
static ember_status_t set_result(ember_node_t *node, ember_map_t *map, uint8_t dtype,
                                 uint8_t number, uint8_t output) {
    const uint8_t flags = map->ops->flags;

    map->result = (flags & EMBER_MAP_BOOLS) != 0 ? EMBER_B1 : number;
    map->dtype = (flags & EMBER_MAP_ANY) != 0 ? output : dtype;
    if ((flags & EMBER_MAP_SAME) != 0
            ? map->dtype != output
            : ember_category(map->dtype) > ember_category(output)) {
        return ember_node_fail(
            node, EMBER_BAD_PROGRAM,
            "elementwise: the output's dtype cannot hold the result");
    }
    return EMBER_OK;
}

// Which operands a row reads and writes in place, in a walk with the strides of `row`.
static void set_direct(ember_map_t *map, const ember_tensor_t *tensors, uint8_t number,
                       const int32_t *row) {
    // The result is cast to its own dtype before the output's.
    uint32_t wanted = map->dtype == map->result ? map->dtype : EMBER_NO_DTYPE;

    map->direct = 0;
    for (uint32_t k = 0; k <= map->ops->inputs; k++) {
        map->data[k] = tensors[k].data;
        map->dtypes[k] = tensors[k].dtype;
        if (tensors[k].dtype == wanted && row[1 + k] == tensors[k].element_size) {
            map->direct |= (uint8_t)(1u << k);
        }
        wanted = number;
    }
}

ember_status_t ember_map_prepare(ember_node_t *node, const ember_map_ops_t *ops,
                                 ember_map_t *map, int32_t *table,
                                 ember_number_t *scalars) {
    const uint32_t operands = ops->inputs + 1u;
    ember_tensor_t tensors[EMBER_WALK_OPERANDS]; // the output, then the inputs
    const ember_tensor_t *pointers[EMBER_WALK_OPERANDS];
    const uint8_t dtype = read_operands(node, ops, tensors + 1);
    const ember_class_t class = ember_class_of(dtype);
    const uint8_t number = (uint8_t)ember_class_dtype(class);
    ember_status_t status = check_dtype(node, ops, dtype, class);

    if (status != EMBER_OK) {
        return status;
    }
    for (uint32_t k = 0; k < ops->inputs; k++) {
        if (!complete_operand(node, ops, k, dtype, class, &scalars[k],
                              &tensors[1 + k])) {
            return EMBER_UNSUPPORTED;
        }
    }
    for (uint32_t k = 0; k < operands; k++) {
        pointers[k] = &tensors[k];
    }
    status = shape_output(node, pointers, ops->inputs, &tensors[0]);
    if (status != EMBER_OK) {
        return status;
    }
    map->ops = ops;
    map->class = (uint8_t)class;
    status = set_result(node, map, dtype, number, tensors[0].dtype);
    if (status != EMBER_OK) {
        return status;
    }
    ember_node_work(node, tensors[0].numel, EMBER_STEPS_ANY + ops->steps);
    map->dims = 0;
    if (tensors[0].numel == 0) {
        return EMBER_OK;
    }
    map->dims = (uint8_t)ember_walk_fill(pointers, operands, table);
    if (map->dims == 0) {
        return EMBER_UNSUPPORTED;
    }
    const int32_t *row = table + (map->dims - 1u) * (operands + 1);
    ember_node_work(node, tensors[0].numel / (uint32_t)row[0], EMBER_STEPS_RESULT);
    set_direct(map, tensors, number, row);
    return EMBER_OK;
}

// --- run -----------------------------------------------------------------------

// Operands that are not direct are read in blocks; one that is constant along the row
// is read once.
static void run_row(const ember_map_t *map, char *const *start, const int32_t *row) {
    const ember_class_t class = (ember_class_t)map->class;
    const uint32_t inputs = map->ops->inputs;
    const uint32_t all = (2u << inputs) - 1;
    const uint32_t block = map->direct == all ? (uint32_t)row[0] : BLOCK;
    int64_t numbers[EMBER_WALK_OPERANDS][BLOCK];
    void *x[EMBER_WALK_OPERANDS];

    for (uint32_t i = 0; i < (uint32_t)row[0]; i += block) {
        const uint32_t left = (uint32_t)row[0] - i;
        const uint32_t count = left < block ? left : block;
        ember_elements_t elements; // of the last operand that is not direct
        ember_elements_t array;    // its numbers
        for (uint32_t k = inputs + 1; k-- > 0;) { // the output is the last
            const int32_t step = row[1 + k];
            char *at = start[k] + (int32_t)i * step;
            x[k] = at;
            if ((map->direct >> k & 1) == 0) {
                x[k] = numbers[k];
                elements = (ember_elements_t){at, map->dtypes[k], step};
                array = ember_elements_of(class, x[k]);
                if (k > 0 && (i == 0 || step != 0)) {
                    ember_elements_cast(&array, &elements, count);
                }
            }
        }
        map->ops->rows[class](x[0], (const void *const *)x + 1, count);
        if (x[0] == numbers[0]) {
            if (map->result == EMBER_B1) {
                array.dtype = EMBER_B1;
                array.step = 1;
            }
            if (map->dtype != map->dtypes[0]) { // wraps or rounds like the result
                const ember_elements_t result = {x[0], map->dtype, array.step};
                ember_elements_cast(&result, &array, count);
                array.dtype = map->dtype;
            }
            ember_elements_cast(&elements, &array, count);
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
