// SPDX-License-Identifier: Apache-2.0
// See mutate.h.
#define _POSIX_C_SOURCE 200809L
#include "mutate.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "execute.h"

enum {
    MOST_SEEDS = 8192,
    MOST_KINDS = 13,      // of unions in programs
    MOST_NODE_KINDS = 50, // of the union of XNNPACK's nodes
};

seed_t fuzz_seeds[MOST_SEEDS];
uint32_t fuzz_seed_count;

// --- seeds ---------------------------------------------------------------------------

static uint32_t take_u32(const uint8_t **at) {
    uint32_t value;
    memcpy(&value, *at, 4);
    *at += 4;
    return value;
}

static const uint8_t *read_pack(const char *path) {
    FILE *file = fopen(path, "rb");
    if (file == NULL || fseek(file, 0, SEEK_END) != 0) {
        perror(path);
        exit(2);
    }
    const long size = ftell(file);
    uint8_t *data = malloc((size_t)size);
    rewind(file);
    if (data == NULL || fread(data, 1, (size_t)size, file) != (size_t)size) {
        perror(path);
        exit(2);
    }
    fclose(file);
    return data;
}

// Everything in the pack is aligned to 4.
void fuzz_read_seeds(const char *path) {
    const uint8_t *at = read_pack(path);
    fuzz_seed_count = take_u32(&at);
    if (fuzz_seed_count == 0 || fuzz_seed_count > MOST_SEEDS) {
        exit(2);
    }
    for (uint32_t i = 0; i < fuzz_seed_count; i++) {
        seed_t *seed = &fuzz_seeds[i];
        const uint32_t name_size = take_u32(&at);
        seed->kind = take_u32(&at);
        seed->companion = take_u32(&at);
        seed->size = take_u32(&at);
        seed->position_count = take_u32(&at);
        seed->name = (const char *)at;
        at += name_size;
        seed->data = at;
        at += (seed->size + 3) & ~3u;
        seed->positions = (const position_t *)(const void *)at;
        at += seed->position_count * sizeof(position_t);
    }
}

// --- random numbers ------------------------------------------------------------------

static uint64_t state;

uint64_t fuzz_next(void) {
    state ^= state >> 12;
    state ^= state << 25;
    state ^= state >> 27;
    return state * 0x2545F4914F6CDD1DULL;
}

uint32_t fuzz_below(uint32_t count) {
    return (uint32_t)((fuzz_next() >> 33) % (count > 0 ? count : 1));
}

void fuzz_start_random(uint64_t number) {
    state = number * 0x9E3779B97F4A7C15ULL + 0x1234567;
    for (int i = 0; i < 4; i++) {
        (void)fuzz_next();
    }
}

// --- mutations -----------------------------------------------------------------------

static uint64_t load(const uint8_t *at, uint32_t width) {
    uint64_t value = 0;
    memcpy(&value, at, width);
    return value;
}

static void store(uint8_t *at, uint32_t width, uint64_t value) {
    if (fuzz_verbose) {
        printf("  %u bytes at %p: %llx -> %llx\n", width, (const void *)at,
               (unsigned long long)load(at, width), (unsigned long long)value);
    }
    memcpy(at, &value, width);
}

// A number that code may be wrong about; `old` is what is there.
static uint64_t interesting(uint64_t old, uint32_t size) {
    static const uint64_t known[] = {
        0,          1,          2,          3,
        4,          7,          8,          15,
        16,         17,         31,         32,
        64,         127,        128,        255,
        256,        0x7FFF,     0x8000,     0xFFFF,
        0x10000,    0x3FFFFFFF, 0x40000000, 0x7FFFFFFF,
        0x80000000, 0xFFFFFFFE, 0xFFFFFFFF, 0x100000000,
        UINT64_MAX, INT64_MAX,  1ULL << 63, UINT64_MAX - 3};
    switch (fuzz_below(8)) {
    case 0:
        return old + 1;
    case 1:
        return old - 1;
    case 2:
        return size - fuzz_below(16);
    case 3:
        return old + 4 * (uint64_t)fuzz_below(16) - 32;
    case 4:
    case 5:
        return fuzz_below(24);
    default:
        return known[fuzz_below(sizeof(known) / sizeof(known[0]))];
    }
}

static const position_t *any_position(const seed_t *seed, uint8_t kind) {
    const uint32_t from = fuzz_below(seed->position_count);
    for (uint32_t i = 0; i < seed->position_count; i++) {
        const position_t *one = &seed->positions[(from + i) % seed->position_count];
        if (one->kind == kind) {
            return one;
        }
    }
    return NULL;
}

// Makes an offset or a table's vtable offset lead to another one's target.
static void redirect(uint8_t *data, const seed_t *seed, const position_t *position) {
    const position_t *other = any_position(seed, position->kind);
    const uint32_t there = (uint32_t)load(data + other->at, 4);
    if (position->kind == OFFSET) {
        store(data + position->at, 4, other->at + there - position->at);
    } else { // a vtable is at table - offset
        store(data + position->at, 4, position->at - (other->at - there));
    }
}

void fuzz_mutate_field(uint8_t *data, const seed_t *seed) {
    const position_t *position = &seed->positions[fuzz_below(seed->position_count)];
    uint8_t *at = data + position->at;
    const uint64_t old = load(at, position->width);
    switch (position->kind) {
    case OFFSET:
    case TABLE:
        if (fuzz_below(2) == 0) {
            redirect(data, seed, position);
            return;
        }
        break;
    case TAG:
        store(at, 1, fuzz_below(fuzz_below(2) == 0 ? MOST_KINDS : MOST_NODE_KINDS));
        return;
    case SCALAR:
        if (fuzz_below(3) == 0) { // another field's value
            const position_t *other = any_position(seed, SCALAR);
            store(at, position->width, load(data + other->at, other->width));
            return;
        }
        break;
    default:
        break;
    }
    store(at, position->width, interesting(old, seed->size));
}

static void mutate_once(uint8_t *data, uint32_t *size, const seed_t *seed) {
    const uint32_t at = fuzz_below(*size);
    const uint32_t width = 1u << fuzz_below(4);
    switch (fuzz_below(16)) {
    case 0:
    case 1:
        store(data + at, 1, data[at] ^ (1u << fuzz_below(8)));
        break;
    case 2:
        store(data + at, 1, fuzz_next());
        break;
    case 3:
    case 4:
        if (*size >= 8) {
            uint8_t *word = data + (at & ~7u & (*size - 8));
            store(word, width, interesting(load(word, width), *size));
        }
        break;
    case 5:
        if (fuzz_below(4) == 0) {
            *size =
                fuzz_below(8) == 0 ? at : *size - fuzz_below(*size < 64 ? *size : 64);
        }
        break;
    case 6: { // a piece from elsewhere in the file
        const uint32_t count = 1 + fuzz_below(16);
        const uint32_t from = fuzz_below(*size);
        if (at + count <= *size && from + count <= *size) {
            memmove(data + at, data + from, count);
        }
        break;
    }
    default:
        if (seed->position_count > 0 && *size == seed->size) {
            fuzz_mutate_field(data, seed);
        }
        break;
    }
}

// Bundles ask for 32 bytes; the sanitizer guards the end all the same.
uint8_t *fuzz_aligned(size_t size) {
    void *data = NULL;
    return posix_memalign(&data, 32, size > 0 ? size : 1) == 0 ? data : NULL;
}

// A mutant of `seed` in memory of exact size.
ember_bytes_t fuzz_mutate(const seed_t *seed, bool plain) {
    static uint8_t work[1 << 20];
    uint32_t size = seed->size;
    memcpy(work, seed->data, size);
    const uint32_t most = 1 + fuzz_below(2) + (fuzz_below(4) == 0 ? fuzz_below(6) : 0);
    for (uint32_t left = plain ? 0 : most; left > 0 && size > 0; left--) {
        mutate_once(work, &size, seed);
    }
    uint8_t *data = fuzz_aligned(size);
    memcpy(data, work, size);
    return (ember_bytes_t){data, size};
}
