// SPDX-License-Identifier: Apache-2.0
// Copies and fills of <string.h> with Hexagon's vectors, 128 bytes at a time.
#include <string.h>

#include <hexagon_hvx.h>

#include "words.h"

enum { MANY = 128 }; // bytes; below this, vectors do not pay

// What uses vectors has a frame, which small copies do without.
#define APART static __attribute__((noinline))

// Loads before it stores, like everything here: the areas may overlap if `to` is the
// lower one.
APART void put_forwards(unsigned char *to, const unsigned char *from, size_t size) {
    for (; size >= EMBER_HVX; size -= EMBER_HVX) {
        ember_hvx_store_any(to, ember_hvx_load_any(from));
        to += EMBER_HVX;
        from += EMBER_HVX;
    }
    if (size > 0) {
        const HVX_Vector last = ember_hvx_load_part(from, (int32_t)size);
        ember_hvx_store_part(to, last, (int32_t)size);
    }
}

APART void put_backwards(unsigned char *to, const unsigned char *from, size_t size) {
    for (; size >= EMBER_HVX; size -= EMBER_HVX) {
        const size_t at = size - EMBER_HVX;
        ember_hvx_store_any(to + at, ember_hvx_load_any(from + at));
    }
    if (size > 0) {
        const HVX_Vector first = ember_hvx_load_part(from, (int32_t)size);
        ember_hvx_store_part(to, first, (int32_t)size);
    }
}

void *memcpy(void *restrict to, const void *restrict from, size_t size) {
    if (size < FEW || (size < MANY && are_words_apart(to, from))) {
        copy_forwards(to, from, size);
    } else {
        put_forwards(to, from, size);
    }
    return to;
}

void *memmove(void *to, const void *from, size_t size) {
    unsigned char *d = to;
    const unsigned char *s = from;

    if ((uintptr_t)d - (uintptr_t)s >= size) {
        return memcpy(to, from, size); // forwards is safe
    }
    put_backwards(d, s, size);
    return to;
}

APART void set_many(unsigned char *to, int value, size_t size) {
    const HVX_Vector bytes = Q6_Vb_vsplat_R(value);

    for (; size >= EMBER_HVX; size -= EMBER_HVX, to += EMBER_HVX) {
        ember_hvx_store_any(to, bytes);
    }
    if (size > 0) {
        ember_hvx_store_part(to, bytes, (int32_t)size);
    }
}

void *memset(void *to, int value, size_t size) {
    if (size >= MANY) {
        set_many(to, value, size);
    } else {
        fill(to, (unsigned char)value, size);
    }
    return to;
}
