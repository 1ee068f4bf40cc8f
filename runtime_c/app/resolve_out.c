// SPDX-License-Identifier: Apache-2.0
// Memory and output of resolve_main.c.
#include "resolve_out.h"

#include "ember/config.h"
#include "ember/port.h"

#include <stdbool.h>

enum { BUFFER_SIZE = 4096, NUMBER_SIZE = 24 };

ember_arena_t resolve_room;
static int32_t out;
static char buffer[BUFFER_SIZE];
static size_t buffered;

void *resolve_take(size_t count, size_t size) {
    void *items = ember_arena_array(&resolve_room, count, size, EMBER_ALIGN);
    if (items == NULL) {
        ember_port_log("resolve: the program is too large for this tool\n");
        ember_port_exit(RESOLVE_OUT_OF_MEMORY);
    }
    return items;
}

static void flush(void) {
    if (ember_port_write(out, buffer, buffered) != 0) {
        ember_port_panic("cannot write result.json");
    }
    buffered = 0;
}

void resolve_put(const char *text) {
    for (; *text != '\0'; text++) {
        if (buffered == sizeof(buffer)) {
            flush();
        }
        buffer[buffered++] = *text;
    }
}

void resolve_put_number(const char *key, int64_t value) {
    char text[NUMBER_SIZE];
    char *at = text + sizeof(text) - 1;
    uint64_t left = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
    *at = '\0';
    do {
        *--at = (char)('0' + left % 10);
        left /= 10;
    } while (left != 0);
    if (value < 0) {
        *--at = '-';
    }
    resolve_put(key);
    resolve_put(at);
}

void resolve_put_text(const char *key, const char *text) {
    char one[] = {'\0', '\0', '\0'};
    resolve_put(key);
    resolve_put("\"");
    for (; text != NULL && *text != '\0'; text++) {
        const bool escaped = *text == '"' || *text == '\\';
        one[0] = escaped ? '\\' : *text;
        one[1] = escaped ? *text : '\0';
        resolve_put(one);
    }
    resolve_put("\"");
}

void resolve_open(void) {
    out = ember_port_open("result.json", EMBER_PORT_WRITE);
}

void resolve_close(void) {
    flush();
    ember_port_close(out);
}
