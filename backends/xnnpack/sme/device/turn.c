// SPDX-License-Identifier: Apache-2.0
// Adjacent rows become columns of words, transposed by a tile.
#include "block.h"

// turn.S: a tile of `rows` rows and `words` words, of which `bytes` bytes exist.
void xnn_sme_turn_once(const uint8_t *from, size_t stride, size_t rows, size_t bytes,
                       uint32_t *to, size_t lanes,
                       size_t words) __arm_streaming __arm_inout("za");
void xnn_sme_turn_twice(const uint8_t *from, size_t stride, size_t rows, size_t bytes,
                        uint32_t *to, size_t lanes,
                        size_t words) __arm_streaming __arm_inout("za");

void xnn_sme_turn(const uint8_t *from, size_t stride, uint32_t count, uint32_t bytes,
                  uint32_t step, uint32_t words,
                  uint8_t *to) __arm_streaming __arm_inout("za") {
    const uint32_t most = (uint32_t)svcntw();
    const size_t lanes = (size_t)count * step;
    for (uint32_t row = 0; row < count; row += most / step) {
        const uint32_t left = count - row;
        const uint32_t rows = left < most / step ? left : most / step;
        uint32_t *place = (uint32_t *)(void *)to + (size_t)row * step;
        const uint8_t *at = from + row * stride;
        for (uint32_t word = 0; word < words; word += most) {
            const uint32_t rest = words - word < most ? words - word : most;
            const size_t begin = 4 * (size_t)word;
            const size_t there = bytes > begin ? bytes - begin : 0;
            if (step == 1) {
                xnn_sme_turn_once(at + begin, stride, rows, there, place + word * lanes,
                                  lanes, rest);
            } else {
                xnn_sme_turn_twice(at + begin, stride, rows, there,
                                   place + word * lanes, lanes, rest);
            }
        }
    }
}
