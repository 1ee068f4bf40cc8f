// SPDX-License-Identifier: Apache-2.0
// Cortex-M: reset by the system control block, cycles by the trace unit; machine.h.
#include "machine.h"

#define REGISTER(address) (*(volatile uint32_t *)(address))
#define AIRCR             REGISTER(0xE000ED0Cu)
#define DEMCR             REGISTER(0xE000EDFCu)
#define DWT_CTRL          REGISTER(0xE0001000u)
#define DWT_CYCCNT        REGISTER(0xE0001004u)

#define RESET_REQUEST 0x05FA0004u
#define TRACE_ON      (1u << 24)

void ember_machine_map(uintptr_t base) {
    (void)base; // the default memory map has all peripherals
#if __ARM_ARCH >= 7
    DEMCR |= TRACE_ON;
    DWT_CTRL |= 1;
#endif
}

_Noreturn void ember_machine_reset(void) {
    for (;;) {
        __asm volatile("dsb" : : : "memory");
        AIRCR = RESET_REQUEST;
    }
}

uint32_t ember_machine_cycles(void) {
#if __ARM_ARCH >= 7
    return DWT_CYCCNT;
#else
    return 0;
#endif
}
