// SPDX-License-Identifier: Apache-2.0
// DataLoader for memory, and reading a whole source into an arena.
#include "ember/loader.h"

#include <string.h>

static ember_status_t read_memory(void *context, uint64_t offset, void *to,
                                  size_t size) {
    const ember_bytes_t *bytes = context;
    if (offset > bytes->size || size > bytes->size - offset) {
        return EMBER_IO;
    }
    memcpy(to, bytes->data + offset, size);
    return EMBER_OK;
}

ember_loader_t ember_loader_from_memory(const ember_bytes_t *bytes) {
    return (ember_loader_t){read_memory, (void *)(uintptr_t)bytes, bytes->size};
}

static ember_status_t read_all(const ember_loader_t *loader, ember_arena_t *arena,
                               size_t align, ember_bytes_t *bytes, ember_error_t *err) {
    const size_t before = arena->used;
    // unreached: a 64-bit size_t holds everything
    void *to = loader->size <= SIZE_MAX
                   ? ember_arena_alloc(arena, (size_t)loader->size, align)
                   : NULL;
    if (to == NULL) {
        return ember_fail(err, EMBER_NO_MEMORY, "loader: the arena is too small");
    }
    const ember_status_t status =
        loader->read(loader->context, 0, to, (size_t)loader->size);
    if (status != EMBER_OK) {
        arena->used = before;
        return ember_fail(err, status, "loader: reading failed");
    }
    *bytes = (ember_bytes_t){to, (size_t)loader->size};
    return EMBER_OK;
}

ember_status_t ember_loader_read_all(const ember_loader_t *loader, ember_arena_t *arena,
                                     size_t align, ember_bytes_t *bytes,
                                     ember_error_t *err) {
    return ember_error_close(err, read_all(loader, arena, align, bytes, err),
                             EMBER_NO_INSTRUCTION);
}
