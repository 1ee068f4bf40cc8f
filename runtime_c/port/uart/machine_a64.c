// SPDX-License-Identifier: Apache-2.0
// Arm64 at EL1: a page table entry for the UART, reset by PSCI; machine.h.
#include "machine.h"

enum { ENTRIES = 512 };

#define TABLE        3u
#define DEVICE_BLOCK 0x405u // access flag, attribute 1 (device memory), block
#define NEVER_RUN    (3ull << 53)
#define SYSTEM_RESET 0x84000009u

static uint64_t level2[ENTRIES] __attribute__((aligned(4096)));

// start.S maps the gigabyte of the RAM; the UART is in another.
void ember_machine_map(uintptr_t base) {
    uint64_t *level1;

    __asm volatile("mrs %0, ttbr0_el1" : "=r"(level1));
    level2[base >> 21 & (ENTRIES - 1)] =
        (base & ~(uintptr_t)0x1FFFFF) | DEVICE_BLOCK | NEVER_RUN;
    __asm volatile("dsb sy" : : : "memory");
    level1[base >> 30] = (uintptr_t)level2 | TABLE;
    __asm volatile("dsb sy \n isb" : : : "memory");
}

_Noreturn void ember_machine_reset(void) {
    register uint64_t x0 __asm("x0") = SYSTEM_RESET;

    for (;;) {
        __asm volatile("hvc #0" : "+r"(x0) : : "memory");
    }
}
