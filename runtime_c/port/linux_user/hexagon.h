// SPDX-License-Identifier: Apache-2.0
// Linux system calls on Hexagon: trap0(#1).
#ifndef EMBER_PORT_HEXAGON_H
#define EMBER_PORT_HEXAGON_H

#include <stdint.h>

enum {
    SYS_OPENAT = 56,
    SYS_CLOSE = 57,
    SYS_LLSEEK = 62,
    SYS_READ = 63,
    SYS_WRITE = 64,
    SYS_EXIT_GROUP = 94,
    SYS_CLOCK_GETTIME = 113,
    SYS_SIGALTSTACK = 132,
    SYS_RT_SIGACTION = 134
};

// Word positions in the siginfo; in the ucontext: 5 words of header, 1 of padding, then
// r0 to r31.
enum { INFO_ADDRESS = 3, CONTEXT_LR = 6 + 31, CONTEXT_PC = 6 + 42 };

// As Linux has it; QEMU 10 leaves a word before it out, and what it has there is 0.
static inline uintptr_t linux_pc(const uintptr_t *context) {
    return context[CONTEXT_PC] != 0 ? context[CONTEXT_PC] : context[CONTEXT_PC - 1];
}

typedef int32_t linux_long_t;

static inline intptr_t linux_call(intptr_t number, intptr_t a, intptr_t b, intptr_t c,
                                  intptr_t d, intptr_t e) {
    register intptr_t r0 __asm("r0") = a;
    register intptr_t r1 __asm("r1") = b;
    register intptr_t r2 __asm("r2") = c;
    register intptr_t r3 __asm("r3") = d;
    register intptr_t r4 __asm("r4") = e;
    register intptr_t r6 __asm("r6") = number;

    __asm volatile("trap0(#1)"
                   : "+r"(r0)
                   : "r"(r1), "r"(r2), "r"(r3), "r"(r4), "r"(r6)
                   : "memory");
    return r0;
}

static inline int64_t linux_seek(int32_t file, uint64_t at, int from) {
    int64_t position = 0;
    const intptr_t failed = linux_call(SYS_LLSEEK, file, (intptr_t)(at >> 32),
                                       (intptr_t)at, (intptr_t)&position, from);

    return failed == 0 ? position : -1;
}

static inline uint32_t linux_cpu(const uintptr_t *initial) {
    (void)initial;
    return ember_port_modelled;
}

// Saves the kernel's stack pointer (argc, argv) and switches to our own stack.
__asm(".section .text._start, \"ax\", @progbits \n"
      ".globl _start                \n"
      "_start:                      \n"
      "  r0 = r29                   \n"
      "  r29 = ##__ember_stack_end  \n"
      "  r31:30 = combine(#0, #0)   \n"
      "  jump ember_linux_start     \n");

#endif // EMBER_PORT_HEXAGON_H
