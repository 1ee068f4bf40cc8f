// SPDX-License-Identifier: Apache-2.0
// See guard_nodes.h.
#include "guard_nodes.h"

#include "backends/xnnpack/graph/packing.h"
#include "flat.h"

enum { MOST_VALUES = XNN_MOST_INPUTS + XNN_MOST_OUTPUTS };

// A node with all that it uses elsewhere.
typedef struct guarded {
    guard_set_t set;
    ember_xnn_graph_t graph;
    ember_xnn_node_t node;
    ember_xnn_value_t values[MOST_VALUES];
    const ember_xnn_value_t *originals[MOST_VALUES];
    uint32_t count;
} guarded_t;

static const void *guarded(guarded_t *to, const void *original, size_t bytes) {
    return original == NULL ? NULL : guard_take(&to->set, original, bytes);
}

// Values that share memory, as a view and what it looks at do, share its copy.
static void *data_of(guarded_t *to, const ember_xnn_value_t *value, bool written) {
    for (uint32_t i = 0; i < to->set.count; i++) {
        guard_piece_t *piece = &to->set.pieces[i];
        if (piece->original == value->data && piece->bytes >= value->bytes) {
            piece->written |= written;
            return piece->data;
        }
    }
    const uint32_t place = to->set.count;
    void *data = guard_take(&to->set, value->data, value->bytes);
    if (data != NULL) {
        to->set.pieces[place].written = written;
    }
    return data;
}

static size_t scales_of(const ember_xnn_value_t *value) {
    const bool grouped = value->datatype == XNN_QBS4;
    return grouped ? 2 * (size_t)(value->numel / value->group)
                   : 4 * (size_t)value->sizes[value->group];
}

static bool is_packed(const guarded_t *to, const ember_xnn_value_t *value) {
    return to->node.packed != NULL && to->originals[1] == value;
}

static ember_xnn_value_t *take_value(guarded_t *to, const ember_xnn_value_t *value,
                                     bool written) {
    ember_xnn_value_t *copy = &to->values[to->count];
    for (uint32_t i = 0; i < to->count; i++) {
        if (to->originals[i] == value) {
            return &to->values[i];
        }
    }
    to->originals[to->count++] = value;
    *copy = *value;
    if (is_packed(to, value)) { // it may have been left out
        copy->data = guard_take(&to->set, NULL, 0);
    } else if (value->data != NULL) {
        copy->data = data_of(to, value, written);
    }
    copy->scales = guarded(to, value->scales, scales_of(value));
    return copy;
}

static size_t vector_bytes(const uint8_t *vector) {
    return vector == NULL ? 0 : 4 + 4 * (size_t)vector_count(vector);
}

static size_t params_of(const ember_xnn_node_t *node) {
#define KIND_FIELDS(name, number, fields) [number] = (fields),
    static const char *const kinds[] = {XNN_KINDS(KIND_FIELDS)};
    size_t bytes = 0;
    for (const char *letter = kinds[node->kind]; *letter != '\0'; letter++) {
        bytes += *letter == 'p' ? sizeof(uint32_t) : 0;
    }
    return node->params == NULL ? 0 : bytes;
}

static void take_node(guarded_t *to, const ember_xnn_node_t *node) {
    const ember_xnn_packing_t *packing = ember_xnn_packing(node);
    to->node = *node;
    for (uint32_t i = 0; i < XNN_MOST_INPUTS; i++) {
        if (node->in[i] != NULL) {
            to->node.in[i] = take_value(to, node->in[i], false);
        }
    }
    for (uint32_t i = 0; i < XNN_MOST_OUTPUTS; i++) {
        if (node->out[i] != NULL) {
            to->node.out[i] = take_value(to, node->out[i], true);
        }
    }
    to->node.params = guarded(to, node->params, params_of(node));
    for (uint32_t i = 0; i < sizeof(node->vectors) / sizeof(node->vectors[0]); i++) {
        to->node.vectors[i] =
            guarded(to, node->vectors[i], vector_bytes(node->vectors[i]));
    }
    if (packing != NULL) {
        to->node.packed = guarded(to, node->packed, packing->size);
    }
}

// A view has no memory of its own; the node says where it is.
static bool is_view(const ember_xnn_node_t *node) {
    return node->out[0] != NULL && node->out[0]->place == XNN_VIEW;
}

void guard_run_node(const ember_xnnpack_kernel_t *kernel, guard_counts_t *counts,
                    const ember_xnn_graph_t *graph, const ember_xnn_node_t *node) {
    static guarded_t to;
    to = (guarded_t){.set = {.whole = true},
                     .graph = {.cpu = graph->cpu, .placed = true, .current = true}};
    if (!is_view(node)) {
        take_node(&to, node);
        to.graph.work = guard_take(&to.set, graph->work, node->scratch);
    }
    guard_count(counts, &to.set);
    if (is_view(node) || !to.set.whole) { // larger than memory between guards is
        kernel->run(graph, node);
    } else {
        kernel->run(&to.graph, &to.node);
        guard_copy_out(&to.set);
    }
    guard_release(&to.set);
}
