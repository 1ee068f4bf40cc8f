// SPDX-License-Identifier: Apache-2.0
// Bands and their reconstructions become alarms, after the firmware has learned on its
// machine what is usual: first the bands, then the scores. Memory is fixed.
#ifndef DETECTOR_H
#define DETECTOR_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

enum {
    DETECTOR_BANDS = 32,
    DETECTOR_FIRST = 1,   // frames that are left out: their window is not full
    DETECTOR_USUAL = 80,  // frames that make the usual bands
    DETECTOR_SCORES = 78, // frames that make the threshold
    DETECTOR_RECENT = 8,  // of so many frames ..
    DETECTOR_HIGH = 5,    // .. so many above the threshold are an alarm
};
#define DETECTOR_DEVIATIONS 2.25f

typedef struct detector {
    float usual[DETECTOR_BANDS]; // the program's second input
    float mean, squares;         // of the logarithm of scores: mean, sum of squares
    float threshold;             // of a score; 0 while it learns
    float score;                 // of the last frame
    uint32_t frames;
    uint32_t recent; // a bit for each of the last frames: it was high
    bool alarm;
} detector_t;

// Mean of the squared differences; x, y: (DETECTOR_BANDS,).
static inline float detector_score(const float *x, const float *y) {
    float sum = 0;
    for (int i = 0; i < DETECTOR_BANDS; i++) {
        sum += (x[i] - y[i]) * (x[i] - y[i]);
    }
    return sum / (float)DETECTOR_BANDS;
}

// The mean of what it has seen so far. Welford's: one pass, nothing is kept.
static inline void detector_learn_usual(detector_t *detector, const float *bands,
                                        uint32_t count) {
    for (int i = 0; i < DETECTOR_BANDS; i++) {
        detector->usual[i] += (bands[i] - detector->usual[i]) / (float)count;
    }
}

static inline void detector_learn_score(detector_t *detector, uint32_t count) {
    const float value = logf(detector->score);
    const float before = value - detector->mean;
    detector->mean += before / (float)count;
    detector->squares += before * (value - detector->mean);
    if (count == DETECTOR_SCORES) {
        const float deviation = sqrtf(detector->squares / (float)(count - 1));
        detector->threshold = expf(detector->mean + DETECTOR_DEVIATIONS * deviation);
    }
}

static inline uint32_t detector_ones(uint32_t bits) {
    uint32_t ones = 0;
    for (; bits != 0; bits &= bits - 1) {
        ones++;
    }
    return ones;
}

static inline void detector_watch(detector_t *detector) {
    const uint32_t high = detector->score > detector->threshold;
    detector->recent = (detector->recent << 1 | high) & ((1u << DETECTOR_RECENT) - 1);
    detector->alarm = detector_ones(detector->recent) >= DETECTOR_HIGH;
}

// The next frame: the three outputs of the program, (DETECTOR_BANDS,) each.
static inline void detector_frame(detector_t *detector, const float *bands,
                                  const float *x, const float *y) {
    const uint32_t frame = detector->frames++;
    detector->score = detector_score(x, y);
    if (frame < DETECTOR_FIRST) {
        return;
    }
    if (frame < DETECTOR_FIRST + DETECTOR_USUAL) {
        detector_learn_usual(detector, bands, frame - DETECTOR_FIRST + 1);
    } else if (frame < DETECTOR_FIRST + DETECTOR_USUAL + DETECTOR_SCORES) {
        detector_learn_score(detector, frame - DETECTOR_FIRST - DETECTOR_USUAL + 1);
    } else {
        detector_watch(detector);
    }
}

#endif // DETECTOR_H
