// SPDX-License-Identifier: Apache-2.0
// <string.h> on Cortex-M in a fraction of newlib's code size: what Ember and its
// application call. Words are moved once the target is aligned, 16 bytes a turn if both
// sides are. clang's names for the same functions (the Arm run-time ABI) are here, too,
// so that firmware has no second set.
#include <string.h>

#include <stdint.h>

enum { WORD = 4, BLOCK = 16 };

// May alias anything, like char, at any address: one load on cores that allow unaligned
// accesses, four on Armv6-M.
typedef struct __attribute__((packed, may_alias)) loose_word {
    uint32_t bits;
} loose_word_t;
typedef uint32_t __attribute__((may_alias)) word_t;
typedef struct __attribute__((may_alias)) block { // one LDM and one STM
    uint32_t words[4];
} block_t;

// Upwards, so that the target may overlap the source if it starts before it.
void *memcpy(void *to, const void *from, size_t size) {
    unsigned char *d = to;
    const unsigned char *s = from;

    while (((uintptr_t)d & (WORD - 1)) != 0 && size > 0) {
        *d++ = *s++;
        size--;
    }
    if (((uintptr_t)s & (WORD - 1)) == 0) {
        for (; size >= BLOCK; size -= BLOCK, d += BLOCK, s += BLOCK) {
            *(block_t *)(void *)d = *(const block_t *)(const void *)s;
        }
    }
    for (; size >= WORD; size -= WORD, d += WORD, s += WORD) {
        *(word_t *)(void *)d = ((const loose_word_t *)(const void *)s)->bits;
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
        return memcpy(to, from, size);
    }
    while (size-- > 0) {
        d[size] = s[size];
    }
    return to;
}

void *memset(void *to, int value, size_t size) {
    unsigned char *d = to;
    const unsigned char byte = (unsigned char)value;
    const uint32_t word = byte * 0x01010101u;

    while (((uintptr_t)d & (WORD - 1)) != 0 && size > 0) {
        *d++ = byte;
        size--;
    }
    for (; size >= WORD; size -= WORD, d += WORD) {
        *(word_t *)(void *)d = word;
    }
    while (size-- > 0) {
        *d++ = byte;
    }
    return to;
}

int memcmp(const void *a, const void *b, size_t size) {
    const unsigned char *x = a;
    const unsigned char *y = b;

    for (; size >= WORD; size -= WORD, x += WORD, y += WORD) {
        if (((const loose_word_t *)(const void *)x)->bits !=
            ((const loose_word_t *)(const void *)y)->bits) {
            break; // the bytes decide
        }
    }
    for (; size > 0; size--, x++, y++) {
        if (*x != *y) {
            return *x - *y;
        }
    }
    return 0;
}

int strncmp(const char *a, const char *b, size_t size) {
    for (; size > 0; size--, a++, b++) {
        const unsigned char x = (unsigned char)*a;
        const unsigned char y = (unsigned char)*b;
        if (x != y || x == 0) {
            return x - y;
        }
    }
    return 0;
}

int strcmp(const char *a, const char *b) {
    return strncmp(a, b, (size_t)-1);
}

size_t strlen(const char *text) {
    const char *end = text;

    while (*end != '\0') {
        end++;
    }
    return (size_t)(end - text);
}

// ---- the names that clang calls ----------------------------------------------------

#define ALIAS(NAME) __attribute__((alias(NAME)))

void __aeabi_memcpy(void *to, const void *from, size_t size);
ALIAS("__aeabi_memcpy") void __aeabi_memcpy4(void *to, const void *from, size_t size);
ALIAS("__aeabi_memcpy") void __aeabi_memcpy8(void *to, const void *from, size_t size);
void __aeabi_memmove(void *to, const void *from, size_t size);
ALIAS("__aeabi_memmove") void __aeabi_memmove4(void *to, const void *from, size_t size);
ALIAS("__aeabi_memmove") void __aeabi_memmove8(void *to, const void *from, size_t size);
void __aeabi_memset(void *to, size_t size, int value);
ALIAS("__aeabi_memset") void __aeabi_memset4(void *to, size_t size, int value);
ALIAS("__aeabi_memset") void __aeabi_memset8(void *to, size_t size, int value);
void __aeabi_memclr(void *to, size_t size);
ALIAS("__aeabi_memclr") void __aeabi_memclr4(void *to, size_t size);
ALIAS("__aeabi_memclr") void __aeabi_memclr8(void *to, size_t size);

void __aeabi_memcpy(void *to, const void *from, size_t size) {
    memcpy(to, from, size);
}

void __aeabi_memmove(void *to, const void *from, size_t size) {
    memmove(to, from, size);
}

void __aeabi_memset(void *to, size_t size, int value) {
    memset(to, value, size);
}

void __aeabi_memclr(void *to, size_t size) {
    memset(to, 0, size);
}
