// SPDX-License-Identifier: Apache-2.0
// Whether a conversion from float to integer met a NaN or a number out of range: the
// cumulative flag for invalid operations. C has no access to it, so this is assembly.
#ifndef EMBER_INTRINSICS_ARM_FPSCR_H
#define EMBER_INTRINSICS_ARM_FPSCR_H

#include <stdbool.h>
#include <stdint.h>

static inline void ember_invalid_clear(void) {
    uint32_t status;
    __asm__ volatile("vmrs %0, fpscr\n\t"
                     "bic %0, %0, #1\n\t"
                     "vmsr fpscr, %0"
                     : "=r"(status)
                     :
                     : "memory");
}

// Since it was cleared, for conversions whose results are in memory by now.
static inline bool ember_invalid_seen(void) {
    uint32_t status;
    __asm__ volatile("vmrs %0, fpscr" : "=r"(status) : : "memory");
    return (status & 1) != 0;
}

#endif // EMBER_INTRINSICS_ARM_FPSCR_H
