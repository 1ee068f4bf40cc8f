// SPDX-License-Identifier: Apache-2.0
// Copies and fills of <string.h>: words of 8 bytes where the addresses allow it.
#include <string.h>

#include <stdint.h>

enum { WORD = 8 };

// May alias anything, as char may.
typedef uint64_t __attribute__((may_alias)) word_t;

static int words_apart(const void *a, const void *b) {
    return (((uintptr_t)a ^ (uintptr_t)b) & (WORD - 1)) == 0;
}

void *memcpy(void *restrict to, const void *restrict from, size_t size) {
    unsigned char *d = to;
    const unsigned char *s = from;

    if (size >= 2 * WORD && words_apart(to, from)) {
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
    while (size-- > 0) {
        d[size] = s[size];
    }
    return to;
}

void *memset(void *to, int value, size_t size) {
    unsigned char *d = to;
    const unsigned char byte = (unsigned char)value;

    if (size >= 2 * WORD) {
        const word_t word = byte * UINT64_C(0x0101010101010101);

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
