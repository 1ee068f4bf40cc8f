// SPDX-License-Identifier: Apache-2.0
// Text <-> tokens: bytes, and pairs of tokens that are one (byte-pair encoding).
#ifndef TOKENIZER_H
#define TOKENIZER_H

#include <stddef.h>
#include <stdint.h>

#include "tokens.h"

enum { TOKEN_BYTES = 64 }; // at most, of the text of a token; LONGEST of tokens.py

// Turns the first `count` items of `tokens`, each a byte, into tokens, in place: each
// pair in the order in which it was learned, from left to right. Returns how many there
// are.
static inline uint32_t tokenizer_join(uint16_t *tokens, uint32_t count) {
    for (uint32_t pair = 0; pair < PAIRS; pair++) {
        uint32_t kept = 0;
        for (uint32_t i = 0; i < count; kept++) {
            const int joined = i + 1 < count && tokens[i] == pairs[pair][0] &&
                               tokens[i + 1] == pairs[pair][1];
            tokens[kept] = joined ? (uint16_t)(BYTES + pair) : tokens[i];
            i += joined ? 2 : 1;
        }
        count = kept;
    }
    return count;
}

// The tokens of `size` bytes of text; `tokens` has room for `size`. Returns how many.
static inline uint32_t tokenizer_encode(const char *text, uint32_t size,
                                        uint16_t *tokens) {
    for (uint32_t i = 0; i < size; i++) {
        tokens[i] = (uint8_t)text[i];
    }
    return tokenizer_join(tokens, size);
}

// The bytes of `token` and a NUL, at most TOKEN_BYTES + 1. Returns how many, without
// the NUL. A pair names tokens before it, so that the text grows from its end.
static inline uint32_t tokenizer_decode(uint16_t token, char *text) {
    uint16_t waiting[TOKEN_BYTES];
    uint32_t depth = 0;
    uint32_t size = 0;

    waiting[depth++] = token;
    while (depth > 0) {
        const uint16_t next = waiting[--depth];
        if (next < BYTES) {
            text[size++] = (char)next;
        } else {
            waiting[depth++] = pairs[next - BYTES][1];
            waiting[depth++] = pairs[next - BYTES][0];
        }
    }
    text[size] = '\0';
    return size;
}

#endif // TOKENIZER_H
