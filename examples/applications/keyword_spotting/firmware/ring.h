// SPDX-License-Identifier: Apache-2.0
// A ring of samples between one interrupt that puts and one program that takes.
//
// Neither side locks: only the interrupt writes `put`, only the program `taken`. Both
// count samples for ever and wrap at 32 bits; their difference is what the ring holds.
#ifndef RING_H
#define RING_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum { RING_SAMPLES = 2048 }; // a power of 2: 256 ms, longer than the network runs

typedef struct ring {
    int16_t samples[RING_SAMPLES];
    _Atomic uint32_t put;
    _Atomic uint32_t taken;
    _Atomic uint32_t lost; // samples for which there was no room
} ring_t;

// From the interrupt: all `count` samples, or none of them, which are then lost.
static inline void ring_put(ring_t *ring, const int16_t *samples, uint32_t count) {
    const uint32_t put = atomic_load_explicit(&ring->put, memory_order_relaxed);
    const uint32_t taken = atomic_load_explicit(&ring->taken, memory_order_acquire);

    if (count > RING_SAMPLES - (put - taken)) {
        const uint32_t lost = atomic_load_explicit(&ring->lost, memory_order_relaxed);
        atomic_store_explicit(&ring->lost, lost + count, memory_order_relaxed);
        return;
    }
    for (uint32_t i = 0; i < count; i++) {
        ring->samples[(put + i) % RING_SAMPLES] = samples[i];
    }
    atomic_store_explicit(&ring->put, put + count, memory_order_release);
}

// From the program: how many samples it can take.
static inline uint32_t ring_held(ring_t *ring) {
    return atomic_load_explicit(&ring->put, memory_order_acquire) -
           atomic_load_explicit(&ring->taken, memory_order_relaxed);
}

// From the program: the next `count` samples. The ring must hold them.
static inline void ring_take(ring_t *ring, int16_t *samples, uint32_t count) {
    const uint32_t taken = atomic_load_explicit(&ring->taken, memory_order_relaxed);

    for (uint32_t i = 0; i < count; i++) {
        samples[i] = ring->samples[(taken + i) % RING_SAMPLES];
    }
    atomic_store_explicit(&ring->taken, taken + count, memory_order_release);
}

#endif // RING_H
