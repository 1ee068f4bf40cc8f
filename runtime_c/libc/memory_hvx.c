// SPDX-License-Identifier: Apache-2.0
// Copies and fills of <string.h> with Hexagon's vectors, 128 bytes at a time.
#include <string.h>

#include <hexagon_hvx.h>

#include "words.h"

// What uses vectors has a frame, which fewer than FEW bytes do without: a call ends
// with it.
#define APART static __attribute__((noinline))
#if __has_attribute(musttail)
#define END __attribute__((musttail)) return
#else
#define END return
#endif

// Loads before it stores, like everything here: the areas may overlap if `to` is the
// lower one.
APART void *put_forwards(void *begin, const void *source, size_t size) {
    unsigned char *to = begin;
    const unsigned char *from = source;

    for (; size >= EMBER_HVX; size -= EMBER_HVX) {
        ember_hvx_store_any(to, ember_hvx_load_any(from));
        to += EMBER_HVX;
        from += EMBER_HVX;
    }
    if (size > 0) {
        const HVX_Vector last = ember_hvx_load_part(from, (int32_t)size);
        ember_hvx_store_part(to, last, (int32_t)size);
    }
    return begin;
}

APART void *put_backwards(void *begin, const void *source, size_t size) {
    unsigned char *to = begin;
    const unsigned char *from = source;

    for (; size >= EMBER_HVX; size -= EMBER_HVX) {
        const size_t at = size - EMBER_HVX;
        ember_hvx_store_any(to + at, ember_hvx_load_any(from + at));
    }
    if (size > 0) {
        const HVX_Vector first = ember_hvx_load_part(from, (int32_t)size);
        ember_hvx_store_part(to, first, (int32_t)size);
    }
    return begin;
}

void *memcpy(void *restrict to, const void *restrict from, size_t size) {
    if (size >= FEW) {
        END put_forwards(to, from, size);
    }
    copy_forwards(to, from, size);
    return to;
}

void *memmove(void *to, const void *from, size_t size) {
    if ((uintptr_t)to - (uintptr_t)from >= size) {
        END memcpy(to, from, size); // forwards is safe
    }
    END put_backwards(to, from, size);
}

APART void *set_many(void *begin, int value, size_t size) {
    unsigned char *to = begin;
    const HVX_Vector bytes = Q6_Vb_vsplat_R(value);

    for (; size >= EMBER_HVX; size -= EMBER_HVX, to += EMBER_HVX) {
        ember_hvx_store_any(to, bytes);
    }
    if (size > 0) {
        ember_hvx_store_part(to, bytes, (int32_t)size);
    }
    return begin;
}

void *memset(void *to, int value, size_t size) {
    if (size >= FEW) {
        END set_many(to, value, size);
    }
    fill(to, (unsigned char)value, size);
    return to;
}
