// SPDX-License-Identifier: Apache-2.0
// Linux system calls on Arm64: number in x8, svc 0.
#ifndef EMBER_PORT_AARCH64_H
#define EMBER_PORT_AARCH64_H

#include "features_aarch64.h"

enum {
    SYS_OPENAT = 56,
    SYS_CLOSE = 57,
    SYS_LSEEK = 62,
    SYS_READ = 63,
    SYS_WRITE = 64,
    SYS_EXIT_GROUP = 94,
    SYS_CLOCK_GETTIME = 113,
    SYS_SIGALTSTACK = 132,
    SYS_RT_SIGACTION = 134,
    SYS_PRCTL = 167
};

// Word positions in the siginfo; in the ucontext: 5 words of header, 16 of the mask, 1
// of padding, the fault address, then x0 to x30, sp and pc.
enum { INFO_ADDRESS = 2, CONTEXT_LR = 23 + 30, CONTEXT_PC = 23 + 32 };

static inline uintptr_t linux_pc(const uintptr_t *context) {
    return context[CONTEXT_PC];
}

enum { AT_NULL = 0, AT_HWCAP = 16, AT_HWCAP2 = 26 };

typedef int64_t linux_long_t;

static inline intptr_t linux_call(intptr_t number, intptr_t a, intptr_t b, intptr_t c,
                                  intptr_t d, intptr_t e) {
    register intptr_t x0 __asm("x0") = a;
    register intptr_t x1 __asm("x1") = b;
    register intptr_t x2 __asm("x2") = c;
    register intptr_t x3 __asm("x3") = d;
    register intptr_t x4 __asm("x4") = e;
    register intptr_t x8 __asm("x8") = number;

    __asm volatile("svc 0"
                   : "+r"(x0)
                   : "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x8)
                   : "memory");
    return x0;
}

static inline int64_t linux_seek(int32_t file, uint64_t at, int from) {
    return linux_call(SYS_LSEEK, file, (intptr_t)at, from, 0, 0);
}

// The auxiliary vector follows the environment, which ends with a zero like the
// arguments.
static inline uint64_t linux_told(const uintptr_t *initial, uintptr_t what) {
    const uintptr_t *at = initial + 1 + initial[0] + 1;

    while (*at != 0) {
        at++;
    }
    at++;
    while (at[0] != AT_NULL && at[0] != what) {
        at += 2;
    }
    return at[0] == what ? at[1] : 0;
}

static inline uint32_t linux_cpu(const uintptr_t *initial) {
    const uint32_t features =
        linux_features(linux_told(initial, AT_HWCAP), linux_told(initial, AT_HWCAP2));

    return (features & EMBER_CPU_SME) == 0
               ? features
               : linux_checked(features, linux_call(SYS_PRCTL, LINUX_PR_SME_SET_VL,
                                                    LINUX_LONGEST_VECTOR, 0, 0, 0));
}

// Saves the kernel's stack pointer (argc, argv) and switches to our own stack.
__asm(".section .text._start, \"ax\", %progbits \n"
      ".globl _start              \n"
      ".type _start, %function    \n"
      "_start:                    \n"
      "  mov x0, sp               \n"
      "  ldr x1, =__ember_stack_end \n"
      "  mov sp, x1               \n"
      "  mov x29, xzr             \n"
      "  mov x30, xzr             \n"
      "  b ember_linux_start      \n"
      ".ltorg                     \n");

#endif // EMBER_PORT_AARCH64_H
