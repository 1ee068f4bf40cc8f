// SPDX-License-Identifier: Apache-2.0
// resize_bilinear: resizes images, like upsampling with align_corners false, in
// integers.
//
//     out[i][j] = the mean of the 2 x 2 pixels around, weighted in 256ths
//
//     image   (.., rows, columns)   uint8
//     height, width                 1 to MOST_SIZE
//     out     (.., height, width)   uint8
//
// The position of an output pixel is an integer multiple of 1 / (2 height) of a pixel.
// It depends only on the ratio of sizes, so that parts of an image give parts of the
// result if their rows begin together. Sizes are bounded so that everything fits 32
// bits.
#include <string.h>

#include "kernels/image/image.h"

enum { IMAGE, HEIGHT, WIDTH, OUT };
enum { MOST_SIZE = 8192 };

typedef struct axis {
    uint32_t size;   // pixels of the image
    uint32_t wanted; // of the output
} axis_t;

// The pixel before an output pixel, the one after it, and the weight of the latter.
typedef struct place {
    uint16_t first;
    uint16_t second;
    uint32_t share; // 0 to 255 of 256
} place_t;

typedef struct resize_bilinear {
    const uint8_t *image; // (images, rows.size, columns.size)
    uint8_t *y;           // (images, rows.wanted, columns.wanted)
    place_t *places;      // (columns.wanted,), scratch
    uint32_t images;
    axis_t rows;
    axis_t columns;
} resize_bilinear_t;

static place_t place_of(axis_t axis, uint32_t at) {
    const uint32_t steps = 2 * axis.wanted;
    const uint32_t odd = (2 * at + 1) * axis.size;
    const uint32_t most = (axis.size - 1) * steps;
    const uint32_t from = odd < axis.wanted ? 0 : odd - axis.wanted;
    const uint32_t step = from < most ? from : most;
    const uint32_t first = step / steps;
    const uint32_t second = first + (first < axis.size - 1);
    return (place_t){(uint16_t)first, (uint16_t)second,
                     (step - first * steps) * 256 / steps};
}

static void run_row(const resize_bilinear_t *s, const uint8_t *image, place_t row,
                    uint8_t *y) {
    const uint8_t *top = image + (size_t)row.first * s->columns.size;
    const uint8_t *bottom = image + (size_t)row.second * s->columns.size;
    const uint32_t up = 256 - row.share;
    const place_t *at = s->places;
    for (uint32_t j = s->columns.wanted; j > 0; j--, at++) {
        const uint32_t left = top[at->first] * up + bottom[at->first] * row.share;
        const uint32_t right = top[at->second] * up + bottom[at->second] * row.share;
        *y++ = (uint8_t)((left * (256 - at->share) + right * at->share + 32768) >> 16);
    }
}

static int32_t run(void *state) {
    const resize_bilinear_t *s = state;
    const uint8_t *image = s->image;
    uint8_t *y = s->y;
    for (uint32_t j = 0; j < s->columns.wanted; j++) {
        s->places[j] = place_of(s->columns, j);
    }
    for (uint32_t k = 0; k < s->images; k++) {
        for (uint32_t i = 0; i < s->rows.wanted; i++, y += s->columns.wanted) {
            run_row(s, image, place_of(s->rows, i), y);
        }
        image += (size_t)s->rows.size * s->columns.size;
    }
    return EMBER_OK;
}

static bool is_size(int32_t size) {
    return size >= 1 && size <= MOST_SIZE;
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    ember_tensor_t image;
    ember_tensor_t y;
    int32_t sizes[EMBER_MAX_RANK] = {0};
    ember_node_tensor(node, IMAGE, &image);
    const int32_t height = ember_node_int_in(node, HEIGHT, 1, MOST_SIZE);
    const int32_t width = ember_node_int_in(node, WIDTH, 1, MOST_SIZE);
    if (ember_node_status(node) != EMBER_OK) {
        return ember_node_status(node);
    }
    if (image.rank < 2 || !is_size(image.sizes[image.rank - 2]) ||
        !is_size(image.sizes[image.rank - 1])) {
        return ember_node_fail(node, EMBER_BAD_PROGRAM, "resize_bilinear: bad shape");
    }
    const int32_t *from = image.sizes + image.rank - 2;
    memcpy(sizes, image.sizes, image.rank * sizeof(*sizes));
    sizes[image.rank - 2] = height;
    sizes[image.rank - 1] = width;
    ember_node_output(node, OUT, image.rank, sizes, &y);
    if (!ember_image_check(node, &image, EMBER_U8, &y)) {
        return ember_node_status(node);
    }
    *(resize_bilinear_t *)state = (resize_bilinear_t){
        .image = image.data,
        .y = y.data,
        .places = ember_node_scratch(node, (size_t)width * sizeof(place_t)),
        .images = y.numel / (uint32_t)(height * width),
        .rows = {(uint32_t)from[0], (uint32_t)height},
        .columns = {(uint32_t)from[1], (uint32_t)width},
    };
    ember_node_work(node, y.numel, 8);
    return ember_node_status(node);
}

EMBER_KERNEL(resize_bilinear, resize_bilinear_t);
