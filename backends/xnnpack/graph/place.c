// SPDX-License-Identifier: Apache-2.0
// Places of internal values in scratch: two that live at the same time never overlap.
// Values by decreasing size, each at the lowest free offset.
#include "graph.h"

enum { MOST_TRIES = 64 }; // places that are looked at for a value
#define NONE UINT32_MAX

// The values that need a place are a chain: `argument`, which they lack, is the index
// of the next.
typedef struct chain {
    ember_xnn_value_t *values;
    uint32_t first;
} chain_t;

static uint32_t align_up(uint32_t size) {
    return (size + EMBER_ALIGN - 1) & ~(uint32_t)(EMBER_ALIGN - 1);
}

static bool needs_place(const ember_xnn_value_t *value) {
    return value->place == XNN_INTERNAL && value->known;
}

// Is `value` placed before `other`? Ties go by position.
static bool precedes(const ember_xnn_value_t *value, const ember_xnn_value_t *other) {
    return value->bytes > other->bytes ||
           (value->bytes == other->bytes && value < other);
}

static chain_t chain_of(const ember_xnn_graph_t *graph) {
    chain_t chain = {graph->values, NONE};
    for (uint32_t i = graph->value_count; i-- > 0;) {
        if (needs_place(&graph->values[i])) {
            graph->values[i].argument = chain.first;
            chain.first = i;
        }
    }
    return chain;
}

// The placed value that keeps `value` from lying at `offset`, and ends last.
static const ember_xnn_value_t *
obstacle(const chain_t *chain, const ember_xnn_value_t *value, uint32_t offset) {
    const ember_xnn_value_t *found = NULL;
    for (uint32_t i = chain->first; i != NONE; i = chain->values[i].argument) {
        const ember_xnn_value_t *other = &chain->values[i];
        if (precedes(other, value) && other->first <= value->last &&
            value->first <= other->last && offset < other->offset + other->capacity &&
            other->offset < offset + value->capacity) {
            found = other;
        }
    }
    return found;
}

static ember_xnn_value_t *next_largest(const chain_t *chain,
                                       const ember_xnn_value_t *after) {
    ember_xnn_value_t *found = NULL;
    for (uint32_t i = chain->first; i != NONE; i = chain->values[i].argument) {
        ember_xnn_value_t *value = &chain->values[i];
        if ((after == NULL || precedes(after, value)) &&
            (found == NULL || precedes(value, found))) {
            found = value;
        }
    }
    return found;
}

// The lowest offset where `value` can lie, or behind all when none is found soon.
static uint32_t find_offset(const ember_xnn_graph_t *graph, const chain_t *chain,
                            const ember_xnn_value_t *value) {
    uint32_t offset = 0;
    for (uint32_t tries = 0; tries < MOST_TRIES; tries++) {
        const ember_xnn_value_t *other = obstacle(chain, value, offset);
        if (other == NULL) {
            return offset;
        }
        offset = other->offset + other->capacity;
    }
    return graph->internal;
}

bool ember_xnn_place(ember_xnn_graph_t *graph) {
    const chain_t chain = chain_of(graph);
    ember_xnn_value_t *value = NULL;
    uint32_t work = 0;
    while ((value = next_largest(&chain, value)) != NULL) {
        value->capacity = align_up(value->bytes);
        value->offset = find_offset(graph, &chain, value);
        const uint32_t end = value->offset + value->capacity;
        if (end > INT32_MAX) {
            return false;
        }
        graph->internal = end > graph->internal ? end : graph->internal;
    }
    for (uint32_t i = 0; i < graph->node_count; i++) {
        work = graph->nodes[i].scratch > work ? graph->nodes[i].scratch : work;
    }
    graph->scratch = graph->internal + align_up(work);
    graph->placed = true;
    return work <= INT32_MAX / 2 && graph->scratch <= INT32_MAX;
}
