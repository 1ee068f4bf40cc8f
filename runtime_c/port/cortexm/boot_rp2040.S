// SPDX-License-Identifier: Apache-2.0
// The second stage of RP2040's boot, in the first 256 bytes of flash. Its boot ROM
// checks the CRC in the last word, copies the rest to RAM and runs it there: this lets
// flash be read in place, slowly and by the command that every flash chip knows (03h),
// and goes on at the vectors. RP2040 datasheet, 2.8.1.3 and 4.10.
.syntax unified
.thumb
.section .ember_boot_rp2040, "ax"

.equ SSI, 0x18000000 // offsets: CTRLR0 0, CTRLR1 4, SSIENR 8, BAUDR 0x14
.equ SSI_SPI_CTRLR0, SSI + 0xf4
.equ VECTORS, 0x10000100
.equ VTOR, 0xe000ed08

    ldr r0, =SSI
    movs r1, #0
    str r1, [r0, #0x08] // off, while it is set up
    movs r2, #4
    str r2, [r0, #0x14] // a quarter of the system clock
    ldr r2, =0x001f0300 // 32 bits a frame; a read after command and address
    str r2, [r0]
    str r1, [r0, #0x04] // one frame an access
    ldr r2, =0x03000218 // read, 8 bits of command, 24 bits of address, no wait
    ldr r3, =SSI_SPI_CTRLR0
    str r2, [r3]
    movs r1, #1
    str r1, [r0, #0x08]

    ldr r0, =VECTORS
    ldr r1, =VTOR
    str r0, [r1]
    ldmia r0!, {r1, r2}
    msr msp, r1
    bx r2
.pool
.org 252
.word 0xe0035217 // CRC-32 of these 252 bytes: polynomial 0x04c11db7, from all ones
