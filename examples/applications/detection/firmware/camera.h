// SPDX-License-Identifier: Apache-2.0
// A camera, as the application sees it: write these functions for yours.
//
// It delivers frames of CAMERA_ROWS rows, one row at a time, RGB565 with red in the
// highest bits. On a real board DMA fills one of two buffers of a row while the
// interrupt of the other one calls `ready`. Between two frames it must be still for as
// long as the network takes, or frames are lost: most sensors have a register for this
// vertical blanking.
#ifndef CAMERA_H
#define CAMERA_H

#include <stdbool.h>
#include <stdint.h>

enum { CAMERA_ROWS = 120, CAMERA_COLUMNS = 160 };

// Called from an interrupt. `row`: 0 to CAMERA_ROWS - 1, from the top; `pixels`:
// (CAMERA_COLUMNS,), valid until it returns.
typedef void (*camera_ready_t)(uint32_t row, const uint16_t *pixels);

// Starts it. False if the hardware does not answer.
bool camera_start(camera_ready_t ready);

// Whether it will deliver nothing more. Always false for a real camera.
bool camera_ended(void);

#endif // CAMERA_H
