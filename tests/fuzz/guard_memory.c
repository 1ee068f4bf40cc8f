// SPDX-License-Identifier: Apache-2.0
// See guard_memory.h.
#define _GNU_SOURCE
#include "guard_memory.h"

#include <sanitizer/asan_interface.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "mutate.h"

enum {
    PAGE = 4096,
    ROOM = 1 << 17, // bytes between two guards
    CELLS = 1024,
    ALIGN = 64, // of what is placed as its original is
};

static uint8_t *free_cells[CELLS];
static uint32_t free_count;

__attribute__((constructor)) static void make_cells(void) {
    const size_t step = PAGE + ROOM;
    uint8_t *all = mmap(NULL, CELLS * step + PAGE, PROT_NONE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (all == MAP_FAILED) {
        abort();
    }
    for (uint32_t i = 0; i < CELLS; i++) {
        uint8_t *cell = all + i * step + PAGE;
        if (mprotect(cell, ROOM, PROT_READ | PROT_WRITE) != 0) {
            abort();
        }
        __asan_poison_memory_region(cell, ROOM);
        free_cells[free_count++] = cell;
    }
}

// At the first or the last address of a cell that is aligned as the original.
static uint8_t *place(uint8_t *cell, const uint8_t *original, size_t bytes, bool last) {
    const size_t odd = (uintptr_t)original % ALIGN;
    return cell + (last ? (ROOM - bytes - odd) / ALIGN * ALIGN : 0) + odd;
}

uint8_t *guard_take(guard_set_t *set, const void *original, size_t bytes) {
    const bool last = fuzz_below(2) == 0;
    if (set->count == GUARD_MOST_PIECES || free_count == 0 ||
        bytes + 2 * ALIGN > ROOM) {
        set->whole = false;
        return NULL;
    }
    uint8_t *from = (uint8_t *)(uintptr_t)original;
    uint8_t *cell = free_cells[--free_count];
    uint8_t *data = place(cell, from, bytes, last);
    __asan_unpoison_memory_region(data, bytes);
    if (from != NULL) { // prepare may read a constant
        memcpy(data, from, bytes);
    } else {
        memset(data, 0xA5, bytes);
    }
    set->pieces[set->count++] = (guard_piece_t){cell, data, from, bytes, false};
    return data;
}

void guard_release(guard_set_t *set) {
    for (uint32_t i = 0; i < set->count; i++) {
        __asan_poison_memory_region(set->pieces[i].cell, ROOM);
        free_cells[free_count++] = set->pieces[i].cell;
    }
    set->count = 0;
}

void guard_copy_in(const guard_set_t *set) {
    for (uint32_t i = 0; i < set->count; i++) {
        const guard_piece_t *piece = &set->pieces[i];
        if (piece->original != NULL) {
            memcpy(piece->data, piece->original, piece->bytes);
        }
    }
}

void guard_copy_out(const guard_set_t *set) {
    for (uint32_t i = 0; i < set->count; i++) {
        const guard_piece_t *piece = &set->pieces[i];
        if (piece->written) {
            memcpy(piece->original, piece->data, piece->bytes);
        }
    }
}

// --- counts --------------------------------------------------------------------------

static guard_counts_t *counted; // of the kernels that ran

void guard_count(guard_counts_t *counts, const guard_set_t *set) {
    if (counts->whole + counts->part == 0) {
        counts->next = counted;
        counted = counts;
    }
    counts->whole += set->whole;
    counts->part += !set->whole;
}

void guard_log(void) {
    for (const guard_counts_t *counts = counted; counts != NULL;
         counts = counts->next) {
        printf("KERNEL %s %llu %llu\n", counts->name, (unsigned long long)counts->whole,
               (unsigned long long)counts->part);
    }
}
