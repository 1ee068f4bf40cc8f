// SPDX-License-Identifier: Apache-2.0
// The SME support routines that the procedure call standard for Arm64 asks of a run
// time (AAPCS64, "SME support routines"): compilers call them around functions that
// own or share ZA. Debian ships no compiler-rt for Arm64, so they are here.
//
// A TPIDR2 block: +0 save buffer (pointer), +8 number of slices (u16), +10 six
// bytes that must be zero. These routines keep x0-x13 and x19-x29 and all vectors.

#include "sme.inc"

// x0: bit 63 SME exists, bit 62 TPIDR2_EL0 can be read, bits 1:0 ZA and SM are on.
// x1: TPIDR2_EL0.
FUNCTION __arm_sme_state
    mrs     x0, svcr
    and     x0, x0, #3
    orr     x0, x0, #0xc000000000000000
    mrs     x1, tpidr2_el0
    ret

// x0: 64-bit parts of a vector, which compilers note where a mode changes; 0 outside of
// streaming mode, where a core may have no vectors of this kind.
FUNCTION __arm_get_current_vg
    mrs     x0, svcr
    tbz     x0, #0, 1f
    cntd    x0
    ret
1:  mov     x0, #0
    ret

// Saves ZA into the block of a caller that left it dormant; nothing when none did.
FUNCTION __arm_tpidr2_save
    mrs     x14, tpidr2_el0
    cbz     x14, 2f
    ldrh    w15, [x14, #10]
    ldr     w16, [x14, #12]
    orr     w15, w15, w16
    cbnz    w15, ember_sme_broken
    ldr     x16, [x14]
    cbz     x16, 2f
    ldrh    w14, [x14, #8]
    cbz     w14, 2f
    mov     w15, #0
1:  str     za[w15, 0], [x16]
    addsvl  x16, x16, #1
    add     w15, w15, #1
    cmp     w15, w14
    b.lo    1b
2:  ret

// Loads ZA back from the block in x0. ZA is on and TPIDR2_EL0 is 0.
FUNCTION __arm_tpidr2_restore
    mrs     x14, tpidr2_el0
    cbnz    x14, ember_sme_broken
    ldrh    w15, [x0, #10]
    ldr     w16, [x0, #12]
    orr     w15, w15, w16
    cbnz    w15, ember_sme_broken
    ldr     x16, [x0]
    cbz     x16, 2f
    ldrh    w14, [x0, #8]
    cbz     w14, 2f
    mov     w15, #0
1:  ldr     za[w15, 0], [x16]
    addsvl  x16, x16, #1
    add     w15, w15, #1
    cmp     w15, w14
    b.lo    1b
2:  ret

// Saves ZA when it is dormant, then switches it off.
FUNCTION __arm_za_disable
    mrs     x14, svcr
    tbz     x14, #1, 1f
    mov     x17, x30
    bl      __arm_tpidr2_save
    mov     x30, x17
    msr     tpidr2_el0, xzr
    smstop  za
1:  ret

FUNCTION ember_sme_broken
    brk     #0x5ae
