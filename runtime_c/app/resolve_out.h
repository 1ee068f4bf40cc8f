// SPDX-License-Identifier: Apache-2.0
// Memory and output of resolve_main.c: one arena, one file of JSON.
#ifndef EMBER_RESOLVE_OUT_H
#define EMBER_RESOLVE_OUT_H

#include "ember/arena.h"

enum { RESOLVE_OUT_OF_MEMORY = 3 }; // exit status

extern ember_arena_t resolve_room;

// Zeroed memory of that size; ends the process if there is none left.
void *resolve_take(size_t count, size_t size);

// Opens result.json.
void resolve_open(void);

// Writes text as it is; a number or a quoted text after `key`.
void resolve_put(const char *text);
void resolve_put_number(const char *key, int64_t value);
void resolve_put_text(const char *key, const char *text);

// Flushes and closes the file.
void resolve_close(void);

#endif // EMBER_RESOLVE_OUT_H
