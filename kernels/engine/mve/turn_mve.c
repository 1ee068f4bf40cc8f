// SPDX-License-Identifier: Apache-2.0
// Matrices of bytes are transposed with Helium. Contract: turn.h.
#include <arm_mve.h>

#include "kernels/engine/int8/turn.h"
#include "kernels/engine/mve/products_mve.h"

enum { BYTES = 16, WORD = 4, SMALL_STEP = UINT8_MAX / (BYTES - 1) };

static bool is_whole(const int8_t *at, int32_t step) {
    return ((uintptr_t)at & (WORD - 1)) == 0 && step % WORD == 0;
}

// Four rows of sixteen elements, `step` apart, become words, each `rows` bytes further
// on than the one before: `at` has those of four.
INLINE void scatter_block(int8_t *to, const int8_t *from, int32_t rows, int32_t step,
                          uint32x4_t at) {
    int8_t words[BYTES * WORD] __attribute__((aligned(WORD)));
    const int32_t *made = (const int32_t *)(const void *)words;
    int32_t *y = (int32_t *)(void *)to;
    const int8x16x4_t four = {{vldrbq_s8(from), vldrbq_s8(from + step),
                               vldrbq_s8(from + 2 * step), vldrbq_s8(from + 3 * step)}};

    vst4q_s8(words, four);
    vstrwq_scatter_offset_s32(y, at, vldrwq_s32(made));
    vstrwq_scatter_offset_s32(y + rows, at, vldrwq_s32(made + WORD));
    vstrwq_scatter_offset_s32(y + 2 * rows, at, vldrwq_s32(made + 2 * WORD));
    vstrwq_scatter_offset_s32(y + 3 * rows, at, vldrwq_s32(made + 3 * WORD));
}

// The last block of four rows overlaps the one before it.
static void scatter_words(int8_t *to, const int8_t *from, int32_t rows,
                          int32_t columns) {
    const uint32x4_t at = vmulq_n_u32(vidupq_n_u32(0, 1), (uint32_t)rows);
    const int32_t last = columns - BYTES;

    for (int32_t i = 0; i < rows; i += WORD) {
        const int8_t *x = from;
        int8_t *y = to + i;
        for (int32_t left = columns / BYTES; left > 0; left--) {
            scatter_block(y, x, rows, columns, at);
            x += BYTES;
            y += BYTES * rows;
        }
        if (columns % BYTES != 0) {
            scatter_block(to + last * rows + i, from + last, rows, columns, at);
        }
        from += WORD * columns;
    }
}

// The reverse: words of sixteen rows become four rows, `step` apart.
INLINE void gather_block(int8_t *to, const int8_t *from, int32_t columns, int32_t step,
                         uint32x4_t at) {
    int8_t words[BYTES * WORD] __attribute__((aligned(WORD)));
    const int32_t *x = (const int32_t *)(const void *)from;
    int32_t *made = (int32_t *)(void *)words;

    vstrwq_s32(made, vldrwq_gather_offset_s32(x, at));
    vstrwq_s32(made + WORD, vldrwq_gather_offset_s32(x + columns, at));
    vstrwq_s32(made + 2 * WORD, vldrwq_gather_offset_s32(x + 2 * columns, at));
    vstrwq_s32(made + 3 * WORD, vldrwq_gather_offset_s32(x + 3 * columns, at));
    const int8x16x4_t four = vld4q_s8(words);
    vstrbq_s8(to, four.val[0]);
    vstrbq_s8(to + step, four.val[1]);
    vstrbq_s8(to + 2 * step, four.val[2]);
    vstrbq_s8(to + 3 * step, four.val[3]);
}

static void gather_words(int8_t *to, const int8_t *from, int32_t rows,
                         int32_t columns) {
    const uint32x4_t at = vmulq_n_u32(vidupq_n_u32(0, 1), (uint32_t)columns);
    const int32_t last = rows - BYTES;

    for (int32_t j = 0; j < columns; j += WORD) {
        const int8_t *x = from + j;
        int8_t *y = to;
        for (int32_t left = rows / BYTES; left > 0; left--) {
            gather_block(y, x, columns, rows, at);
            x += BYTES * columns;
            y += BYTES;
        }
        if (rows % BYTES != 0) {
            gather_block(to + last, from + last * columns + j, columns, rows, at);
        }
        to += WORD * rows;
    }
}

// Sixteen rows at a time: of each column, their elements lie `columns` apart.
static void gather_bytes(int8_t *to, const int8_t *from, int32_t rows,
                         int32_t columns) {
    const uint8x16_t at = vmulq_n_u8(vidupq_n_u8(0, 1), (uint8_t)columns);
    int32_t i = 0;

    for (; i + BYTES <= rows; i += BYTES) {
        const int8_t *x = from + i * columns;
        int8_t *y = to + i;
        for (int32_t j = columns; j > 0; j--) {
            vstrbq_s8(y, vldrbq_gather_offset_s8(x, at));
            x++;
            y += rows;
        }
    }
    const mve_pred16_t lanes = vctp8q((uint32_t)(rows - i));
    for (int32_t j = 0; i < rows && j < columns; j++) {
        const int8x16_t some =
            vldrbq_gather_offset_z_s8(from + i * columns + j, at, lanes);
        vstrbq_p_s8(to + j * rows + i, some, lanes);
    }
}

// Sixteen elements of a row at a time, which are `rows` apart then; those at its end
// maybe a second time.
static void scatter_bytes(int8_t *to, const int8_t *from, int32_t rows,
                          int32_t columns) {
    const uint8x16_t at = vmulq_n_u8(vidupq_n_u8(0, 1), (uint8_t)rows);
    const int32_t last = columns - BYTES;

    for (int32_t i = 0; i < rows; i++) {
        const int8_t *x = from;
        int8_t *y = to + i;
        for (int32_t left = columns / BYTES; left > 0; left--) {
            vstrbq_scatter_offset_s8(y, at, vldrbq_s8(x));
            x += BYTES;
            y += BYTES * rows;
        }
        if (columns % BYTES != 0) {
            vstrbq_scatter_offset_s8(to + last * rows + i, at, vldrbq_s8(from + last));
        }
        from += columns;
    }
}

// Eight rows at a time, as far as sixteen bits count their distances.
static void gather_eights(int8_t *to, const int8_t *from, int32_t rows,
                          int32_t columns) {
    const uint16x8_t at = vmulq_n_u16(vidupq_n_u16(0, 1), (uint16_t)columns);

    for (int32_t i = 0; i < rows; i += EMBER_LANES_S16) {
        const mve_pred16_t lanes = vctp16q((uint32_t)(rows - i));
        const uint8_t *x = (const uint8_t *)from + i * columns;
        uint8_t *y = (uint8_t *)to + i;
        for (int32_t j = columns; j > 0; j--) {
            vstrbq_p_u16(y, vldrbq_gather_offset_z_u16(x, at, lanes), lanes);
            x++;
            y += rows;
        }
    }
}

void ember_turn_mve(int8_t *to, const int8_t *from, int32_t rows, int32_t columns) {
    if (columns <= SMALL_STEP) {
        gather_bytes(to, from, rows, columns);
    } else if (columns >= BYTES && rows <= SMALL_STEP) {
        scatter_bytes(to, from, rows, columns);
    } else if (columns >= BYTES && is_whole(to, rows)) {
        scatter_words(to, from, rows, columns);
    } else if (rows >= BYTES && is_whole(from, columns)) {
        gather_words(to, from, rows, columns);
    } else if (columns <= UINT16_MAX / EMBER_LANES_S16) {
        gather_eights(to, from, rows, columns);
    } else {
        ember_turn(to, from, rows, columns);
    }
}
