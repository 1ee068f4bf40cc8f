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

// How the sums of a filter become outputs: twice the product with half of `multiplier`,
// which has 32 bits, is shifted. Of 2^31 and more the table has 2^32 less.
typedef struct ember_filter_dsp {
    int32_t bias;
    int32_t multiplier;
    int32_t shift; // to the right, but the last bit
} ember_filter_dsp_t;

// Products of filters with three columns of words.
typedef struct ember_tiles_dsp {
    const int8_t *w;   // of the first filter
    const uint32_t *x; // (block, even or odd, column), as ember_add_four() has
    int32_t pitch;     // bytes from filter to filter
    int32_t blocks;    // of four weights; > 0
    const ember_filter_dsp_t *by; // of the first filter
    int32_t pairs;                // of filters; > 0
    int8_t *y[3];                 // the outputs of each column
    int32_t offset;               // twice the zero point, and 1
} ember_tiles_dsp_t;

// In one piece, since the inner loop takes all registers: the weights of the first
// filter are read twice, and what changes with a pair lies on the stack. Four blocks in
// a row; the first time, those that `blocks` lacks to a multiple of four are skipped.
// Loads stand side by side: a Cortex-M4 takes two cycles for the first and one for each
// behind it, but one more than their number for those of LDM.
static inline void ember_tiles_dsp(const ember_tiles_dsp_t *tiles) {
    register const ember_tiles_dsp_t *r0 __asm__("r0") = tiles;

    __asm__ volatile(
        "push {r4-r11}\n\t"
        "ldmia r0, {r0-r9}\n\t"
        "add r10, r3, r3, lsl #1\n\t"
        "add r10, r1, r10, lsl #3\n\t" // end of the columns
        "add r5, r5, r5, lsl #1\n\t"
        "add r5, r4, r5, lsl #3\n\t" // end of the filters
        "lsl r11, r2, #1\n\t"
        "sub r11, r11, r3, lsl #2\n\t" // from the end of a pair to the next
        "rsb r12, r3, #0\n\t"          // blocks to skip
        "push {r1, r4-r12}\n\t"
        "mov r3, r4\n\t"
        "1:\n\t"
        "ldr r7, [r3]\n\t"
        "ldr r10, [r3, #12]\n\t"
        "ldr r12, [sp, #36]\n\t"
        "mov r8, r7\n\t"
        "mov r9, r7\n\t"
        "mov r11, r10\n\t"
        "mov r14, r10\n\t"
        "lsls r12, r12, #31\n\t"
        "bhi 13f\n\t"
        "bcs 12f\n\t"
        "bne 11f\n\t"
        "10:\n\t"
        ".irp block, 11, 12, 13, 14\n\t"
        "ldr.w r3, [r0, r2]\n\t"
        "ldr.w r12, [r0]\n\t"
        "ldr.w r5, [r1, #4]\n\t"
        "ldr.w r6, [r1, #8]\n\t"
        "ldr.w r4, [r1], #12\n\t"
        "sxtb16 r12, r12\n\t"
        "smlad r7, r12, r4, r7\n\t"
        "smlad r8, r12, r5, r8\n\t"
        "smlad r9, r12, r6, r9\n\t"
        "sxtb16 r12, r3\n\t"
        "smlad r10, r12, r4, r10\n\t"
        "smlad r11, r12, r5, r11\n\t"
        "smlad r14, r12, r6, r14\n\t"
        "ldr.w r12, [r0], #4\n\t"
        "ldr.w r5, [r1, #4]\n\t"
        "ldr.w r6, [r1, #8]\n\t"
        "ldr.w r4, [r1], #12\n\t"
        "sxtb16 r12, r12, ror #8\n\t"
        "smlad r7, r12, r4, r7\n\t"
        "smlad r8, r12, r5, r8\n\t"
        "smlad r9, r12, r6, r9\n\t"
        "sxtb16 r3, r3, ror #8\n\t"
        "smlad r10, r3, r4, r10\n\t"
        "smlad r11, r3, r5, r11\n\t"
        "smlad r14, r3, r6, r14\n\t"
        "\\block:\n\t"
        ".endr\n\t"
        "ldr r12, [sp, #28]\n\t"
        "cmp r1, r12\n\t"
        "bne 10b\n\t"
        "ldr r3, [sp, #4]\n\t"
        "ldr r12, [sp, #24]\n\t"
        "ldr r4, [r3, #4]\n\t"
        "ldr r5, [r3, #8]\n\t"
        ".irp sum, r7, r8, r9\n\t"
        "smmlar \\sum, \\sum, r4, \\sum\n\t"
        "add \\sum, \\sum, \\sum, asr #31\n\t"
        "asr \\sum, \\sum, r5\n\t"
        "add \\sum, \\sum, r12\n\t"
        "ssat \\sum, #8, \\sum, asr #1\n\t"
        ".endr\n\t"
        "ldr r4, [r3, #16]\n\t"
        "ldr r5, [r3, #20]\n\t"
        "add r3, #24\n\t"
        ".irp sum, r10, r11, r14\n\t"
        "smmlar \\sum, \\sum, r4, \\sum\n\t"
        "add \\sum, \\sum, \\sum, asr #31\n\t"
        "asr \\sum, \\sum, r5\n\t"
        "add \\sum, \\sum, r12\n\t"
        "ssat \\sum, #8, \\sum, asr #1\n\t"
        ".endr\n\t"
        "ldr r4, [sp, #12]\n\t"
        "ldr r5, [sp, #16]\n\t"
        "ldr r6, [sp, #20]\n\t"
        "ldr r12, [sp, #32]\n\t"
        "ldr r1, [sp]\n\t"
        "bfi r7, r10, #8, #8\n\t"
        "bfi r8, r11, #8, #8\n\t"
        "bfi r9, r14, #8, #8\n\t"
        "strh r7, [r4], #2\n\t"
        "strh r8, [r5], #2\n\t"
        "strh r9, [r6], #2\n\t"
        "ldr r7, [sp, #8]\n\t"
        "str r4, [sp, #12]\n\t"
        "str r5, [sp, #16]\n\t"
        "str r6, [sp, #20]\n\t"
        "str r3, [sp, #4]\n\t"
        "add r0, r12\n\t"
        "cmp r3, r7\n\t"
        "bne 1b\n\t"
        "add sp, #40\n\t"
        "pop {r4-r11}"
        : "+r"(r0)
        :
        : "r1", "r2", "r3", "r12", "lr", "cc", "memory");
}

// Words of three columns from `fours` > 0 groups of four elements of each, `offset`
// added; returns the end of the words.
static inline uint32_t *ember_widen_three(uint32_t *to, const int8_t *a,
                                          const int8_t *b, const int8_t *c,
                                          int32_t fours, uint32_t offset) {
    register uint32_t *r0 __asm__("r0") = to;
    register const int8_t *r1 __asm__("r1") = a;
    register const int8_t *r2 __asm__("r2") = b;
    register const int8_t *r3 __asm__("r3") = c;
    register uint32_t r12 __asm__("r12") = offset;
    register int32_t r14 __asm__("r14") = fours + 1;

    __asm__ volatile("push {r4-r9}\n\t"
                     "lsrs r14, r14, #1\n\t" // rounds of two; an odd one is skipped
                     "bcc 11f\n\t"
                     "10:\n\t"
                     ".irp four, 11, 12\n\t"
                     "ldr r4, [r1], #4\n\t"
                     "ldr r5, [r2], #4\n\t"
                     "ldr r6, [r3], #4\n\t"
                     "sxtab16 r7, r12, r4\n\t"
                     "sxtab16 r8, r12, r5\n\t"
                     "sxtab16 r9, r12, r6\n\t"
                     "sxtab16 r4, r12, r4, ror #8\n\t"
                     "sxtab16 r5, r12, r5, ror #8\n\t"
                     "sxtab16 r6, r12, r6, ror #8\n\t"
                     "str r8, [r0, #4]\n\t"
                     "str r9, [r0, #8]\n\t"
                     "str r4, [r0, #12]\n\t"
                     "str r5, [r0, #16]\n\t"
                     "str r6, [r0, #20]\n\t"
                     "str r7, [r0], #24\n\t"
                     "\\four:\n\t"
                     ".endr\n\t"
                     "subs r14, #1\n\t"
                     "bne 10b\n\t"
                     "pop {r4-r9}"
                     : "+r"(r0), "+r"(r1), "+r"(r2), "+r"(r3), "+r"(r14)
                     : "r"(r12)
                     : "cc", "memory");
    return r0;
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
