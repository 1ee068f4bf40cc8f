// SPDX-License-Identifier: Apache-2.0
// Memory lent by the application: spans, and an arena that allocates from the start of
// a span and never frees. ExecuTorch's MemoryAllocator.
#ifndef EMBER_ARENA_H
#define EMBER_ARENA_H

#include <stddef.h>
#include <stdint.h>

#include "ember/config.h"

EMBER_C_BEGIN

typedef struct ember_span {
    void *data;
    size_t size; // bytes
} ember_span_t;

typedef struct ember_bytes {
    const uint8_t *data;
    size_t size; // bytes
} ember_bytes_t;

typedef struct ember_arena {
    uint8_t *data; // aligned to EMBER_ALIGN
    size_t size;   // bytes
    size_t used;   // bytes, alignment gaps included
    size_t peak;   // bytes; the peak of `used`: the exact size that an arena needs
} ember_arena_t;

// `size` bytes at `align` (a power of two), or NULL if they do not fit; then nothing
// changes.
void *ember_arena_alloc(ember_arena_t *arena, size_t size, size_t align);

// `count` items of `size` bytes, zeroed; NULL also if the product overflows.
void *ember_arena_array(ember_arena_t *arena, size_t count, size_t size, size_t align);

// [offset, offset + size) of planned memory `id` (1 is the first), or NULL if any
// part of it is outside. ExecuTorch's HierarchicalAllocator.
void *ember_span_at(const ember_span_t *planned, uint32_t count, uint32_t id,
                    size_t offset, size_t size);

EMBER_C_END

#endif // EMBER_ARENA_H
