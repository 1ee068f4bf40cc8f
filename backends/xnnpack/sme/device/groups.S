// SPDX-License-Identifier: Apache-2.0
// Weights of four bits with a scale per block become float16, times their scales.
// Streaming mode is on.
//
//   xnn_sme_groups_unpack(x0 from, x1 to, x2 blocks, x3 words of a block)
//
// Two vectors of columns. Plus 8, four bits of a weight are a float16 as they are: 2^-24
// of a number where they are the lowest, 2^-20 above those. A scale, which is 2^24 of
// what it stands for, is multiplied with the one, a sixteenth of it with the other, and
// eight times what it stands for taken off: fused, so that all is exact.

#include "runtime_c/port/a64/sme.inc"

    // Word \word of vector \vector: z0, z2, z4 are of the left one, z1, z3, z5 of the
    // right one.
    .macro WORD word, vector, scale, high, eight
    ldr     z6, [x0, #(2 * \word + \vector), mul vl]
    eor     z6.d, z6.d, z20.d
    lsr     z8.h, z6.h, #8
    and     z7.d, z6.d, z16.d
    and     z6.d, z6.d, z17.d
    and     z9.d, z8.d, z16.d
    and     z8.d, z8.d, z17.d
    fmad    z7.h, p0/m, \scale, \eight
    fmad    z6.h, p0/m, \high, \eight
    fmad    z9.h, p0/m, \scale, \eight
    fmad    z8.h, p0/m, \high, \eight
    str     z7, [x1, #(8 * \word + \vector), mul vl]
    str     z6, [x1, #(8 * \word + \vector + 2), mul vl]
    str     z9, [x1, #(8 * \word + \vector + 4), mul vl]
    str     z8, [x1, #(8 * \word + \vector + 6), mul vl]
    .endm

FUNCTION xnn_sme_groups_unpack
    ptrue   p0.b
    mov     z16.h, #0x0f
    mov     z17.h, #0xf0
    mov     z20.b, #0x88
    mov     z18.h, #0x2c00          // 2^-4
    mov     w4, #0x8008             // -2^-21
    mov     z19.h, w4
    rdvl    x5, #2
    mul     x5, x5, x3
1:  add     x4, x0, x5
    ldr     z0, [x4]
    ldr     z1, [x4, #1, mul vl]
    trn2    z0.h, z0.h, z0.h
    trn2    z1.h, z1.h, z1.h
    fmul    z2.h, z0.h, z18.h
    fmul    z3.h, z1.h, z18.h
    fmul    z4.h, z0.h, z19.h
    fmul    z5.h, z1.h, z19.h
    mov     x4, x3
2:  WORD    0, 0, z0.h, z2.h, z4.h
    WORD    0, 1, z1.h, z3.h, z5.h
    WORD    1, 0, z0.h, z2.h, z4.h
    WORD    1, 1, z1.h, z3.h, z5.h
    addvl   x0, x0, #4
    addvl   x1, x1, #16
    subs    x4, x4, #2
    b.ne    2b
    addvl   x0, x0, #2
    subs    x2, x2, #1
    b.ne    1b
    ret
