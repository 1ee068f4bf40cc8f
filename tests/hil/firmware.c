// SPDX-License-Identifier: Apache-2.0
// Firmware for the simulated board: says that it runs, once all of its flash is right.
// HASH is what the words of FILLER come to.
#include <stdint.h>

extern const uint32_t filler[], filler_end[];

__asm(".section .rodata\n"
      ".balign 4\n"
      ".global filler, filler_end\n"
      "filler: .incbin \"" FILLER "\"\n"
      "filler_end:\n"
      ".text\n");

static void say(const char *text) {
    register uint32_t operation __asm("r0") = 4; // SYS_WRITE0
    register const char *argument __asm("r1") = text;

    __asm volatile("bkpt 0xab" : "+r"(operation) : "r"(argument) : "memory");
}

static _Noreturn void reset(void) {
    uint32_t hash = 0;

    for (const uint32_t *word = filler; word < filler_end; word++) {
        hash = hash * 31u + *word;
    }
    say(hash == HASH ? "the firmware runs\n" : "the firmware is broken\n");
    for (;;) {
    }
}

__attribute__((used, section(".vectors"))) static void *const vectors[] = {
    (void *)0x20010000,
    (void *)reset,
};
