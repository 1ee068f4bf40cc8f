// SPDX-License-Identifier: Apache-2.0
// Inner loops of products: outer products of packed rows and columns are added to two
// by two tiles of 32-bit sums. Streaming mode and ZA are on.
//
//   xnn_sme_<type>_whole(x0 a, x1 w, x2 words)
//   xnn_sme_<type>_part(x0 a, x1 w, x2 words, x3 lanes, x4 columns)
//
// a is (words, lanes) words, w (words, columns); whole: two vectors of each. Weights of
// four bits (s4) are half as many words, and enter as sixteen times themselves.

#include "runtime_c/port/a64/sme.inc"

    // Rows z0 (upper) and z1 (lower) by columns \l (left) and \r (right).
    .macro UPPER op, t, l, r, left=p0, right=p0, rows=p0
    \op     za0.s, \rows/m, \left/m, z0.\t, \l\().\t
    \op     za1.s, \rows/m, \right/m, z0.\t, \r\().\t
    .endm
    .macro LOWER op, t, l, r, left=p0, right=p0, rows=p0
    \op     za2.s, \rows/m, \left/m, z1.\t, \l\().\t
    \op     za3.s, \rows/m, \right/m, z1.\t, \r\().\t
    .endm

    // Words \first to \first + \count - 1 of whole blocks.
    .macro STEPS op, t, first, count
    ldr     z0, [x0, #(2 * (\first)), mul vl]
    ldr     z1, [x0, #(2 * (\first) + 1), mul vl]
    ldr     z2, [x1, #(2 * (\first)), mul vl]
    ldr     z3, [x1, #(2 * (\first) + 1), mul vl]
    UPPER   \op, \t, z2, z3
    LOWER   \op, \t, z2, z3
    .if \count > 1
    STEPS   \op, \t, (\first + 1), (\count - 1)
    .endif
    .endm

    // Word \first of w, words 2 * \first and 2 * \first + 1 of a, and those behind.
    .macro STEPS4 first, count
    ldr     z2, [x1, #(2 * (\first)), mul vl]
    ldr     z3, [x1, #(2 * (\first) + 1), mul vl]
    ldr     z0, [x0, #(4 * (\first)), mul vl]
    ldr     z1, [x0, #(4 * (\first) + 1), mul vl]
    lsl     z4.b, z2.b, #4
    lsl     z5.b, z3.b, #4
    and     z2.d, z2.d, z16.d
    and     z3.d, z3.d, z16.d
    UPPER   smopa, b, z4, z5
    LOWER   smopa, b, z4, z5
    ldr     z0, [x0, #(4 * (\first) + 2), mul vl]
    ldr     z1, [x0, #(4 * (\first) + 3), mul vl]
    UPPER   smopa, b, z2, z3
    LOWER   smopa, b, z2, z3
    .if \count > 1
    STEPS4  (\first + 1), (\count - 1)
    .endif
    .endm

    .macro WHOLE name, op, t
FUNCTION xnn_sme_\name\()_whole
    ptrue   p0.b
    rdvl    x5, #8
    lsl     x6, x5, #2
    subs    x2, x2, #16
    b.lo    2f
1:  STEPS   \op, \t, 0, 16
    add     x0, x0, x6
    add     x1, x1, x6
    subs    x2, x2, #16
    b.hs    1b
2:  adds    x2, x2, #12
    b.mi    4f
3:  STEPS   \op, \t, 0, 4
    add     x0, x0, x5
    add     x1, x1, x5
    subs    x2, x2, #4
    b.pl    3b
4:  adds    x2, x2, #4
    b.eq    6f
5:  STEPS   \op, \t, 0, 1
    addvl   x0, x0, #2
    addvl   x1, x1, #2
    subs    x2, x2, #1
    b.ne    5b
6:  ret
    .endm

    .macro PART name, op, t
FUNCTION xnn_sme_\name\()_part
    ptrue   p0.b
    mov     x5, #0
    cntw    x6
    whilelo p1.s, x5, x3
    whilelo p2.s, x6, x3
    whilelo p3.s, x5, x4
    whilelo p4.s, x6, x4
    lsl     x7, x3, #2
    lsl     x8, x4, #2
    cbz     x2, 3f
    cmp     x3, x6
    b.ls    2f
1:  ld1w    {z0.s}, p1/z, [x0]
    ld1w    {z1.s}, p2/z, [x0, #1, mul vl]
    ld1w    {z2.s}, p3/z, [x1]
    ld1w    {z3.s}, p4/z, [x1, #1, mul vl]
    add     x0, x0, x7
    add     x1, x1, x8
    UPPER   \op, \t, z2, z3
    LOWER   \op, \t, z2, z3
    subs    x2, x2, #1
    b.ne    1b
    ret
2:  ld1w    {z0.s}, p1/z, [x0]
    ld1w    {z2.s}, p3/z, [x1]
    ld1w    {z3.s}, p4/z, [x1, #1, mul vl]
    add     x0, x0, x7
    add     x1, x1, x8
    UPPER   \op, \t, z2, z3
    subs    x2, x2, #1
    b.ne    2b
3:  ret
    .endm

    WHOLE   f32, fmopa, s
    PART    f32, fmopa, s
    WHOLE   f16, fmopa, h
    PART    f16, fmopa, h
    WHOLE   bf16, bfmopa, h
    PART    bf16, bfmopa, h
    WHOLE   s8, smopa, b
    PART    s8, smopa, b

FUNCTION xnn_sme_s4_whole
    ptrue   p0.b
    mov     z16.b, #0xf0
    rdvl    x5, #8
    lsl     x6, x5, #1
    lsr     x2, x2, #1
    subs    x2, x2, #4
    b.lo    2f
1:  STEPS4  0, 4
    add     x0, x0, x6
    add     x1, x1, x5
    subs    x2, x2, #4
    b.hs    1b
2:  adds    x2, x2, #4
    b.eq    4f
3:  STEPS4  0, 1
    addvl   x0, x0, #4
    addvl   x1, x1, #2
    subs    x2, x2, #1
    b.ne    3b
4:  ret

FUNCTION xnn_sme_s4_part
    ptrue   p0.b
    mov     z16.b, #0xf0
    mov     x5, #0
    cntw    x6
    whilelo p1.s, x5, x3
    whilelo p2.s, x6, x3
    whilelo p3.s, x5, x4
    whilelo p4.s, x6, x4
    lsl     x7, x3, #2
    lsl     x8, x4, #2
    lsr     x2, x2, #1
    cbz     x2, 2f
1:  ld1w    {z2.s}, p3/z, [x1]
    ld1w    {z3.s}, p4/z, [x1, #1, mul vl]
    ld1w    {z0.s}, p1/z, [x0]
    ld1w    {z1.s}, p2/z, [x0, #1, mul vl]
    add     x0, x0, x7
    add     x1, x1, x8
    lsl     z4.b, z2.b, #4
    lsl     z5.b, z3.b, #4
    and     z2.d, z2.d, z16.d
    and     z3.d, z3.d, z16.d
    UPPER   smopa, b, z4, z5
    LOWER   smopa, b, z4, z5
    ld1w    {z0.s}, p1/z, [x0]
    ld1w    {z1.s}, p2/z, [x0, #1, mul vl]
    add     x0, x0, x7
    UPPER   smopa, b, z2, z3
    LOWER   smopa, b, z2, z3
    subs    x2, x2, #1
    b.ne    1b
2:  ret
