// SPDX-License-Identifier: Apache-2.0
// Transpose with HVX, if each image is a matrix that becomes its transpose: channels
// first to channels last and back.
#include "backends/xnnpack/nodes/move.h"
#include "kernels/engine/hvx/transpose_hvx.h"

typedef struct plan {
    ember_transpose_hvx_t matrix;
    uint32_t count; // of adjacent matrices
    size_t bytes;   // of one
} plan_t;

// Dimensions [first, split) and [split, rank) change places; those before `first` and
// those of one element stay.
static bool find_split(const ember_xnn_node_t *node, uint32_t *first, uint32_t *split) {
    const uint32_t rank = node->in[0]->rank;
    int32_t order[XNN_MOST_DIMS];
    uint32_t at = 0;
    if (!ember_xnn_transpose_order(node, order)) {
        return false;
    }
    while (at < rank && order[at] == (int32_t)at) {
        at++;
    }
    if (at == rank) {
        return false;
    }
    *first = at;
    *split = (uint32_t)order[at];
    for (uint32_t i = at; i < rank; i++) {
        const uint32_t moved = i - at;
        const uint32_t inner = rank - *split;
        const uint32_t want = moved < inner ? *split + moved : at + moved - inner;
        if ((uint32_t)order[i] != want) {
            return false;
        }
    }
    return true;
}

static bool plan_of(const ember_xnn_node_t *node, plan_t *plan) {
    const ember_xnn_value_t *input = node->in[0];
    uint32_t first, split;
    if (!find_split(node, &first, &split)) {
        return false;
    }
    int32_t count = 1, rows = 1, columns = 1;
    for (uint32_t i = 0; i < input->rank; i++) {
        int32_t *part = i < first ? &count : i < split ? &rows : &columns;
        *part *= input->sizes[i];
    }
    const int32_t size = (int32_t)ember_xnn_element_size(input->datatype);
    *plan = (plan_t){
        .matrix = {.rows = rows,
                   .columns = columns,
                   .row = columns * size,
                   .size = size,
                   .step = rows * size},
        .count = (uint32_t)count,
        .bytes = (size_t)rows * (size_t)columns * (size_t)size,
    };
    return true;
}

static ember_status_t prepare(ember_xnn_graph_t *graph, ember_xnn_node_t *node) {
    plan_t plan;
    (void)graph;
    return ember_xnn_same_elements(node, 0) && plan_of(node, &plan) &&
                   ember_transpose_hvx_pays(&plan.matrix)
               ? EMBER_OK
               : EMBER_UNSUPPORTED;
}

static void run(const ember_xnn_graph_t *graph, const ember_xnn_node_t *node) {
    const uint8_t *from = node->in[0]->constant;
    uint8_t *to = node->out[0]->data;
    plan_t plan;
    (void)graph;
    if (!plan_of(node, &plan) || node->out[0]->numel == 0) {
        return;
    }
    for (uint32_t i = 0; i < plan.count; i++) {
        ember_transpose_hvx(&plan.matrix, to, from);
        from += plan.bytes;
        to += plan.bytes;
    }
}

XNN_KERNEL(static_transpose_hvx, NULL, ember_xnn_transpose_shape,
           XNN_KIND(STATIC_TRANSPOSE));
