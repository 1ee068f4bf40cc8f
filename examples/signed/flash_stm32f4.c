// SPDX-License-Identifier: Apache-2.0
// The flash of an STM32F405 (RM0090, 3.9) as slots: sectors 8 and 9 have 128 kB for a
// model each, of 10 and 11 the first 16 kB are the journals. The firmware ends before
// sector 8: give the flash of the board's file 512 kB.
//
// Reading flash waits while it is erased, one or two seconds, or written: interrupt
// handlers in flash, too. Nobody has tried this on a board yet.
#include "slots.h"

enum { FIRST_SECTOR = 8, SECTOR_SIZE = 128 * 1024, JOURNAL_SIZE = 16 * 1024 };

static const uintptr_t area_0 = 0x08080000;

typedef struct registers {
    volatile uint32_t acr;
    volatile uint32_t keyr;
    volatile uint32_t optkeyr;
    volatile uint32_t sr;
    volatile uint32_t cr;
} registers_t;

#define FLASH ((registers_t *)0x40023C00)

enum {
    ACR_DCEN = 1 << 10,
    ACR_DCRST = 1 << 12,
    SR_ERRORS = 0xF0,
    SR_BSY = 1 << 16,
    CR_PG = 1 << 0,
    CR_SER = 1 << 1,
    CR_SNB_AT = 3,
    CR_PSIZE_32 = 2 << 8, // for 2.7 V and more
    CR_STRT = 1 << 16,
};

static const uint32_t CR_LOCK = 0x80000000;

static void wait(void) {
    while (FLASH->sr & SR_BSY) {
    }
}

static void unlock(void) {
    wait();
    if (FLASH->cr & CR_LOCK) {
        FLASH->keyr = 0x45670123;
        FLASH->keyr = 0xCDEF89AB;
    }
    FLASH->sr = SR_ERRORS; // ones clear
}

// What the cache holds of the flash is not what is there now.
static bool finish(void) {
    wait();
    const bool good = (FLASH->sr & SR_ERRORS) == 0;
    FLASH->cr = CR_LOCK;
    const uint32_t acr = FLASH->acr;
    FLASH->acr = acr & ~(uint32_t)ACR_DCEN;
    FLASH->acr = (acr & ~(uint32_t)ACR_DCEN) | ACR_DCRST;
    FLASH->acr = acr;
    return good;
}

static bool erase(uint32_t area) {
    unlock();
    FLASH->cr = CR_PSIZE_32 | CR_SER | (FIRST_SECTOR + area) << CR_SNB_AT;
    FLASH->cr |= CR_STRT;
    return finish();
}

static bool write(uint32_t area, uint32_t at, uint32_t word) {
    volatile uint32_t *place =
        (volatile uint32_t *)(area_0 + (uintptr_t)SECTOR_SIZE * area + at);
    unlock();
    FLASH->cr = CR_PSIZE_32 | CR_PG;
    *place = word;
    return finish() && *place == word;
}

const flash_t flash_stm32f4 = {
    {
        (const uint8_t *)0x08080000,
        (const uint8_t *)0x080A0000,
        (const uint8_t *)0x080C0000,
        (const uint8_t *)0x080E0000,
    },
    {SECTOR_SIZE, SECTOR_SIZE, JOURNAL_SIZE, JOURNAL_SIZE},
    erase,
    write,
};
