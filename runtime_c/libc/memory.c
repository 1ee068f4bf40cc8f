// SPDX-License-Identifier: Apache-2.0
// Copies and fills of <string.h>, in words of 8 bytes where the addresses allow it.
#include <string.h>

#include "words.h"

void *memcpy(void *restrict to, const void *restrict from, size_t size) {
    copy_forwards(to, from, size);
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
    fill(to, (unsigned char)value, size);
    return to;
}
