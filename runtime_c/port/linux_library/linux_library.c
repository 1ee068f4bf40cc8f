// SPDX-License-Identifier: Apache-2.0
// The port as a static library for Linux processes on Arm64, with any C library. All
// functions are weak: an application may define its own.
#include "../common.h"
#include "../linux_user/features_aarch64.h"

#define WEAK __attribute__((weak))

// Declarations from POSIX and Linux: the SDK compiles this file without the headers of
// a C library for Arm64.
int open(const char *path, int flags, ...);
int close(int file);
long read(int file, void *data, size_t size);
long write(int file, const void *data, size_t size);
long lseek(int file, long at, int from);
int clock_gettime(int clock, int64_t now[2]);
unsigned long getauxval(unsigned long type);
int prctl(int option, ...);
_Noreturn void _exit(int code);

enum { OPEN_READ = 0, OPEN_WRITE = 01 | 0100 | 01000, CREATE_MODE = 0666 };
enum { STANDARD_INPUT = 0, STANDARD_ERROR = 2, CLOCK_MONOTONIC = 1 };
enum { FROM_START = 0, FROM_END = 2, AT_HWCAP = 16, AT_HWCAP2 = 26 };

WEAK volatile uint32_t ember_marks[EMBER_MARK_COUNT];

WEAK uint32_t ember_port_cpu(void) {
    const uint32_t found = linux_features(getauxval(AT_HWCAP), getauxval(AT_HWCAP2));

    return (found & EMBER_CPU_SME) == 0
               ? found
               : linux_checked(found, prctl(LINUX_PR_SME_SET_VL,
                                            (unsigned long)LINUX_LONGEST_VECTOR, 0UL,
                                            0UL, 0UL));
}

WEAK void ember_port_log(const char *text) {
    size_t length = 0;

    while (text[length] != '\0') {
        length++;
    }
    (void)ember_port_write(STANDARD_ERROR, text, length);
}

WEAK int32_t ember_port_read_char(void) {
    uint8_t byte;

    return ember_port_read(STANDARD_INPUT, &byte, 1) == 1 ? byte : -1;
}

WEAK _Noreturn void ember_port_exit(int code) {
    _exit(code);
}

WEAK _Noreturn void ember_port_panic(const char *message) {
    ember_port_log("\nEMBER PANIC ");
    ember_port_log(message);
    ember_port_log("\n");
    ember_port_exit(EMBER_EXIT_PANIC);
}

WEAK uint32_t ember_port_ticks(void) {
    int64_t now[2] = {0, 0}; // seconds, nanoseconds

    (void)clock_gettime(CLOCK_MONOTONIC, now);
    return (uint32_t)now[0] * 1000000u + (uint32_t)now[1] / 1000u;
}

WEAK uint32_t ember_port_ticks_per_second(void) {
    return 1000000;
}

// The words of the process's command line, which end with NUL, without the first.
WEAK size_t ember_port_arguments(char *line, size_t capacity) {
    const int32_t file = ember_port_open("/proc/self/cmdline", EMBER_PORT_READ);
    const int64_t got = file < 0 ? -1 : ember_port_read(file, line, capacity);
    size_t length = 0;
    size_t at = 0;

    if (file >= 0) {
        ember_port_close(file);
    }
    const size_t end = got > 0 && (size_t)got < capacity ? (size_t)got : 0;
    while (at < end && line[at] != '\0') {
        at++;
    }
    for (at++; at < end; at++) {
        line[length++] = line[at] == '\0' ? ' ' : line[at];
    }
    length -= length > 0;
    if (capacity > 0) {
        line[length] = '\0';
    }
    return length;
}

WEAK int32_t ember_port_open(const char *path, ember_port_mode_t mode) {
    return open(path, mode == EMBER_PORT_READ ? OPEN_READ : OPEN_WRITE, CREATE_MODE);
}

WEAK int64_t ember_port_size(int32_t file) {
    const long size = lseek(file, 0, FROM_END);

    return lseek(file, 0, FROM_START) == 0 ? size : -1;
}

WEAK int32_t ember_port_seek(int32_t file, uint64_t at) {
    return lseek(file, (long)at, FROM_START) < 0 ? -1 : 0;
}

WEAK int64_t ember_port_read(int32_t file, void *data, size_t size) {
    char *at = data;
    size_t left = size;
    long got = 1;

    while (left > 0 && got > 0) {
        got = read(file, at, left);
        at += got > 0 ? got : 0;
        left -= got > 0 ? (size_t)got : 0;
    }
    return got < 0 ? -1 : (int64_t)(size - left);
}

WEAK int32_t ember_port_write(int32_t file, const void *data, size_t size) {
    const char *at = data;

    while (size > 0) {
        const long put = write(file, at, size);

        if (put <= 0) {
            return -1;
        }
        at += put;
        size -= (size_t)put;
    }
    return 0;
}

WEAK void ember_port_close(int32_t file) {
    (void)close(file);
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
