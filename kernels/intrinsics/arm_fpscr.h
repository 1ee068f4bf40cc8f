// SPDX-License-Identifier: Apache-2.0
// Whether a conversion of floats to integers met a NaN or a number out of range: the
// cumulative bit for invalid operations. C says nothing about it, so the instructions
// are given here.
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

// Since it was cleared; of conversions whose results are in memory by now.
static inline bool ember_invalid_seen(void) {
    uint32_t status;
    __asm__ volatile("vmrs %0, fpscr" : "=r"(status) : : "memory");
    return (status & 1) != 0;
}

#endif // EMBER_INTRINSICS_ARM_FPSCR_H
