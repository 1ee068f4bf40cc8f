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
    int32_t past;  // what whole vectors exceed it by
    int32_t *end;  // of the sums in the first row
    int32_t *tile; // (3, EMBER_MVE_TILE); the first row has the initial sums
    const int8_t *w;
} ember_mve_tiles_t;

// What ends a pass over two filters: sums of the last two of three columns are stored,
// and the next two filters begin.
#define EMBER_MVE_NEXT_FILTERS                                                         \
    "ldrd r0, r2, [r12, #16]\n\t"                                                      \
    "strd r4, r6, [r11, #128]\n\t"                                                     \
    "strd r8, r10, [r11, #256]\n\t"                                                    \
    "subs r1, r3, r0\n\t"                                                              \
    "add r11, r11, #8\n\t"                                                             \
    "cmp r11, r2\n\t"                                                                  \
    "bne 1b"

// tile[n, f] = tile[0, f] + filter f . column n, for filters from w on, an even number
// and not 0. Loads and products alternate, so that they overlap; the next vector of the
// first filter of two is loaded ahead, in the end from the filter after it.
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
                     "strd r0, r2, [r11]\n\t" EMBER_MVE_NEXT_FILTERS
                     :
                     : "r"(all)
                     : "r0", "r1", "r2", "r3", "r4", "r5", "r6", "r7", "r8", "r9",
                       "r10", "r11", "lr", "q0", "q1", "q2", "q3", "cc", "memory");
}

// The same for only the last two columns; the first row keeps its initial sums.
static inline void ember_mve_multiply_last_two(const ember_mve_tiles_t *tiles) {
    register const ember_mve_tiles_t *all __asm__("r12") = tiles;

    __asm__ volatile("ldrd r11, r1, [r12, #24]\n"
                     "1:\n\t"
                     "ldr lr, [r12, #12]\n\t"
                     "ldrd r4, r6, [r11]\n\t"
                     "ldrd r7, r9, [r12, #4]\n\t"
                     "vldrb.8 q0, [r1], #16\n\t"
                     "mov r8, r4\n\t"
                     "mov r10, r6\n\t"
                     "add r3, r1, lr\n\t"
                     "subs r3, r3, #16\n\t"
                     "dlstp.8 lr, lr\n"
                     "2:\n\t"
                     "vldrb.8 q1, [r7], #16\n\t"
                     "vmladava.s8 r4, q0, q1\n\t"
                     "vldrb.8 q2, [r3], #16\n\t"
                     "vmladava.s8 r6, q2, q1\n\t"
                     "vldrb.8 q3, [r9], #16\n\t"
                     "vmladava.s8 r8, q0, q3\n\t"
                     "vldrb.8 q0, [r1], #16\n\t"
                     "vmladava.s8 r10, q2, q3\n\t"
                     "letp lr, 2b\n\t" EMBER_MVE_NEXT_FILTERS
                     :
                     : "r"(all)
                     : "r0", "r1", "r2", "r3", "r4", "r6", "r7", "r8", "r9", "r10",
                       "r11", "lr", "q0", "q1", "q2", "q3", "cc", "memory");
}

// Columns of at most two vectors, and pairs of filters, which are read in whole
// vectors: what follows a filter is multiplied by zeros.
typedef struct ember_mve_pairs {
    const int8_t *columns[3];
    int32_t inner;       // elements of a column, and of a filter
    const int32_t *sums; // what those of each filter start from
    int32_t *tile;       // (3, EMBER_MVE_TILE)
    const int8_t *w;
    int32_t count; // of pairs; > 0
} ember_mve_pairs_t;

// tile[n, f] = sums[f] + filter f . column n, of columns of one vector.
static inline void ember_mve_multiply_one(const ember_mve_pairs_t *pairs) {
    register const ember_mve_pairs_t *all __asm__("r0") = pairs;

    __asm__ volatile("vmrs r9, p0\n\t"
                     "ldrd r4, r5, [r0]\n\t"
                     "ldrd r6, r3, [r0, #8]\n\t"
                     "ldrd r1, r2, [r0, #16]\n\t"
                     "ldrd r7, lr, [r0, #24]\n\t"
                     "vctp.8 r3\n\t"
                     "vpsttt\n\t"
                     "vldrbt.8 q0, [r4]\n\t"
                     "vldrbt.8 q1, [r5]\n\t"
                     "vldrbt.8 q2, [r6]\n\t"
                     "add r5, r7, r3\n\t"
                     "lsl r3, r3, #1\n\t"
                     "mov r0, r2\n\t"
                     "dls lr, lr\n\t"
                     "1:\n\t"
                     "ldrd r6, r4, [r1]\n\t"
                     "vpst\n\t"
                     "vldrbt.8 q3, [r7]\n\t"
                     "ldrd r8, r12, [r1]\n\t"
                     "vmladava.s8 r6, q2, q3\n\t"
                     "ldrd r10, r2, [r1], #8\n\t"
                     "vmladava.s8 r8, q0, q3\n\t"
                     "vpst\n\t"
                     "vldrbt.8 q4, [r5]\n\t"
                     "vmladava.s8 r10, q1, q3\n\t"
                     "add r7, r3\n\t"
                     "vmladava.s8 r12, q0, q4\n\t"
                     "add r5, r3\n\t"
                     "vmladava.s8 r2, q1, q4\n\t"
                     "vmladava.s8 r4, q2, q4\n\t"
                     "strd r10, r2, [r0, #128]\n\t"
                     "strd r6, r4, [r0, #256]\n\t"
                     "strd r8, r12, [r0], #8\n\t"
                     "le lr, 1b\n\t"
                     "vmsr p0, r9"
                     : "+r"(all)
                     :
                     : "r1", "r2", "r3", "r4", "r5", "r6", "r7", "r8", "r9", "r10",
                       "r12", "lr", "q0", "q1", "q2", "q3", "q4", "cc", "memory");
}

// The same of columns of two.
static inline void ember_mve_multiply_two(const ember_mve_pairs_t *pairs) {
    register const ember_mve_pairs_t *all __asm__("r0") = pairs;

    __asm__ volatile("vmrs r9, p0\n\t"
                     "ldrd r4, r5, [r0]\n\t"
                     "ldrd r6, r3, [r0, #8]\n\t"
                     "ldrd r1, r2, [r0, #16]\n\t"
                     "ldrd r7, lr, [r0, #24]\n\t"
                     "vctp.8 r3\n\t"
                     "vpsttt\n\t"
                     "vldrbt.8 q0, [r4]\n\t"
                     "vldrbt.8 q1, [r5]\n\t"
                     "vldrbt.8 q2, [r6]\n\t"
                     "sub r12, r3, #16\n\t"
                     "vctp.8 r12\n\t"
                     "vpsttt\n\t"
                     "vldrbt.8 q3, [r4, #16]\n\t"
                     "vldrbt.8 q4, [r5, #16]\n\t"
                     "vldrbt.8 q5, [r6, #16]\n\t"
                     "add r5, r7, r3\n\t"
                     "lsl r3, r3, #1\n\t"
                     "mov r0, r2\n\t"
                     "dls lr, lr\n\t"
                     "1:\n\t"
                     "ldrd r6, r4, [r1]\n\t"
                     "vldrb.8 q6, [r7]\n\t"
                     "ldrd r8, r12, [r1]\n\t"
                     "vmladava.s8 r6, q2, q6\n\t"
                     "ldrd r10, r2, [r1], #8\n\t"
                     "vmladava.s8 r8, q0, q6\n\t"
                     "vldrb.8 q7, [r5]\n\t"
                     "vmladava.s8 r10, q1, q6\n\t"
                     "vpst\n\t"
                     "vldrbt.8 q6, [r7, #16]\n\t"
                     "vmladava.s8 r12, q0, q7\n\t"
                     "add r7, r3\n\t"
                     "vmladava.s8 r2, q1, q7\n\t"
                     "vmladava.s8 r4, q2, q7\n\t"
                     "vmladava.s8 r10, q4, q6\n\t"
                     "vpst\n\t"
                     "vldrbt.8 q7, [r5, #16]\n\t"
                     "vmladava.s8 r6, q5, q6\n\t"
                     "add r5, r3\n\t"
                     "vmladava.s8 r8, q3, q6\n\t"
                     "vmladava.s8 r2, q4, q7\n\t"
                     "vmladava.s8 r4, q5, q7\n\t"
                     "strd r10, r2, [r0, #128]\n\t"
                     "vmladava.s8 r12, q3, q7\n\t"
                     "strd r6, r4, [r0, #256]\n\t"
                     "strd r8, r12, [r0], #8\n\t"
                     "le lr, 1b\n\t"
                     "vmsr p0, r9"
                     : "+r"(all)
                     :
                     : "r1", "r2", "r3", "r4", "r5", "r6", "r7", "r8", "r9", "r10",
                       "r12", "lr", "q0", "q1", "q2", "q3", "q4", "q5", "q6", "q7",
                       "cc", "memory");
}

// Rows of 128 elements, or that much of longer ones.
typedef struct ember_mve_rows {
    int32_t *tile;        // what becomes of the sums
    const int32_t *first; // what they start from
    const int8_t *b;      // rows
    const int8_t *a;
    int32_t step;  // from row to row
    int32_t fours; // of rows; > 0
} ember_mve_rows_t;

// Products of a vector of a with one of each of four rows, at `at` there.
#define EMBER_MVE_ROWS(a, at)                                                          \
    "vldrb.8 q7, [r2" at "\n\t"                                                        \
    "vmladava.s8 r4, " a ", q7\n\t"                                                    \
    "vldrb.8 q7, [r5" at "\n\t"                                                        \
    "vmladava.s8 r6, " a ", q7\n\t"                                                    \
    "vldrb.8 q7, [r7" at "\n\t"                                                        \
    "vmladava.s8 r8, " a ", q7\n\t"                                                    \
    "vldrb.8 q7, [r9" at "\n\t"                                                        \
    "vmladava.s8 r10, " a ", q7\n\t"

// Four rows: those of the seventh vector in q6 are at `at`, those of the eighth, which
// q6 has afterwards, at `last`.
#define EMBER_MVE_FOUR_ROWS(at, eighth, last)                                          \
    "ldrd r4, r6, [r1], #8\n\t"                                                        \
    "vldrb.8 q7, [r2], #16\n\t"                                                        \
    "ldrd r8, r10, [r1], #8\n\t"                                                       \
    "vmladava.s8 r4, q0, q7\n\t"                                                       \
    "vldrb.8 q7, [r5], #16\n\t"                                                        \
    "vmladava.s8 r6, q0, q7\n\t"                                                       \
    "vldrb.8 q7, [r7], #16\n\t"                                                        \
    "vmladava.s8 r8, q0, q7\n\t"                                                       \
    "vldrb.8 q7, [r9], #16\n\t"                                                        \
    "vmladava.s8 r10, q0, q7\n\t" /**/                                                 \
        EMBER_MVE_ROWS("q1", "], #16") EMBER_MVE_ROWS("q2", "], #16")                  \
            EMBER_MVE_ROWS("q3", "], #16") EMBER_MVE_ROWS("q4", "], #16")              \
                EMBER_MVE_ROWS("q5", "], #16")                                         \
                    EMBER_MVE_ROWS("q6", at) "vldrb.8 q7, [r2" last "\n\t"             \
                                             "add r2, r11\n\t"                         \
                                             "vldrb.8 q6, [r3, " eighth "]\n\t"        \
                                             "vmladava.s8 r4, q6, q7\n\t"              \
                                             "vldrb.8 q7, [r5" last "\n\t"             \
                                             "vmladava.s8 r6, q6, q7\n\t"              \
                                             "vldrb.8 q7, [r7" last "\n\t"             \
                                             "add r7, r11\n\t"                         \
                                             "vmladava.s8 r8, q6, q7\n\t"              \
                                             "vldrb.8 q7, [r9" last "\n\t"             \
                                             "add r9, r11\n\t"                         \
                                             "vmladava.s8 r10, q6, q7\n\t"             \
                                             "strd r4, r6, [r0], #8\n\t"               \
                                             "add r5, r11\n\t"                         \
                                             "strd r8, r10, [r0], #8\n\t"

// tile[j] = first[j] + a . row j of b. Seven vectors of a stay in registers; the eighth
// is read for four rows and stays for the next four, which begin without the seventh:
// an odd number of fours begins there. Loads and products alternate.
static inline void ember_mve_multiply_rows(const ember_mve_rows_t *rows) {
    register const ember_mve_rows_t *all __asm__("r0") = rows;

    __asm__ volatile("ldrd r1, r2, [r0, #4]\n\t"
                     "ldrd r3, r11, [r0, #12]\n\t"
                     "ldr r4, [r0, #20]\n\t"
                     "ldr r0, [r0]\n\t"
                     "add r5, r2, r11\n\t"
                     "add r7, r5, r11\n\t"
                     "add r9, r7, r11\n\t"
                     "lsl r11, r11, #2\n\t"
                     "sub r11, #128\n\t"
                     "vldrb.8 q0, [r3, #0]\n\t"
                     "vldrb.8 q1, [r3, #16]\n\t"
                     "vldrb.8 q2, [r3, #32]\n\t"
                     "vldrb.8 q3, [r3, #48]\n\t"
                     "vldrb.8 q4, [r3, #64]\n\t"
                     "vldrb.8 q5, [r3, #80]\n\t"
                     "vldrb.8 q6, [r3, #112]\n\t"
                     "add r4, #1\n\t"
                     "lsrs r4, r4, #1\n\t"
                     "dls lr, r4\n\t"
                     "bcc 2f\n\t"
                     "vldrb.8 q6, [r3, #96]\n"
                     "1:\n\t"                                                 //
                     EMBER_MVE_FOUR_ROWS("], #16", "#112", "], #16") "2:\n\t" //
                     EMBER_MVE_FOUR_ROWS(", #16]", "#96", "], #32") "le lr, 1b"
                     : "+r"(all)
                     :
                     : "r1", "r2", "r3", "r4", "r5", "r6", "r7", "r8", "r9", "r10",
                       "r11", "lr", "q0", "q1", "q2", "q3", "q4", "q5", "q6", "q7",
                       "cc", "memory");
}

// Outputs of 3 x 3 taps, sixteen channels in groups.
typedef struct ember_mve_nine {
    const int8_t *rows[3]; // under the first taps of the first group
    int32_t step;          // from tap to tap
    int32_t rest;          // from the last tap of a row to the first of the next group
    int8_t *y;
    int32_t y_step; // from group to group
    int32_t zero_point;
    int32_t count;         // of groups; > 0
    int32_t lanes;         // that are stored
    const int8_t *weights; // (9, 16)
    const int32_t *scales; // initial sums, multipliers, shifts < 0: each (4, 4), in
                           // which vector n has channels n, n + 4, ..
} ember_mve_nine_t;

// Of the sums below: those of the first four taps, of the next four, and of the last.
// Loads are often ahead of the taps that need them.
#define EMBER_MVE_NINE_FIRST_TAPS                                                      \
    "vldrb.u8 q4, [r1]\n\t"                                                            \
    "add r1, r4\n\t"                                                                   \
    "vldrb.u8 q5, [r12, #0]\n\t"                                                       \
    "vmullb.s8 q6, q4, q5\n\t"                                                         \
    "vldrb.u8 q7, [r12, #16]\n\t"                                                      \
    "vmullt.s8 q4, q4, q5\n\t"                                                         \
    "vldrb.u8 q5, [r1]\n\t"                                                            \
    "vmullb.s8 q7, q5, q7\n\t"                                                         \
    "vldrw.u32 q3, [r0, #48]\n\t"                                                      \
    "vadd.i16 q7, q6, q7\n\t"                                                          \
    "vldrb.u8 q6, [r12, #16]\n\t"                                                      \
    "vmullt.s8 q5, q5, q6\n\t"                                                         \
    "vldrw.u32 q0, [r0, #0]\n\t"                                                       \
    "vmovlb.s16 q6, q7\n\t"                                                            \
    "vldrw.u32 q2, [r0, #32]\n\t"                                                      \
    "vadd.i32 q0, q0, q6\n\t"                                                          \
    "vldrb.u8 q6, [r2]\n\t"                                                            \
    "vqdmlah.s32 q2, q7, r11\n\t"                                                      \
    "vldrb.u8 q7, [r12, #32]\n\t"                                                      \
    "add r1, r4\n\t"                                                                   \
    "vadd.i16 q5, q4, q5\n\t"                                                          \
    "vqdmlah.s32 q3, q5, r11\n\t"                                                      \
    "vmovlb.s16 q4, q5\n\t"                                                            \
    "vldrw.u32 q1, [r0, #16]\n\t"                                                      \
    "vadd.i32 q1, q1, q4\n\t"                                                          \
    "vldrb.u8 q5, [r1]\n\t"                                                            \
    "vmullb.s8 q4, q5, q7\n\t"                                                         \
    "add r2, r4\n\t"                                                                   \
    "vmullt.s8 q7, q5, q7\n\t"                                                         \
    "vldrb.u8 q5, [r12, #48]\n\t"                                                      \
    "vmullb.s8 q5, q6, q5\n\t"                                                         \
    "vadd.i16 q5, q4, q5\n\t"                                                          \
    "vldrb.u8 q4, [r12, #48]\n\t"                                                      \
    "vmullt.s8 q6, q6, q4\n\t"                                                         \
    "vmovlb.s16 q4, q5\n\t"                                                            \
    "vqdmlah.s32 q2, q5, r11\n\t"                                                      \
    "vadd.i16 q5, q7, q6\n\t"                                                          \
    "vldrb.u8 q7, [r12, #64]\n\t"                                                      \
    "vmovlb.s16 q6, q5\n\t"                                                            \
    "vqdmlah.s32 q3, q5, r11\n\t"                                                      \
    "vadd.i32 q0, q0, q4\n\t"                                                          \
    "vldrb.u8 q5, [r2]\n\t"                                                            \
    "vmullb.s8 q4, q5, q7\n\t"                                                         \
    "add r2, r4\n\t"                                                                   \
    "vmullt.s8 q7, q5, q7\n\t"                                                         \
    "vldrb.u8 q5, [r2]\n\t"                                                            \
    "vadd.i32 q1, q1, q6\n\t"
#define EMBER_MVE_NINE_MORE_TAPS                                                       \
    "vldrb.u8 q6, [r12, #80]\n\t"                                                      \
    "vmullb.s8 q6, q5, q6\n\t"                                                         \
    "add r1, r5\n\t"                                                                   \
    "vadd.i16 q4, q4, q6\n\t"                                                          \
    "vldrb.u8 q6, [r12, #80]\n\t"                                                      \
    "vmullt.s8 q6, q5, q6\n\t"                                                         \
    "vmovlb.s16 q5, q4\n\t"                                                            \
    "vqdmlah.s32 q2, q4, r11\n\t"                                                      \
    "vadd.i16 q4, q7, q6\n\t"                                                          \
    "vldrb.u8 q6, [r12, #112]\n\t"                                                     \
    "vmovlb.s16 q7, q4\n\t"                                                            \
    "vqdmlah.s32 q3, q4, r11\n\t"                                                      \
    "vadd.i32 q1, q1, q7\n\t"                                                          \
    "vldrb.u8 q4, [r3]\n\t"                                                            \
    "add r3, r4\n\t"                                                                   \
    "vadd.i32 q0, q0, q5\n\t"                                                          \
    "vldrb.u8 q7, [r12, #96]\n\t"                                                      \
    "vmullb.s8 q5, q4, q7\n\t"                                                         \
    "add r2, r5\n\t"                                                                   \
    "vmullt.s8 q7, q4, q7\n\t"                                                         \
    "vldrb.u8 q4, [r3]\n\t"                                                            \
    "vmullb.s8 q6, q4, q6\n\t"                                                         \
    "vadd.i16 q6, q5, q6\n\t"                                                          \
    "vldrb.u8 q5, [r12, #112]\n\t"                                                     \
    "vmullt.s8 q4, q4, q5\n\t"                                                         \
    "vldrb.u8 q5, [r9]\n\t"                                                            \
    "vadd.i16 q4, q7, q4\n\t"                                                          \
    "vqdmlah.s32 q3, q4, r11\n\t"                                                      \
    "vmovlb.s16 q7, q4\n\t"                                                            \
    "add r3, r4\n\t"                                                                   \
    "vmovlb.s16 q4, q6\n\t"                                                            \
    "vqdmlah.s32 q2, q6, r11\n\t"                                                      \
    "vadd.i32 q1, q1, q7\n\t"                                                          \
    "vldrb.u8 q6, [r3]\n\t"                                                            \
    "vmullb.s8 q7, q6, q5\n\t"                                                         \
    "add r3, r5\n\t"                                                                   \
    "vqdmlah.s32 q2, q7, r11\n\t"                                                      \
    "vadd.i32 q0, q0, q4\n\t"
#define EMBER_MVE_NINE_LAST_TAP                                                        \
    "vmullt.s8 q4, q6, q5\n\t"                                                         \
    "vmovlb.s16 q6, q7\n\t"                                                            \
    "vldrw.u32 q5, [r0, #112]\n\t"                                                     \
    "vmovlb.s16 q7, q4\n\t"                                                            \
    "vqdmlah.s32 q3, q4, r11\n\t"                                                      \
    "vadd.i32 q0, q0, q6\n\t"
// Sums are scaled, narrowed to 16 bits, moved by the zero point and narrowed again.
#define EMBER_MVE_NINE_RESULTS                                                         \
    "vldrw.u32 q4, [r0, #64]\n\t"                                                      \
    "vqrdmulh.s32 q0, q0, q4\n\t"                                                      \
    "vldrw.u32 q6, [r0, #80]\n\t"                                                      \
    "vqdmlah.s32 q0, q0, r10\n\t"                                                      \
    "vldrw.u32 q4, [r0, #128]\n\t"                                                     \
    "vrshl.s32 q0, q0, q4\n\t"                                                         \
    "vldrw.u32 q4, [r0, #96]\n\t"                                                      \
    "vqrdmulh.s32 q2, q2, q4\n\t"                                                      \
    "vqmovnb.s32 q0, q0\n\t"                                                           \
    "vqdmlah.s32 q2, q2, r10\n\t"                                                      \
    "vadd.i32 q1, q1, q7\n\t"                                                          \
    "vqrdmulh.s32 q1, q1, q6\n\t"                                                      \
    "vldrw.u32 q4, [r0, #160]\n\t"                                                     \
    "vrshl.s32 q2, q2, q4\n\t"                                                         \
    "vqdmlah.s32 q1, q1, r10\n\t"                                                      \
    "vldrw.u32 q7, [r0, #144]\n\t"                                                     \
    "vrshl.s32 q1, q1, q7\n\t"                                                         \
    "vqrdmulh.s32 q3, q3, q5\n\t"                                                      \
    "vqmovnt.s32 q0, q2\n\t"                                                           \
    "vqdmlah.s32 q3, q3, r10\n\t"                                                      \
    "vqmovnb.s32 q1, q1\n\t"                                                           \
    "vqadd.s16 q0, q0, r8\n\t"                                                         \
    "vldrw.u32 q6, [r0, #176]\n\t"                                                     \
    "vrshl.s32 q3, q3, q6\n\t"                                                         \
    "vqmovnt.s32 q1, q3\n\t"                                                           \
    "vqmovnb.s16 q0, q0\n\t"                                                           \
    "vqadd.s16 q1, q1, r8\n\t"                                                         \
    "vqmovnt.s16 q0, q1\n\t"

// Products of two taps are added as int16, which must hold them, then those of even and
// of odd channels, of the lower and of the upper half of a word: twice the word times
// 2^15 has the word's upper half in its own. The order is the fastest that was found
// for the Cortex-M55 with eight vector registers.
static inline void ember_mve_run_nine(const ember_mve_nine_t *nine) {
    register const ember_mve_nine_t *all __asm__("r0") = nine;

    __asm__ volatile("vmrs r12, p0\n\t"
                     "push {r12}\n\t"
                     "ldrd r1, r2, [r0]\n\t"
                     "ldrd r3, r4, [r0, #8]\n\t"
                     "ldrd r5, r6, [r0, #16]\n\t"
                     "ldrd r7, r8, [r0, #24]\n\t"
                     "ldrd lr, r12, [r0, #32]\n\t"
                     "vctp.8 r12\n\t"
                     "ldrd r12, r0, [r0, #40]\n\t"
                     "mov r10, #1\n\t"
                     "mov r11, #0x8000\n\t"
                     "add r9, r12, #128\n\t"
                     "dls lr, lr\n"
                     "1:\n\t" EMBER_MVE_NINE_FIRST_TAPS EMBER_MVE_NINE_MORE_TAPS //
                         EMBER_MVE_NINE_LAST_TAP EMBER_MVE_NINE_RESULTS          //
                     "vpst\n\t"
                     "vstrbt.8 q0, [r6]\n\t"
                     "add r6, r7\n\t"
                     "le lr, 1b\n\t"
                     "pop {r12}\n\t"
                     "vmsr p0, r12"
                     : "+r"(all)
                     :
                     : "r1", "r2", "r3", "r4", "r5", "r6", "r7", "r8", "r9", "r10",
                       "r11", "r12", "lr", "q0", "q1", "q2", "q3", "q4", "q5", "q6",
                       "q7", "cc", "memory");
}

#endif // EMBER_INTRINSICS_ARM_MVE_TILES_H
