// SPDX-License-Identifier: Apache-2.0
// The port for Linux and other POSIX hosts.
#define _GNU_SOURCE // registers in ucontext
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include "../common.h"

#if defined(__SANITIZE_ADDRESS__)
#define SANITIZED 1 // sanitizers report signals better
#else
#define SANITIZED 0
#endif

enum { WORKSPACE_SIZE = 1 << 30, SIGNAL_STACK_SIZE = 64 * 1024 };

static uintptr_t program_counter(const ucontext_t *context) {
#if defined(__x86_64__)
    return (uintptr_t)context->uc_mcontext.gregs[REG_RIP];
#elif defined(__aarch64__)
    return (uintptr_t)context->uc_mcontext.pc;
#else
    (void)context;
    return 0;
#endif
}

static uintptr_t stack_pointer(const ucontext_t *context) {
#if defined(__x86_64__)
    return (uintptr_t)context->uc_mcontext.gregs[REG_RSP];
#elif defined(__aarch64__)
    return (uintptr_t)context->uc_mcontext.sp;
#else
    (void)context;
    return 0;
#endif
}

static const char *signal_kind(int signal) {
    switch (signal) {
    case SIGILL:
        return "undefined-instruction";
    case SIGBUS:
        return "data-bus";
    case SIGFPE:
        return "divide-by-zero";
    default:
        return "data-access";
    }
}

static void on_signal(int signal, siginfo_t *info, void *context) {
    const uintptr_t address = (uintptr_t)info->si_addr;
    const uintptr_t stack = stack_pointer(context);
    const char *kind = signal_kind(signal);

    // An access within a page of the stack pointer: the guard below the stack.
    if (signal == SIGSEGV && address + 4096 >= stack && address < stack + 4096) {
        kind = "stack-overflow";
    }
    ember_port_fault(kind, address, program_counter(context), 0);
}

__attribute__((constructor)) static void catch_signals(void) {
    static char area[SIGNAL_STACK_SIZE];
    static const int signals[] = {SIGILL, SIGBUS, SIGFPE, SIGSEGV};
    const stack_t stack = {.ss_sp = area, .ss_size = sizeof area};
    struct sigaction action;

    if (SANITIZED) {
        return;
    }
    memset(&action, 0, sizeof action);
    action.sa_sigaction = on_signal;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    (void)sigaltstack(&stack, NULL);
    for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++) {
        (void)sigaction(signals[i], &action, NULL);
    }
}

void ember_port_log(const char *text) {
    (void)ember_port_write(STDERR_FILENO, text, strlen(text));
}

int32_t ember_port_read_char(void) {
    uint8_t byte;

    return ember_port_read(STDIN_FILENO, &byte, 1) == 1 ? byte : -1;
}

_Noreturn void ember_port_exit(int code) {
    exit(code);
}

uint32_t ember_port_ticks(void) {
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint32_t)now.tv_sec * 1000000u + (uint32_t)(now.tv_nsec / 1000);
}

uint32_t ember_port_ticks_per_second(void) {
    return 1000000;
}

uint32_t ember_port_cycles(void) {
    return 0; // the operating system's business
}

// The program's name is a path that may have spaces or be long.
static void skip_word(int32_t file) {
    char sign = 0;

    while (ember_port_read(file, &sign, 1) == 1 && sign != '\0') {
    }
}

// On boards main() has no arguments; here the kernel keeps them for us.
size_t ember_port_arguments(char *line, size_t capacity) {
    const int32_t file = ember_port_open("/proc/self/cmdline", EMBER_PORT_READ);
    int64_t got = -1;

    if (file >= 0) {
        skip_word(file);
        got = ember_port_read(file, line, capacity);
        ember_port_close(file);
    }
    if (got <= 0 || (size_t)got >= capacity) {
        if (capacity > 0) {
            line[0] = '\0';
        }
        return 0;
    }
    for (int64_t i = 0; i < got - 1; i++) {
        line[i] = line[i] == '\0' ? ' ' : line[i];
    }
    line[got - 1] = '\0';
    return (size_t)got - 1;
}

int32_t ember_port_open(const char *path, ember_port_mode_t mode) {
    const int flags = mode == EMBER_PORT_READ ? O_RDONLY : O_WRONLY | O_CREAT | O_TRUNC;

    return open(path, flags | O_CLOEXEC, 0666);
}

int64_t ember_port_size(int32_t file) {
    const off_t here = lseek(file, 0, SEEK_CUR);
    const off_t size = lseek(file, 0, SEEK_END);

    return lseek(file, here, SEEK_SET) < 0 ? -1 : (int64_t)size;
}

int32_t ember_port_seek(int32_t file, uint64_t at) {
    if (at > INT64_MAX) {
        return -1;
    }
    return lseek(file, (off_t)at, SEEK_SET) < 0 ? -1 : 0;
}

int64_t ember_port_read(int32_t file, void *data, size_t size) {
    char *at = data;
    size_t left = size;

    while (left > 0) {
        const ssize_t got = read(file, at, left);

        if (got < 0 && errno != EINTR) {
            return -1;
        }
        if (got == 0) {
            break;
        }
        if (got > 0) {
            at += got;
            left -= (size_t)got;
        }
    }
    return (int64_t)(size - left);
}

int32_t ember_port_write(int32_t file, const void *data, size_t size) {
    const char *at = data;

    while (size > 0) {
        const ssize_t put = write(file, at, size);

        if (put < 0 && errno != EINTR) {
            return -1;
        }
        if (put > 0) {
            at += put;
            size -= (size_t)put;
        }
    }
    return 0;
}

void ember_port_close(int32_t file) {
    (void)close(file);
}

// Pages cost nothing until they are touched.
void *ember_port_workspace(size_t *size) {
    static void *area;

    if (area == NULL) {
        area = mmap(NULL, WORKSPACE_SIZE, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    }
    *size = area == MAP_FAILED ? 0 : WORKSPACE_SIZE;
    return area == MAP_FAILED ? NULL : area;
}

uint32_t ember_port_cpu(void) {
    return ember_port_modelled;
}

size_t ember_port_stack_size(void) {
    return 0;
}

size_t ember_port_stack_used(void) {
    return 0;
}
