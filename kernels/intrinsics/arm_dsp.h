// SPDX-License-Identifier: Apache-2.0
// The DSP instructions of Armv7E-M and Armv8-M that kernels use: ACLE's, and those that
// it has no name for. kernels/models has the same in C.
#ifndef EMBER_INTRINSICS_ARM_DSP_H
#define EMBER_INTRINSICS_ARM_DSP_H

#include <arm_acle.h>
#include <stdint.h>

// Bytes 1 and 3 of `x` as int16, and each plus one of `to`.
static inline uint32_t ember_sxtb16_odd(uint32_t x) {
    uint32_t made;
    __asm__("sxtb16 %0, %1, ror #8" : "=r"(made) : "r"(x));
    return made;
}

static inline uint32_t ember_sxtab16_odd(uint32_t to, uint32_t x) {
    uint32_t made;
    __asm__("sxtab16 %0, %1, %2, ror #8" : "=r"(made) : "r"(to), "r"(x));
    return made;
}

// The upper half of the product, halves up.
static inline int32_t ember_smmulr(int32_t a, int32_t b) {
    int32_t made;
    __asm__("smmulr %0, %1, %2" : "=r"(made) : "r"(a), "r"(b));
    return made;
}

// a + 2 b; wraps around.
static inline int32_t ember_add_twice(int32_t a, int32_t b) {
    int32_t made;
    __asm__("add %0, %1, %2, lsl #1" : "=r"(made) : "r"(a), "r"(b));
    return made;
}

// Half of `x`, rounded down, or the int8 next to it.
static inline int32_t ember_ssat8_half(int32_t x) {
    int32_t made;
    __asm__("ssat %0, #8, %1, asr #1" : "=r"(made) : "r"(x) : "cc");
    return made;
}

static inline uint32_t ember_sxtb16(uint32_t x) {
    return (uint32_t)__sxtb16(x);
}

static inline uint32_t ember_sxtab16(uint32_t to, uint32_t x) {
    return (uint32_t)__sxtab16(to, x);
}

// sum + the products of both halves, of the lower and of the upper ones.
static inline int32_t ember_smlad(uint32_t a, uint32_t b, int32_t sum) {
    int32_t made;
    __asm__("smlad %0, %1, %2, %3" : "=r"(made) : "r"(a), "r"(b), "r"(sum));
    return made;
}

static inline int32_t ember_smlabb(uint32_t a, uint32_t b, int32_t sum) {
    int32_t made;
    __asm__("smlabb %0, %1, %2, %3" : "=r"(made) : "r"(a), "r"(b), "r"(sum));
    return made;
}

static inline int32_t ember_smlatt(uint32_t a, uint32_t b, int32_t sum) {
    int32_t made;
    __asm__("smlatt %0, %1, %2, %3" : "=r"(made) : "r"(a), "r"(b), "r"(sum));
    return made;
}

// The product of the lower, and of the upper halves.
static inline int32_t ember_smulbb(uint32_t a, uint32_t b) {
    int32_t made;
    __asm__("smulbb %0, %1, %2" : "=r"(made) : "r"(a), "r"(b));
    return made;
}

static inline int32_t ember_smultt(uint32_t a, uint32_t b) {
    int32_t made;
    __asm__("smultt %0, %1, %2" : "=r"(made) : "r"(a), "r"(b));
    return made;
}

// The four bytes at `*at`, which moves behind them.
static inline uint32_t ember_ldr_next(const int8_t **at) {
    typedef struct {
        int8_t of[4];
    } bytes_t;
    uint32_t word;
    const int8_t *from = *at;
    __asm__("ldr %0, [%1], #4"
            : "=r"(word), "+r"(from)
            : "m"(*(const bytes_t *)(const void *)*at));
    *at = from;
    return word;
}

// Adds the products of four bytes and the halves of two words: those of bytes 0 and 2
// with `even`, of 1 and 3 with `odd`. In one piece: compilers that arrange the pieces
// anew run out of registers.
static inline int32_t ember_add_four(int32_t sum, uint32_t bytes, uint32_t even,
                                     uint32_t odd) {
    uint32_t wide;
    __asm__("sxtb16 %1, %2\n\t"
            "smlad %0, %1, %3, %0\n\t"
            "sxtb16 %1, %2, ror #8\n\t"
            "smlad %0, %1, %4, %0"
            : "+r"(sum), "=&r"(wide)
            : "r"(bytes), "r"(even), "r"(odd));
    return sum;
}

// The eight bytes at `*at`, a multiple of four, which moves behind them.
static inline void ember_ldrd_next(const int8_t **at, uint32_t words[2]) {
    typedef struct {
        int8_t of[8];
    } bytes_t;
    const int8_t *from = *at;
    __asm__("ldrd %0, %1, [%2], #8"
            : "=&r"(words[0]), "=&r"(words[1]), "+r"(from)
            : "m"(*(const bytes_t *)(const void *)*at));
    *at = from;
}

// Four words, at once; returns the address behind them. The registers that the
// instruction names in ascending order are chosen here.
static inline const uint32_t *ember_ldm4(const uint32_t *at, uint32_t words[4]) {
    typedef struct {
        uint32_t of[4];
    } words_t;
    register uint32_t a __asm__("r4");
    register uint32_t b __asm__("r5");
    register uint32_t c __asm__("r6");
    register uint32_t d __asm__("r8");
    __asm__("ldmia %0!, {%1, %2, %3, %4}"
            : "+r"(at), "=r"(a), "=r"(b), "=r"(c), "=r"(d)
            : "m"(*(const words_t *)at));
    words[0] = a;
    words[1] = b;
    words[2] = c;
    words[3] = d;
    return at;
}

// Sums of `pairs` pairs of filters with three columns: sums[filter, column] are the
// products of `blocks` blocks of four weights, filters `pitch` bytes apart. Columns are
// words as in ember_add_four(), (block, even or odd, column). Neither count is 0.
//
// In one piece, since the inner loop takes all registers: the weights of the second
// filter are read twice, and what changes with a pair lies on the stack. Four blocks in
// a row; the first time, those that `blocks` lacks to a multiple of four are skipped.
static inline void ember_tiles_2x3(int32_t *sums, int32_t pairs, const int8_t *w,
                                   int32_t pitch, const uint32_t *x, int32_t blocks) {
    register const int8_t *r0 __asm__("r0") = w;
    register const uint32_t *r1 __asm__("r1") = x;
    register int32_t r2 __asm__("r2") = pitch;
    register int32_t r3 __asm__("r3") = blocks;
    register int32_t *r12 __asm__("r12") = sums;
    register int32_t r14 __asm__("r14") = pairs;

    __asm__ volatile("push {r4-r11}\n\t"
                     "add r4, r3, r3, lsl #1\n\t"
                     "add r4, r1, r4, lsl #3\n\t" // end of the columns
                     "mov r5, r1\n\t"
                     "mov r6, r12\n\t"
                     "add r14, r14, r14, lsl #1\n\t"
                     "add r7, r12, r14, lsl #3\n\t" // end of the sums
                     "lsl r8, r2, #1\n\t"
                     "sub r8, r8, r3, lsl #2\n\t" // from the end of a pair to the next
                     "rsb r9, r3, #0\n\t"         // blocks to skip
                     "push {r4-r9}\n\t"
                     "sub r2, #4\n\t"
                     "1:\n\t"
                     "ldr r12, [sp, #20]\n\t"
                     "mov r7, #0\n\t"
                     "mov r8, #0\n\t"
                     "mov r9, #0\n\t"
                     "mov r10, #0\n\t"
                     "mov r11, #0\n\t"
                     "mov r14, #0\n\t"
                     "lsls r12, r12, #31\n\t"
                     "bhi 13f\n\t"
                     "bcs 12f\n\t"
                     "bne 11f\n\t"
                     "10:\n\t"
                     ".irp block, 11, 12, 13, 14\n\t"
                     "ldr.w r3, [r0], #4\n\t"
                     "ldr.w r12, [r0, r2]\n\t"
                     "ldmia.w r1!, {r4, r5, r6}\n\t"
                     "sxtb16 r12, r12\n\t"
                     "smlad r10, r12, r4, r10\n\t"
                     "smlad r11, r12, r5, r11\n\t"
                     "smlad r14, r12, r6, r14\n\t"
                     "sxtb16 r12, r3\n\t"
                     "smlad r7, r12, r4, r7\n\t"
                     "smlad r8, r12, r5, r8\n\t"
                     "smlad r9, r12, r6, r9\n\t"
                     "ldmia.w r1!, {r4, r5, r6}\n\t"
                     "sxtb16 r3, r3, ror #8\n\t"
                     "smlad r7, r3, r4, r7\n\t"
                     "smlad r8, r3, r5, r8\n\t"
                     "smlad r9, r3, r6, r9\n\t"
                     "ldr.w r12, [r0, r2]\n\t"
                     "sxtb16 r12, r12, ror #8\n\t"
                     "smlad r10, r12, r4, r10\n\t"
                     "smlad r11, r12, r5, r11\n\t"
                     "smlad r14, r12, r6, r14\n\t"
                     "\\block:\n\t"
                     ".endr\n\t"
                     "ldr r12, [sp]\n\t"
                     "cmp r1, r12\n\t"
                     "bne 10b\n\t"
                     "ldr r3, [sp, #8]\n\t"
                     "ldr r1, [sp, #4]\n\t"
                     "ldr r6, [sp, #12]\n\t"
                     "ldr r4, [sp, #16]\n\t"
                     "stmia r3!, {r7-r11, r14}\n\t"
                     "str r3, [sp, #8]\n\t"
                     "add r0, r4\n\t"
                     "cmp r3, r6\n\t"
                     "bne 1b\n\t"
                     "add sp, #24\n\t"
                     "pop {r4-r11}"
                     : "+r"(r0), "+r"(r1), "+r"(r2), "+r"(r3), "+r"(r12), "+r"(r14)
                     :
                     : "cc", "memory");
}

// Sums of 3 x 3 taps for 2 * `steps` > 0 neighbouring outputs. Lines of elements are
// words of two of them; of each line of taps, `weights` has 0 and 1, then 1 and 2.
static inline void ember_line_1_dsp(int32_t *sums, const uint32_t *x,
                                    const uint32_t *second, const uint32_t *third,
                                    const uint32_t *weights, int32_t steps) {
    register const uint32_t *r0 __asm__("r0") = x;
    register const uint32_t *r1 __asm__("r1") = second;
    register const uint32_t *r2 __asm__("r2") = third;
    register int32_t *r3 __asm__("r3") = sums;
    register const uint32_t *r12 __asm__("r12") = weights;
    register int32_t r14 __asm__("r14") = steps;

    __asm__ volatile("push {r4-r11}\n\t"
                     "add r14, r3, r14, lsl #3\n\t"
                     "push {r14}\n\t"
                     "ldmia r12, {r4-r9}\n\t"
                     "1:\n\t"
                     "ldrd r10, r11, [r0], #4\n\t"
                     "smuad r12, r10, r4\n\t"
                     "smlabt r12, r11, r5, r12\n\t"
                     "smultb r14, r10, r4\n\t"
                     "smlad r14, r11, r5, r14\n\t"
                     "ldrd r10, r11, [r1], #4\n\t"
                     "smlad r12, r10, r6, r12\n\t"
                     "smlabt r12, r11, r7, r12\n\t"
                     "smlatb r14, r10, r6, r14\n\t"
                     "smlad r14, r11, r7, r14\n\t"
                     "ldrd r10, r11, [r2], #4\n\t"
                     "smlad r12, r10, r8, r12\n\t"
                     "smlabt r12, r11, r9, r12\n\t"
                     "smlatb r14, r10, r8, r14\n\t"
                     "smlad r14, r11, r9, r14\n\t"
                     "str r12, [r3], #4\n\t"
                     "str r14, [r3], #4\n\t"
                     "ldr r10, [sp]\n\t"
                     "cmp r3, r10\n\t"
                     "bne 1b\n\t"
                     "add sp, #4\n\t"
                     "pop {r4-r11}"
                     : "+r"(r0), "+r"(r1), "+r"(r2), "+r"(r3), "+r"(r12), "+r"(r14)
                     :
                     : "cc", "memory");
}

// The same for `steps` outputs that lie two elements apart.
static inline void ember_line_2_dsp(int32_t *sums, const uint32_t *x,
                                    const uint32_t *second, const uint32_t *third,
                                    const uint32_t *weights, int32_t steps) {
    register const uint32_t *r0 __asm__("r0") = x;
    register const uint32_t *r1 __asm__("r1") = second;
    register const uint32_t *r2 __asm__("r2") = third;
    register int32_t *r3 __asm__("r3") = sums;
    register const uint32_t *r12 __asm__("r12") = weights;
    register int32_t r14 __asm__("r14") = steps;

    __asm__ volatile("push {r4-r11}\n\t"
                     "add r14, r3, r14, lsl #2\n\t"
                     "push {r14}\n\t"
                     "ldmia r12, {r4-r9}\n\t"
                     "1:\n\t"
                     "ldrd r10, r11, [r0], #4\n\t"
                     "smuad r12, r10, r4\n\t"
                     "smlabt r12, r11, r5, r12\n\t"
                     "ldrd r10, r11, [r1], #4\n\t"
                     "smlad r12, r10, r6, r12\n\t"
                     "smlabt r12, r11, r7, r12\n\t"
                     "ldrd r10, r11, [r2], #4\n\t"
                     "smlad r12, r10, r8, r12\n\t"
                     "smlabt r12, r11, r9, r12\n\t"
                     "str r12, [r3], #4\n\t"
                     "ldr r10, [sp]\n\t"
                     "cmp r3, r10\n\t"
                     "bne 1b\n\t"
                     "add sp, #4\n\t"
                     "pop {r4-r11}"
                     : "+r"(r0), "+r"(r1), "+r"(r2), "+r"(r3), "+r"(r12), "+r"(r14)
                     :
                     : "cc", "memory");
}

// Sums of `fours` groups of four rows of weights, `pitch` bytes apart, with one column
// of words, (block, even or odd). In one piece, with blocks skipped, as above.
static inline void ember_tiles_4x1(int32_t *sums, int32_t fours, const int8_t *w,
                                   int32_t pitch, const uint32_t *x, int32_t blocks) {
    register const int8_t *r0 __asm__("r0") = w;
    register int32_t r1 __asm__("r1") = pitch;
    register int32_t r2 __asm__("r2") = blocks; // later 3 * pitch - 4
    register const uint32_t *r3 __asm__("r3") = x;
    register int32_t *r12 __asm__("r12") = sums;
    register int32_t r14 __asm__("r14") = fours;

    __asm__ volatile("push {r4-r11}\n\t"
                     "add r4, r3, r2, lsl #3\n\t"
                     "mov r5, r3\n\t"
                     "mov r6, r12\n\t"
                     "add r7, r12, r14, lsl #4\n\t"
                     "lsl r8, r1, #2\n\t"
                     "sub r8, r8, r2, lsl #2\n\t"
                     "rsb r9, r2, #0\n\t"
                     "push {r4-r9}\n\t"
                     "add r2, r1, r1, lsl #1\n\t"
                     "sub r2, #4\n\t"
                     "1:\n\t"
                     "ldr r12, [sp, #20]\n\t"
                     "mov r4, #0\n\t"
                     "mov r5, #0\n\t"
                     "mov r6, #0\n\t"
                     "mov r7, #0\n\t"
                     "lsls r12, r12, #31\n\t"
                     "bhi 13f\n\t"
                     "bcs 12f\n\t"
                     "bne 11f\n\t"
                     "10:\n\t"
                     ".irp block, 11, 12, 13, 14\n\t"
                     "ldr.w r9, [r3, #4]\n\t"
                     "ldr.w r8, [r3], #8\n\t"
                     "ldr.w r11, [r0, r1]\n\t"
                     "ldr.w r12, [r0, r1, lsl #1]\n\t"
                     "ldr.w r10, [r0], #4\n\t"
                     "sxtb16 r14, r10\n\t"
                     "smlad r4, r14, r8, r4\n\t"
                     "sxtb16 r10, r10, ror #8\n\t"
                     "smlad r4, r10, r9, r4\n\t"
                     "sxtb16 r14, r11\n\t"
                     "smlad r5, r14, r8, r5\n\t"
                     "sxtb16 r11, r11, ror #8\n\t"
                     "smlad r5, r11, r9, r5\n\t"
                     "ldr.w r10, [r0, r2]\n\t"
                     "sxtb16 r14, r12\n\t"
                     "smlad r6, r14, r8, r6\n\t"
                     "sxtb16 r12, r12, ror #8\n\t"
                     "smlad r6, r12, r9, r6\n\t"
                     "sxtb16 r14, r10\n\t"
                     "smlad r7, r14, r8, r7\n\t"
                     "sxtb16 r10, r10, ror #8\n\t"
                     "smlad r7, r10, r9, r7\n\t"
                     "\\block:\n\t"
                     ".endr\n\t"
                     "ldr r12, [sp]\n\t"
                     "cmp r3, r12\n\t"
                     "bne 10b\n\t"
                     "ldr r14, [sp, #8]\n\t"
                     "ldr r3, [sp, #4]\n\t"
                     "ldr r8, [sp, #16]\n\t"
                     "ldr r10, [sp, #12]\n\t"
                     "stmia r14!, {r4-r7}\n\t"
                     "str r14, [sp, #8]\n\t"
                     "add r0, r8\n\t"
                     "cmp r14, r10\n\t"
                     "bne 1b\n\t"
                     "add sp, #24\n\t"
                     "pop {r4-r11}"
                     : "+r"(r0), "+r"(r1), "+r"(r2), "+r"(r3), "+r"(r12), "+r"(r14)
                     :
                     : "cc", "memory");
}

#endif // EMBER_INTRINSICS_ARM_DSP_H
