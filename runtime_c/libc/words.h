// SPDX-License-Identifier: Apache-2.0
// Copies and fills in words of 8 bytes: all of memory.c, and the short ones of
// memory_hvx.c.
#ifndef EMBER_LIBC_WORDS_H
#define EMBER_LIBC_WORDS_H

#include <stddef.h>
#include <stdint.h>

enum { WORD = 8, FEW = 2 * WORD }; // bytes; fewer are copied one by one

// May alias anything, like char.
typedef uint64_t __attribute__((may_alias)) word_t;

static inline int are_words_apart(const void *a, const void *b) {
    return (((uintptr_t)a ^ (uintptr_t)b) & (WORD - 1)) == 0;
}

// Loads before it stores: the areas may overlap if `to` is the lower one.
static inline void copy_forwards(unsigned char *to, const unsigned char *from,
                                 size_t size) {
    if (size >= FEW && are_words_apart(to, from)) {
        while (((uintptr_t)to & (WORD - 1)) != 0) {
            *to++ = *from++;
            size--;
        }
        for (; size >= WORD; size -= WORD, to += WORD, from += WORD) {
            *(word_t *)(void *)to = *(const word_t *)(const void *)from;
        }
    }
    while (size-- > 0) {
        *to++ = *from++;
    }
}

static inline void fill(unsigned char *to, unsigned char byte, size_t size) {
    if (size >= FEW) {
        const word_t word = byte * UINT64_C(0x0101010101010101);

        while (((uintptr_t)to & (WORD - 1)) != 0) {
            *to++ = byte;
            size--;
        }
        for (; size >= WORD; size -= WORD, to += WORD) {
            *(word_t *)(void *)to = word;
        }
    }
    while (size-- > 0) {
        *to++ = byte;
    }
}

#endif // EMBER_LIBC_WORDS_H
