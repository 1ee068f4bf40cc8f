// SPDX-License-Identifier: Apache-2.0
// The port of projects with their own start-up code and linker script. Every function
// is weak: define those of ember/port.h that the platform has, such as a log to its
// UART. By default the log goes to putchar().
#include "ember/port.h"

#include <stdio.h>

#define WEAK __attribute__((weak))

WEAK volatile uint32_t ember_marks[EMBER_MARK_COUNT];

WEAK void ember_port_log(const char *text) {
    while (*text != '\0') {
        (void)putchar(*text++);
    }
}

WEAK int32_t ember_port_read_char(void) {
    return -1;
}

WEAK _Noreturn void ember_port_exit(int code) {
    (void)code;
    for (;;) {
    }
}

WEAK _Noreturn void ember_port_panic(const char *message) {
    ember_port_log("\nEMBER PANIC ");
    ember_port_log(message);
    ember_port_log("\n");
    ember_port_exit(EMBER_EXIT_PANIC);
}

WEAK uint32_t ember_port_ticks(void) {
    return 0;
}

WEAK uint32_t ember_port_ticks_per_second(void) {
    return 1;
}

WEAK uint32_t ember_port_cycles(void) {
    return 0;
}

WEAK size_t ember_port_arguments(char *line, size_t capacity) {
    if (capacity > 0) {
        line[0] = '\0';
    }
    return 0;
}

WEAK int32_t ember_port_open(const char *path, ember_port_mode_t mode) {
    (void)path;
    (void)mode;
    return -1;
}

WEAK int64_t ember_port_size(int32_t file) {
    (void)file;
    return -1;
}

WEAK int32_t ember_port_seek(int32_t file, uint64_t at) {
    (void)file;
    (void)at;
    return -1;
}

WEAK int64_t ember_port_read(int32_t file, void *data, size_t size) {
    (void)file;
    (void)data;
    (void)size;
    return -1;
}

WEAK int32_t ember_port_write(int32_t file, const void *data, size_t size) {
    (void)file;
    (void)data;
    (void)size;
    return -1;
}

WEAK void ember_port_close(int32_t file) {
    (void)file;
}

WEAK void *ember_port_workspace(size_t *size) {
    *size = 0;
    return NULL;
}

WEAK size_t ember_port_stack_size(void) {
    return 0;
}

WEAK size_t ember_port_stack_used(void) {
    return 0;
}

WEAK uint32_t ember_port_cpu(void) {
    return 0;
}
