// SPDX-License-Identifier: Apache-2.0
// Shared by the ports; see common.h.
#include "common.h"

volatile uint32_t ember_marks[EMBER_MARK_COUNT];

uint32_t ember_port_modelled = UINT32_MAX;

// Logging may fault itself: the second fault exits at once.
static int faulted;

static void log_hex(const char *name, uintptr_t value) {
    char text[2 * sizeof value + 1];
    char *at = text + sizeof text - 1;

    *at = '\0';
    do {
        *--at = "0123456789abcdef"[value & 15u];
        value >>= 4;
    } while (value != 0);
    ember_port_log(name);
    ember_port_log(at);
}

static void log_fault(const char *kind, uintptr_t address, uintptr_t pc, uintptr_t lr) {
    if (!faulted) {
        faulted = 1;
        ember_port_log("\nEMBER FAULT kind=");
        ember_port_log(kind);
        log_hex(" address=0x", address);
        log_hex(" pc=0x", pc);
        log_hex(" lr=0x", lr);
        ember_port_log("\n");
    }
}

_Noreturn void ember_port_fault(const char *kind, uintptr_t address, uintptr_t pc,
                                uintptr_t lr) {
    log_fault(kind, address, pc, lr);
    ember_port_exit(EMBER_EXIT_FAULT);
}

_Noreturn void ember_port_panic(const char *message) {
    ember_port_log("\nEMBER PANIC ");
    ember_port_log(message);
    ember_port_log("\n");
    ember_port_exit(EMBER_EXIT_PANIC);
}

void ember_port_stack_paint(uint32_t *start, const uint32_t *end) {
    volatile uint32_t *word = start; // keeps the compiler from calling memset

    while (word < end) {
        *word++ = EMBER_STACK_PAINT;
    }
}

size_t ember_port_stack_touched(const uint32_t *start, const uint32_t *end) {
    const uint32_t *word = start;

    while (word < end && *word == EMBER_STACK_PAINT) {
        word++;
    }
    return (size_t)(end - word) * sizeof *word;
}

int ember_port_stack_check(const uint32_t *start, int code) {
    if (faulted || *start == EMBER_STACK_PAINT) {
        return code;
    }
    log_fault("stack-overflow", (uintptr_t)start, 0, 0);
    return EMBER_EXIT_FAULT;
}

size_t ember_port_drop_name(char *line) {
    size_t skip = 0;
    size_t length = 0;

    while (line[skip] != '\0' && line[skip] != ' ') {
        skip++;
    }
    while (line[skip] == ' ') {
        skip++;
    }
    while (line[skip + length] != '\0') {
        line[length] = line[skip + length];
        length++;
    }
    line[length] = '\0';
    return length;
}
