// SPDX-License-Identifier: Apache-2.0
// Cortex-M: from a fault to its message. Armv6-M and Armv8-M Baseline have one kind of
// fault and do not report its cause.
#include "../common.h"
#include "core.h"

enum { FAULT_STACK_WORDS = 112 };

_Noreturn void ember_cortexm_fault(const uint32_t *frame);

// The stack of the handlers: the program's own may be what broke.
uint32_t ember_cortexm_fault_stack[FAULT_STACK_WORDS] __attribute__((aligned(8)));

__attribute__((naked)) void ember_cortexm_fault_entry(void) {
    __asm volatile("mov  r0, sp          \n"
#if __ARM_ARCH >= 8
                   "movs r1, #0          \n"
                   "msr  msplim, r1      \n"
#endif
                   "ldr  r1, =ember_cortexm_fault_stack + %c0 \n"
                   "mov  sp, r1          \n"
                   "bl   ember_cortexm_fault \n"
                   ".ltorg               \n"
                   :
                   : "i"(sizeof ember_cortexm_fault_stack));
}

#define IS_FAULT __attribute__((weak, alias("ember_cortexm_fault_entry")))
IS_FAULT void NMI_Handler(void);
IS_FAULT void SVC_Handler(void);
IS_FAULT void DebugMon_Handler(void);
IS_FAULT void PendSV_Handler(void);
IS_FAULT void SysTick_Handler(void);

enum { STACKING = 1 << 4 | 1 << 12 | 1 << 20 }; // of CFSR

#if __ARM_ARCH_ISA_THUMB == 1

static uint32_t fault_status(void) {
    return 0;
}

static const char *cause_of(uint32_t status) {
    (void)status;
    return "hard-fault";
}

static uintptr_t address_of(uint32_t status) {
    (void)status;
    return 0;
}

#else

static uint32_t fault_status(void) {
    return CFSR;
}

typedef struct cause {
    uint32_t bit; // of CFSR
    const char *kind;
} cause_t;

enum { MMFAR_VALID = 7, BFAR_VALID = 15 };

static const char *cause_of(uint32_t status) {
    static const cause_t causes[] = {
        {0, "instruction-access"},  {1, "data-access"},
        {3, "exception-return"},    {5, "lazy-fp-state"},
        {8, "instruction-bus"},     {9, "data-bus"},
        {10, "data-bus-imprecise"}, {11, "exception-return"},
        {13, "lazy-fp-state"},      {16, "undefined-instruction"},
        {17, "invalid-state"},      {18, "exception-return"},
        {19, "coprocessor-off"},    {24, "unaligned-access"},
        {25, "divide-by-zero"},
    };
    const size_t count = sizeof causes / sizeof causes[0];

    for (size_t i = 0; i < count; i++) {
        if ((status >> causes[i].bit & 1u) != 0) {
            return causes[i].kind;
        }
    }
    return (HFSR & 2u) != 0 ? "vector-table" : "unexpected-exception";
}

static uintptr_t address_of(uint32_t status) {
    if ((status >> MMFAR_VALID & 1u) != 0) {
        return MMFAR;
    }
    return (status >> BFAR_VALID & 1u) != 0 ? BFAR : 0;
}

#endif

// The first word of the stack that looks like a return address: the likely culprit.
static uintptr_t return_address_in(const uint32_t *word) {
    for (; word < __ember_stack_end; word++) {
        if ((*word & 1u) != 0 && *word > (uintptr_t)__ember_text_start &&
            *word < (uintptr_t)__ember_text_end) {
            return *word & ~1u;
        }
    }
    return 0;
}

_Noreturn __attribute__((used)) void ember_cortexm_fault(const uint32_t *frame) {
    const uint32_t status = fault_status();
    const uintptr_t address = address_of(status);
    const uint32_t *floor = ember_cortexm_stack_floor();

    if ((status & STACKING) != 0 || frame < floor) {
        MPU_CTRL = 0; // makes the guard readable
        ember_port_fault("stack-overflow", (uintptr_t)frame, 0,
                         return_address_in(floor));
    }
    ember_port_fault(cause_of(status), address, frame[6], frame[5] & ~1u);
}
