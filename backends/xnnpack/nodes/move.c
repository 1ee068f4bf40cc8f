// SPDX-License-Identifier: Apache-2.0
#include "move.h"

#include "backends/xnnpack/graph/flat.h"
#include "kernels/engine/strided.h"

enum { OPERANDS = 2 };

void ember_xnn_steps(const ember_xnn_value_t *value, int32_t *steps) {
    int32_t step = 1;
    for (uint32_t i = value->rank; i-- > 0;) {
        steps[i] = step;
        step *= value->sizes[i] > 0 ? value->sizes[i] : 1;
    }
}

// A row whose elements are not adjacent.
static void move_row(const int32_t *row, uint32_t size, char *to, const char *from) {
    for (int32_t i = 0; i < row[0]; i++) {
        if (size == 4) {
            memcpy(to, from, 4);
        } else if (size == 2) {
            memcpy(to, from, 2);
        } else {
            *to = *from;
        }
        to += row[1];
        from += row[2];
    }
}

void ember_xnn_move(const ember_xnn_move_t *move, void *to, void *from) {
    int32_t table[EMBER_WALK_ITEMS(OPERANDS)];
    const int32_t size = (int32_t)move->element_size;
    ember_walk_t walk;
    for (uint32_t i = 0; i < move->rank; i++) {
        int32_t *row = table + i * (OPERANDS + 1);
        if (move->sizes[i] == 0) {
            return;
        }
        row[0] = move->sizes[i];
        row[1] = move->to_steps[i] * size;
        row[2] = move->from_steps[i] * size;
    }
    const uint32_t dims = ember_walk_join(table, move->rank, OPERANDS);
    const int32_t *row = table + (dims - 1) * (OPERANDS + 1);
    ember_walk_start(&walk, table, dims, OPERANDS);
    walk.at[0] = to;
    walk.at[1] = from;
    do {
        const char *source = walk.at[1];
        if (row[0] == 1 || (row[1] == size && row[2] == size)) {
            memmove(walk.at[0], source, (size_t)row[0] * move->element_size);
        } else {
            move_row(row, move->element_size, walk.at[0], source);
        }
    } while (ember_walk_next(&walk));
}

void ember_xnn_copy(void *to, const void *from, size_t bytes) {
    if (bytes > 0) {
        memmove(to, from, bytes);
    }
}

bool ember_xnn_same_elements(const ember_xnn_node_t *node, uint32_t index) {
    const ember_xnn_value_t *from = node->in[index];
    const ember_xnn_value_t *to = node->out[0];
    return from->datatype == to->datatype && from->datatype != XNN_QDS8 &&
           ember_xnn_element_size(from->datatype) != 0 &&
           (from->datatype != XNN_QS8 ||
            (from->scale == to->scale && from->zero == to->zero));
}

bool ember_xnn_items(const ember_xnn_node_t *node, uint32_t index, uint32_t count,
                     int32_t *items) {
    const ember_vector_t vector = node->vectors[index];
    if (count > XNN_MOST_DIMS || vector_count(vector) != count) {
        return false;
    }
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t item = vector_u32(vector, i);
        if (item > INT32_MAX) {
            return false;
        }
        items[i] = (int32_t)item;
    }
    return true;
}
