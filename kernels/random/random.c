// SPDX-License-Identifier: Apache-2.0
// Random numbers. Contract: random.h.
#include "kernels/random/random.h"

#include "kernels/engine/fill.h"

enum { ROUNDS = 10 };

void ember_random_prepare(ember_random_t *random, const ember_node_t *node) {
    const uint64_t seed = ember_node_seed(node);

    *random = (ember_random_t){.key = {(uint32_t)seed, (uint32_t)(seed >> 32)}};
}

void ember_random_start(ember_random_t *random) {
    random->run++;
    random->block = 0;
    random->left = 0;
}

static void next_block(ember_random_t *random) {
    uint32_t *x = random->words;
    uint32_t low = random->key[0];
    uint32_t high = random->key[1];

    x[0] = random->block++;
    x[1] = 0;
    x[2] = random->run;
    x[3] = 0;
    for (uint32_t round = 0; round < ROUNDS; round++) {
        const uint64_t a = (uint64_t)x[0] * 0xD2511F53u;
        const uint64_t b = (uint64_t)x[2] * 0xCD9E8D57u;
        x[0] = (uint32_t)(b >> 32) ^ x[1] ^ low;
        x[2] = (uint32_t)(a >> 32) ^ x[3] ^ high;
        x[1] = (uint32_t)b;
        x[3] = (uint32_t)a;
        low += 0x9E3779B9u; // the golden ratio, and the square root of 3 minus 1
        high += 0xBB67AE85u;
    }
    random->left = 4;
}

uint32_t ember_random_word(ember_random_t *random) {
    if (random->left == 0) {
        next_block(random);
    }
    return random->words[4 - random->left--];
}

double ember_random_uniform(ember_random_t *random, uint32_t dtype) {
    const uint32_t word = ember_random_word(random);

    switch (dtype) {
    case EMBER_F64:
        return ((double)(word >> 5) * 0x1p26 + (ember_random_word(random) >> 6)) *
               0x1p-53;
    case EMBER_F16:
        return (word >> 21) * 0x1p-11;
    case EMBER_BF16:
        return (word >> 24) * 0x1p-8;
    default:
        return (word >> 8) * 0x1p-24;
    }
}

ember_status_t ember_random_fill_prepare(ember_node_t *node,
                                         ember_random_fill_t *fill) {
    ember_tensor_t like, out;

    if (ember_node_kind(node, 0) == EMBER_TENSOR) {
        ember_node_tensor(node, 0, &like);
        ember_node_output_like(node, 2, &like, &out);
    } else {
        ember_fill_output(node, 1, &out);
    }
    if (ember_node_status(node) != EMBER_OK) {
        return ember_node_status(node);
    }
    if (ember_class_of(out.dtype) == EMBER_CLASS_S64) {
        return ember_node_fail(node, EMBER_UNSUPPORTED, "random: not a float");
    }
    ember_random_prepare(&fill->random, node);
    fill->data = out.data;
    fill->count = out.numel;
    fill->dtype = out.dtype;
    fill->size = out.element_size;
    return EMBER_OK;
}
