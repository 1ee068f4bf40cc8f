// SPDX-License-Identifier: Apache-2.0
// A port that compiles and does nothing: copy it, then fill in what the platform
// has. Only the log, panic and exit are needed to see an application run; see
// ember/port.h for what each function promises.
#include "ember/port.h"

volatile uint32_t ember_marks[EMBER_MARK_COUNT];

void ember_port_log(const char *text) {
    (void)text; // write every character to a UART, RTT or ITM
}

_Noreturn void ember_port_exit(int code) {
    (void)code;
    for (;;) {
        // sleep, reset, or blink a light
    }
}

_Noreturn void ember_port_panic(const char *message) {
    ember_port_log(message);
    ember_port_exit(EMBER_EXIT_PANIC);
}

uint32_t ember_port_ticks(void) {
    return 0; // a cycle counter or a free-running timer
}

uint32_t ember_port_ticks_per_second(void) {
    return 1;
}

size_t ember_port_arguments(char *line, size_t capacity) {
    if (capacity > 0) {
        line[0] = '\0';
    }
    return 0;
}

int32_t ember_port_open(const char *path, ember_port_mode_t mode) {
    (void)path;
    (void)mode;
    return -1;
}

int64_t ember_port_size(int32_t file) {
    (void)file;
    return -1;
}

int32_t ember_port_seek(int32_t file, uint64_t at) {
    (void)file;
    (void)at;
    return -1;
}

int64_t ember_port_read(int32_t file, void *data, size_t size) {
    (void)file;
    (void)data;
    (void)size;
    return -1;
}

int32_t ember_port_write(int32_t file, const void *data, size_t size) {
    (void)file;
    (void)data;
    (void)size;
    return -1;
}

void ember_port_close(int32_t file) {
    (void)file;
}

void *ember_port_workspace(size_t *size) {
    *size = 0;
    return NULL;
}

uint32_t ember_port_cpu(void) {
    return 0;
}

size_t ember_port_stack_size(void) {
    return 0;
}

size_t ember_port_stack_used(void) {
    return 0;
}
