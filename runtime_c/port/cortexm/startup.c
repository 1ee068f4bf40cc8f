// SPDX-License-Identifier: Apache-2.0
// Cortex-M (Armv6-M, Armv7-M, Armv8-M with and without Main Extension): from reset to
// main(). Thumb-1 cores (__ARM_ARCH_ISA_THUMB 1: Armv6-M, Armv8-M Baseline) have no
// coprocessors and only one kind of fault.
//
// Memory protection: while the program runs, everything below 0x20000000, or below the
// first writable memory (before Armv8-M: rounded down to a power of two), is read-only,
// so that a store through NULL faults even if address 0 is RAM (mps2) or ignores writes
// (flash). The stack is at the bottom of its memory; MSPLIM or a 32-byte no-access
// region turns an overflow into a fault.
#include "../common.h"
#include "../linker_symbols.h"
#include "../semihosting.h"
#include "core.h"

#if __ARM_ARCH_PROFILE != 'M'
#error "this port is for Cortex-M"
#endif

enum { EXCEPTIONS = 16 };

typedef union vector {
    const void *stack;
    void (*handler)(void);
} vector_t;

int main(void);
void ember_cortexm_start(void);
void ember_cortexm_reset(void);

#define ENTRY {.handler = ember_cortexm_fault_entry}
__attribute__((section(".ember_vectors"), used)) static const vector_t vectors[] = {
    {.stack = __ember_stack_end},
    {.handler = ember_cortexm_reset},
    {.handler = NMI_Handler},
    ENTRY,                    // 3 hard fault
    ENTRY,                    // 4 memory management
    ENTRY,                    // 5 bus fault
    ENTRY,                    // 6 usage fault
    ENTRY,                    // 7 secure fault
    {0},                      // 8 to 10 are not exceptions; a boot ROM may read the
    {0},                      // kind of image here, where 0 is a plain one
    {0},                      //
    {.handler = SVC_Handler}, // 11
    {.handler = DebugMon_Handler},
    {0}, // 13
    {.handler = PendSV_Handler},
    {.handler = SysTick_Handler},
    // An application's section .ember_vectors.external follows: 16, the chip's first
    // interrupt, and so on.
};
_Static_assert(sizeof vectors == EXCEPTIONS * sizeof(vector_t), "one entry a vector");

// In assembly because the compiler may use FP or MVE registers in any C function:
// CPACR first opens coprocessors 10 and 11 (no effect on cores without them).
__attribute__((naked, noreturn)) void ember_cortexm_reset(void) {
    __asm volatile(
#if __ARM_ARCH_ISA_THUMB == 2
        "ldr  r0, =0xE000ED88 \n"
        "ldr  r1, [r0]        \n"
        "orr  r1, r1, #0xF00000 \n"
        "str  r1, [r0]        \n"
        "dsb                  \n"
        "isb                  \n"
#endif
        "bl   ember_cortexm_start \n" // has a longer range than b
        ".ltorg               \n");
}

// Three words a step: the address of a register, a mask of bits, their value; an odd
// address means: wait until the bits have that value. A board's `start:` lists them.
static void walk_steps(void) {
    for (const uint32_t *step = __ember_steps_start; step < __ember_steps_end;
         step += 3) {
        const uint32_t mask = step[1];

        if ((step[0] & 1u) != 0) {
            while ((REGISTER(step[0] - 1u) & mask) != step[2]) {
            }
        } else {
            const uint32_t kept = ~mask == 0 ? 0 : REGISTER(step[0]) & ~mask;
            REGISTER(step[0]) = kept | step[2];
        }
    }
}

// Three words a copy: source, target, end of target. For initial values of variables
// and code that runs from RAM; none if everything is in one memory, where the loader
// puts it.
static void copy_sections(void) {
    for (uint32_t *const *copy = __ember_copies_start; copy < __ember_copies_end;
         copy += 3) {
        const uint32_t *from = copy[0];

        for (uint32_t *to = copy[1]; to < copy[2]; to++) {
            *to = *from++;
        }
    }
}

static void protect_memory(void) {
#if __ARM_ARCH >= 8
    __asm volatile("msr msplim, %0" : : "r"(__ember_stack_start));
    if (MPU_TYPE == 0) {
        return;
    }
    MPU_MAIR0 = 0xAA; // attribute 0: normal memory, write-through
    MPU_RNR = 0;
    MPU_RBAR = 2u << 1; // from 0, read-only for privileged code
    MPU_RLAR = ((uint32_t)(uintptr_t)__ember_read_only_end - 32u) | 1u;
#else
    if (MPU_TYPE == 0) {
        return;
    }
    MPU_RNR = 0;
    MPU_RBAR = 0;
    MPU_RASR = (5u << 24) | (1u << 17) | // read-only, from 0
               ((uint32_t)(uintptr_t)__ember_read_only_size << 1) | 1u;
#if __ARM_ARCH == 7 // the smallest region of Armv6-M has 256 bytes
    MPU_RNR = 1;
    // Not the first bytes of a page: QEMU's semihosting checks only these against the
    // MPU.
    MPU_RBAR = (uint32_t)(__ember_stack_start + GUARD_WORDS / 2);
    MPU_RASR = (1u << 28) | (4u << 1) | 1u; // 32 bytes, no access
#endif
#endif
    MPU_CTRL = 5; // on, with the default map for everything else
    __asm volatile("dsb \n isb" : : : "memory");
}

static void set_up_faults(void) {
#if __ARM_ARCH_ISA_THUMB == 1
    CCR |= 1u << 3; // larger cores that run this code check alignment, too
#else
    SHCSR |= 0xFu << 16; // separate memory, bus, usage and (Armv8-M) secure faults
#if __ARM_ARCH >= 8
    CCR |= 1u << 19; // low-overhead loops, on cores that have them
#endif
#endif
}

__attribute__((noreturn, used)) void ember_cortexm_start(void) {
    VTOR = (uint32_t)(uintptr_t)vectors; // a boot loader may have set its own
    walk_steps();
    ember_port_stack_paint(ember_cortexm_stack_floor(),
                           (uint32_t *)__builtin_frame_address(0) - GUARD_WORDS);
    copy_sections();
    for (uint32_t *word = __ember_bss_start; word < __ember_bss_end; word++) {
        *word = 0;
    }
    set_up_faults();
    protect_memory();
    ember_port_exit(main());
}

// ---- Port --------------------------------------------------------------------------

uintptr_t ember_semihosting_call(uintptr_t operation, const void *argument) {
    register uintptr_t r0 __asm("r0") = operation;
    register const void *r1 __asm("r1") = argument;

    __asm volatile("bkpt 0xab" : "+r"(r0) : "r"(r1) : "memory");
    return r0;
}

int ember_semihosting_leaving(int code) {
    return ember_port_stack_check(ember_cortexm_stack_floor(), code);
}

void *ember_port_workspace(size_t *size) {
    *size = (size_t)(__ember_work_end - __ember_work_start) * sizeof(uint32_t);
    return *size == 0 ? NULL : __ember_work_start;
}

uint32_t ember_port_cpu(void) {
    return 0; // Cortex-M has none of them
}

size_t ember_port_stack_size(void) {
    return (size_t)(__ember_stack_end - __ember_stack_start) * sizeof(uint32_t);
}

size_t ember_port_stack_used(void) {
    return ember_port_stack_touched(ember_cortexm_stack_floor(), __ember_stack_end);
}
