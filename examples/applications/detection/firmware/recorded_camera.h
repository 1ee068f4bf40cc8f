// SPDX-License-Identifier: Apache-2.0
// The camera of an emulated board: recorded frames, a row every millisecond by SysTick.
//
// SysTick stands for the interrupt of DMA. Its handler reads the next row from the file
// `frames.raw` of the host, which takes no time of the emulated core. main() opens no
// file and reads none, so the handler may.
#ifndef RECORDED_CAMERA_H
#define RECORDED_CAMERA_H

#include "camera.h"

#include "ember/port.h"

#define SYSTICK_CONTROL (*(volatile uint32_t *)0xE000E010u)
#define SYSTICK_RELOAD  (*(volatile uint32_t *)0xE000E014u)
#define SYSTICK_VALUE   (*(volatile uint32_t *)0xE000E018u)

// The clock of the core on Arm's FPGA images, as QEMU has them.
#if defined(__ARM_FEATURE_MVE)
enum { RECORDED_HZ = 32000000 }; // AN547
#else
enum { RECORDED_HZ = 25000000 }; // AN386, AN500
#endif

enum {
    RECORDED_LINE_HZ = 1000, // rows a second
    RECORDED_LINES = 400,    // of a frame: its rows, then the vertical blanking
};

static struct {
    camera_ready_t ready;
    int32_t file;
    uint32_t line;
    uint16_t buffer[CAMERA_COLUMNS];
    volatile bool ended;
} recorded;

bool camera_start(camera_ready_t ready) {
    recorded.ready = ready;
    recorded.file = ember_port_open("frames.raw", EMBER_PORT_READ);
    if (recorded.file < 0) {
        return false;
    }
    SYSTICK_RELOAD = RECORDED_HZ / RECORDED_LINE_HZ - 1;
    SYSTICK_VALUE = 0;
    SYSTICK_CONTROL = 7; // clock of the core, interrupt, on
    return true;
}

bool camera_ended(void) {
    return recorded.ended;
}

void SysTick_Handler(void);

void SysTick_Handler(void) {
    const int64_t size = sizeof(recorded.buffer);
    const uint32_t line = recorded.line;

    recorded.line = line + 1 < RECORDED_LINES ? line + 1 : 0;
    if (line >= CAMERA_ROWS) {
        return;
    }
    if (ember_port_read(recorded.file, recorded.buffer, sizeof(recorded.buffer)) ==
        size) {
        recorded.ready(line, recorded.buffer);
    } else {
        recorded.ended = true;
        SYSTICK_CONTROL = 0;
    }
}

#endif // RECORDED_CAMERA_H
