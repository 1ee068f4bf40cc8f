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

// One block of four weights. Loads stand side by side for a Cortex-M4: it takes two
// cycles for the first and one for each behind it, but one more than their number for
// those of LDM. A Cortex-M7, the one core of Armv7E-M with double precision, issues a
// load and a product at once.
#if __ARM_ARCH == 7 && defined(__ARM_FP) && (__ARM_FP & 8) != 0
#define EMBER_TILES_BLOCK_DSP                                                          \
    "ldr r12, [r0, #(\\block - 14) * 4]\n\t"                                           \
    "ldr r5, [r1, #(\\block - 14) * 24 - 16]\n\t"                                      \
    "sxtb16 r12, r12\n\t"                                                              \
    "ldr r4, [r1, #(\\block - 14) * 24 - 20]\n\t"                                      \
    ".if \\block == 14\n\t"                                                            \
    "ldr r3, [r2], #16\n\t"                                                            \
    ".else\n\t"                                                                        \
    "ldr r3, [r2, #(\\block - 14) * 4]\n\t"                                            \
    ".endif\n\t"                                                                       \
    "smlad r8, r12, r5, r8\n\t"                                                        \
    "ldr r6, [r1, #(\\block - 14) * 24 - 12]\n\t"                                      \
    "smlad r7, r12, r4, r7\n\t"                                                        \
    "smlad r9, r12, r6, r9\n\t"                                                        \
    "sxtb16 r12, r3\n\t"                                                               \
    "sxtb16 r3, r3, ror #8\n\t"                                                        \
    "smlad r10, r12, r4, r10\n\t"                                                      \
    "ldr r4, [r1, #(\\block - 14) * 24 - 8]\n\t"                                       \
    "smlad r11, r12, r5, r11\n\t"                                                      \
    "ldr r5, [r1, #(\\block - 14) * 24 - 4]\n\t"                                       \
    "smlad r14, r12, r6, r14\n\t"                                                      \
    ".if \\block == 14\n\t"                                                            \
    "ldr r6, [r1], #96\n\t"                                                            \
    ".else\n\t"                                                                        \
    "ldr r6, [r1, #(\\block - 14) * 24]\n\t"                                           \
    ".endif\n\t"                                                                       \
    "smlad r11, r3, r5, r11\n\t"                                                       \
    ".if \\block == 14\n\t"                                                            \
    "ldr r12, [r0], #16\n\t"                                                           \
    ".else\n\t"                                                                        \
    "ldr r12, [r0, #(\\block - 14) * 4]\n\t"                                           \
    ".endif\n\t"                                                                       \
    "smlad r10, r3, r4, r10\n\t"                                                       \
    "sxtb16 r12, r12, ror #8\n\t"                                                      \
    "smlad r14, r3, r6, r14\n\t"                                                       \
    "smlad r7, r12, r4, r7\n\t"                                                        \
    "smlad r8, r12, r5, r8\n\t"                                                        \
    "smlad r9, r12, r6, r9\n\t"
#else
#define EMBER_TILES_BLOCK_DSP                                                          \
    ".if \\block == 14\n\t"                                                            \
    "ldr r3, [r2], #16\n\t"                                                            \
    ".else\n\t"                                                                        \
    "ldr r3, [r2, #(\\block - 14) * 4]\n\t"                                            \
    ".endif\n\t"                                                                       \
    "ldr r12, [r0, #(\\block - 14) * 4]\n\t"                                           \
    "ldr r4, [r1, #(\\block - 14) * 24 - 20]\n\t"                                      \
    "ldr r5, [r1, #(\\block - 14) * 24 - 16]\n\t"                                      \
    "ldr r6, [r1, #(\\block - 14) * 24 - 12]\n\t"                                      \
    "sxtb16 r12, r12\n\t"                                                              \
    "smlad r7, r12, r4, r7\n\t"                                                        \
    "smlad r8, r12, r5, r8\n\t"                                                        \
    "smlad r9, r12, r6, r9\n\t"                                                        \
    "sxtb16 r12, r3\n\t"                                                               \
    "sxtb16 r3, r3, ror #8\n\t"                                                        \
    "smlad r10, r12, r4, r10\n\t"                                                      \
    "smlad r11, r12, r5, r11\n\t"                                                      \
    "smlad r14, r12, r6, r14\n\t"                                                      \
    "ldr r4, [r1, #(\\block - 14) * 24 - 8]\n\t"                                       \
    "ldr r5, [r1, #(\\block - 14) * 24 - 4]\n\t"                                       \
    ".if \\block == 14\n\t"                                                            \
    "ldr r12, [r0], #16\n\t"                                                           \
    ".else\n\t"                                                                        \
    "ldr r12, [r0, #(\\block - 14) * 4]\n\t"                                           \
    ".endif\n\t"                                                                       \
    ".if \\block == 14\n\t"                                                            \
    "ldr r6, [r1], #96\n\t"                                                            \
    ".else\n\t"                                                                        \
    "ldr r6, [r1, #(\\block - 14) * 24]\n\t"                                           \
    ".endif\n\t"                                                                       \
    "sxtb16 r12, r12, ror #8\n\t"                                                      \
    "smlad r10, r3, r4, r10\n\t"                                                       \
    "smlad r11, r3, r5, r11\n\t"                                                       \
    "smlad r14, r3, r6, r14\n\t"                                                       \
    "smlad r7, r12, r4, r7\n\t"                                                        \
    "smlad r8, r12, r5, r8\n\t"                                                        \
    "smlad r9, r12, r6, r9\n\t"
#endif

// In one piece, since the inner loop takes all registers: the weights of the first
// filter are read twice, and what changes with a pair lies on the stack. Four blocks in
// a row; the first time, those that `blocks` lacks to a multiple of four are skipped,
// so pointers begin before what they point to. Loads stand side by side: a Cortex-M4
// takes two cycles for the first and one for each behind it, but one more than their
// number for those of LDM; a Cortex-M7 takes two at once where none moves its pointer.
static inline void ember_tiles_dsp(const ember_tiles_dsp_t *tiles) {
    register const ember_tiles_dsp_t *r0 __asm__("r0") = tiles;

    __asm__ volatile(
        "push {r4-r11}\n\t"
        "ldmia r0, {r0-r9}\n\t"
        "add r5, r5, r5, lsl #1\n\t"
        "add r5, r4, r5, lsl #3\n\t" // end of the filters
        "rsb r12, r3, #0\n\t"
        "and r14, r12, #3\n\t" // blocks to skip
        "add r3, r14\n\t"      // blocks of all rounds
        "add r10, r3, r3, lsl #1\n\t"
        "add r11, r14, r14, lsl #1\n\t"
        "add r1, #92\n\t"
        "sub r1, r1, r11, lsl #3\n\t"
        "add r10, r1, r10, lsl #3\n\t" // end of the columns
        "add r0, #12\n\t"
        "sub r0, r0, r14, lsl #2\n\t"
        "lsl r11, r2, #1\n\t"
        "sub r11, r11, r3, lsl #2\n\t" // from the end of a pair to the next
        "add r2, r0\n\t"
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
        ".irp block, 11, 12, 13, 14\n\t" //
        EMBER_TILES_BLOCK_DSP            //
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
        ".endr\n\t"
        ".irp sum, r7, r8, r9\n\t"
        "add \\sum, \\sum, \\sum, asr #31\n\t"
        ".endr\n\t"
        ".irp sum, r7, r8, r9\n\t"
        "asr \\sum, \\sum, r5\n\t"
        "add \\sum, \\sum, r12\n\t"
        ".endr\n\t"
        "ldr r4, [r3, #16]\n\t"
        "ldr r5, [r3, #20]\n\t"
        "add r3, #24\n\t"
        ".irp sum, r10, r11, r14\n\t"
        "smmlar \\sum, \\sum, r4, \\sum\n\t"
        ".endr\n\t"
        ".irp sum, r10, r11, r14\n\t"
        "add \\sum, \\sum, \\sum, asr #31\n\t"
        ".endr\n\t"
        ".irp sum, r10, r11, r14\n\t"
        "asr \\sum, \\sum, r5\n\t"
        "add \\sum, \\sum, r12\n\t"
        ".endr\n\t"
        ".irp sum, r7, r10, r8, r11, r9, r14\n\t"
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
        "add r2, r12\n\t"
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

// Copies `rows` > 0 runs of `length` >= 4 bytes, which lie `pitch` bytes apart, side by
// side: eight bytes at once, then four, then the last four, maybe a second time.
static inline void ember_copy_runs_dsp(int8_t *to, const int8_t *from, int32_t length,
                                       int32_t pitch, int32_t rows) {
    register int8_t *r0 __asm__("r0") = to;
    register const int8_t *r1 __asm__("r1") = from;
    register int32_t r2 __asm__("r2") = length - 8;
    register int32_t r3 __asm__("r3") = pitch - (length - 8);
    register int32_t r12 __asm__("r12") = rows;

    __asm__ volatile("push {r4-r6}\n\t"
                     "1:\n\t"
                     "add r4, r1, r2\n\t"
                     "cmp r1, r4\n\t"
                     "bhi 3f\n\t"
                     "2:\n\t"
                     "ldr r5, [r1]\n\t"
                     "ldr r6, [r1, #4]\n\t"
                     "add r1, #8\n\t"
                     "str r5, [r0], #4\n\t"
                     "str r6, [r0], #4\n\t"
                     "cmp r1, r4\n\t"
                     "bls 2b\n\t"
                     "3:\n\t"
                     "sub r6, r4, r1\n\t" // what is left, less eight
                     "cmn r6, #4\n\t"
                     "itt gt\n\t"
                     "ldrgt r5, [r1]\n\t"
                     "strgt r5, [r0]\n\t"
                     "ldr r5, [r4, #4]\n\t"
                     "add r0, r6\n\t"
                     "str r5, [r0, #4]\n\t"
                     "add r0, #8\n\t"
                     "add r1, r4, r3\n\t"
                     "subs r12, #1\n\t"
                     "bne 1b\n\t"
                     "pop {r4-r6}"
                     : "+r"(r0), "+r"(r1), "+r"(r12)
                     : "r"(r2), "r"(r3)
                     : "cc", "memory");
}

// Words of four channels: of each, what lies in `x` and `step` bytes behind it, then
// what lies two steps on. Words of a channel are three apart, channels `pitch` bytes.
static inline void ember_lines_widen_dsp(uint32_t *to, int32_t pitch, const int8_t *x,
                                         int32_t step, int32_t count, uint32_t offset) {
    register uint32_t *r0 __asm__("r0") = to;
    register int32_t r1 __asm__("r1") = pitch;
    register const int8_t *r2 __asm__("r2") = x;
    register int32_t r3 __asm__("r3") = step;
    register int32_t r12 __asm__("r12") = count;
    register uint32_t r14 __asm__("r14") = offset;

    __asm__ volatile("push {r4-r11}\n\t"
                     "add r4, r0, r1\n\t"
                     "add r5, r4, r1\n\t"
                     "add r6, r5, r1\n\t"
                     "1:\n\t"
                     "ldr r7, [r2]\n\t"
                     "ldr r8, [r2, r3]\n\t"
                     "add r2, r2, r3, lsl #1\n\t"
                     "sxtab16 r9, r14, r7\n\t"
                     "sxtab16 r10, r14, r8\n\t"
                     "sxtab16 r7, r14, r7, ror #8\n\t"
                     "sxtab16 r8, r14, r8, ror #8\n\t"
                     "pkhbt r11, r9, r10, lsl #16\n\t"
                     "pkhtb r10, r10, r9, asr #16\n\t"
                     "pkhbt r9, r7, r8, lsl #16\n\t"
                     "pkhtb r8, r8, r7, asr #16\n\t"
                     "str r11, [r0], #12\n\t"
                     "str r9, [r4], #12\n\t"
                     "str r10, [r5], #12\n\t"
                     "str r8, [r6], #12\n\t"
                     "subs r12, #1\n\t"
                     "bne 1b\n\t"
                     "pop {r4-r11}"
                     : "+r"(r0), "+r"(r2), "+r"(r12)
                     : "r"(r1), "r"(r3), "r"(r14)
                     : "cc", "memory");
}

// A row of outputs of four channels with 3 x 3 taps. Words have two elements of a line
// that follow each other; those of three lines lie side by side.
typedef struct ember_lines_run_dsp {
    const uint32_t *x;            // (channel, word, line)
    const uint32_t *weights;      // of each line: taps 0 and 1, 1 and 2; the next
                                  // channel's are EMBER_LINES_WEIGHTS words on
    const ember_filter_dsp_t *by; // of the first channel
    int8_t *y;                    // of the first channel
    int32_t step;                 // bytes from output to output; > 0
    int32_t rounds;               // 256 times those that follow the first
    int32_t spare;                // 0: one more output follows; else `step`
    int32_t offset;               // twice the zero point, and 1
    int32_t skip;      // bytes of a channel's words behind those of its rounds
    const int8_t *end; // the first output of the channel behind the last
} ember_lines_run_dsp_t;

enum { EMBER_LINES_WEIGHTS = 10 };

// What a channel begins and ends with. What is left of the rounds and the shift share a
// register. The one output more is a round that writes its second output where the
// first goes then: its step is 0, which the spare one takes the place of behind it.
#define EMBER_LINES_BEGIN_DSP                                                          \
    "push {r4-r11}\n\t"                                                                \
    "ldmia r0, {r0-r9}\n\t"                                                            \
    "push {r0-r9}\n\t"                                                                 \
    "1:\n\t"                                                                           \
    "ldr r12, [sp, #4]\n\t"                                                            \
    "ldr r14, [sp, #8]\n\t"                                                            \
    "ldmia r12, {r4-r9}\n\t"                                                           \
    "add r12, #40\n\t"                                                                 \
    "ldmia r14!, {r1, r2, r3}\n\t"                                                     \
    "str r12, [sp, #4]\n\t"                                                            \
    "str r14, [sp, #8]\n\t"                                                            \
    "str r1, [sp]\n\t"                                                                 \
    "ldr r1, [sp, #12]\n\t"                                                            \
    "ldr r11, [sp, #20]\n\t"                                                           \
    "add r12, r1, #1\n\t"                                                              \
    "str r12, [sp, #12]\n\t"                                                           \
    "orr r3, r11\n\t"

#define EMBER_LINES_END_DSP                                                            \
    "subs r3, #256\n\t"                                                                \
    "bpl 2b\n\t"                                                                       \
    "ldr r10, [sp, #16]\n\t"                                                           \
    "ldr r11, [sp, #24]\n\t"                                                           \
    "str r10, [sp, #24]\n\t"                                                           \
    "str r11, [sp, #16]\n\t"                                                           \
    "cmp r11, #0\n\t"                                                                  \
    "beq 2b\n\t"                                                                       \
    "ldr r12, [sp, #32]\n\t"                                                           \
    "ldr r11, [sp, #36]\n\t"                                                           \
    "ldr r10, [sp, #12]\n\t"                                                           \
    "add r0, r12\n\t"                                                                  \
    "cmp r10, r11\n\t"                                                                 \
    "bne 1b\n\t"                                                                       \
    "add sp, #40\n\t"                                                                  \
    "pop {r4-r11}"

#define EMBER_LINES_SCALE_DSP(sum)                                                     \
    "smmlar " sum ", " sum ", r2, " sum "\n\t"                                         \
    "add " sum ", " sum ", " sum ", asr #31\n\t"                                       \
    "asr " sum ", " sum ", r3\n\t"                                                     \
    "add " sum ", r10\n\t"                                                             \
    "ssat " sum ", #8, " sum ", asr #1\n\t"

// Rounds of two neighbouring outputs.
static inline void ember_lines_1_dsp(const ember_lines_run_dsp_t *run) {
    register const ember_lines_run_dsp_t *r0 __asm__("r0") = run;

    __asm__ volatile(EMBER_LINES_BEGIN_DSP "2:\n\t"
                                           "ldr r14, [sp]\n\t"
                                           "ldr r10, [r0, #4]\n\t"
                                           "ldr r11, [r0, #16]\n\t"
                                           "smlad r12, r10, r6, r14\n\t"
                                           "smlatb r14, r10, r6, r14\n\t"
                                           "smlabt r12, r11, r7, r12\n\t"
                                           "smlad r14, r11, r7, r14\n\t"
                                           "ldr r10, [r0, #8]\n\t"
                                           "ldr r11, [r0, #20]\n\t"
                                           "smlad r12, r10, r8, r12\n\t"
                                           "smlatb r14, r10, r8, r14\n\t"
                                           "smlabt r12, r11, r9, r12\n\t"
                                           "smlad r14, r11, r9, r14\n\t"
                                           "ldr r11, [r0, #12]\n\t"
                                           "ldr r10, [r0], #12\n\t"
                                           "smlabt r12, r11, r5, r12\n\t"
                                           "smlad r14, r11, r5, r14\n\t"
                                           "smlad r12, r10, r4, r12\n\t"
                                           "smlatb r14, r10, r4, r14\n\t"
                                           "ldr r10, [sp, #28]\n\t"
                                           "ldr r11, [sp, #16]\n\t" //
                     EMBER_LINES_SCALE_DSP("r12")                   //
                     EMBER_LINES_SCALE_DSP("r14")                   //
                     "strb r14, [r1, r11]\n\t"
                     "strb r12, [r1]\n\t"
                     "add r1, r1, r11, lsl #1\n\t" //
                     EMBER_LINES_END_DSP
                     : "+r"(r0)
                     :
                     : "r1", "r2", "r3", "r12", "lr", "cc", "memory");
}

// Rounds of one output, which lie two elements apart.
static inline void ember_lines_2_dsp(const ember_lines_run_dsp_t *run) {
    register const ember_lines_run_dsp_t *r0 __asm__("r0") = run;

    __asm__ volatile(EMBER_LINES_BEGIN_DSP "2:\n\t"
                                           "ldr r12, [sp]\n\t"
                                           "ldr r10, [r0, #4]\n\t"
                                           "ldr r11, [r0, #16]\n\t"
                                           "ldr r14, [r0, #8]\n\t"
                                           "smlad r12, r10, r6, r12\n\t"
                                           "smlabt r12, r11, r7, r12\n\t"
                                           "smlad r12, r14, r8, r12\n\t"
                                           "ldr r11, [r0, #20]\n\t"
                                           "ldr r10, [r0, #12]\n\t"
                                           "ldr r14, [r0], #12\n\t"
                                           "smlabt r12, r11, r9, r12\n\t"
                                           "smlabt r12, r10, r5, r12\n\t"
                                           "smlad r12, r14, r4, r12\n\t"
                                           "ldr r10, [sp, #28]\n\t"
                                           "ldr r11, [sp, #16]\n\t" //
                     EMBER_LINES_SCALE_DSP("r12")                   //
                     "strb r12, [r1]\n\t"
                     "add r1, r11\n\t" //
                     EMBER_LINES_END_DSP
                     : "+r"(r0)
                     :
                     : "r1", "r2", "r3", "r12", "lr", "cc", "memory");
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
                     "ldr r9, [r3, #4]\n\t"
                     "ldr r8, [r3], #8\n\t"
                     "ldr r11, [r0, r1]\n\t"
                     "ldr r12, [r0, r1, lsl #1]\n\t"
                     "ldr r10, [r0], #4\n\t"
                     "sxtb16 r14, r10\n\t"
                     "smlad r4, r14, r8, r4\n\t"
                     "sxtb16 r10, r10, ror #8\n\t"
                     "smlad r4, r10, r9, r4\n\t"
                     "sxtb16 r14, r11\n\t"
                     "smlad r5, r14, r8, r5\n\t"
                     "sxtb16 r11, r11, ror #8\n\t"
                     "smlad r5, r11, r9, r5\n\t"
                     "ldr r10, [r0, r2]\n\t"
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
