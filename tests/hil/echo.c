// SPDX-License-Identifier: Apache-2.0
// A board on the host: the link over a socket, number argv[1]. Reads chunks of
// u32 size and so many bytes, writes them back; size 0 ends it.
#include "runtime_c/port/uart/link.h"
#include "runtime_c/port/uart/machine.h"
#include "runtime_c/port/uart/uart.h"

#include <poll.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

const ember_uart_t ember_uart = {.base = 0, .baud = 1000000};

static char **arguments;
static int line;

void ember_uart_open(void) {
}

// A board polls; here that would keep a processor busy for nothing.
static void rest(void) {
    struct pollfd waiting = {line, POLLIN, 0};

    (void)poll(&waiting, 1, 1);
}

int32_t ember_uart_get(void) {
    static uint8_t buffer[4096];
    static ssize_t size;
    static ssize_t at;
    static unsigned idle;

    if (at == size) {
        size = recv(line, buffer, sizeof buffer, MSG_DONTWAIT);
        at = 0;
        if (size == 0) {
            _Exit(0); // the host is gone
        }
        if (size < 0) {
            size = 0;
            if (idle++ > 1000) {
                rest();
            }
            return -1;
        }
        idle = 0;
    }
    return buffer[at++];
}

bool ember_uart_put(uint8_t byte) {
    return send(line, &byte, 1, MSG_DONTWAIT | MSG_NOSIGNAL) == 1;
}

void ember_machine_map(uintptr_t base) {
    (void)base;
}

_Noreturn void ember_machine_reset(void) {
    execv("/proc/self/exe", arguments);
    abort();
}

uint32_t ember_machine_cycles(void) {
    return 0;
}

int main(int count, char **given) {
    static uint8_t data[1 << 20];
    uint32_t size = 0;

    arguments = given;
    line = count > 1 ? atoi(given[1]) : 0;
    ember_link_open();
    for (;;) {
        ember_link_read(&size, sizeof size);
        if (size == 0 || size > sizeof data) {
            ember_link_exit(size == 0 ? 7 : 1, "all is echoed", 13);
        }
        ember_link_read(data, size);
        ember_link_write(data, size);
    }
}
