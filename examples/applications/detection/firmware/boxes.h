// SPDX-License-Identifier: Apache-2.0
// What the network says of its cells becomes boxes.
//
// The image has BOXES_CELLS x BOXES_CELLS cells of 8 x 8 pixels. Each cell has a score
// for each class, and the distances from its centre to the sides of a box: left, top,
// right, bottom. A cell whose score is above the threshold gives a box, the best
// BOXES_MOST of which are kept; of boxes of a class that overlap by more than
// BOXES_SAME per cent, the best (non-maximum suppression).
//
// Memory is that of the caller's boxes_t. The time has a bound: a pass over the cells,
// each of which moves at most BOXES_MOST boxes, then at most BOXES_MOST^2 / 2 overlaps.
// Only whole numbers; no input makes it write past `boxes`.
#ifndef BOXES_H
#define BOXES_H

#include <stdbool.h>
#include <stdint.h>

enum {
    BOXES_CELLS = 12,
    BOXES_CLASSES = 2,
    BOXES_MOST = 32,           // candidates
    BOXES_SAME = 45,           // per cent of the area of either
    BOXES_CELL = 8 * 16,       // sixteenths of a pixel
    BOXES_LIMIT = 12 * 8 * 16, // of the image
};

// Sixteenths of a pixel from the left and the top, 0 to BOXES_LIMIT.
typedef struct box {
    int16_t left, top, right, bottom;
    int8_t score; // as the network has it
    uint8_t kind; // 0 to BOXES_CLASSES - 1
} box_t;

typedef struct boxes {
    uint32_t count;
    box_t of[BOXES_MOST]; // the best first
} boxes_t;

// How the network's integers are read.
typedef struct boxes_scale {
    int32_t threshold; // of a score: those above it count
    int32_t zero;      // the distance 0
    int32_t step;      // sixteenths of a pixel of a distance's step, times 2^16;
                       // at most 2^22
} boxes_scale_t;

static inline int16_t boxes_within(int32_t edge) {
    return (int16_t)(edge < 0 ? 0 : edge > BOXES_LIMIT ? BOXES_LIMIT : edge);
}

static inline box_t boxes_of_cell(uint32_t row, uint32_t column, const int8_t *sides,
                                  const boxes_scale_t *scale) {
    const int32_t x = (int32_t)column * BOXES_CELL + BOXES_CELL / 2;
    const int32_t y = (int32_t)row * BOXES_CELL + BOXES_CELL / 2;
    int32_t away[4];

    for (uint32_t k = 0; k < 4; k++) {
        away[k] = ((sides[k] - scale->zero) * scale->step + 32768) >> 16;
    }
    return (box_t){.left = boxes_within(x - away[0]),
                   .top = boxes_within(y - away[1]),
                   .right = boxes_within(x + away[2]),
                   .bottom = boxes_within(y + away[3])};
}

// Keeps the best candidates in order; of equal scores, the first one.
static inline void boxes_insert(boxes_t *boxes, const box_t *box) {
    uint32_t at = boxes->count;

    if (at == BOXES_MOST) {
        if (boxes->of[--at].score >= box->score) {
            return;
        }
    } else {
        boxes->count++;
    }
    for (; at > 0 && boxes->of[at - 1].score < box->score; at--) {
        boxes->of[at] = boxes->of[at - 1];
    }
    boxes->of[at] = *box;
}

static inline int32_t boxes_length(int32_t from, int32_t to) {
    return to > from ? to - from : 0;
}

static inline int32_t boxes_area(const box_t *a) {
    return boxes_length(a->left, a->right) * boxes_length(a->top, a->bottom);
}

// Whether what both cover is more than BOXES_SAME per cent of what either covers.
static inline bool boxes_are_same(const box_t *a, const box_t *b) {
    const int32_t left = a->left > b->left ? a->left : b->left;
    const int32_t top = a->top > b->top ? a->top : b->top;
    const int32_t right = a->right < b->right ? a->right : b->right;
    const int32_t bottom = a->bottom < b->bottom ? a->bottom : b->bottom;
    const int32_t both = boxes_length(left, right) * boxes_length(top, bottom);
    const int32_t either = boxes_area(a) + boxes_area(b) - both;

    return a->kind == b->kind && both * 100 > either * BOXES_SAME;
}

static inline bool boxes_has_same(const boxes_t *boxes, const box_t *box) {
    for (uint32_t i = 0; i < boxes->count; i++) {
        if (boxes_are_same(&boxes->of[i], box)) {
            return true;
        }
    }
    return false;
}

// scores  (BOXES_CELLS, BOXES_CELLS, BOXES_CLASSES)
// sides   (BOXES_CELLS, BOXES_CELLS, 4)
static inline void boxes_find(boxes_t *boxes, const int8_t *scores, const int8_t *sides,
                              const boxes_scale_t *scale) {
    *boxes = (boxes_t){0};
    for (uint32_t kind = 0; kind < BOXES_CLASSES; kind++) {
        for (uint32_t cell = 0; cell < BOXES_CELLS * BOXES_CELLS; cell++) {
            const int8_t score = scores[cell * BOXES_CLASSES + kind];
            if (score > scale->threshold) {
                box_t box = boxes_of_cell(cell / BOXES_CELLS, cell % BOXES_CELLS,
                                          sides + cell * 4, scale);
                box.score = score;
                box.kind = (uint8_t)kind;
                boxes_insert(boxes, &box);
            }
        }
    }
    const uint32_t candidates = boxes->count;
    boxes->count = 0;
    for (uint32_t i = 0; i < candidates; i++) {
        const box_t box = boxes->of[i];
        if (!boxes_has_same(boxes, &box)) {
            boxes->of[boxes->count++] = box;
        }
    }
}

#endif // BOXES_H
