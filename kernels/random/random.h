// SPDX-License-Identifier: Apache-2.0
// Random numbers: Philox 4x32-10, a counter-based generator (Salmon et al., 2011).
//
// Each call of a program has a stream of its own, whose key is ember_node_seed(). The
// counter is (block, 0, run, 0): numbers do not depend on what was drawn before, and
// every run of a method has different ones. Programs have no seed, so the numbers are
// not PyTorch's, but they are the same on every board and after every load.
#ifndef EMBER_KERNELS_RANDOM_RANDOM_H
#define EMBER_KERNELS_RANDOM_RANDOM_H

#include "ember/node.h"
#include "kernels/engine/element.h"

typedef struct ember_random {
    uint32_t key[2];
    uint32_t run;
    uint32_t block;    // of this run, next one
    uint32_t words[4]; // of the block before
    uint32_t left;     // unused words
} ember_random_t;

// A tensor to fill.
typedef struct ember_random_fill {
    ember_random_t random;
    char *data;
    uint32_t count; // elements
    uint8_t dtype;  // a float
    uint8_t size;   // bytes of an element
} ember_random_fill_t;

void ember_random_prepare(ember_random_t *random, const ember_node_t *node);

// Begins the numbers of one run.
void ember_random_start(ember_random_t *random);

uint32_t ember_random_word(ember_random_t *random);

// A number in [0, 1) with as many random bits as `dtype` has digits.
double ember_random_uniform(ember_random_t *random, uint32_t dtype);

// The whole prepare of an operator (size, out) or (like, memory_format, out) with a
// float output.
EMBER_MUST_USE ember_status_t ember_random_fill_prepare(ember_node_t *node,
                                                        ember_random_fill_t *fill);

#endif // EMBER_KERNELS_RANDOM_RANDOM_H
