// SPDX-License-Identifier: Apache-2.0
// A freestanding process on Linux (Arm64), also under QEMU's user mode (Arm64, Hexagon,
// 32-bit Arm): system calls instead of a C library.
#include "../common.h"
#include "../linker_symbols.h"

#if defined(__hexagon__)
#include "hexagon.h"
#elif defined(__aarch64__)
#include "aarch64.h"
#else
#include "arm.h"
#endif

enum { AT_CWD = -100, CLOCK_MONOTONIC = 1, CREATE_MODE = 0666 };
enum { OPEN_READ = 0, OPEN_WRITE = 01 | 0100 | 01000 }; // write-only, create, empty
enum { STANDARD_INPUT = 0, STANDARD_ERROR = 2 };
enum { FROM_START = 0, FROM_END = 2 };
enum { SIG_ILL = 4, SIG_TRAP = 5, SIG_BUS = 7, SIG_FPE = 8, SIG_SEGV = 11 };
enum { WITH_INFO = 4, ON_STACK = 0x08000000 };
enum { SIGNAL_STACK_WORDS = 4096, UNDER_STACK = 0x20000 };

typedef struct signal_action {
    void (*handler)(int signal, const uintptr_t *info, const uintptr_t *context);
    uintptr_t flags;
    void (*restorer)(void);
    uint32_t mask[2];
} signal_action_t;

typedef struct signal_stack {
    void *base;
    int flags;
    size_t size;
} signal_stack_t;

int main(void);
_Noreturn void ember_linux_start(const uintptr_t *initial);

static const uintptr_t *initial_stack; // argc, argv[0], .. as the kernel left them
static uint64_t signal_area[SIGNAL_STACK_WORDS / 2];

static const char *signal_kind(int signal) {
    switch (signal) {
    case SIG_ILL:
        return "undefined-instruction";
    case SIG_TRAP:
        return "breakpoint";
    case SIG_BUS:
        return "unaligned-access";
    case SIG_FPE:
        return "divide-by-zero";
    default:
        return "data-access";
    }
}

static void on_signal(int signal, const uintptr_t *info, const uintptr_t *context) {
    const uintptr_t address = info[INFO_ADDRESS];
    const uintptr_t floor = (uintptr_t)__ember_stack_start;
    const char *kind = signal_kind(signal);

    if (signal == SIG_SEGV && address < floor && address >= floor - UNDER_STACK) {
        kind = "stack-overflow";
    }
    ember_port_fault(kind, signal == SIG_ILL ? 0 : address, linux_pc(context),
                     context[CONTEXT_LR]);
}

static void catch_signals(void) {
    static const int signals[] = {SIG_ILL, SIG_TRAP, SIG_BUS, SIG_FPE, SIG_SEGV};
    const signal_stack_t stack = {signal_area, 0, sizeof signal_area};
    const signal_action_t action = {
        .handler = on_signal,
        .flags = WITH_INFO | ON_STACK,
    };

    (void)linux_call(SYS_SIGALTSTACK, (intptr_t)&stack, 0, 0, 0, 0);
    for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++) {
        (void)linux_call(SYS_RT_SIGACTION, signals[i], (intptr_t)&action, 0, 8, 0);
    }
}

__attribute__((used)) _Noreturn void ember_linux_start(const uintptr_t *initial) {
    initial_stack = initial;
    ember_port_stack_paint(__ember_stack_start,
                           (uint32_t *)__builtin_frame_address(0) - 64);
    catch_signals();
    ember_port_exit(main());
}

// ---- Port --------------------------------------------------------------------------

void ember_port_log(const char *text) {
    size_t length = 0;

    while (text[length] != '\0') {
        length++;
    }
    (void)ember_port_write(STANDARD_ERROR, text, length);
}

int32_t ember_port_read_char(void) {
    uint8_t byte;

    return ember_port_read(STANDARD_INPUT, &byte, 1) == 1 ? byte : -1;
}

_Noreturn void ember_port_exit(int code) {
    const int status = ember_port_stack_check(__ember_stack_start, code);

    for (;;) {
        (void)linux_call(SYS_EXIT_GROUP, status, 0, 0, 0, 0);
    }
}

uint32_t ember_port_ticks(void) {
    linux_long_t now[2] = {0, 0}; // seconds, nanoseconds

    (void)linux_call(SYS_CLOCK_GETTIME, CLOCK_MONOTONIC, (intptr_t)now, 0, 0, 0);
    return (uint32_t)now[0] * 1000000u + (uint32_t)now[1] / 1000u;
}

uint32_t ember_port_ticks_per_second(void) {
    return 1000000;
}

uint32_t ember_port_cycles(void) {
    return 0; // the operating system's business
}

size_t ember_port_arguments(char *line, size_t capacity) {
    size_t length = 0;

    for (uintptr_t i = 2; i <= initial_stack[0]; i++) {
        const char *word = (const char *)initial_stack[i];

        for (; *word != '\0' && length < capacity; word++) {
            line[length++] = *word;
        }
        if (length >= capacity) {
            length = 1;
            break;
        }
        line[length++] = ' ';
    }
    length = length == 0 ? 0 : length - 1;
    if (capacity > 0) {
        line[length] = '\0';
    }
    return length;
}

int32_t ember_port_open(const char *path, ember_port_mode_t mode) {
    const intptr_t flags = mode == EMBER_PORT_READ ? OPEN_READ : OPEN_WRITE;
    const intptr_t file =
        linux_call(SYS_OPENAT, AT_CWD, (intptr_t)path, flags, CREATE_MODE, 0);

    return file < 0 ? -1 : (int32_t)file;
}

int64_t ember_port_size(int32_t file) {
    // Ember's files are read from the start or after a seek, so no position is kept.
    const int64_t size = linux_seek(file, 0, FROM_END);

    return linux_seek(file, 0, FROM_START) == 0 ? size : -1;
}

int32_t ember_port_seek(int32_t file, uint64_t at) {
    return linux_seek(file, at, FROM_START) < 0 ? -1 : 0;
}

int64_t ember_port_read(int32_t file, void *data, size_t size) {
    char *at = data;
    size_t left = size;

    while (left > 0) {
        const intptr_t got =
            linux_call(SYS_READ, file, (intptr_t)at, (intptr_t)left, 0, 0);

        if (got < 0) {
            return -1;
        }
        if (got == 0) {
            break;
        }
        at += got;
        left -= (size_t)got;
    }
    return (int64_t)(size - left);
}

int32_t ember_port_write(int32_t file, const void *data, size_t size) {
    const char *at = data;

    while (size > 0) {
        const intptr_t put =
            linux_call(SYS_WRITE, file, (intptr_t)at, (intptr_t)size, 0, 0);

        if (put <= 0) {
            return -1;
        }
        at += put;
        size -= (size_t)put;
    }
    return 0;
}

void ember_port_close(int32_t file) {
    (void)linux_call(SYS_CLOSE, file, 0, 0, 0, 0);
}

void *ember_port_workspace(size_t *size) {
    *size = (size_t)(__ember_work_end - __ember_work_start) * sizeof(uint32_t);
    return *size == 0 ? NULL : __ember_work_start;
}

uint32_t ember_port_cpu(void) {
    return linux_cpu(initial_stack);
}

size_t ember_port_stack_size(void) {
    return (size_t)(__ember_stack_end - __ember_stack_start) * sizeof(uint32_t);
}

size_t ember_port_stack_used(void) {
    return ember_port_stack_touched(__ember_stack_start, __ember_stack_end);
}
