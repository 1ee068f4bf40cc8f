// SPDX-License-Identifier: Apache-2.0
// Cortex-M: reset by the system control block; machine.h.
#include "machine.h"

#define REGISTER(address) (*(volatile uint32_t *)(address))
#define AIRCR             REGISTER(0xE000ED0Cu)

#define RESET_REQUEST 0x05FA0004u

void ember_machine_map(uintptr_t base) {
    (void)base; // the default memory map has all peripherals
}

_Noreturn void ember_machine_reset(void) {
    for (;;) {
        __asm volatile("dsb" : : : "memory");
        AIRCR = RESET_REQUEST;
    }
}
