// SPDX-License-Identifier: Apache-2.0
// Scores of tokens become a token: the best one, or one drawn from the best.
#ifndef SAMPLER_H
#define SAMPLER_H

#include <math.h>
#include <stdint.h>

enum { SAMPLER_MOST = 64 }; // tokens that are drawn from, at most

typedef struct sampler {
    float temperature; // 0: always the best
    uint32_t best;     // tokens that are drawn from, 1 to SAMPLER_MOST
    uint32_t random;   // state of the generator, not 0
} sampler_t;

// In [0, 1), in steps of 2^-24. Marsaglia's xorshift.
static inline float sampler_random(sampler_t *sampler) {
    uint32_t x = sampler->random;
    x ^= x << 13;
    x ^= x >> 17;
    x ^= x << 5;
    sampler->random = x;
    return (float)(x >> 8) * 0x1p-24f;
}

// The `most` tokens with the highest scores, the highest first; of equal scores the
// first token is first.
static inline void sampler_best(const float *scores, uint32_t count, uint16_t *best,
                                uint32_t most) {
    uint32_t found = 0;
    for (uint32_t token = 0; token < count; token++) {
        uint32_t at = found < most ? found++ : most;
        for (; at > 0 && scores[token] > scores[best[at - 1]]; at--) {
            if (at < most) {
                best[at] = best[at - 1];
            }
        }
        if (at < most) {
            best[at] = (uint16_t)token;
        }
    }
}

// One of `count` tokens; scores: (count,), `count` at least `best`.
static inline uint16_t sampler_next(sampler_t *sampler, const float *scores,
                                    uint32_t count) {
    const uint32_t most = sampler->temperature > 0 ? sampler->best : 1;
    uint16_t best[SAMPLER_MOST];
    float shares[SAMPLER_MOST];
    float sum = 0;

    sampler_best(scores, count, best, most);
    if (most == 1) {
        return best[0];
    }
    for (uint32_t i = 0; i < most; i++) {
        const float below = scores[best[i]] - scores[best[0]];
        shares[i] = expf(below / sampler->temperature);
        sum += shares[i];
    }
    float left = sampler_random(sampler) * sum;
    for (uint32_t i = 0; i < most; i++) {
        left -= shares[i];
        if (left < 0) {
            return best[i];
        }
    }
    return best[most - 1];
}

#endif // SAMPLER_H
