// SPDX-License-Identifier: Apache-2.0
// Places of internal values in scratch: values that live at the same time never
// overlap. Largest first, each at the lowest free offset.
#include "graph.h"

enum { MOST_TRIES = 64 }; // offsets that are tried for a value
#define NONE UINT32_MAX

// The values that need a place, largest first: a list linked by `argument`, which is
// otherwise unused in them.
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

// Whether `value` is placed before `other`. Ties are broken by index.
static bool precedes(const ember_xnn_value_t *value, const ember_xnn_value_t *other) {
    return value->bytes > other->bytes ||
           (value->bytes == other->bytes && value < other);
}

static void insert(chain_t *chain, uint32_t index) {
    uint32_t *next = &chain->first;
    while (*next != NONE && precedes(&chain->values[*next], &chain->values[index])) {
        next = &chain->values[*next].argument;
    }
    chain->values[index].argument = *next;
    *next = index;
}

static chain_t chain_of(const ember_xnn_graph_t *graph) {
    chain_t chain = {graph->values, NONE};
    for (uint32_t i = 0; i < graph->value_count; i++) {
        if (needs_place(&graph->values[i])) {
            insert(&chain, i);
        }
    }
    return chain;
}

// The last of the placed values that overlap `value` at `offset`.
static const ember_xnn_value_t *
obstacle(const chain_t *chain, const ember_xnn_value_t *value, uint32_t offset) {
    const ember_xnn_value_t *found = NULL;
    const ember_xnn_value_t *other = &chain->values[chain->first];
    for (; other != value; other = &chain->values[other->argument]) {
        if ((found == NULL || other > found) && other->first <= value->last &&
            value->first <= other->last && offset < other->offset + other->capacity &&
            other->offset < offset + value->capacity) {
            found = other;
        }
    }
    return found;
}

// The lowest free offset for `value`, or the end if none is found soon.
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
    uint32_t work = 0;
    for (uint32_t i = chain.first; i != NONE; i = chain.values[i].argument) {
        ember_xnn_value_t *value = &chain.values[i];
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
