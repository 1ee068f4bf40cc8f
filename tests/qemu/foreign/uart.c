// SPDX-License-Identifier: Apache-2.0
// Firmware without a line of Ember: echoes its serial port in capitals (mps2-an386).
// `!` is a store where nothing is, `.` ends by semihosting with exit status 5.
#include <stdint.h>

#define UART    ((volatile uint32_t *)0x40004000u)
#define DATA    UART[0]
#define STATE   UART[1]
#define CONTROL UART[2]

static void put(uint32_t byte) {
    while ((STATE & 1u) != 0) {
    }
    DATA = byte;
}

static void leave(void) {
    static const uint32_t block[] = {0x20026u, 5}; // ADP_Stopped_ApplicationExit
    register uint32_t operation __asm("r0") = 0x20;
    register const uint32_t *argument __asm("r1") = block;

    __asm volatile("bkpt 0xab" : "+r"(operation) : "r"(argument) : "memory");
}

static void fall(void) {
    *(volatile uint32_t *)0xE8000000u = 1;
}

static void reset(void) {
    CONTROL = 3;
    put('>');
    for (;;) {
        while ((STATE & 2u) == 0) {
        }
        const uint32_t byte = DATA;
        if (byte == '!') {
            fall();
        } else if (byte == '.') {
            leave();
        } else {
            put(byte >= 'a' && byte <= 'z' ? byte - 32 : byte);
        }
    }
}

static void stay(void) {
    for (;;) {
    }
}

__attribute__((used, section(".vectors"))) static void *const vectors[16] = {
    (void *)0x20010000, (void *)reset, (void *)stay, (void *)stay, // NMI, hard fault
};
