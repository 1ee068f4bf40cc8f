// SPDX-License-Identifier: Apache-2.0
// A tile of words that is loaded row by row and stored column by column. Streaming mode
// and ZA are on; tile 0 is used.
//
//   xnn_sme_turn_<once or twice>(x0 from, x1 stride, x2 rows, x3 bytes, x4 to, x5 lanes,
//                                x6 words)
//
// Slice 4 * i of bytes is row i of the tile of words. Twice: each row takes two.

#include "runtime_c/port/a64/sme.inc"

    .macro ONCE
    ld1b    {za0h.b[w12, 0]}, p1/z, [x0]
    ld1b    {za0h.b[w12, 4]}, p1/z, [x0, x1]
    ld1b    {za0h.b[w12, 8]}, p1/z, [x0, x8]
    ld1b    {za0h.b[w12, 12]}, p1/z, [x0, x9]
    .endm

    .macro TWICE
    ld1b    {za0h.b[w12, 0]}, p1/z, [x0]
    ld1b    {za0h.b[w12, 4]}, p1/z, [x0]
    ld1b    {za0h.b[w12, 8]}, p1/z, [x0, x1]
    ld1b    {za0h.b[w12, 12]}, p1/z, [x0, x1]
    .endm

    // \step takes \rows rows, each as many lanes as fill four.
    .macro TURN name, step, rows
FUNCTION xnn_sme_turn_\name
    mov     x7, #0
    mov     x10, #(4 / \rows)
    mul     x10, x10, x2
    whilelo p0.s, x7, x10
    whilelo p1.b, x7, x3
    add     x8, x1, x1
    add     x9, x8, x1
    mov     x10, #(\rows)
    mul     x10, x10, x1
    mov     w12, #0
    subs    x2, x2, #(\rows)
    b.lo    2f
1:  \step
    add     x0, x0, x10
    add     w12, w12, #16
    subs    x2, x2, #(\rows)
    b.hs    1b
2:  adds    x2, x2, #(\rows)
    b.eq    4f
3:  ld1b    {za0h.b[w12, 0]}, p1/z, [x0]
    .if \rows < 4
    ld1b    {za0h.b[w12, 4]}, p1/z, [x0]
    .endif
    add     x0, x0, x1
    add     w12, w12, #(16 / \rows)
    subs    x2, x2, #1
    b.ne    3b
4:  add     x8, x5, x5
    add     x9, x8, x5
    lsl     x10, x5, #4
    mov     w12, #0
    subs    x6, x6, #4
    b.lo    6f
5:  st1w    {za0v.s[w12, 0]}, p0, [x4]
    st1w    {za0v.s[w12, 1]}, p0, [x4, x5, lsl #2]
    st1w    {za0v.s[w12, 2]}, p0, [x4, x8, lsl #2]
    st1w    {za0v.s[w12, 3]}, p0, [x4, x9, lsl #2]
    add     x4, x4, x10
    add     w12, w12, #4
    subs    x6, x6, #4
    b.hs    5b
6:  adds    x6, x6, #4
    b.eq    8f
7:  st1w    {za0v.s[w12, 0]}, p0, [x4]
    add     x4, x4, x5, lsl #2
    add     w12, w12, #1
    subs    x6, x6, #1
    b.ne    7b
8:  ret
    .endm

    TURN    once, ONCE, 4
    TURN    twice, TWICE, 2
