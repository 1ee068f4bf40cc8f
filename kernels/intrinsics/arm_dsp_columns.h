// SPDX-License-Identifier: Apache-2.0
// Converts elements of an image to the words that ember_tiles_dsp() multiplies.
// kernels/models has the same in C.
#ifndef EMBER_INTRINSICS_ARM_DSP_COLUMNS_H
#define EMBER_INTRINSICS_ARM_DSP_COLUMNS_H

#include <arm_dsp.h>

// Words of three columns from `fours` > 0 groups of four elements of each, with
// `offset` added; returns the end of the words.
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

// Copies `rows` > 0 runs of `length` >= 4 bytes, `pitch` bytes apart, one after the
// other: eight bytes at a time, then four, then the last four, maybe again. For 8 to 12
// bytes, such as three pixels of three channels, there is a single such turn.
static inline void ember_copy_runs_dsp(int8_t *to, const int8_t *from, int32_t length,
                                       int32_t pitch, int32_t rows) {
    register int8_t *r0 __asm__("r0") = to;
    register const int8_t *r1 __asm__("r1") = from;
    register int32_t r2 __asm__("r2") = length - 8;
    register int32_t r3 __asm__("r3") = pitch - (length - 8);
    register int32_t r12 __asm__("r12") = rows;

    __asm__ volatile("push {r4-r8}\n\t"
                     "cmp r2, #4\n\t"
                     "bhi 1f\n\t"
                     "add r7, r2, #4\n\t" // to the last four
                     "add r8, r2, #8\n\t"
                     "add r3, r2\n\t"
                     "5:\n\t"
                     "ldr r4, [r1]\n\t"
                     "ldr r5, [r1, #4]\n\t"
                     "ldr r6, [r1, r7]\n\t"
                     "add r1, r3\n\t"
                     "str r4, [r0]\n\t"
                     "str r5, [r0, #4]\n\t"
                     "str r6, [r0, r7]\n\t"
                     "add r0, r8\n\t"
                     "subs r12, #1\n\t"
                     "bne 5b\n\t"
                     "b 6f\n\t"
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
                     "6:\n\t"
                     "pop {r4-r8}"
                     : "+r"(r0), "+r"(r1), "+r"(r3), "+r"(r12)
                     : "r"(r2)
                     : "cc", "memory");
}

// Four rows, `columns` bytes apart, become words, `rows` bytes apart: four of them for
// each of `count` > 0. Halves change places, then bytes; carries of a mask say which
// bytes `sel` takes from its first operand.
static inline void ember_turn_fours_dsp(int8_t *to, const int8_t *from, int32_t rows,
                                        int32_t columns, int32_t count) {
    register int8_t *r0 __asm__("r0") = to;
    register const int8_t *r1 __asm__("r1") = from;
    register int32_t r2 __asm__("r2") = rows;
    register int32_t r3 __asm__("r3") = columns;
    register int32_t r12 __asm__("r12") = count;
    register uint32_t r14 __asm__("r14") = 0x00ff00ff;

    __asm__ volatile("push {r4-r11}\n\t"
                     "uadd8 r11, r14, r14\n\t"
                     "add r4, r2, r2, lsl #1\n\t"
                     "add r5, r3, r3, lsl #1\n\t"
                     "1:\n\t"
                     "ldr r8, [r1, r3]\n\t"
                     "ldr r9, [r1, r3, lsl #1]\n\t"
                     "ldr r10, [r1, r5]\n\t"
                     "ldr r7, [r1], #4\n\t"
                     "pkhbt r11, r7, r9, lsl #16\n\t"
                     "pkhtb r9, r9, r7, asr #16\n\t"
                     "pkhbt r7, r8, r10, lsl #16\n\t"
                     "pkhtb r10, r10, r8, asr #16\n\t"
                     "lsl r8, r7, #8\n\t"
                     "sel r8, r11, r8\n\t"
                     "lsr r11, r11, #8\n\t"
                     "sel r11, r11, r7\n\t"
                     "lsl r7, r10, #8\n\t"
                     "sel r7, r9, r7\n\t"
                     "lsr r9, r9, #8\n\t"
                     "sel r10, r9, r10\n\t"
                     "str r11, [r0, r2]\n\t"
                     "str r7, [r0, r2, lsl #1]\n\t"
                     "str r10, [r0, r4]\n\t"
                     "str r8, [r0]\n\t"
                     "add r0, r0, r2, lsl #2\n\t"
                     "subs r12, #1\n\t"
                     "bne 1b\n\t"
                     "pop {r4-r11}"
                     : "+r"(r0), "+r"(r1), "+r"(r12)
                     : "r"(r2), "r"(r3), "r"(r14)
                     : "cc", "memory");
}

#endif // EMBER_INTRINSICS_ARM_DSP_COLUMNS_H
