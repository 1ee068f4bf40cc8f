// SPDX-License-Identifier: Apache-2.0
// A microphone, as the application sees it: write these functions for yours.
//
// Samples are int16, MICROPHONE_RATE of them a second. On a real board a PDM or I2S
// peripheral writes them to two buffers of MICROPHONE_HOP by DMA; the interrupt of a
// full buffer calls `ready` with it.
#ifndef MICROPHONE_H
#define MICROPHONE_H

#include <stdbool.h>
#include <stdint.h>

enum { MICROPHONE_RATE = 8000, MICROPHONE_HOP = 200 };

// Called from an interrupt. `samples`: (MICROPHONE_HOP,), valid until it returns.
typedef void (*microphone_ready_t)(const int16_t *samples);

// Starts it. False if the hardware does not answer.
bool microphone_start(microphone_ready_t ready);

// Whether it will deliver nothing more. Always false for a real microphone.
bool microphone_ended(void);

#endif // MICROPHONE_H
