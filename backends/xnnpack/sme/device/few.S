// SPDX-License-Identifier: Apache-2.0
// Sums of a few products of int8 and what they become: rows meet columns by SDOT, whose
// index tells the word of a row. Streaming mode is on; few.h has the job.
//
//   xnn_sme_few_eight(x0 job): eight rows by one vector of columns at a time
//   xnn_sme_few_four(x0 job): four rows by two vectors

#include "runtime_c/port/a64/sme.inc"

    .equ LINES, 0
    .equ WEIGHTS, 8
    .equ Y, 16
    .equ FROM, 24
    .equ TO, 88
    .equ FROM_STEP, 152
    .equ TO_STEP, 160
    .equ LAST_FROM, 168
    .equ LAST_TO, 176
    .equ GROUPS, 184
    .equ LINE_COUNT, 192
    .equ STEPS, 200
    .equ REST, 208
    .equ COLUMNS, 216
    .equ START, 224
    .equ FACTORS, 232
    .equ LOW, 240
    .equ HIGH, 244
    .equ ZERO, 248
    .equ WHOLE, 252

    // Sixteen bytes of each row, or what is left of them.
    .macro LOAD_four some
    ld1rqb  {z0.b}, \some/z, [x12]
    ld1rqb  {z1.b}, \some/z, [x12, x1]
    ld1rqb  {z2.b}, \some/z, [x12, x2]
    ld1rqb  {z3.b}, \some/z, [x12, x3]
    .endm
    .macro LOAD_eight some
    LOAD_four \some
    ld1rqb  {z4.b}, \some/z, [x12, x4]
    ld1rqb  {z5.b}, \some/z, [x12, x5]
    ld1rqb  {z6.b}, \some/z, [x12, x6]
    ld1rqb  {z7.b}, \some/z, [x12, x7]
    .endm

    // Four rows by a vector of columns.
    .macro DOTS lane, w, s0, s1, s2, s3, a0, a1, a2, a3
    sdot    \s0\().s, \w\().b, \a0\().b[\lane]
    sdot    \s1\().s, \w\().b, \a1\().b[\lane]
    sdot    \s2\().s, \w\().b, \a2\().b[\lane]
    sdot    \s3\().s, \w\().b, \a3\().b[\lane]
    .endm

    // Adds word \lane of them, with weights at \at, of the second vector from x7 on.
    .macro WORD_eight lane, at:vararg
    ld1w    {z24.s}, p1/z, [x8\at]
    DOTS    \lane, z24, z16, z17, z18, z19, z0, z1, z2, z3
    DOTS    \lane, z24, z20, z21, z22, z23, z4, z5, z6, z7
    .endm
    .macro WORD_four lane, at:vararg
    ld1w    {z24.s}, p1/z, [x8\at]
    ld1w    {z4.s}, p4/z, [x7\at]
    DOTS    \lane, z24, z16, z17, z18, z19, z0, z1, z2, z3
    DOTS    \lane, z4, z20, z21, z22, z23, z0, z1, z2, z3
    .endm

    .macro NEXT_eight by, shift
    add     x8, x8, \by, lsl #\shift
    .endm
    .macro NEXT_four by, shift
    add     x8, x8, \by, lsl #\shift
    add     x7, x7, \by, lsl #\shift
    .endm

    .macro COPY sum, from
    mov     z\sum\().d, \from\().d
    .endm

    // Sums begin; x8 and x7 are the weights.
    .macro BEGIN_eight
    .irp sum, 16, 17, 18, 19, 20, 21, 22, 23
    COPY    \sum, z25
    .endr
    ldr     x8, [x0, #WEIGHTS]
    .endm
    .macro BEGIN_four
    .irp sum, 16, 17, 18, 19
    COPY    \sum, z25
    .endr
    .irp sum, 20, 21, 22, 23
    COPY    \sum, z31
    .endr
    ldr     x8, [x0, #WEIGHTS]
    addvl   x7, x8, #1
    .endm

    // Rounded and bounded as bits of floats, see static.h.
    .macro NUMBER sum, factor
    scvtf   z\sum\().s, p0/m, z\sum\().s
    fmul    z\sum\().s, z\sum\().s, \factor\().s
    fadd    z\sum\().s, z\sum\().s, z27.s
    sclamp  z\sum\().s, z28.s, z29.s
    .endm

    // A row of one vector of columns; of two; four rows without a gap between them.
    .macro PUT sum, at:vararg
    add     z\sum\().b, z\sum\().b, z30.b
    st1b    {z\sum\().s}, p1, [x17\at]
    .endm
    .macro PUT2 left, right, at:vararg
    uzp1    z\left\().h, z\left\().h, z\right\().h
    add     z\left\().b, z\left\().b, z30.b
    st1b    {z\left\().h}, p5, [x17\at]
    .endm
    .macro PUT4 a, b, c, d, at:vararg
    uzp1    z\a\().h, z\a\().h, z\b\().h
    uzp1    z\c\().h, z\c\().h, z\d\().h
    uzp1    z\a\().b, z\a\().b, z\c\().b
    add     z\a\().b, z\a\().b, z30.b
    st1b    {z\a\().b}, p2, [x17\at]
    .endm

    .macro END_eight
    .irp sum, 16, 17, 18, 19, 20, 21, 22, 23
    NUMBER  \sum, z26
    .endr
    ldr     w12, [x0, #WHOLE]
    cbnz    w12, 7f
    PUT     16
    PUT     17, , x19
    PUT     18, , x20
    PUT     19, , x21
    PUT     20, , x22
    PUT     21, , x23
    PUT     22, , x24
    PUT     23, , x25
    b       8f
7:  PUT4    16, 17, 18, 19
    PUT4    20, 21, 22, 23, , #1, mul vl
8:
    .endm
    .macro END_four
    .irp sum, 16, 17, 18, 19
    NUMBER  \sum, z26
    .endr
    .irp sum, 20, 21, 22, 23
    NUMBER  \sum, z5
    .endr
    PUT2    16, 20
    PUT2    17, 21, , x19
    PUT2    18, 22, , x20
    PUT2    19, 23, , x21
    .endm

    .macro FEW rows
FUNCTION xnn_sme_few_\rows
    stp     x19, x20, [sp, #-80]!
    stp     x21, x22, [sp, #16]
    stp     x23, x24, [sp, #32]
    stp     x25, x26, [sp, #48]
    stp     x27, x28, [sp, #64]
    ldr     x9, [x0, #COLUMNS]
    ldr     x27, [x0, #REST]
    cntw    x10
    ptrue   p0.b
    ptrue   p2.b
    whilelo p1.s, xzr, x9
    whilelo p4.s, x10, x9
    whilelo p5.h, xzr, x9
    whilelo p3.b, xzr, x27
    ldp     x11, x12, [x0, #START]
    ldr     z25, [x11]
    ldr     z31, [x11, #1, mul vl]
    ldr     z26, [x12]
    ldr     z5, [x12, #1, mul vl]
    mov     w10, #0x4b400000
    mov     z27.s, w10
    ld1rw   {z28.s}, p0/z, [x0, #LOW]
    ld1rw   {z29.s}, p0/z, [x0, #HIGH]
    ldr     w10, [x0, #ZERO]
    mov     z30.b, w10
    lsl     x10, x9, #1
    add     x11, x10, x9
    add     x27, x27, #3
    lsr     x27, x27, #2
    mul     x28, x27, x9
    ldp     x1, x2, [x0, #(FROM + 8)]
    ldp     x3, x4, [x0, #(FROM + 24)]
    ldp     x5, x6, [x0, #(FROM + 40)]
    ldr     x7, [x0, #(FROM + 56)]
    ldp     x19, x20, [x0, #(TO + 8)]
    ldp     x21, x22, [x0, #(TO + 24)]
    ldp     x23, x24, [x0, #(TO + 40)]
    ldr     x25, [x0, #(TO + 56)]
    ldr     x26, [x0, #GROUPS]
    mov     x16, #0
    ldr     x17, [x0, #Y]
1:  cmp     x26, #1
    b.ne    2f
    ldp     x16, x12, [x0, #LAST_FROM]
    ldr     x17, [x0, #Y]
    add     x17, x17, x12
2:  BEGIN_\rows
    ldr     x13, [x0, #LINES]
    ldr     x14, [x0, #LINE_COUNT]
3:  ldr     x12, [x13], #8
    ldr     x15, [x0, #STEPS]
    add     x12, x12, x16
    cbz     x15, 5f
4:  LOAD_\rows p2
    WORD_\rows 0
    WORD_\rows 1, , x9, lsl #2
    WORD_\rows 2, , x10, lsl #2
    WORD_\rows 3, , x11, lsl #2
    NEXT_\rows x9, 4
    add     x12, x12, #16
    subs    x15, x15, #1
    b.ne    4b
5:  cbz     x27, 6f
    LOAD_\rows p3
    WORD_\rows 0
    cmp     x27, #2
    b.lo    6f
    WORD_\rows 1, , x9, lsl #2
    b.eq    6f
    WORD_\rows 2, , x10, lsl #2
    cmp     x27, #4
    b.lo    6f
    WORD_\rows 3, , x11, lsl #2
6:  NEXT_\rows x28, 2
    subs    x14, x14, #1
    b.ne    3b
    END_\rows
    ldp     x12, x13, [x0, #FROM_STEP]
    add     x16, x16, x12
    add     x17, x17, x13
    subs    x26, x26, #1
    b.ne    1b
    ldp     x27, x28, [sp, #64]
    ldp     x25, x26, [sp, #48]
    ldp     x23, x24, [sp, #32]
    ldp     x21, x22, [sp, #16]
    ldp     x19, x20, [sp], #80
    ret
    .endm

    FEW     eight
    FEW     four
