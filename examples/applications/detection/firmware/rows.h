// SPDX-License-Identifier: Apache-2.0
// A ring of rows: the camera's interrupt puts them in, main() takes them out.
//
// Each counter has one writer; they wrap at 2^32, and what is in the ring is the
// difference of two. A row for which there is no room is dropped; its number is missing
// then, by which the reader notices. Rows know their frame, so that those of two frames
// are never taken for one.
#ifndef ROWS_H
#define ROWS_H

#include "camera.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

enum { ROWS_SIZE = 8 }; // a power of 2

typedef struct row {
    uint32_t frame;  // 1 is the first one, 0 follows 2^32 - 1
    uint32_t number; // in its frame, from the top
    uint16_t pixels[CAMERA_COLUMNS];
} row_t;

typedef struct rows {
    row_t ring[ROWS_SIZE];
    _Atomic uint32_t frames; // that began; only the interrupt writes it
    _Atomic uint32_t put;    // only the interrupt writes it
    _Atomic uint32_t taken;  // only main() writes it
} rows_t;

// From the interrupt. `pixels`: (CAMERA_COLUMNS,).
static inline void rows_put(rows_t *rows, uint32_t number, const uint16_t *pixels) {
    const uint32_t put = atomic_load_explicit(&rows->put, memory_order_relaxed);
    const uint32_t taken = atomic_load_explicit(&rows->taken, memory_order_acquire);
    uint32_t frame = atomic_load_explicit(&rows->frames, memory_order_relaxed);

    if (number == 0) {
        atomic_store_explicit(&rows->frames, ++frame, memory_order_relaxed);
    }
    if (put - taken < ROWS_SIZE) {
        row_t *row = &rows->ring[put % ROWS_SIZE];
        row->frame = frame;
        row->number = number;
        memcpy(row->pixels, pixels, sizeof(row->pixels));
        atomic_store_explicit(&rows->put, put + 1, memory_order_release);
    }
}

// The oldest row, or NULL; it stays until rows_drop().
static inline const row_t *rows_first(const rows_t *rows) {
    const uint32_t taken = atomic_load_explicit(&rows->taken, memory_order_relaxed);
    const uint32_t put = atomic_load_explicit(&rows->put, memory_order_acquire);

    return put == taken ? NULL : &rows->ring[taken % ROWS_SIZE];
}

// Frees the oldest row, which there must be.
static inline void rows_drop(rows_t *rows) {
    const uint32_t taken = atomic_load_explicit(&rows->taken, memory_order_relaxed);
    atomic_store_explicit(&rows->taken, taken + 1, memory_order_release);
}

// The frame whose rows are being taken.
typedef struct rows_frame {
    uint32_t number; // as its rows have it
    uint32_t rows;   // that were taken
} rows_frame_t;

// Whether `row` is the next one of `frame`, or the first of another one, and counts it
// then. Of a frame of which a row is missing, no more rows are.
static inline bool rows_follow(rows_frame_t *frame, const row_t *row) {
    if (row->number == 0) {
        *frame = (rows_frame_t){.number = row->frame};
    }
    if (row->frame != frame->number || row->number != frame->rows) {
        return false;
    }
    frame->rows++;
    return true;
}

#endif // ROWS_H
