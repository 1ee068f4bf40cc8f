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

    .macro F16 at
    ld1rqh  {z2.h}, p0/z, [x0, #(16 * \at)]
    .irp    i, 0, 1, 2, 3
    ldr     z3, [x1, #(8 * \at + 2 * \i), mul vl]
    ldr     z4, [x1, #(8 * \at + 2 * \i + 1), mul vl]
    fmlalb  z0.s, z3.h, z2.h[2 * \i]
    fmlalb  z1.s, z4.h, z2.h[2 * \i]
    fmlalt  z0.s, z3.h, z2.h[2 * \i + 1]
    fmlalt  z1.s, z4.h, z2.h[2 * \i + 1]
    .endr
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

    // Sixteen times the low and the high halves of bytes.
    .macro S4 at
    ld1rqb  {z2.b}, p0/z, [x0, #(16 * \at)]
    .irp    i, 0, 1
    ldr     z3, [x1, #(4 * \at + 2 * \i), mul vl]
    ldr     z4, [x1, #(4 * \at + 2 * \i + 1), mul vl]
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
    DOT     s8, S8, 8
    DOT     s4, S4, 4
