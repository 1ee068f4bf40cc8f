// SPDX-License-Identifier: Apache-2.0
// ember/port.h for a board that runs without a debugger: log, input and exit
// status go over the serial port, and there are no files. Linked in place of
// semihosting.c.
#include "machine.h"
#include "uart.h"

#include "../common.h"
#include "../semihosting.h"

static bool is_open;

static void open_once(void) {
    if (!is_open) {
        is_open = true;
        ember_machine_map(ember_uart.base);
        ember_uart_open();
    }
}

static void put(char byte) {
    while (!ember_uart_put((uint8_t)byte)) {
    }
}

void ember_port_log(const char *text) {
    open_once();
    for (; *text != '\0'; text++) {
        if (*text == '\n') {
            put('\r'); // for terminals
        }
        put(*text);
    }
}

int32_t ember_port_read_char(void) {
    int32_t byte;

    open_once();
    do {
        byte = ember_uart_get();
    } while (byte < 0);
    return byte == EMBER_CONSOLE_END ? -1 : byte;
}

static void log_number(int number) {
    char text[12];
    char *at = text + sizeof text - 1;
    unsigned rest = number < 0 ? 0u - (unsigned)number : (unsigned)number;

    *at = '\0';
    do {
        *--at = (char)('0' + rest % 10);
        rest /= 10;
    } while (rest != 0);
    if (number < 0) {
        *--at = '-';
    }
    ember_port_log(at);
}

// The processor stays awake here, so that a debugger can always attach.
_Noreturn void ember_port_exit(int code) {
    const int status = ember_semihosting_leaving(code);

    ember_port_log("\nEMBER EXIT ");
    log_number(status);
    ember_port_log("\n");
    for (;;) {
    }
}

uint32_t ember_port_ticks(void) {
    return ember_port_cycles();
}

uint32_t ember_port_ticks_per_second(void) {
    return 0; // unknown: the processor's clock
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
