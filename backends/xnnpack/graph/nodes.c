// SPDX-License-Identifier: Apache-2.0
// Reads the nodes of a graph, by one loop over the letters of schema.h.
#include "payload.h"

#define XNN_KIND_FIELDS(name, number, fields) [number] = (fields),
static const char *const kinds[] = {XNN_KINDS(XNN_KIND_FIELDS)};

enum { MOST_NODES = 1 << 12, MOST_PARAMS = 16, MOST_VECTORS = 2 };

// In bytes, including the count.
static size_t kept_size(ember_vector_t vector) {
    return 4 + 4 * (size_t)vector_count(vector);
}

ember_xnn_value_t *ember_xnn_find(const ember_xnn_graph_t *graph, uint32_t id) {
    if (id < graph->value_count && graph->values[id].id == id) {
        return &graph->values[id]; // exporters store it at its index
    }
    for (uint32_t i = 0; i < graph->value_count; i++) {
        if (graph->values[i].id == id) {
            return &graph->values[i];
        }
    }
    return NULL;
}

// A value that a node reads: a node before must have written it. Only a bias may be
// absent.
static bool add_input(ember_xnn_graph_t *graph, ember_xnn_node_t *node, uint32_t id,
                      bool optional) {
    ember_xnn_value_t *value = NULL;
    if (!optional || id != XNN_NO_VALUE) {
        value = ember_xnn_find(graph, id);
        if (value == NULL || !value->known) {
            return false;
        }
        value->last = (uint16_t)(node - graph->nodes);
    }
    node->in[node->inputs++] = value;
    return true;
}

// A value that a node writes: no other node may write it.
static bool add_output(ember_xnn_graph_t *graph, ember_xnn_node_t *node, uint32_t id) {
    ember_xnn_value_t *value = ember_xnn_find(graph, id);
    if (value == NULL || value->known) {
        return false;
    }
    value->first = (uint16_t)(node - graph->nodes);
    value->last = value->first;
    node->out[node->out[0] != NULL] = value;
    return true;
}

// Copies a node's parameters and vectors from the payload.
static ember_status_t keep(ember_arena_t *arena, const uint32_t *params, uint32_t count,
                           ember_xnn_node_t *node) {
    size_t size = 4 * (size_t)count;
    for (uint32_t i = 0; i < MOST_VECTORS && node->vectors[i] != NULL; i++) {
        size += kept_size(node->vectors[i]);
    }
    uint32_t *kept = ember_arena_alloc(arena, size, 4);
    if (kept == NULL) {
        return EMBER_NO_MEMORY;
    }
    memcpy(kept, params, 4 * (size_t)count);
    node->params = kept;
    uint8_t *at = (uint8_t *)(kept + count);
    for (uint32_t i = 0; i < MOST_VECTORS && node->vectors[i] != NULL; i++) {
        memcpy(at, node->vectors[i], kept_size(node->vectors[i]));
        node->vectors[i] = at;
        at += kept_size(at);
    }
    return EMBER_OK;
}

// What a node keeps of its table: parameters in order, vectors, values.
static ember_status_t read_fields(ember_xnn_payload_t *payload, const uint8_t *body,
                                  ember_xnn_node_t *node) {
    ember_xnn_graph_t *graph = payload->graph;
    ember_flat_t *flat = &payload->flat;
    uint32_t params[MOST_PARAMS];
    uint32_t count = 0;
    uint32_t vectors = 0;
    bool good = true;
    const char *letter = kinds[node->kind];
    for (uint32_t id = 0; good && letter[id] != '\0'; id++) {
        if (letter[id] == 'v') {
            node->vectors[vectors] = ember_xnn_vector(flat, body, id, FLAT_VEC4);
            good = flat->status == EMBER_OK &&
                   vector_count(node->vectors[vectors++]) <= XNN_MOST_DIMS;
            continue;
        }
        const uint32_t number = ember_xnn_u32(flat, body, id);
        if (letter[id] == 'p') {
            params[count++] = number;
        } else if (letter[id] == 'f') {
            node->flags = number;
        } else if (letter[id] == 'o') {
            good = add_output(graph, node, number);
        } else if (letter[id] != '-') {
            good = add_input(graph, node, number, letter[id] == 'b');
        }
    }
    if (!good || flat->status != EMBER_OK) {
        return ember_xnn_bad(graph);
    }
    return keep(graph->info->arena, params, count, node);
}

static ember_status_t read_node(ember_xnn_payload_t *payload, const uint8_t *table,
                                ember_xnn_node_t *node) {
    ember_flat_t *flat = &payload->flat;
    const uint32_t kind = ember_xnn_u8(flat, table, NODE_TAG);
    const uint8_t *range = ember_xnn_table(flat, table, NODE_RANGE);
    const uint8_t *body = ember_xnn_table(flat, table, NODE_BODY);
    node->low = -__builtin_inff();
    node->high = __builtin_inff();
    if (range != NULL) {
        node->low = ember_xnn_float(flat, range, RANGE_LOW);
        node->high = ember_xnn_float(flat, range, RANGE_HIGH);
    }
    // An empty range or NaN would give bounds that cannot be met.
    if (kind - 1 >= XNN_KIND_MOST || body == NULL || !(node->low <= node->high)) {
        return ember_xnn_bad(payload->graph);
    }
    node->kind = (uint8_t)kind;
    const ember_status_t status = read_fields(payload, body, node);
    for (uint32_t i = 0; status == EMBER_OK && i < XNN_MOST_OUTPUTS; i++) {
        if (node->out[i] != NULL) {
            node->out[i]->known = true; // from the next node on
        }
    }
    return status;
}

// The nodes that quantise the split values (values.c), before all other nodes.
static void add_converts(ember_xnn_payload_t *payload) {
    ember_xnn_graph_t *graph = payload->graph;
    const uint32_t arguments = graph->value_count - payload->dynamic;
    uint32_t value = 0;
    for (uint32_t i = 0; i < payload->dynamic; i++, value++) {
        ember_xnn_node_t *node = &graph->nodes[i];
        while (!graph->values[value].dynamic) {
            value++;
        }
        *node = (ember_xnn_node_t){
            .in = {&graph->values[arguments + i]},
            .out = {&graph->values[value]},
            .low = -__builtin_inff(),
            .high = __builtin_inff(),
            .kind = XNN_CONVERT,
            .inputs = 1,
        };
        node->in[0]->last = (uint16_t)i;
        node->out[0]->first = node->out[0]->last = (uint16_t)i;
        node->out[0]->known = true;
    }
}

// Outputs that no node writes would expose old memory contents.
static ember_status_t check_outputs(const ember_xnn_graph_t *graph) {
    for (uint32_t i = 0; i < graph->value_count; i++) {
        const ember_xnn_value_t *value = &graph->values[i];
        if (value->place == XNN_OUTPUT && !value->known) {
            return ember_xnn_bad(graph);
        }
    }
    return EMBER_OK;
}

ember_status_t ember_xnn_read_nodes(ember_xnn_payload_t *payload) {
    ember_xnn_graph_t *graph = payload->graph;
    const ember_vector_t all =
        ember_xnn_vector(&payload->flat, payload->root, GRAPH_NODES, FLAT_VEC4);
    if (vector_count(all) > MOST_NODES) {
        return ember_fail(graph->info->error, EMBER_UNSUPPORTED,
                          "xnnpack: the graph has more than 4096 nodes");
    }
    graph->node_count = vector_count(all) + payload->dynamic;
    graph->nodes = ember_arena_array(graph->info->arena, graph->node_count,
                                     sizeof(ember_xnn_node_t), 8);
    if (graph->nodes == NULL) {
        return EMBER_NO_MEMORY;
    }
    add_converts(payload);
    for (uint32_t i = payload->dynamic; i < graph->node_count; i++) {
        const uint8_t *table =
            ember_flat_item(&payload->flat, all, i - payload->dynamic);
        const ember_status_t status = read_node(payload, table, &graph->nodes[i]);
        if (status != EMBER_OK || payload->flat.status != EMBER_OK) {
            return status != EMBER_OK ? status : payload->flat.status;
        }
    }
    return check_outputs(graph);
}
