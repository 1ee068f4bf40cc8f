// SPDX-License-Identifier: Apache-2.0
// Arm64 at EL1: from reset to main() with MMU, caches, FP, and SVE and SME where the core
// has them.
//
// Map, 4 KiB granule, 4 GiB of addresses: one gigabyte entry points at a table of
// 2 MiB blocks, and only the blocks of the board's RAM are valid. So NULL, and what
// lies under the stack at the bottom of RAM, fault. Threads run on SP_EL0; an
// exception switches to SP_EL1, a small stack of its own.

    .arch armv9.2-a+sme

    .equ CPACR_ALL, (3 << 24) | (3 << 20) | (3 << 16)   // SME, FP, SVE
    .equ BLOCK, 0x701       // access flag, inner shareable, attribute 0, block
    .equ TABLE, 3
    .equ MAIR_NORMAL, 0xff  // attribute 0: write-back
    // T0SZ 32, write-back walks, inner shareable, 4 KiB, no upper half, 36-bit PA
    .equ TCR, 32 | (1 << 8) | (1 << 10) | (3 << 12) | (1 << 23) | (1 << 32)
    .equ SCTLR_ON, (1 << 0) | (1 << 2) | (1 << 12)      // MMU, data and code caches

    // To label \to unless the core has SME. Clobbers \x.
    .macro UNLESS_SME x, to
    mrs     \x, id_aa64pfr1_el1
    tst     \x, #(0xf << 24)
    b.eq    \to
    .endm

    .section .ember_vectors, "ax"
    .global _start
_start:
    mov     x0, #CPACR_ALL
    msr     cpacr_el1, x0
    isb
    adr     x0, vectors
    msr     vbar_el1, x0
    mov     x0, #0xf                    // the longest vectors
    mrs     x1, id_aa64pfr0_el1
    tst     x1, #(0xf << 32)
    b.eq    4f
    msr     zcr_el1, x0
4:  UNLESS_SME x1, 5f
    msr     smcr_el1, x0
    msr     tpidr2_el0, xzr
5:
    msr     spsel, #1
    ldr     x0, =fault_stack_end
    mov     sp, x0
    msr     spsel, #0
    ldr     x0, =__ember_stack_end
    mov     sp, x0

    ldr     x0, =__ember_bss_start      // 16-byte steps: the script aligns the ends
    ldr     x1, =__ember_bss_end
1:  cmp     x0, x1
    b.hs    2f
    stp     xzr, xzr, [x0], #16
    b       1b

2:  ldr     x0, =__ember_ram_start      // the entry of its gigabyte
    ldr     x1, =level1
    ldr     x2, =level2
    lsr     x3, x0, #30
    orr     x4, x2, #TABLE
    str     x4, [x1, x3, lsl #3]
    ldr     x3, =__ember_ram_end        // one block each 2 MiB
    mov     x5, #BLOCK
3:  ubfx    x4, x0, #21, #9
    orr     x6, x0, x5
    str     x6, [x2, x4, lsl #3]
    add     x0, x0, #0x200000
    cmp     x0, x3
    b.lo    3b

    mov     x0, #MAIR_NORMAL
    msr     mair_el1, x0
    ldr     x0, =TCR
    msr     tcr_el1, x0
    msr     ttbr0_el1, x1
    dsb     sy
    isb
    tlbi    vmalle1
    ic      iallu
    dsb     sy
    isb
    mrs     x0, sctlr_el1
    mov     x1, #SCTLR_ON
    orr     x0, x0, x1
    msr     sctlr_el1, x0
    isb
    bl      ember_a64_main
    b       .
    .ltorg

    .balign 2048
vectors:
    .rept   16
    .balign 128
    b       report
    .endr

report:
    UNLESS_SME x0, 1f
    smstop
1:
    mrs     x0, esr_el1
    mrs     x1, far_el1
    mrs     x2, elr_el1
    mov     x3, x30
    mrs     x4, sp_el0
    bl      ember_a64_fault
    b       .

    .section .bss.ember_a64_tables, "aw", %nobits
    .balign 4096
level1: .skip 4096
level2: .skip 4096
    .balign 16
fault_stack:
    .skip   2048
fault_stack_end:
