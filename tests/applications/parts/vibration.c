// SPDX-License-Identifier: Apache-2.0
// examples/applications/vibration: its ring buffer and what decides, on the host.
#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "detector.h"
#include "ring.h"

static ring_t ring;

// Samples come out in their order, many times around, and across the wrap at 2^32.
static void test_order(uint32_t start) {
    int16_t batch[32];
    float values[96];
    int16_t next = 0, seen = 0;

    ring = (ring_t){.written = start, .read = start};
    for (int turn = 0; turn < 200; turn++) {
        for (int i = 0; i < 32; i++) {
            batch[i] = next++;
        }
        ring_write(&ring, batch, 32);
        if (ring_count(&ring) >= 96) {
            ring_read(&ring, values, 96);
            for (int i = 0; i < 96; i++) {
                assert(values[i] == (float)seen++);
            }
        }
    }
    assert(ring.lost == 0);
    assert(ring_count(&ring) == (uint32_t)(next - seen));
}

// A batch that does not fit is dropped whole, and counted; the others stay.
static void test_full(void) {
    int16_t batch[RING_SIZE] = {7};
    float value;

    ring = (ring_t){0};
    ring_write(&ring, batch, RING_SIZE - 1);
    ring_write(&ring, batch, 2);
    assert(ring.lost == 2);
    ring_write(&ring, batch, 1);
    assert(ring.lost == 2 && ring_count(&ring) == RING_SIZE);
    ring_read(&ring, &value, 1);
    assert(value == 7.0f);
}

static detector_t detector;

// A frame whose score is `score`.
static void frame(float score, float band) {
    float bands[DETECTOR_BANDS], x[DETECTOR_BANDS], y[DETECTOR_BANDS] = {0};
    for (int i = 0; i < DETECTOR_BANDS; i++) {
        bands[i] = band + (float)i;
        x[i] = sqrtf(score);
    }
    detector_frame(&detector, bands, x, y);
}

static float close_to(float a, float b) {
    return fabsf(a - b) <= 1e-4f * fabsf(b);
}

// The first frame counts for nothing; then means of bands, then scores whose logarithms
// are -1 and 1 in turn.
static void learn(void) {
    detector = (detector_t){0};
    frame(1e6f, 1e6f);
    for (int i = 0; i < DETECTOR_USUAL; i++) {
        frame(1e6f, i % 2 == 0 ? 1.0f : 3.0f);
    }
    for (int i = 0; i < DETECTOR_SCORES; i++) {
        assert(detector.threshold == 0);
        frame(expf(i % 2 == 0 ? -1.0f : 1.0f), 1e6f);
    }
}

static void test_learning(void) {
    const float n = DETECTOR_SCORES;
    learn();
    for (int i = 0; i < DETECTOR_BANDS; i++) {
        assert(close_to(detector.usual[i], 2.0f + (float)i));
    }
    const float deviation = sqrtf(n / (n - 1));
    assert(close_to(detector.threshold, expf(DETECTOR_DEVIATIONS * deviation)));
}

static void test_alarm(void) {
    learn();
    const float high = detector.threshold * 1.01f, low = detector.threshold * 0.99f;
    for (int i = 0; i < DETECTOR_HIGH - 1; i++) {
        frame(high, 0);
        assert(!detector.alarm);
    }
    frame(low, 0);
    assert(!detector.alarm);
    frame(high, 0);
    assert(detector.alarm);
    for (int i = 0; i < DETECTOR_RECENT; i++) {
        frame(low, 0);
    }
    assert(!detector.alarm && detector.recent == 0);
}

int main(void) {
    test_order(0);
    test_order(0xFFFFFF00u);
    test_full();
    test_learning();
    test_alarm();
    puts("right");
    return 0;
}
