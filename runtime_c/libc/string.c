// SPDX-License-Identifier: Apache-2.0
// <string.h> for toolchains without a C library, except for memory*.c. Comparisons go
// in words of 4 bytes; the rest is plain.
#include <string.h>

#include <stdint.h>

enum { HALF = 4 };

// May alias anything, like char.
typedef uint32_t __attribute__((may_alias)) half_t;

int memcmp(const void *a, const void *b, size_t size) {
    const unsigned char *x = a;
    const unsigned char *y = b;

    if ((((uintptr_t)x | (uintptr_t)y) & (HALF - 1)) == 0) {
        while (size >= HALF &&
               *(const half_t *)(const void *)x == *(const half_t *)(const void *)y) {
            x += HALF;
            y += HALF;
            size -= HALF;
        }
    }
    for (; size > 0; size--, x++, y++) {
        if (*x != *y) {
            return *x < *y ? -1 : 1;
        }
    }
    return 0;
}

void *memchr(const void *data, int value, size_t size) {
    const unsigned char *s = data;

    for (size_t i = 0; i < size; i++) {
        if (s[i] == (unsigned char)value) {
            return (void *)(uintptr_t)(s + i);
        }
    }
    return NULL;
}

size_t strnlen(const char *text, size_t most) {
    size_t length = 0;

    while (length < most && text[length] != '\0') {
        length++;
    }
    return length;
}

size_t strlen(const char *text) {
    return strnlen(text, SIZE_MAX);
}

int strncmp(const char *a, const char *b, size_t most) {
    for (size_t i = 0; i < most; i++) {
        const unsigned char x = (unsigned char)a[i];
        const unsigned char y = (unsigned char)b[i];

        if (x != y) {
            return x < y ? -1 : 1;
        }
        if (x == '\0') {
            break;
        }
    }
    return 0;
}

int strcmp(const char *a, const char *b) {
    return strncmp(a, b, SIZE_MAX);
}

char *strchr(const char *text, int character) {
    for (;; text++) {
        if (*text == (char)character) {
            return (char *)(uintptr_t)text;
        }
        if (*text == '\0') {
            return NULL;
        }
    }
}
