// SPDX-License-Identifier: Apache-2.0
// Copies and fills of <string.h> with Hexagon's vectors, 128 bytes at a time.
#include <string.h>

#include <hexagon_hvx.h>

enum { WORD = 8, FEW = 2 * WORD, MANY = 128 }; // bytes that take less without vectors

// May alias anything, as char may.
typedef uint64_t __attribute__((may_alias)) word_t;

static int are_words_apart(const void *a, const void *b) {
    return (((uintptr_t)a ^ (uintptr_t)b) & (WORD - 1)) == 0;
}

// Loads before it stores, as all here: areas may overlap when `to` is the lower one.
static void put_forwards(unsigned char *to, const unsigned char *from, size_t size) {
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

static void put_backwards(unsigned char *to, const unsigned char *from, size_t size) {
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
    unsigned char *d = to;
    const unsigned char *s = from;

    if (size >= FEW) {
        if (size >= MANY || !are_words_apart(to, from)) {
            put_forwards(d, s, size);
            return to;
        }
        while (((uintptr_t)d & (WORD - 1)) != 0) {
            *d++ = *s++;
            size--;
        }
        for (; size >= WORD; size -= WORD, d += WORD, s += WORD) {
            *(word_t *)(void *)d = *(const word_t *)(const void *)s;
        }
    }
    while (size-- > 0) {
        *d++ = *s++;
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

static void set_many(unsigned char *to, int value, size_t size) {
    const HVX_Vector bytes = Q6_Vb_vsplat_R(value);

    for (; size >= EMBER_HVX; size -= EMBER_HVX, to += EMBER_HVX) {
        ember_hvx_store_any(to, bytes);
    }
    if (size > 0) {
        ember_hvx_store_part(to, bytes, (int32_t)size);
    }
}

void *memset(void *to, int value, size_t size) {
    unsigned char *d = to;
    const unsigned char byte = (unsigned char)value;

    if (size >= FEW) {
        const word_t word = byte * UINT64_C(0x0101010101010101);

        if (size >= MANY) {
            set_many(d, value, size);
            return to;
        }
        while (((uintptr_t)d & (WORD - 1)) != 0) {
            *d++ = byte;
            size--;
        }
        for (; size >= WORD; size -= WORD, d += WORD) {
            *(word_t *)(void *)d = word;
        }
    }
    while (size-- > 0) {
        *d++ = byte;
    }
    return to;
}
