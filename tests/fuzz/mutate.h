// SPDX-License-Identifier: Apache-2.0
// Seeds out of a pack, random numbers, and mutants of seeds. A mutation's number starts
// the random generator, so that a failure can be repeated anywhere.
#ifndef EMBER_FUZZ_MUTATE_H
#define EMBER_FUZZ_MUTATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ember/arena.h"

typedef struct position {
    uint32_t at;
    uint8_t width;
    uint8_t kind;
    uint16_t unused;
} position_t;

enum { HEADER, SCALAR, OFFSET, COUNT, TAG, TABLE, VTABLE, BYTES };

typedef struct seed {
    const char *name;
    const uint8_t *data;
    const position_t *positions;
    uint32_t size;
    uint32_t position_count;
    uint32_t kind;      // 0 program, 1 data file, 2 bundle
    uint32_t companion; // seed of the data file of a program, or the other way; or none
} seed_t;

extern seed_t fuzz_seeds[];
extern uint32_t fuzz_seed_count;

// Reads the pack that run.py wrote; ends the process when that fails.
void fuzz_read_seeds(const char *path);

void fuzz_start_random(uint64_t number);
uint64_t fuzz_next(void);
uint32_t fuzz_below(uint32_t count); // 0 when count is 0

// Memory of exact size, as aligned as bundles ask for: the sanitizer guards its end.
uint8_t *fuzz_aligned(size_t size);

// A mutant of `seed` in such memory; a copy when it shall be `plain`.
ember_bytes_t fuzz_mutate(const seed_t *seed, bool plain);

// Changes one of the fields at `seed->positions`, of which there is one at least, by
// its meaning; `data` has seed->size bytes.
void fuzz_mutate_field(uint8_t *data, const seed_t *seed);

#endif // EMBER_FUZZ_MUTATE_H
