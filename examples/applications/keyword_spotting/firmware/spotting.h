// SPDX-License-Identifier: Apache-2.0
// Results of the network become decisions: smoothing, a threshold, a time to be quiet.
//
// A result is a score from 0 to 255 for each class. A keyword is heard when the sum of
// its scores in the last SPOTTING_ROW results is at least SPOTTING_THRESHOLD; then
// nothing is heard for SPOTTING_HOLD results, so that a word counts once. recording.py
// has the same rule in Python.
#ifndef SPOTTING_H
#define SPOTTING_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum { SPOTTING_KEYWORDS = 10 };

// STEP: hops from one result to the next. Cortex-M0 and M0+ have the small network.
#if defined(__ARM_ARCH_6M__)
enum {
    SPOTTING_STEP = 12,
    SPOTTING_ROW = 2,
    SPOTTING_THRESHOLD = 294,
    SPOTTING_HOLD = 3
};
#else
enum {
    SPOTTING_STEP = 6,
    SPOTTING_ROW = 4,
    SPOTTING_THRESHOLD = 561,
    SPOTTING_HOLD = 6
};
#endif

typedef struct spotting {
    uint8_t row[SPOTTING_ROW][SPOTTING_KEYWORDS]; // starts with zeros
    uint32_t next;                                // of the row
    uint32_t held;                                // results still to be quiet for
} spotting_t;

// Takes the scores of one result, (SPOTTING_KEYWORDS,). True when a keyword is heard:
// `word` is its index.
static inline bool spotting_hears(spotting_t *spotting, const uint8_t *scores,
                                  uint32_t *word) {
    uint32_t most = 0;

    memcpy(spotting->row[spotting->next], scores, SPOTTING_KEYWORDS);
    spotting->next = (spotting->next + 1) % SPOTTING_ROW;
    spotting->held -= spotting->held > 0;
    for (uint32_t k = 0; k < SPOTTING_KEYWORDS; k++) {
        uint32_t sum = 0;
        for (uint32_t i = 0; i < SPOTTING_ROW; i++) {
            sum += spotting->row[i][k];
        }
        if (sum > most) {
            most = sum;
            *word = k;
        }
    }
    if (spotting->held > 0 || most < SPOTTING_THRESHOLD) {
        return false;
    }
    spotting->held = SPOTTING_HOLD;
    return true;
}

#endif // SPOTTING_H
