// SPDX-License-Identifier: Apache-2.0
// ember_port_cycles() of Arm64 at EL1: the cycle counter of the PMU.
#include "ember/port.h"

#define ENABLED 1u
#define LONG    (1u << 6) // wraps at 64 bits, not 32
#define CYCLES  (1u << 31)

uint32_t ember_port_cycles(void) {
    uint64_t control;
    uint64_t count;

    __asm volatile("mrs %0, pmcr_el0" : "=r"(control));
    if ((control & ENABLED) == 0) {
        __asm volatile("msr pmccfiltr_el0, xzr \n"
                       "msr pmcntenset_el0, %0 \n"
                       "msr pmcr_el0, %1       \n"
                       "isb"
                       :
                       : "r"((uint64_t)CYCLES), "r"(control | ENABLED | LONG)
                       : "memory");
    }
    __asm volatile("isb \n mrs %0, pmccntr_el0" : "=r"(count) : : "memory");
    return (uint32_t)count;
}
