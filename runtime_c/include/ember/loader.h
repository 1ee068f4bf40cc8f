// SPDX-License-Identifier: Apache-2.0
// DataLoader: where program bytes come from if they are not in memory yet.
#ifndef EMBER_LOADER_H
#define EMBER_LOADER_H

#include "ember/arena.h"
#include "ember/status.h"

EMBER_C_BEGIN

typedef struct ember_loader {
    // Copies [offset, offset + size) to `to`. EMBER_OK or EMBER_IO.
    ember_status_t (*read)(void *context, uint64_t offset, void *to, size_t size);
    void *context;
    uint64_t size; // total bytes
} ember_loader_t;

// A loader over bytes in memory. `bytes` must outlive it.
ember_loader_t ember_loader_from_memory(const ember_bytes_t *bytes);

// Copies everything into `arena` at `align` (a power of two, at least EMBER_ALIGN).
// NO_MEMORY if it does not fit, IO if reading fails; then nothing is kept.
EMBER_MUST_USE ember_status_t ember_loader_read_all(const ember_loader_t *loader,
                                                    ember_arena_t *arena, size_t align,
                                                    ember_bytes_t *bytes,
                                                    ember_error_t *err);

EMBER_C_END

#endif // EMBER_LOADER_H
