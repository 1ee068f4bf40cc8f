// SPDX-License-Identifier: Apache-2.0
// Rows that lie behind each other become columns of words, turned over by a tile.
#include "block.h"

// Slice 4 * i of bytes is row i of the tile of words. Immediates of a slice are free.
static void load(const uint8_t *from, size_t stride, uint32_t rows,
                 svbool_t across) __arm_streaming __arm_inout("za") {
    uint32_t i = 0;
    for (; i + 4 <= rows; i += 4, from += 4 * stride) {
        svld1_hor_za8(0, 4 * i, across, from);
        svld1_hor_za8(0, 4 * i + 4, across, from + stride);
        svld1_hor_za8(0, 4 * i + 8, across, from + 2 * stride);
        svld1_hor_za8(0, 4 * i + 12, across, from + 3 * stride);
    }
    for (; i < rows; i++, from += stride) {
        svld1_hor_za8(0, 4 * i, across, from);
    }
}

// Each row twice.
static void load_twice(const uint8_t *from, size_t stride, uint32_t rows,
                       svbool_t across) __arm_streaming __arm_inout("za") {
    uint32_t i = 0;
    for (; i + 2 <= rows; i += 2, from += 2 * stride) {
        svld1_hor_za8(0, 8 * i, across, from);
        svld1_hor_za8(0, 8 * i + 4, across, from);
        svld1_hor_za8(0, 8 * i + 8, across, from + stride);
        svld1_hor_za8(0, 8 * i + 12, across, from + stride);
    }
    if (i < rows) {
        svld1_hor_za8(0, 8 * i, across, from);
        svld1_hor_za8(0, 8 * i + 4, across, from);
    }
}

static void store(uint32_t *to, size_t lanes, uint32_t words,
                  svbool_t down) __arm_streaming __arm_inout("za") {
    uint32_t i = 0;
    for (; i + 4 <= words; i += 4, to += 4 * lanes) {
        svst1_ver_za32(0, i, down, to);
        svst1_ver_za32(0, i + 1, down, to + lanes);
        svst1_ver_za32(0, i + 2, down, to + 2 * lanes);
        svst1_ver_za32(0, i + 3, down, to + 3 * lanes);
    }
    for (; i < words; i++, to += lanes) {
        svst1_ver_za32(0, i, down, to);
    }
}

void xnn_sme_turn(const uint8_t *from, size_t stride, uint32_t count, uint32_t bytes,
                  uint32_t step, uint32_t words,
                  uint8_t *to) __arm_streaming __arm_inout("za") {
    const uint32_t most = (uint32_t)svcntw();
    const size_t lanes = (size_t)count * step;
    for (uint32_t row = 0; row < count; row += most / step) {
        const uint32_t left = count - row;
        const uint32_t rows = left < most / step ? left : most / step;
        const svbool_t down = svwhilelt_b32_u32(0, rows * step);
        uint32_t *place = (uint32_t *)(void *)to + (size_t)row * step;
        const uint8_t *at = from + row * stride;
        for (uint32_t word = 0; word < words; word += most) {
            const svbool_t across = svwhilelt_b8_u32(4 * word, bytes);
            if (step == 1) {
                load(at + 4 * (size_t)word, stride, rows, across);
            } else {
                load_twice(at + 4 * (size_t)word, stride, rows, across);
            }
            store(place + word * lanes, lanes,
                  words - word < most ? words - word : most, down);
        }
    }
}
