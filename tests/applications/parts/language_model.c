// SPDX-License-Identifier: Apache-2.0
// examples/applications/language_model: tokenizer, sampler and numbers of requests, on
// the host. Standard input: text. Standard output: its tokens, then its text.
#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "sampler.h"
#include "tokenizer.h"

enum { MOST = 100000 };

static void test_best(void) {
    const float scores[6] = {1, 5, 3, 5, -2, 4};
    const uint16_t wanted[6] = {1, 3, 5, 2, 0, 4};
    for (uint32_t most = 1; most <= 6; most++) {
        uint16_t best[6];
        sampler_best(scores, 6, best, most);
        assert(memcmp(best, wanted, most * sizeof best[0]) == 0);
    }
}

// Shares of draws are those of the softmax; without a temperature nothing is drawn.
static void test_draws(void) {
    const float scores[4] = {0, 1, 2, -50};
    sampler_t sampler = {.temperature = 1, .best = 3, .random = 1};
    int counts[4] = {0};

    for (int i = 0; i < 100000; i++) {
        counts[sampler_next(&sampler, scores, 4)]++;
    }
    assert(counts[3] == 0);
    assert(counts[0] > 8700 && counts[0] < 9300);   // 9,003
    assert(counts[1] > 24000 && counts[1] < 25000); // 24,473
    sampler = (sampler_t){.temperature = 0.5f, .best = 2, .random = 1};
    int first = 0;
    for (int i = 0; i < 10000; i++) {
        first += sampler_next(&sampler, scores, 4) == 2;
    }
    assert(first > 8700 && first < 8920); // 8,808
    sampler = (sampler_t){.temperature = 0, .best = 3, .random = 9};
    assert(sampler_next(&sampler, scores, 4) == 2);
    assert(sampler.random == 9);
}

int main(void) {
    static char text[MOST];
    static uint16_t tokens[MOST];

    test_best();
    test_draws();
    const uint32_t size = (uint32_t)fread(text, 1, MOST, stdin);
    const uint32_t count = tokenizer_encode(text, size, tokens);
    for (uint32_t i = 0; i < count; i++) {
        printf("%u ", tokens[i]);
    }
    printf("\n");
    for (uint32_t i = 0; i < count; i++) {
        char part[TOKEN_BYTES + 1];
        fwrite(part, 1, tokenizer_decode(tokens[i], part), stdout);
    }
    return 0;
}
