// SPDX-License-Identifier: Apache-2.0
// ember_port_cycles() of Cortex-M: from the PMU (Armv8.1-M), from the DWT (Armv7-M and
// later) or, if the core has neither, from SysTick.
#include "ember/port.h"

#include "core.h"
#include "systick.h"

#define DEMCR      REGISTER(0xE000EDFCu)
#define SYST_CSR   REGISTER(0xE000E010u)
#define SYST_RVR   REGISTER(0xE000E014u)
#define SYST_CVR   REGISTER(0xE000E018u)
#define TRACE_ON   (1u << 24)
#define ENABLED    1u
#define CORE_CLOCK 4u
#define WRAPPED    (1u << 16)
#define MOST_LOOKS (1u << 20)

#if defined(__ARM_FEATURE_MVE)
#define CONTROL REGISTER(0xE0003E04u) // PMU_CTRL
#define COUNTER REGISTER(0xE000307Cu) // PMU_CCNTR
#define CHOSEN  REGISTER(0xE0003C00u) // PMU_CNTENSET
#define CYCLES  (1u << 31)
#elif __ARM_ARCH >= 7 && __ARM_ARCH_ISA_THUMB == 2
#define CONTROL REGISTER(0xE0001000u) // DWT_CTRL
#define COUNTER REGISTER(0xE0001004u) // DWT_CYCCNT
#endif

typedef struct systick {
    uint32_t last;
    uint32_t sum;
} systick_t;

static systick_t systick;

// Waits for the counter's next tick, a few cycles later: until then it reads 0, which
// can take a while in an emulator on a busy host.
static void wait_until_loaded(void) {
    for (uint32_t look = 0; look < MOST_LOOKS; look++) {
        if (SYST_CVR != 0 || (SYST_CSR & ENABLED) == 0) {
            return;
        }
    }
}

// Starts SysTick at the first call. It wraps after 2^24 cycles, and its flag reports
// one wrap: the elapsed time is known if it is read at least every 2^25 cycles.
static uint32_t count_by_systick(void) {
    if ((SYST_CSR & ENABLED) == 0) {
        SYST_RVR = EMBER_SYSTICK_MOST;
        SYST_CVR = 0;
        SYST_CSR = CORE_CLOCK | ENABLED;
        wait_until_loaded();
        systick.last = EMBER_SYSTICK_MOST;
    }
    const bool wrapped = (SYST_CSR & WRAPPED) != 0;
    const uint32_t now = SYST_CVR;
    if (now > systick.last && !wrapped) {
        (void)SYST_CSR; // it wrapped in between: reading the flag clears it
    }
    systick.sum += ember_systick_passed(systick.last, now, wrapped);
    systick.last = now;
    return systick.sum;
}

#if defined(CHOSEN)

static bool counts_itself(void) {
    if ((CONTROL & ENABLED) == 0) {
        DEMCR |= TRACE_ON;
        CHOSEN = CYCLES;
        CONTROL |= ENABLED;
    }
    return (CONTROL & ENABLED) != 0;
}

#elif defined(CONTROL)

static bool counts_itself(void) {
    if ((CONTROL & ENABLED) == 0) {
        DEMCR |= TRACE_ON;
        CONTROL |= ENABLED;
    }
    return (CONTROL & ENABLED) != 0;
}

#else

#define COUNTER 0u

static bool counts_itself(void) {
    return false;
}

#endif

uint32_t ember_port_cycles(void) {
    return counts_itself() ? COUNTER : count_by_systick();
}
