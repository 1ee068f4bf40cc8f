// SPDX-License-Identifier: Apache-2.0
// examples/applications/detection: its ring of rows, tested here; then its boxes: those
// of cells on the standard input, in lines on the standard output.
//
// The input is three int32 (threshold, zero, step) and int8 scores and sides.
#include <assert.h>
#include <stdio.h>

#include "boxes.h"
#include "rows.h"

static rows_t rows;

// Rows come out in their order, many times around, and across the wrap at 2^32.
static void test_order(uint32_t start) {
    uint16_t pixels[CAMERA_COLUMNS] = {0};

    rows = (rows_t){.put = start, .taken = start, .frames = start};
    assert(rows_first(&rows) == NULL);
    for (uint32_t i = 0; i < 100; i++) {
        pixels[0] = (uint16_t)i;
        pixels[CAMERA_COLUMNS - 1] = (uint16_t)(i + 1);
        rows_put(&rows, i, pixels);
        if (i % 3 == 2) {
            for (uint32_t k = i - 2; k <= i; k++) {
                const row_t *row = rows_first(&rows);
                assert(row != NULL && row->number == k && row->pixels[0] == k);
                assert(row->frame == start + 1);
                assert(row->pixels[CAMERA_COLUMNS - 1] == k + 1);
                rows_drop(&rows);
            }
            assert(rows_first(&rows) == NULL);
        }
    }
}

// A row that does not fit is dropped; the others stay.
static void test_full(void) {
    const uint16_t pixels[CAMERA_COLUMNS] = {0};

    rows = (rows_t){0};
    for (uint32_t i = 0; i < ROWS_SIZE + 3; i++) {
        rows_put(&rows, i, pixels);
    }
    rows_put(&rows, 0, pixels); // of a second frame, and dropped, too
    for (uint32_t i = 0; i < ROWS_SIZE; i++) {
        assert(rows_first(&rows)->frame == 1 && rows_first(&rows)->number == i);
        rows_drop(&rows);
    }
    assert(rows_first(&rows) == NULL);
    rows_put(&rows, 99, pixels);
    assert(rows_first(&rows)->frame == 2 && rows_first(&rows)->number == 99);
}

// Rows of a frame are taken in order; behind a gap none is, not even the row of the
// next frame that has the right number.
static void test_frames(void) {
    rows_frame_t frame = {0};
    row_t row = {.frame = 7};

    for (row.number = 0; row.number < 9; row.number++) {
        assert(rows_follow(&frame, &row) && frame.rows == row.number + 1);
    }
    row.number = 10;
    assert(!rows_follow(&frame, &row));
    row = (row_t){.frame = 8, .number = 9};
    assert(!rows_follow(&frame, &row));
    row = (row_t){.frame = 9};
    assert(rows_follow(&frame, &row) && frame.rows == 1);
    row = (row_t){.frame = 0}; // after 2^32 frames
    assert(rows_follow(&frame, &row) && frame.number == 0);
}

static void print_boxes(void) {
    static int8_t scores[BOXES_CELLS * BOXES_CELLS * BOXES_CLASSES];
    static int8_t sides[BOXES_CELLS * BOXES_CELLS * 4];
    static boxes_t boxes;
    int32_t numbers[3];

    while (fread(numbers, sizeof(numbers), 1, stdin) == 1) {
        const boxes_scale_t scale = {numbers[0], numbers[1], numbers[2]};
        assert(fread(scores, sizeof(scores), 1, stdin) == 1);
        assert(fread(sides, sizeof(sides), 1, stdin) == 1);
        boxes_find(&boxes, scores, sides, &scale);
        printf("frame\n");
        for (uint32_t i = 0; i < boxes.count; i++) {
            const box_t *box = &boxes.of[i];
            printf("%d %d %d %d %d %d\n", box->kind, box->left, box->top, box->right,
                   box->bottom, box->score);
        }
    }
}

int main(void) {
    test_order(0);
    test_order(0xFFFFFFF0u);
    test_full();
    test_frames();
    print_boxes();
    return 0;
}
