// SPDX-License-Identifier: Apache-2.0
#include "packing.h"

#include "flat.h"

enum { NUMBER_SIZE = 12, MOST_NAME = 128 };

// --- names ---------------------------------------------------------------------------

static uint32_t put(char *name, uint32_t at, const void *text, uint32_t size) {
    memcpy(name + at, text, size);
    return at + size;
}

static uint32_t put_number(char *name, uint32_t at, uint32_t number) {
    char text[NUMBER_SIZE];
    uint32_t first = NUMBER_SIZE;
    do {
        text[--first] = (char)('0' + number % 10);
        number /= 10;
    } while (number != 0);
    text[--first] = '.';
    return put(name, at, text + first, NUMBER_SIZE - first);
}

// The name of a constant; false if it has none, or one that is too long.
static bool put_key(char *name, uint32_t *at, const uint8_t *payload, uint32_t key) {
    const uint32_t size = key != 0 ? vector_count(payload + key) : 0;
    if (size == 0 || size > MOST_NAME) {
        return false;
    }
    *at = put(name, *at, vector_items(payload + key), size);
    name[(*at)++] = '/';
    return true;
}

uint32_t ember_xnn_packing_name(const ember_xnn_graph_t *graph,
                                const ember_xnn_value_t *weights,
                                const ember_xnn_packing_t *packing,
                                char name[XNN_PACKING_NAME]) {
    const ember_xnn_geometry_t *g = &packing->geometry;
    const uint32_t numbers[] = {g->groups, g->n,    g->taps,      g->k,
                                g->block,  g->unit, g->transposed};
    const ember_xnn_layout_t *layout = packing->layout;
    uint32_t at = 0;
    if (!put_key(name, &at, graph->payload, weights->key) ||
        (layout->scales && !put_key(name, &at, graph->payload, weights->scales_key))) {
        return 0;
    }
    at = put(name, at, layout->name, (uint32_t)strlen(layout->name));
    for (uint32_t i = 0; i < XNN_PACKING_NUMBERS; i++) {
        at = put_number(name, at, numbers[i]);
    }
    return at;
}

// --- packing -------------------------------------------------------------------------

// What the program holds under the packed weights' name.
static const void *find(const ember_xnn_graph_t *graph,
                        const ember_xnn_value_t *weights,
                        const ember_xnn_packing_t *packing) {
    _Alignas(4) char name[XNN_PACKING_NAME]; // like keys: compared in words
    ember_bytes_t bytes;
    const uint32_t length = ember_xnn_packing_name(graph, weights, packing, name);
    if (length == 0 || ember_program_named_data(graph->info->program, name, length,
                                                &bytes) != EMBER_OK) {
        return NULL;
    }
    const bool fits =
        bytes.size == packing->size && ((uintptr_t)bytes.data & (EMBER_ALIGN - 1)) == 0;
    return fits ? bytes.data : NULL;
}

enum {
    HEAD_SIZE =
        ((int)sizeof(ember_xnn_packing_t) + EMBER_ALIGN - 1) & ~(EMBER_ALIGN - 1)
};

const ember_xnn_packing_t *ember_xnn_packing(const ember_xnn_node_t *node) {
    if (!node->packs) {
        return NULL;
    }
    const void *head = (const uint8_t *)node->packed - HEAD_SIZE;
    return head;
}

// False if the program left them out.
static bool has_scales(const ember_xnn_value_t *weights) {
    return weights->scales != NULL || weights->scales_key == 0;
}

static ember_status_t pack_now(ember_xnn_graph_t *graph, ember_xnn_node_t *node,
                               const ember_xnn_packing_t *packing) {
    const ember_xnn_value_t *weights = node->in[1];
    if (weights->constant == NULL || !has_scales(weights)) {
        return ember_fail(graph->info->error, EMBER_BACKEND,
                          "xnnpack: weights were packed for another board");
    }
    uint8_t *head = ember_arena_alloc(graph->info->arena,
                                      HEAD_SIZE + (size_t)packing->size, EMBER_ALIGN);
    if (head == NULL) {
        return EMBER_NO_MEMORY;
    }
    memcpy(head, packing, sizeof(*packing));
    packing->layout->pack(&packing->geometry, weights->constant,
                          packing->layout->scales ? weights->scales : NULL,
                          head + HEAD_SIZE);
    node->packed = head + HEAD_SIZE;
    node->packs = true;
    return EMBER_OK;
}

ember_status_t ember_xnn_pack(ember_xnn_graph_t *graph, ember_xnn_node_t *node,
                              const ember_xnn_layout_t *layout,
                              const ember_xnn_geometry_t *geometry) {
    const ember_xnn_value_t *weights = node->in[1];
    if (weights->place != XNN_CONSTANT) {
        return xnn_refuse(node, XNN_CHANGING_WEIGHTS);
    }
    const uint64_t size = layout->size(geometry);
    if (size == 0 || size > INT32_MAX / 2) {
        return EMBER_UNSUPPORTED;
    }
    const ember_xnn_packing_t packing = {layout, *geometry, (uint32_t)size};
    node->packs = false;
    node->packed = find(graph, weights, &packing);
    return node->packed != NULL && (layout->scales || has_scales(weights))
               ? EMBER_OK
               : pack_now(graph, node, &packing);
}
