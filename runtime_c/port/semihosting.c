// SPDX-License-Identifier: Apache-2.0
// Log, files, arguments and exit over Arm semihosting, 32 and 64 bits.
//
// Every operation takes the address of a block of words as wide as a pointer.
#include "semihosting.h"

#include "common.h"

enum {
    SYS_OPEN = 0x01,
    SYS_CLOSE = 0x02,
    SYS_WRITE0 = 0x04,
    SYS_WRITE = 0x05,
    SYS_READ = 0x06,
    SYS_SEEK = 0x0a,
    SYS_FLEN = 0x0c,
    SYS_CLOCK = 0x10,
    SYS_GET_CMDLINE = 0x15,
    SYS_EXIT_EXTENDED = 0x20
};

enum { MODE_READ_BINARY = 1, MODE_WRITE_BINARY = 5 };

#define ADP_STOPPED_APPLICATION_EXIT 0x20026u
#define FAILED                       UINTPTR_MAX

static size_t text_length(const char *text) {
    size_t length = 0;

    while (text[length] != '\0') {
        length++;
    }
    return length;
}

void ember_port_log(const char *text) {
    (void)ember_semihosting_call(SYS_WRITE0, text);
}

_Noreturn void ember_port_exit(int code) {
    const uintptr_t block[] = {ADP_STOPPED_APPLICATION_EXIT,
                               (uintptr_t)ember_semihosting_leaving(code)};

    for (;;) {
        (void)ember_semihosting_call(SYS_EXIT_EXTENDED, block);
    }
}

uint32_t ember_port_ticks(void) {
    return (uint32_t)ember_semihosting_call(SYS_CLOCK, NULL);
}

uint32_t ember_port_ticks_per_second(void) {
    return 100;
}

size_t ember_port_arguments(char *line, size_t capacity) {
    uintptr_t block[] = {(uintptr_t)line, capacity};

    if (capacity == 0) {
        return 0;
    }
    if (ember_semihosting_call(SYS_GET_CMDLINE, block) != 0) {
        line[0] = '\0';
        return 0;
    }
    line[capacity - 1] = '\0';
    return ember_port_drop_name(line);
}

int32_t ember_port_open(const char *path, ember_port_mode_t mode) {
    const uintptr_t how =
        mode == EMBER_PORT_READ ? MODE_READ_BINARY : MODE_WRITE_BINARY;
    const uintptr_t block[] = {(uintptr_t)path, how, text_length(path)};
    const uintptr_t handle = ember_semihosting_call(SYS_OPEN, block);

    return handle == FAILED ? -1 : (int32_t)handle;
}

int64_t ember_port_size(int32_t file) {
    const uintptr_t block[] = {(uintptr_t)file};
    const uintptr_t size = ember_semihosting_call(SYS_FLEN, block);

    return size == FAILED ? -1 : (int64_t)size;
}

int32_t ember_port_seek(int32_t file, uint64_t at) {
    const uintptr_t block[] = {(uintptr_t)file, (uintptr_t)at};

    if (at > INTPTR_MAX) {
        return -1;
    }
    return ember_semihosting_call(SYS_SEEK, block) == 0 ? 0 : -1;
}

// SYS_READ and SYS_WRITE return the number of bytes *not* done.
int64_t ember_port_read(int32_t file, void *data, size_t size) {
    const uintptr_t block[] = {(uintptr_t)file, (uintptr_t)data, size};
    const uintptr_t left = size == 0 ? 0 : ember_semihosting_call(SYS_READ, block);

    return left > size ? -1 : (int64_t)(size - left);
}

// Reads stdin as a file, because SYS_READC has no end of file.
int32_t ember_port_read_char(void) {
    static int32_t console = -1;
    uint8_t byte;

    if (console < 0) {
        console = ember_port_open(":tt", EMBER_PORT_READ);
    }
    if (console < 0 || ember_port_read(console, &byte, 1) != 1) {
        return -1;
    }
    return byte == EMBER_CONSOLE_END ? -1 : byte;
}

int32_t ember_port_write(int32_t file, const void *data, size_t size) {
    const uintptr_t block[] = {(uintptr_t)file, (uintptr_t)data, size};
    const uintptr_t left = size == 0 ? 0 : ember_semihosting_call(SYS_WRITE, block);

    return left == 0 ? 0 : -1;
}

void ember_port_close(int32_t file) {
    const uintptr_t block[] = {(uintptr_t)file};

    (void)ember_semihosting_call(SYS_CLOSE, block);
}
