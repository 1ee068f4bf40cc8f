// SPDX-License-Identifier: Apache-2.0
#include "kernels/engine/neon/map_f16_neon.h"

#include <string.h>

#include "kernels/engine/neon/widen_neon.h"
#include "kernels/engine/scalar.h"

enum { LINE = 64 }; // numbers of an operand on the stack

// A Scalar becomes a tensor of rank 0.
static bool read_operands(ember_node_t *node, ember_map_f16_2_t *s, ember_tensor_t *a,
                          ember_tensor_t *b) {
    s->scalar = ember_node_kind(node, 1) != EMBER_TENSOR;
    if (ember_node_kind(node, 0) != EMBER_TENSOR) {
        return false;
    }
    ember_node_tensor(node, 0, a);
    if (s->scalar) {
        *b = (ember_tensor_t){.dtype = EMBER_F16, .element_size = 2};
        s->number = ember_scalar_f32(ember_scalar_arg(node, 1));
    } else {
        ember_node_tensor(node, 1, b);
    }
    return a->dtype == EMBER_F16 && b->dtype == EMBER_F16;
}

ember_status_t ember_map_f16_2_prepare(ember_node_t *node, void *state) {
    ember_map_f16_2_t *s = state;
    const uint32_t arguments = ember_node_arg_count(node);
    ember_tensor_t y, a, b;
    const ember_tensor_t *const operands[] = {&y, &a, &b};
    int32_t sizes[EMBER_MAX_RANK];
    uint32_t rank;

    if (!read_operands(node, s, &a, &b)) {
        return EMBER_UNSUPPORTED;
    }
    if (!ember_broadcast_shape(operands + 1, 2, sizes, &rank)) {
        return ember_node_fail(node, EMBER_BAD_PROGRAM,
                               "elementwise: the shapes do not broadcast");
    }
    ember_node_output(node, arguments < 2 ? 0 : arguments - 2, rank, sizes, &y);
    if (ember_node_status(node) != EMBER_OK) {
        return ember_node_status(node);
    }
    if (y.dtype != EMBER_F16) {
        return EMBER_UNSUPPORTED;
    }
    s->dims = 0;
    for (uint32_t k = 0; k < 3; k++) {
        s->data[k] = operands[k]->data;
    }
    if (y.numel > 0) {
        s->dims = (uint8_t)ember_walk_fill(operands, 3, s->table);
    }
    return s->dims > 0 || y.numel == 0 ? EMBER_OK : EMBER_UNSUPPORTED;
}

// Widens an operand's part of a line; just one number if it is constant.
static uint32_t take(float *to, const char *from, int32_t step, int32_t count) {
    ember_neon_widen(to, from, step, step == 0 ? 1 : count, true);
    return step != 0;
}

static void run_line(const ember_map_f16_2_t *s, char *const *at, const int32_t *line,
                     ember_row_f32_fn row) {
    float y[LINE], a[LINE], b[LINE];

    for (int32_t i = 0; i < line[0]; i += LINE) {
        const int32_t count = line[0] - i < LINE ? line[0] - i : LINE;
        const uint32_t a_step = take(a, at[1] + (ptrdiff_t)i * line[2], line[2], count);
        uint32_t b_step = 0;
        if (s->scalar) {
            b[0] = s->number;
        } else {
            b_step = take(b, at[2] + (ptrdiff_t)i * line[3], line[3], count);
        }
        if (a_step == 0 && b_step == 0) { // a line of one element, or a copied one
            row(y, a, 0, b, 0, 1);
            for (int32_t same = 1; same < count; same++) {
                y[same] = y[0];
            }
        } else {
            row(y, a, a_step, b, b_step, (uint32_t)count);
        }
        ember_neon_narrow(at[0] + (ptrdiff_t)i * line[1], line[1], y, count, true);
    }
}

void ember_map_f16_2_run(const ember_map_f16_2_t *s, ember_row_f32_fn row) {
    ember_walk_t walk;

    if (s->dims == 0) {
        return;
    }
    ember_walk_start(&walk, s->table, s->dims, 3);
    memcpy(walk.at, s->data, sizeof(s->data));
    do {
        run_line(s, walk.at, s->table + (s->dims - 1u) * 4, row);
    } while (ember_walk_next(&walk));
}
