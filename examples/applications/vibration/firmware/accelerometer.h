// SPDX-License-Identifier: Apache-2.0
// The driver of an accelerometer that fills a queue of its own and interrupts when
// ACCELEROMETER_BATCH samples wait. For your sensor, write these functions; those of
// recorded.h read a file instead.
#ifndef ACCELEROMETER_H
#define ACCELEROMETER_H

#include <stdbool.h>
#include <stdint.h>

enum {
    ACCELEROMETER_RATE = 3200, // samples a second
    ACCELEROMETER_BATCH = 32,  // samples of one interrupt
};

// Takes ACCELEROMETER_BATCH samples in the order in which they were measured, in steps
// of 16 g / 32768. Called from the interrupt.
typedef void (*accelerometer_ready_fn)(const int16_t *samples);

// Starts to measure. False when the sensor does not answer.
bool accelerometer_start(accelerometer_ready_fn ready);

// Sleeps until an interrupt. False when there will be none: a recording has ended.
bool accelerometer_wait(void);

// Samples that the sensor measured and nobody took in time.
uint32_t accelerometer_lost(void);

#endif // ACCELEROMETER_H
