// SPDX-License-Identifier: Apache-2.0
// Arm64 at EL1, the part in C: fault messages, semihosting, the stack.
#include "../common.h"
#include "../linker_symbols.h"
#include "../semihosting.h"

#include <stdbool.h>

enum { UNDER_STACK = 0x200000 }; // unmapped bytes below RAM, see start.S

int main(void);
_Noreturn void ember_a64_main(void);
_Noreturn void ember_a64_fault(uint64_t syndrome, uint64_t address, uint64_t pc,
                               uint64_t lr, uint64_t stack);

_Noreturn void ember_a64_main(void) {
    const uint32_t *top = (uint32_t *)__builtin_frame_address(0) - 32;

    ember_port_stack_paint(__ember_stack_start, top);
    ember_port_exit(main());
}

typedef struct cause {
    uint32_t class; // ESR_EL1.EC
    const char *kind;
} cause_t;

static const char *cause_of(uint32_t class) {
    static const cause_t causes[] = {
        {0x00, "undefined-instruction"},
        {0x07, "fp-off"},
        {0x0e, "illegal-state"},
        {0x18, "undefined-instruction"},
        {0x19, "sve-off"},
        {0x1d, "sme-state"},
        {0x20, "instruction-access"},
        {0x21, "instruction-access"},
        {0x22, "unaligned-pc"},
        {0x24, "data-access"},
        {0x25, "data-access"},
        {0x26, "unaligned-stack"},
        {0x2c, "floating-point"},
        {0x2f, "system-error"},
        {0x3c, "breakpoint"},
    };
    const size_t count = sizeof causes / sizeof causes[0];

    for (size_t i = 0; i < count; i++) {
        if (causes[i].class == class) {
            return causes[i].kind;
        }
    }
    return "unexpected-exception";
}

_Noreturn void ember_a64_fault(uint64_t syndrome, uint64_t address, uint64_t pc,
                               uint64_t lr, uint64_t stack) {
    const uint32_t class = (uint32_t)(syndrome >> 26) & 0x3f;
    const uint32_t status = (uint32_t)syndrome & 0x3f;
    const uint64_t floor = (uintptr_t)__ember_stack_start;
    const int has_address = class >= 0x20 && class <= 0x25;
    const char *kind = cause_of(class);

    if (class == 0x25 && status == 0x21) {
        kind = "unaligned-access";
    } else if (has_address && stack < floor + 4096 && address < floor &&
               address >= floor - UNDER_STACK) {
        kind = "stack-overflow";
    }
    ember_port_fault(kind, has_address ? address : 0, pc, lr);
}

uintptr_t ember_semihosting_call(uintptr_t operation, const void *argument) {
    register uintptr_t x0 __asm("x0") = operation;
    register const void *x1 __asm("x1") = argument;

    __asm volatile("hlt 0xf000" : "+r"(x0) : "r"(x1) : "memory");
    return x0;
}

int ember_semihosting_leaving(int code) {
    return ember_port_stack_check(__ember_stack_start, code);
}

// --- the core ------------------------------------------------------------------------

#define READ_ID(NAME, TO) __asm("mrs %0, " NAME : "=r"(TO))

// A 4-bit ID field that counts up; 15 means absent in fields whose 0 means present.
static uint32_t field(uint64_t id, uint32_t at) {
    return (uint32_t)(id >> at) & 15;
}

static uint32_t when(bool there, ember_cpu_t feature) {
    return there ? (uint32_t)feature : 0;
}

uint32_t ember_port_cpu(void) {
    uint64_t pfr0, pfr1, isar0, isar1;
    READ_ID("id_aa64pfr0_el1", pfr0);
    READ_ID("id_aa64pfr1_el1", pfr1);
    READ_ID("id_aa64isar0_el1", isar0);
    READ_ID("id_aa64isar1_el1", isar1);
    const uint32_t simd = field(pfr0, 20);
    const uint32_t sme = field(pfr1, 24);
    return when(simd != 15, EMBER_CPU_NEON) |
           when(simd != 15 && simd >= 1, EMBER_CPU_FP16) |
           when(field(isar0, 44) >= 1, EMBER_CPU_DOT) |
           when(field(isar0, 48) >= 1, EMBER_CPU_FHM) |
           when(field(isar1, 52) >= 1, EMBER_CPU_I8MM) |
           when(field(isar1, 44) >= 1, EMBER_CPU_BF16MM) |
           when(sme >= 1, EMBER_CPU_SME) | when(sme >= 2, EMBER_CPU_SME2);
}

void *ember_port_workspace(size_t *size) {
    *size = (size_t)(__ember_work_end - __ember_work_start) * sizeof(uint32_t);
    return *size == 0 ? NULL : __ember_work_start;
}

size_t ember_port_stack_size(void) {
    return (size_t)(__ember_stack_end - __ember_stack_start) * sizeof(uint32_t);
}

size_t ember_port_stack_used(void) {
    return ember_port_stack_touched(__ember_stack_start, __ember_stack_end);
}
