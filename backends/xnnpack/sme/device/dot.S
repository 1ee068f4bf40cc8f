// SPDX-License-Identifier: Apache-2.0
// Inner loops of products of one row with whole blocks of columns, two vectors wide.
// Streaming mode is on.
//
//   z0, z1 = xnn_sme_<type>_dot(z0, z1 sums, x0 a, x1 w, x2 steps)
//
// A step takes 16 bytes of a: each number by its columns of w, in order. The parts of
// z2 are numbers of a.

#include "runtime_c/port/a64/sme.inc"

    .macro F32 at
    ld1rqw  {z2.s}, p0/z, [x0, #(16 * \at)]
    .irp    i, 0, 1, 2, 3
    ldr     z3, [x1, #(8 * \at + 2 * \i), mul vl]
    ldr     z4, [x1, #(8 * \at + 2 * \i + 1), mul vl]
    fmla    z0.s, z3.s, z2.s[\i]
    fmla    z1.s, z4.s, z2.s[\i]
    .endr
    .endm

    // Pairs of numbers of 16 bits; \fmlalb and \fmlalt take the first and the second.
    .macro PAIRS at, fmlalb, fmlalt
    ld1rqh  {z2.h}, p0/z, [x0, #(16 * \at)]
    .irp    i, 0, 1, 2, 3
    ldr     z3, [x1, #(8 * \at + 2 * \i), mul vl]
    ldr     z4, [x1, #(8 * \at + 2 * \i + 1), mul vl]
    \fmlalb  z0.s, z3.h, z2.h[2 * \i]
    \fmlalb  z1.s, z4.h, z2.h[2 * \i]
    \fmlalt  z0.s, z3.h, z2.h[2 * \i + 1]
    \fmlalt  z1.s, z4.h, z2.h[2 * \i + 1]
    .endr
    .endm
    .macro F16 at
    PAIRS   \at, fmlalb, fmlalt
    .endm
    .macro BF16 at
    PAIRS   \at, bfmlalb, bfmlalt
    .endm

    .macro S8 at
    ld1rqb  {z2.b}, p0/z, [x0, #(16 * \at)]
    .irp    i, 0, 1, 2, 3
    ldr     z3, [x1, #(8 * \at + 2 * \i), mul vl]
    ldr     z4, [x1, #(8 * \at + 2 * \i + 1), mul vl]
    sdot    z0.s, z3.b, z2.b[\i]
    sdot    z1.s, z4.b, z2.b[\i]
    .endr
    .endm

    // Sixteen times the low and the high halves of bytes. Vectors between steps: \more.
    .macro S4 at, more=0
    ld1rqb  {z2.b}, p0/z, [x0, #(16 * \at)]
    .irp    i, 0, 1
    ldr     z3, [x1, #(4 * \at + \more + 2 * \i), mul vl]
    ldr     z4, [x1, #(4 * \at + \more + 2 * \i + 1), mul vl]
    lsl     z5.b, z3.b, #4
    lsl     z6.b, z4.b, #4
    and     z3.d, z3.d, z24.d
    and     z4.d, z4.d, z24.d
    sdot    z0.s, z5.b, z2.b[2 * \i]
    sdot    z1.s, z6.b, z2.b[2 * \i]
    sdot    z0.s, z3.b, z2.b[2 * \i + 1]
    sdot    z1.s, z4.b, z2.b[2 * \i + 1]
    .endr
    .endm

    // Four steps at a time, then one: a step takes \vectors of w.
    .macro DOT type, step, vectors
FUNCTION xnn_sme_\type\()_dot
    ptrue   p0.b
    mov     z24.b, #0xf0
    rdvl    x3, #(2 * \vectors)
    lsl     x3, x3, #1
    subs    x2, x2, #4
    b.lo    2f
1:  \step   0
    \step   1
    \step   2
    \step   3
    add     x0, x0, #64
    add     x1, x1, x3
    subs    x2, x2, #4
    b.hs    1b
2:  adds    x2, x2, #4
    b.eq    4f
3:  \step   0
    add     x0, x0, #16
    addvl   x1, x1, #\vectors
    subs    x2, x2, #1
    b.ne    3b
4:  ret
    .endm

    DOT     f32, F32, 8
    DOT     f16, F16, 8
    DOT     bf16, BF16, 8
    DOT     s8, S8, 8
    DOT     s4, S4, 4

    // Sums of a block of weights begin with what elements that count from -128 on add;
    // its words behind the weights are z27, z28. In its scales they are added to z25, z26.
    .macro BEGIN
    smullb  z0.s, z27.h, z29.h
    smullb  z1.s, z28.h, z29.h
    .endm
    .macro END
    fcvtlt  z27.s, p0/m, z27.h
    fcvtlt  z28.s, p0/m, z28.h
    scvtf   z0.s, p0/m, z0.s
    scvtf   z1.s, p0/m, z1.s
    fmla    z25.s, p0/m, z0.s, z27.s
    fmla    z26.s, p0/m, z1.s, z28.s
    .endm

    // Block \at of 32 products.
    .macro BLOCK at
    ldr     z27, [x1, #(10 * \at + 8), mul vl]
    ldr     z28, [x1, #(10 * \at + 9), mul vl]
    BEGIN
    S4      (2 * \at), (2 * \at)
    S4      (2 * \at + 1), (2 * \at)
    END
    .endm

    // z0, z1 = xnn_sme_b4_dot(z0, z1 sums, x0 a, x1 w, x2 blocks, x3 steps of 32)
FUNCTION xnn_sme_b4_dot
    ptrue   p0.b
    mov     z24.b, #0xf0
    mov     z29.h, #2048            // 16 * 128
    mov     z25.d, z0.d
    mov     z26.d, z1.d
    rdvl    x5, #8
    mul     x5, x5, x3
    cmp     x3, #1
    b.ne    4f
    subs    x2, x2, #4
    b.lo    2f
1:  BLOCK   0
    BLOCK   1
    BLOCK   2
    BLOCK   3
    add     x0, x0, #128
    addvl   x1, x1, #20
    addvl   x1, x1, #20
    subs    x2, x2, #4
    b.hs    1b
2:  adds    x2, x2, #4
    b.eq    6f
3:  BLOCK   0
    add     x0, x0, #32
    addvl   x1, x1, #10
    subs    x2, x2, #1
    b.ne    3b
    b       6f
4:  add     x4, x1, x5
    ldr     z27, [x4]
    ldr     z28, [x4, #1, mul vl]
    BEGIN
    mov     x4, x3
5:  S4      0
    S4      1
    add     x0, x0, #32
    addvl   x1, x1, #8
    subs    x4, x4, #1
    b.ne    5b
    END
    addvl   x1, x1, #2
    subs    x2, x2, #1
    b.ne    4b
6:  mov     z0.d, z25.d
    mov     z1.d, z26.d
    ret
