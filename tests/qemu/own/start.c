// SPDX-License-Identifier: Apache-2.0
// Start-up code of a project that has its own, and its log.
#include <Ember.h>

int main(void);
static void start(void);
__attribute__((section(".vectors"), used)) static void (*const vectors[])(void) = {
    (void (*)(void))0x20010000, start};

static void call(unsigned operation, const void *argument) {
    register unsigned r0 __asm("r0") = operation;
    register const void *r1 __asm("r1") = argument;
    __asm volatile("bkpt 0xab" : "+r"(r0) : "r"(r1) : "memory");
}

void ember_port_log(const char *text) {
    call(4, text);
}

static void start(void) {
    *(volatile unsigned *)0xE000ED88 |= 0xF00000; // FPU
    main();
    call(0x18, (const void *)0x20026);
}
