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

// Sums of two filters, a and b, with three columns.
typedef struct ember_tile_dsp {
    int32_t a0, a1, a2, b0, b1, b2;
} ember_tile_dsp_t;

// Adds the products of `blocks` > 0 blocks of four weights, which start at `w` and, of
// b, `pitch` behind. Columns are words as in ember_add_four(), (blocks, even or odd,
// column).
//
// In one piece, since it takes all registers: the weights of b are read twice, and the
// end of the loop comes from the stack. Four blocks in a row; the first time, those
// that `blocks` lacks to a multiple of four are skipped.
static inline ember_tile_dsp_t ember_tile_2x3(ember_tile_dsp_t tile, const int8_t *w,
                                              int32_t pitch, const uint32_t *x,
                                              int32_t blocks) {
    uint32_t a = (uint32_t)(uintptr_t)(w + 4 * blocks); // the end, later weights
    uint32_t b = -(uint32_t)blocks << 30; // skipped blocks in the upper bits

    __asm__ volatile("push {%[a]}\n\t"
                     "lsls %[b], %[b], #1\n\t"
                     "bhi 13f\n\t"
                     "bcs 12f\n\t"
                     "bne 11f\n\t"
                     "10:\n\t"
                     ".irp block, 11, 12, 13, 14\n\t"
                     "ldr.w %[a], [%[w]], #4\n\t"
                     "ldr.w %[b], [%[w], %[pitch]]\n\t"
                     "ldmia.w %[x]!, {r4, r5, r6}\n\t"
                     "sxtb16 %[b], %[b]\n\t"
                     "smlad %[b0], %[b], r4, %[b0]\n\t"
                     "smlad %[b1], %[b], r5, %[b1]\n\t"
                     "smlad %[b2], %[b], r6, %[b2]\n\t"
                     "sxtb16 %[b], %[a]\n\t"
                     "smlad %[a0], %[b], r4, %[a0]\n\t"
                     "smlad %[a1], %[b], r5, %[a1]\n\t"
                     "smlad %[a2], %[b], r6, %[a2]\n\t"
                     "ldmia.w %[x]!, {r4, r5, r6}\n\t"
                     "sxtb16 %[a], %[a], ror #8\n\t"
                     "smlad %[a0], %[a], r4, %[a0]\n\t"
                     "smlad %[a1], %[a], r5, %[a1]\n\t"
                     "smlad %[a2], %[a], r6, %[a2]\n\t"
                     "ldr.w %[b], [%[w], %[pitch]]\n\t"
                     "sxtb16 %[b], %[b], ror #8\n\t"
                     "smlad %[b0], %[b], r4, %[b0]\n\t"
                     "smlad %[b1], %[b], r5, %[b1]\n\t"
                     "smlad %[b2], %[b], r6, %[b2]\n\t"
                     "\\block:\n\t"
                     ".endr\n\t"
                     "ldr.w %[b], [sp]\n\t"
                     "cmp %[w], %[b]\n\t"
                     "bne 10b\n\t"
                     "add sp, #4"
                     : [a0] "+r"(tile.a0), [a1] "+r"(tile.a1), [a2] "+r"(tile.a2),
                       [b0] "+r"(tile.b0), [b1] "+r"(tile.b1), [b2] "+r"(tile.b2),
                       [w] "+r"(w), [x] "+r"(x), [a] "+r"(a), [b] "+r"(b)
                     : [pitch] "r"(pitch - 4)
                     : "r4", "r5", "r6", "cc", "memory");
    return tile;
}

#endif // EMBER_INTRINSICS_ARM_DSP_H
