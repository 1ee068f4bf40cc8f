// SPDX-License-Identifier: Apache-2.0
// Linux system calls on 32-bit Arm (EABI): number in r7, svc 0.
#ifndef EMBER_PORT_ARM_H
#define EMBER_PORT_ARM_H

#include <stdint.h>

enum {
    SYS_READ = 3,
    SYS_WRITE = 4,
    SYS_CLOSE = 6,
    SYS_LLSEEK = 140,
    SYS_RT_SIGACTION = 174,
    SYS_SIGALTSTACK = 186,
    SYS_EXIT_GROUP = 248,
    SYS_CLOCK_GETTIME = 263,
    SYS_OPENAT = 322
};

// Word positions in the siginfo; in the ucontext: 5 words of header, 3 of the trap,
// then r0 to r15.
enum { INFO_ADDRESS = 3, CONTEXT_LR = 8 + 14, CONTEXT_PC = 8 + 15 };

static inline uintptr_t linux_pc(const uintptr_t *context) {
    return context[CONTEXT_PC];
}

typedef int32_t linux_long_t;

static inline intptr_t linux_call(intptr_t number, intptr_t a, intptr_t b, intptr_t c,
                                  intptr_t d, intptr_t e) {
    register intptr_t r0 __asm("r0") = a;
    register intptr_t r1 __asm("r1") = b;
    register intptr_t r2 __asm("r2") = c;
    register intptr_t r3 __asm("r3") = d;
    register intptr_t r4 __asm("r4") = e;
    register intptr_t r7 __asm("r7") = number;

    __asm volatile("svc 0"
                   : "+r"(r0)
                   : "r"(r1), "r"(r2), "r"(r3), "r"(r4), "r"(r7)
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

__asm(".section .text._start, \"ax\", %progbits \n"
      ".globl _start              \n"
      ".type _start, %function    \n"
      "_start:                    \n"
      "  mov r0, sp               \n"
      "  ldr sp, =__ember_stack_end \n"
      "  b ember_linux_start      \n"
      ".ltorg                     \n");

#endif // EMBER_PORT_ARM_H
