// SPDX-License-Identifier: Apache-2.0
// Arenas and planned spans. No sum is formed that could wrap.
#include "ember/arena.h"

#include <string.h>

void *ember_arena_alloc(ember_arena_t *arena, size_t size, size_t align) {
    const size_t gap = (size_t)-(uintptr_t)(arena->data + arena->used) & (align - 1);
    const size_t left = arena->size - arena->used;
    if (gap > left || size > left - gap) {
        return NULL;
    }
    uint8_t *at = arena->data + arena->used + gap;
    arena->used += gap + size;
    if (arena->used > arena->peak) {
        arena->peak = arena->used;
    }
    return at;
}

void *ember_arena_array(ember_arena_t *arena, size_t count, size_t size, size_t align) {
    if (size != 0 && count > SIZE_MAX / size) {
        return NULL;
    }
    void *items = ember_arena_alloc(arena, count * size, align);
    return items != NULL ? memset(items, 0, count * size) : NULL;
}

void *ember_span_at(const ember_span_t *planned, uint32_t count, uint32_t id,
                    size_t offset, size_t size) {
    if (id - 1 >= count) {
        return NULL;
    }
    const ember_span_t *span = &planned[id - 1];
    if (offset > span->size || size > span->size - offset) {
        return NULL;
    }
    return (uint8_t *)span->data + offset;
}
