// SPDX-License-Identifier: Apache-2.0
// Memory between guards: pieces of exact size. What surrounds a piece is poisoned for
// the sanitizer; pages without access lie further out.
#ifndef EMBER_FUZZ_GUARD_MEMORY_H
#define EMBER_FUZZ_GUARD_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { GUARD_MOST_PIECES = 96 };

typedef struct guard_piece {
    uint8_t *cell;
    uint8_t *data;
    uint8_t *original; // NULL: state, scratch
    size_t bytes;
    bool written;
} guard_piece_t;

// What one call uses.
typedef struct guard_set {
    guard_piece_t pieces[GUARD_MOST_PIECES];
    uint32_t count;
    bool whole; // all of it lies between guards
} guard_set_t;

// Runs of a kernel with all of what it uses between guards, and with a part.
typedef struct guard_counts {
    const char *name;
    uint64_t whole;
    uint64_t part;
    struct guard_counts *next;
} guard_counts_t;

// A copy of `original`, as aligned as that is; of 0xA5 where it is NULL. NULL: there is
// no room, and the set is not whole.
uint8_t *guard_take(guard_set_t *set, const void *original, size_t bytes);

// Ends the use of all pieces.
void guard_release(guard_set_t *set);

// Brings what originals have into their pieces, and what was written back.
void guard_copy_in(const guard_set_t *set);
void guard_copy_out(const guard_set_t *set);

void guard_count(guard_counts_t *counts, const guard_set_t *set);

// Prints a line for each kernel that ran: KERNEL <name> <whole> <part>.
void guard_log(void);

#endif // EMBER_FUZZ_GUARD_MEMORY_H
