// SPDX-License-Identifier: Apache-2.0
// accelerometer.h for emulated boards: `samples.bin`, int16 in the host's folder, comes
// at the sensor's rate by interrupts of SysTick. Thread mode reads ahead from the file
// what the sensor's queue would hold, for no interrupt may ask the host.
#ifndef RECORDED_H
#define RECORDED_H

#include <string.h>

#include "accelerometer.h"
#include "ember/port.h"

#if defined(__ARM_ARCH_8_1M_MAIN__)
#define RECORDED_CLOCK 32000000u // Hz, of MPS3 AN547
#else
#define RECORDED_CLOCK 25000000u // of MPS2 AN386
#endif

enum { RECORDED_QUEUE = 4 * ACCELEROMETER_BATCH };

static struct {
    int16_t queue[RECORDED_QUEUE];
    volatile uint32_t filled, taken; // samples since the start
    volatile uint32_t lost;
    volatile bool ended;
    int32_t file;
    accelerometer_ready_fn ready;
} recorded;

void SysTick_Handler(void);

void SysTick_Handler(void) {
    if (recorded.filled - recorded.taken >= ACCELEROMETER_BATCH) {
        recorded.ready(recorded.queue + recorded.taken % RECORDED_QUEUE);
        recorded.taken += ACCELEROMETER_BATCH;
    } else if (!recorded.ended) {
        recorded.lost += ACCELEROMETER_BATCH;
    }
}

static void recorded_read_ahead(void) {
    while (!recorded.ended &&
           recorded.filled - recorded.taken <= RECORDED_QUEUE - ACCELEROMETER_BATCH) {
        int16_t *to = recorded.queue + recorded.filled % RECORDED_QUEUE;
        const int64_t size = ACCELEROMETER_BATCH * sizeof(int16_t);
        if (ember_port_read(recorded.file, to, (size_t)size) == size) {
            recorded.filled += ACCELEROMETER_BATCH;
        } else {
            recorded.ended = true;
        }
    }
}

bool accelerometer_start(accelerometer_ready_fn ready) {
    volatile uint32_t *const systick = (volatile uint32_t *)0xE000E010u;

    recorded.ready = ready;
    recorded.file = ember_port_open("samples.bin", EMBER_PORT_READ);
    if (recorded.file < 0) {
        return false;
    }
    recorded_read_ahead();
    systick[1] = RECORDED_CLOCK / ACCELEROMETER_RATE * ACCELEROMETER_BATCH - 1;
    systick[2] = 0;
    systick[0] = 7; // counts processor clocks, interrupts, runs
    return true;
}

bool accelerometer_wait(void) {
    recorded_read_ahead();
    if (recorded.ended && recorded.filled == recorded.taken) {
        return false;
    }
    __asm volatile("wfi" ::: "memory");
    return true;
}

uint32_t accelerometer_lost(void) {
    return recorded.lost;
}

#endif // RECORDED_H
