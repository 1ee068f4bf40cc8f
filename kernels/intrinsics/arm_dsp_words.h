// SPDX-License-Identifier: Apache-2.0
// Copies of words, more at a time than compilers make of them. kernels/models has the
// same in C.
#ifndef EMBER_INTRINSICS_ARM_DSP_WORDS_H
#define EMBER_INTRINSICS_ARM_DSP_WORDS_H

#include <stdint.h>

// Copies `count` > 0 times sixteen words, the first ones first. `to` is not among the
// eight words from `from` on, but may be below them.
static inline void ember_dsp_copy_words(uint32_t *to, const uint32_t *from,
                                        uint32_t count) {
    __asm__ volatile("1:\n\t"
                     "ldmia %1!, {r3, r4, r5, r6, r8, r9, r10, r12}\n\t"
                     "stmia %0!, {r3, r4, r5, r6, r8, r9, r10, r12}\n\t"
                     "ldmia %1!, {r3, r4, r5, r6, r8, r9, r10, r12}\n\t"
                     "subs %2, #1\n\t"
                     "stmia %0!, {r3, r4, r5, r6, r8, r9, r10, r12}\n\t"
                     "bne 1b"
                     : "+r"(to), "+r"(from), "+r"(count)
                     :
                     : "r3", "r4", "r5", "r6", "r8", "r9", "r10", "r12", "cc",
                       "memory");
}

#endif // EMBER_INTRINSICS_ARM_DSP_WORDS_H
