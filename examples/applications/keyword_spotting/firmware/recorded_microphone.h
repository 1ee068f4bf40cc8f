// SPDX-License-Identifier: Apache-2.0
// The microphone of an emulated board: a recording, a hop of it every 25 ms by SysTick.
//
// SysTick stands for the interrupt of DMA. Its handler reads the next hop from the file
// `sound.raw` of the host, which takes no time of the emulated core. main() opens no
// file and reads none, so the handler may.
#ifndef RECORDED_MICROPHONE_H
#define RECORDED_MICROPHONE_H

#include "microphone.h"

#include "ember/port.h"

#define SYSTICK_CONTROL (*(volatile uint32_t *)0xE000E010u)
#define SYSTICK_RELOAD  (*(volatile uint32_t *)0xE000E014u)
#define SYSTICK_VALUE   (*(volatile uint32_t *)0xE000E018u)

// The clock of the core on Arm's FPGA images, as QEMU has them.
#if defined(__ARM_FEATURE_MVE)
enum { CORE_HZ = 32000000 }; // AN547
#else
enum { CORE_HZ = 25000000 }; // AN385, AN386
#endif

static struct {
    microphone_ready_t ready;
    int32_t file;
    int16_t buffer[MICROPHONE_HOP];
    volatile bool ended;
} recorded;

bool microphone_start(microphone_ready_t ready) {
    recorded.ready = ready;
    recorded.file = ember_port_open("sound.raw", EMBER_PORT_READ);
    if (recorded.file < 0) {
        return false;
    }
    SYSTICK_RELOAD = CORE_HZ / (MICROPHONE_RATE / MICROPHONE_HOP) - 1;
    SYSTICK_VALUE = 0;
    SYSTICK_CONTROL = 7; // clock of the core, interrupt, on
    return true;
}

bool microphone_ended(void) {
    return recorded.ended;
}

void SysTick_Handler(void);

void SysTick_Handler(void) {
    const int64_t size = sizeof(recorded.buffer);

    if (ember_port_read(recorded.file, recorded.buffer, sizeof(recorded.buffer)) ==
        size) {
        recorded.ready(recorded.buffer);
    } else {
        recorded.ended = true;
        SYSTICK_CONTROL = 0;
    }
}

#endif // RECORDED_MICROPHONE_H
