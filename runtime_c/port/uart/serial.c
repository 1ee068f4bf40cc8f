// SPDX-License-Identifier: Apache-2.0
// ember/port.h for the test runner of a board that has only a serial line: the stream
// of cases is file 0, that of results file 1. Linked in place of semihosting.c.
#include "link.h"
#include "machine.h"

#include "../common.h"
#include "../semihosting.h"

#include <string.h>

enum { CASES, RESULTS, TEXT_MOST = EMBER_FRAME_PAYLOAD - 4 }; // bytes

static char text[TEXT_MOST]; // the log is sent with the exit status
static size_t text_size;
static uint64_t read_at;

void ember_port_log(const char *added) {
    while (*added != '\0' && text_size < sizeof text) {
        text[text_size++] = *added++;
    }
}

int32_t ember_port_read_char(void) {
    return -1; // the line carries cases
}

_Noreturn void ember_port_exit(int code) {
    ember_link_exit(ember_semihosting_leaving(code), text, text_size);
}

uint32_t ember_port_ticks(void) {
    return ember_port_cycles();
}

uint32_t ember_port_ticks_per_second(void) {
    return 0; // unknown: the processor's clock
}

size_t ember_port_arguments(char *line, size_t capacity) {
    static const char names[] = "cases results";

    if (capacity < sizeof names) {
        return 0;
    }
    memcpy(line, names, sizeof names);
    return sizeof names - 1;
}

int32_t ember_port_open(const char *path, ember_port_mode_t mode) {
    (void)path;
    if (mode == EMBER_PORT_READ) {
        ember_link_open();
    }
    return mode == EMBER_PORT_READ ? CASES : RESULTS;
}

int64_t ember_port_size(int32_t file) {
    (void)file;
    return -1;
}

int32_t ember_port_seek(int32_t file, uint64_t at) {
    if (file != CASES || at < read_at) {
        return -1;
    }
    ember_link_read(NULL, (size_t)(at - read_at));
    read_at = at;
    return 0;
}

int64_t ember_port_read(int32_t file, void *data, size_t size) {
    if (file != CASES) {
        return -1;
    }
    ember_link_read(data, size);
    read_at += size;
    return (int64_t)size;
}

int32_t ember_port_write(int32_t file, const void *data, size_t size) {
    if (file != RESULTS) {
        return -1;
    }
    ember_link_write(data, size);
    return 0;
}

void ember_port_close(int32_t file) {
    (void)file;
}
