// SPDX-License-Identifier: Apache-2.0
// Samples from an interrupt to main(): one writes, one reads, neither waits.
//
// Threads  only the producer calls ring_write(), only the consumer ring_read(); either
//          may interrupt the other.
#ifndef RING_H
#define RING_H

#include <stdatomic.h>
#include <stdint.h>

enum { RING_SIZE = 512 }; // samples, a power of two

typedef struct ring {
    int16_t samples[RING_SIZE];
    atomic_uint_fast32_t written; // samples since the start, wrapping
    atomic_uint_fast32_t read;
    atomic_uint_fast32_t lost; // samples for which there was no room
} ring_t;

static inline uint32_t ring_count(ring_t *ring) {
    return (uint32_t)(atomic_load_explicit(&ring->written, memory_order_acquire) -
                      atomic_load_explicit(&ring->read, memory_order_acquire));
}

// Appends `count` samples; drops all of them when they do not fit.
static inline void ring_write(ring_t *ring, const int16_t *samples, uint32_t count) {
    const uint32_t at = (uint32_t)ring->written;
    if (count > RING_SIZE - ring_count(ring)) {
        ring->lost += count;
        return;
    }
    for (uint32_t i = 0; i < count; i++) {
        ring->samples[(at + i) % RING_SIZE] = samples[i];
    }
    atomic_store_explicit(&ring->written, at + count, memory_order_release);
}

// Takes the oldest `count` samples, which must be there, as float32.
static inline void ring_read(ring_t *ring, float *values, uint32_t count) {
    const uint32_t at = (uint32_t)ring->read;
    for (uint32_t i = 0; i < count; i++) {
        values[i] = (float)ring->samples[(at + i) % RING_SIZE];
    }
    atomic_store_explicit(&ring->read, at + count, memory_order_release);
}

#endif // RING_H
