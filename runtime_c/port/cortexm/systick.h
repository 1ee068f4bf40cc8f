// SPDX-License-Identifier: Apache-2.0
// SysTick as a clock: it counts down from EMBER_SYSTICK_MOST, in 24 bits. Internal.
#ifndef EMBER_PORT_CORTEXM_SYSTICK_H
#define EMBER_PORT_CORTEXM_SYSTICK_H

#include <stdbool.h>
#include <stdint.h>

#define EMBER_SYSTICK_MOST 0xFFFFFFu

// Cycles between two readings. `wrapped`: at the second reading, the flag said that the
// counter had reached zero since the first; if the second value is not above the first,
// it went all the way round.
static inline uint32_t ember_systick_passed(uint32_t last, uint32_t now, bool wrapped) {
    const uint32_t passed = (last - now) & EMBER_SYSTICK_MOST;

    return wrapped && now <= last ? passed + EMBER_SYSTICK_MOST + 1 : passed;
}

#endif // EMBER_PORT_CORTEXM_SYSTICK_H
