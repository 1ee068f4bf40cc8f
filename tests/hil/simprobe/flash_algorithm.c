// SPDX-License-Identifier: Apache-2.0
// Erases and programs the simulated flash: the functions that debug probes call in RAM.
// It behaves as NOR flash does: erasing sets whole sectors to ones, programming only
// clears bits. Results: 0, or 1 when the flash does not hold what was asked for.
#include <stdint.h>

enum { SECTOR = 4096 };

// Where every call returns to, at the start of the code.
__attribute__((naked, used, section(".text.0"))) void algorithm_end(void) {
    __asm volatile("bkpt 0\n nop");
}

__attribute__((used)) int Init(uint32_t address, uint32_t clock, uint32_t function) {
    (void)address;
    (void)clock;
    (void)function;
    return 0;
}

__attribute__((used)) int UnInit(uint32_t function) {
    (void)function;
    return 0;
}

__attribute__((used)) int EraseSector(uint32_t address) {
    volatile uint32_t *word = (volatile uint32_t *)(address & ~(uint32_t)(SECTOR - 1));

    for (uint32_t i = 0; i < SECTOR / 4; i++) {
        word[i] = 0xFFFFFFFFu;
    }
    return 0;
}

__attribute__((used)) int ProgramPage(uint32_t address, uint32_t size,
                                      const uint8_t *data) {
    volatile uint8_t *to = (volatile uint8_t *)address;
    int wrong = 0;

    for (uint32_t i = 0; i < size; i++) {
        to[i] &= data[i];
        wrong |= to[i] != data[i];
    }
    return wrong;
}
