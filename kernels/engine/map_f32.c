// SPDX-License-Identifier: Apache-2.0
#include "kernels/engine/map_f32.h"

#include "kernels/engine/element.h"
#include "kernels/engine/scalar.h"
#include "kernels/engine/strided.h"

static uint32_t out_arg(const ember_node_t *node) {
    const uint32_t count = ember_node_arg_count(node);
    return count < 2 ? 0 : count - 2;
}

ember_status_t ember_map_float_1_prepare(ember_node_t *node, void *state) {
    ember_map_float_1_t *s = state;
    ember_tensor_t a;
    ember_tensor_t y;

    ember_node_tensor(node, 0, &a);
    if (a.dtype != EMBER_F32 && a.dtype != EMBER_F16) {
        return EMBER_UNSUPPORTED;
    }
    ember_node_output_like(node, out_arg(node), &a, &y);
    if (ember_node_status(node) != EMBER_OK) {
        return ember_node_status(node);
    }
    if (y.dtype != a.dtype || !ember_tensor_same_order(&a, &y)) {
        return EMBER_UNSUPPORTED;
    }
    *s = (ember_map_float_1_t){a.data, y.data, y.numel, a.dtype == EMBER_F16};
    return EMBER_OK;
}

ember_status_t ember_map_f32_1_prepare(ember_node_t *node, void *state) {
    ember_map_f32_1_t *s = state;
    ember_map_float_1_t one;
    const ember_status_t status = ember_map_float_1_prepare(node, &one);
    if (status == EMBER_OK) {
        *s = (ember_map_f32_1_t){one.a, one.y, one.count};
    }
    return status == EMBER_OK && one.half ? EMBER_UNSUPPORTED : status;
}

ember_status_t ember_map_f32_scalar_prepare(ember_node_t *node, void *state) {
    ember_map_f32_scalar_t *s = state;
    ember_map_f32_1_t one;
    if (ember_node_kind(node, 1) == EMBER_TENSOR) {
        return EMBER_UNSUPPORTED;
    }
    const ember_status_t status = ember_map_f32_1_prepare(node, &one);
    if (status == EMBER_OK) {
        const float b = ember_scalar_f32(ember_scalar_arg(node, 1));
        *s = (ember_map_f32_scalar_t){one.a, one.y, one.count, b};
    }
    return status;
}

static bool read_floats(ember_node_t *node, ember_tensor_t *a, ember_tensor_t *b) {
    if (ember_node_kind(node, 1) != EMBER_TENSOR) {
        return false;
    }
    ember_node_tensor(node, 0, a);
    ember_node_tensor(node, 1, b);
    return a->dtype == EMBER_F32 && b->dtype == EMBER_F32;
}

ember_status_t ember_map_f32_2_prepare(ember_node_t *node, void *state) {
    ember_map_f32_2_t *s = state;
    ember_tensor_t a;
    ember_tensor_t b;
    ember_tensor_t y;

    if (!read_floats(node, &a, &b) || !ember_tensor_same_layout(&a, &b)) {
        return EMBER_UNSUPPORTED;
    }
    ember_node_output_like(node, out_arg(node), &a, &y);
    if (ember_node_status(node) != EMBER_OK) {
        return ember_node_status(node);
    }
    if (y.dtype != EMBER_F32 || !ember_tensor_same_order(&a, &y)) {
        return EMBER_UNSUPPORTED;
    }
    *s = (ember_map_f32_2_t){a.data, b.data, y.data, y.numel};
    return EMBER_OK;
}

// Reads the three numbers of the repeated operand from a joined walk, whose column `k`
// has its steps; false if it is repeated in another way.
static bool repetition(const int32_t *table, uint32_t dims, uint32_t k,
                       ember_map_f32_broadcast_t *s) {
    uint32_t first = 0;
    uint32_t last = dims;
    s->outer = 1;
    s->inner = 1;
    s->count = 1;
    if (dims == 0) {
        return false;
    }
    if (table[(last - 1) * 4 + 1 + k] == 0) {
        last--;
        s->inner = (uint32_t)table[last * 4];
    }
    if (first < last && table[1 + k] == 0) {
        s->outer = (uint32_t)table[0];
        first++;
    }
    if (first < last) { // joined: a second one would not continue the first
        s->count = (uint32_t)table[first * 4];
        return first + 1 == last && table[first * 4 + 1 + k] == (int32_t)sizeof(float);
    }
    return true;
}

ember_status_t ember_map_f32_broadcast_prepare(ember_node_t *node, void *state) {
    ember_map_f32_broadcast_t *s = state;
    ember_tensor_t a;
    ember_tensor_t b;
    ember_tensor_t y;
    int32_t table[EMBER_WALK_ITEMS(3)];
    int32_t sizes[EMBER_MAX_RANK];
    uint32_t rank;

    if (!read_floats(node, &a, &b)) {
        return EMBER_UNSUPPORTED;
    }
    const ember_tensor_t *const operands[] = {&y, &a, &b};
    if (!ember_broadcast_shape(operands + 1, 2, sizes, &rank)) {
        return ember_node_fail(node, EMBER_BAD_PROGRAM,
                               "elementwise: the shapes do not broadcast");
    }
    ember_node_output(node, out_arg(node), rank, sizes, &y);
    if (ember_node_status(node) != EMBER_OK) {
        return ember_node_status(node);
    }
    s->swapped = b.numel == y.numel;
    const ember_tensor_t *whole = s->swapped ? &b : &a;
    if (y.dtype != EMBER_F32 || y.numel == 0 || whole->numel != y.numel) {
        return EMBER_UNSUPPORTED;
    }
    const uint32_t dims = ember_walk_fill(operands, 3, table);
    // the whole operand must have the output's layout: its steps are the output's
    for (uint32_t d = 0; d < dims; d++) {
        if (table[d * 4 + 1] != table[d * 4 + (s->swapped ? 3 : 2)] &&
            table[d * 4] != 1) {
            return EMBER_UNSUPPORTED;
        }
    }
    if (!repetition(table, dims, s->swapped ? 1 : 2, s)) {
        return EMBER_UNSUPPORTED;
    }
    s->a = a.data;
    s->b = b.data;
    s->y = y.data;
    return EMBER_OK;
}

ember_status_t ember_map_f32_either_prepare(ember_node_t *node, void *state) {
    ember_map_f32_broadcast_t *s = state;
    ember_map_f32_scalar_t one;
    if (ember_node_kind(node, 1) == EMBER_TENSOR) {
        return ember_map_f32_broadcast_prepare(node, state);
    }
    const ember_status_t status = ember_map_f32_scalar_prepare(node, &one);
    if (status == EMBER_OK) {
        *s = (ember_map_f32_broadcast_t){
            .a = one.a,
            .b = &s->number,
            .y = one.y,
            .outer = 1,
            .count = 1,
            .inner = one.count,
            .number = one.b,
        };
    }
    return status;
}

ember_status_t ember_map_f32_rest_prepare(ember_node_t *node, void *state) {
    const ember_map_f32_broadcast_t *s = state;
    const ember_status_t status = ember_map_f32_either_prepare(node, state);

    if (status == EMBER_OK) {
        ember_node_work(node, s->outer * s->count * s->inner, EMBER_STEPS_REST);
    }
    return status;
}

void ember_map_f32_broadcast_run(const ember_map_f32_broadcast_t *state,
                                 ember_row_f32_fn row) {
    const bool rows = state->inner == 1; // one run along the repeated operand
    const uint32_t width = rows ? state->count : state->inner;
    const uint32_t steps = rows ? 1 : state->count;
    const float *whole = state->swapped ? state->b : state->a;
    const float *part = state->swapped ? state->a : state->b;
    float *y = state->y;

    for (uint32_t o = 0; o < state->outer; o++) {
        for (uint32_t c = 0; c < steps; c++, y += width, whole += width) {
            if (state->swapped) {
                row(y, part + c, rows, whole, 1, width);
            } else {
                row(y, whole, 1, part + c, rows, width);
            }
        }
    }
}
