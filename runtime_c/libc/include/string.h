// SPDX-License-Identifier: Apache-2.0
// The functions of <string.h> that Ember uses; implemented in string.c.
#ifndef EMBER_LIBC_STRING_H
#define EMBER_LIBC_STRING_H

#include <stddef.h>

void *memcpy(void *restrict to, const void *restrict from, size_t size);
void *memmove(void *to, const void *from, size_t size);
void *memset(void *to, int value, size_t size);
int memcmp(const void *a, const void *b, size_t size);
void *memchr(const void *data, int value, size_t size);
size_t strlen(const char *text);
size_t strnlen(const char *text, size_t most);
int strcmp(const char *a, const char *b);
int strncmp(const char *a, const char *b, size_t most);
char *strchr(const char *text, int character);

#endif // EMBER_LIBC_STRING_H
