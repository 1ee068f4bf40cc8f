// SPDX-License-Identifier: Apache-2.0
// Products of columns of int16 by filters of int8 with Helium, in an order that
// compilers do not keep. kernels/models has the same in C.
#ifndef EMBER_INTRINSICS_ARM_MVE_S16_H
#define EMBER_INTRINSICS_ARM_MVE_S16_H

#include <arm_mve_tiles.h> // EMBER_MVE_NEXT_FILTERS
#include <stddef.h>
#include <stdint.h>

enum { EMBER_MVE_TILE_S16 = 32 }; // sums of a column

typedef struct ember_mve_tiles_s16 {
    const int16_t *columns[3];
    int32_t inner; // elements of a column, and of a filter; more than 8
    int32_t past;  // what whole vectors exceed it by
    int32_t *end;  // of the sums in the first row
    int32_t *tile; // (3, EMBER_MVE_TILE_S16); the first row has the initial sums
    const int8_t *w;
} ember_mve_tiles_s16_t;

// tile[n, f] = tile[0, f] + filter f . column n, for filters from w on, an even number
// and not 0. Loads and products alternate, so that they overlap; the next vector of the
// first filter of two is loaded ahead, in the end from the filter after it.
static inline void ember_mve_multiply_tiles_s16(const ember_mve_tiles_s16_t *tiles) {
    register const ember_mve_tiles_s16_t *all __asm__("r12") = tiles;

    __asm__ volatile("ldrd r11, r1, [r12, #24]\n"
                     "1:\n\t"
                     "ldr lr, [r12, #12]\n\t"
                     "ldrd r0, r2, [r11]\n\t"
                     "ldrd r5, r7, [r12]\n\t"
                     "vldrb.s16 q0, [r1], #8\n\t"
                     "ldr r9, [r12, #8]\n\t"
                     "mov r4, r0\n\t"
                     "mov r6, r2\n\t"
                     "mov r8, r0\n\t"
                     "mov r10, r2\n\t"
                     "add r3, r1, lr\n\t"
                     "subs r3, r3, #8\n\t"
                     "dlstp.16 lr, lr\n"
                     "2:\n\t"
                     "vldrh.u16 q1, [r5], #16\n\t"
                     "vmladava.s16 r0, q0, q1\n\t"
                     "vldrb.s16 q2, [r3], #8\n\t"
                     "vmladava.s16 r2, q2, q1\n\t"
                     "vldrh.u16 q3, [r7], #16\n\t"
                     "vmladava.s16 r4, q0, q3\n\t"
                     "vldrh.u16 q1, [r9], #16\n\t"
                     "vmladava.s16 r6, q2, q3\n\t"
                     "vmladava.s16 r8, q0, q1\n\t"
                     "vldrb.s16 q0, [r1], #8\n\t"
                     "vmladava.s16 r10, q2, q1\n\t"
                     "letp lr, 2b\n\t"
                     "strd r0, r2, [r11]\n\t" EMBER_MVE_NEXT_FILTERS
                     :
                     : "r"(all)
                     : "r0", "r1", "r2", "r3", "r4", "r5", "r6", "r7", "r8", "r9",
                       "r10", "r11", "lr", "q0", "q1", "q2", "q3", "cc", "memory");
}

typedef struct ember_mve_rows_s16 {
    int32_t *sums;        // what becomes of them
    const int32_t *first; // what they start from
    const int8_t *rows;   // of weights
    const int16_t *x;     // (count,)
    int32_t step;         // from row to row
    int32_t count;        // elements of a row; > 0
    int32_t fours;        // of rows; > 0
} ember_mve_rows_s16_t;

// sums[f] = first[f] + row f . x. Loads and products alternate; pointers to weights
// must be in lower registers.
static inline void ember_mve_multiply_rows_s16(const ember_mve_rows_s16_t *rows) {
    register const ember_mve_rows_s16_t *all __asm__("r0") = rows;

    __asm__ volatile("ldrd r9, r6, [r0, #16]\n\t"
                     "ldrd r11, r8, [r0, #12]\n\t"
                     "ldr r8, [r0, #24]\n\t"
                     "push {r6, r8, r11, r12}\n\t" // count, fours, x
                     "ldrd r12, r10, [r0]\n\t"     // sums, first
                     "ldr r0, [r0, #8]\n"
                     "1:\n\t"
                     "ldr lr, [sp]\n\t"
                     "ldr r11, [sp, #8]\n\t"
                     "add r1, r0, r9\n\t"
                     "add r3, r1, r9\n\t"
                     "add r5, r3, r9\n\t"
                     "add r7, r5, r9\n\t"
                     "ldrd r2, r4, [r10]\n\t"
                     "ldrd r6, r8, [r10, #8]\n\t"
                     "add r10, #16\n\t"
                     "dlstp.16 lr, lr\n"
                     "2:\n\t"
                     "vldrh.u16 q0, [r11], #16\n\t"
                     "vldrb.s16 q1, [r0], #8\n\t"
                     "vmladava.s16 r2, q0, q1\n\t"
                     "vldrb.s16 q2, [r1], #8\n\t"
                     "vmladava.s16 r4, q0, q2\n\t"
                     "vldrb.s16 q1, [r3], #8\n\t"
                     "vmladava.s16 r6, q0, q1\n\t"
                     "vldrb.s16 q2, [r5], #8\n\t"
                     "vmladava.s16 r8, q0, q2\n\t"
                     "letp lr, 2b\n\t"
                     "strd r2, r4, [r12], #8\n\t"
                     "ldr r11, [sp, #4]\n\t"
                     "strd r6, r8, [r12], #8\n\t"
                     "mov r0, r7\n\t"
                     "subs r11, #1\n\t"
                     "str r11, [sp, #4]\n\t"
                     "bne 1b\n\t"
                     "add sp, #16"
                     : "+r"(all)
                     :
                     : "r1", "r2", "r3", "r4", "r5", "r6", "r7", "r8", "r9", "r10",
                       "r11", "r12", "lr", "q0", "q1", "q2", "cc", "memory");
}

enum { EMBER_MVE_BLOCK_S16 = 64 }; // elements

// Products of a vector of x with one of each of four rows, at `at` there.
#define EMBER_MVE_ROWS_S16(x, at)                                                      \
    "vldrb.s16 q7, [r2" at "\n\t"                                                      \
    "vmladava.s16 r4, " x ", q7\n\t"                                                   \
    "vldrb.s16 q7, [r5" at "\n\t"                                                      \
    "vmladava.s16 r6, " x ", q7\n\t"                                                   \
    "vldrb.s16 q7, [r7" at "\n\t"                                                      \
    "vmladava.s16 r8, " x ", q7\n\t"                                                   \
    "vldrb.s16 q7, [r3" at "\n\t"                                                      \
    "vmladava.s16 r10, " x ", q7\n\t"

// Four rows: those of the vector in q6 are at `at`, those of the one that q6 has
// afterwards, `next` in x, at `last`.
#define EMBER_MVE_FOUR_ROWS_S16(at, next, last)                                        \
    "ldrd r4, r6, [r1], #8\n\t"                                                        \
    "ldrd r8, r10, [r1], #8\n\t" EMBER_MVE_ROWS_S16("q0", "], #8")                     \
        EMBER_MVE_ROWS_S16("q1", "], #8") EMBER_MVE_ROWS_S16("q2", "], #8")            \
            EMBER_MVE_ROWS_S16("q3", "], #8") EMBER_MVE_ROWS_S16("q4", "], #8")        \
                EMBER_MVE_ROWS_S16("q5", "], #8") EMBER_MVE_ROWS_S16(                  \
                    "q6", at) "vldrh.u16 q6, [r9, " next                               \
                              "]\n\t" EMBER_MVE_ROWS_S16(                              \
                                  "q6", last) "add r2, r11\n\t"                        \
                                              "add r5, r11\n\t"                        \
                                              "add r7, r11\n\t"                        \
                                              "add r3, r11\n\t"                        \
                                              "strd r4, r6, [r0], #8\n\t"              \
                                              "strd r8, r10, [r0], #8\n\t"

// The same of EMBER_MVE_BLOCK_S16 elements. Seven vectors of x stay in registers; the
// eighth is read for four rows and stays for the next four, which begin without the
// seventh: an odd number of fours begins there.
static inline void ember_mve_multiply_block_s16(const ember_mve_rows_s16_t *rows) {
    register const ember_mve_rows_s16_t *all __asm__("r0") = rows;

    __asm__ volatile("ldrd r1, r2, [r0, #4]\n\t"
                     "ldrd r9, r11, [r0, #12]\n\t"
                     "ldr r4, [r0, #24]\n\t"
                     "ldr r0, [r0]\n\t"
                     "add r5, r2, r11\n\t"
                     "add r7, r5, r11\n\t"
                     "add r3, r7, r11\n\t"
                     "lsl r11, r11, #2\n\t"
                     "sub r11, #64\n\t"
                     "vldrh.u16 q0, [r9, #0]\n\t"
                     "vldrh.u16 q1, [r9, #16]\n\t"
                     "vldrh.u16 q2, [r9, #32]\n\t"
                     "vldrh.u16 q3, [r9, #48]\n\t"
                     "vldrh.u16 q4, [r9, #64]\n\t"
                     "vldrh.u16 q5, [r9, #80]\n\t"
                     "vldrh.u16 q6, [r9, #112]\n\t"
                     "add r4, #1\n\t"
                     "lsrs r4, r4, #1\n\t"
                     "dls lr, r4\n\t"
                     "bcc 2f\n\t"
                     "vldrh.u16 q6, [r9, #96]\n"
                     "1:\n\t"                                                   //
                     EMBER_MVE_FOUR_ROWS_S16("], #8", "#112", "], #8") "2:\n\t" //
                     EMBER_MVE_FOUR_ROWS_S16(", #8]", "#96", "], #16") "le lr, 1b"
                     : "+r"(all)
                     :
                     : "r1", "r2", "r3", "r4", "r5", "r6", "r7", "r8", "r9", "r10",
                       "r11", "lr", "q0", "q1", "q2", "q3", "q4", "q5", "q6", "q7",
                       "cc", "memory");
}

#endif // EMBER_INTRINSICS_ARM_MVE_S16_H
