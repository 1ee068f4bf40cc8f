// SPDX-License-Identifier: Apache-2.0
// Products of rows of int8 by rows of int8 with Helium, in an order that compilers do
// not keep. kernels/models has the same in C.
#ifndef EMBER_INTRINSICS_ARM_MVE_TILES_H
#define EMBER_INTRINSICS_ARM_MVE_TILES_H

#include <stddef.h>
#include <stdint.h>

enum { EMBER_MVE_TILE = 32 }; // sums of a column

typedef struct ember_mve_tiles {
    const int8_t *columns[3];
    int32_t inner; // elements of a column, and of a filter; more than 16
    int32_t past;  // what whole vectors are longer
    int32_t *end;  // of the sums in the first row
    int32_t *tile; // (3, EMBER_MVE_TILE); the first row has what sums start from
    const int8_t *w;
} ember_mve_tiles_t;

// tile[n, f] = tile[0, f] + filter f . column n, for filters from w on, an even number
// and not 0. Loads and products overlap where they alternate; the next vector of the
// first filter of two is loaded ahead, at last from the filter behind it.
static inline void ember_mve_multiply_tiles(const ember_mve_tiles_t *tiles) {
    register const ember_mve_tiles_t *all __asm__("r12") = tiles;

    __asm__ volatile("ldrd r11, r1, [r12, #24]\n"
                     "1:\n\t"
                     "ldr lr, [r12, #12]\n\t"
                     "ldrd r0, r2, [r11]\n\t"
                     "ldrd r5, r7, [r12]\n\t"
                     "vldrb.8 q0, [r1], #16\n\t"
                     "ldr r9, [r12, #8]\n\t"
                     "mov r4, r0\n\t"
                     "mov r6, r2\n\t"
                     "mov r8, r0\n\t"
                     "mov r10, r2\n\t"
                     "add r3, r1, lr\n\t"
                     "subs r3, r3, #16\n\t"
                     "dlstp.8 lr, lr\n"
                     "2:\n\t"
                     "vldrb.8 q1, [r5], #16\n\t"
                     "vmladava.s8 r0, q0, q1\n\t"
                     "vldrb.8 q2, [r3], #16\n\t"
                     "vmladava.s8 r2, q2, q1\n\t"
                     "vldrb.8 q3, [r7], #16\n\t"
                     "vmladava.s8 r4, q0, q3\n\t"
                     "vldrb.8 q1, [r9], #16\n\t"
                     "vmladava.s8 r6, q2, q3\n\t"
                     "vmladava.s8 r8, q0, q1\n\t"
                     "vldrb.8 q0, [r1], #16\n\t"
                     "vmladava.s8 r10, q2, q1\n\t"
                     "letp lr, 2b\n\t"
                     "strd r0, r2, [r11]\n\t"
                     "ldrd r0, r2, [r12, #16]\n\t"
                     "strd r4, r6, [r11, #128]\n\t"
                     "strd r8, r10, [r11, #256]\n\t"
                     "subs r1, r3, r0\n\t"
                     "add r11, r11, #8\n\t"
                     "cmp r11, r2\n\t"
                     "bne 1b"
                     :
                     : "r"(all)
                     : "r0", "r1", "r2", "r3", "r4", "r5", "r6", "r7", "r8", "r9",
                       "r10", "r11", "lr", "q0", "q1", "q2", "q3", "cc", "memory");
}

#endif // EMBER_INTRINSICS_ARM_MVE_TILES_H
